"""The environment of a container, put together from its spec and from secrets."""

import base64
from collections.abc import Callable

from .store import Object

# What of itself a pod can be told.
FIELD_PATHS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)

Lookup = Callable[[str], Object | None]  # a secret of the pod's namespace by its name


class MissingError(Exception):
    """Something the spec refers to is not there, in the kubelet's words."""


def resolve(container: Object, pod: Object, secret: Lookup) -> dict[str, str]:
    environment: dict[str, str] = {}
    for source in container.get("envFrom", []):
        environment |= _from_whole(source, secret)
    for variable in container.get("env", []):
        value = _value(variable, pod, secret)
        if value is not None:
            environment[variable["name"]] = value
    return environment


def _from_whole(source: Object, secret: Lookup) -> dict[str, str]:
    if "configMapRef" in source:
        _absent("configmap", source["configMapRef"])
        return {}
    reference = source.get("secretRef", {})
    found = secret(reference.get("name", ""))
    if found is None:
        _absent("secret", reference)
        return {}
    prefix = source.get("prefix", "")
    return {prefix + name: _decoded(value) for name, value in found.get("data", {}).items()}


def _value(variable: Object, pod: Object, secret: Lookup) -> str | None:
    source = variable.get("valueFrom")
    if source is None:
        return str(variable.get("value", ""))
    if "fieldRef" in source:
        return _field(source["fieldRef"]["fieldPath"], pod)
    if "configMapKeyRef" in source:
        _absent("configmap", source["configMapKeyRef"])
        return None
    reference = source.get("secretKeyRef")
    if reference is None:
        return ""
    found = secret(reference["name"])
    if found is None:
        _absent("secret", reference)
        return None
    data = found.get("data", {})
    if reference["key"] in data:
        return _decoded(data[reference["key"]])
    if reference.get("optional"):
        return None
    namespace = pod["metadata"]["namespace"]
    message = f"couldn't find key {reference['key']} in Secret {namespace}/{reference['name']}"
    raise MissingError(message)


def _absent(kind: str, reference: Object) -> None:
    # There are no config maps in the simulated cluster, so one is always absent.
    if not reference.get("optional"):
        raise MissingError(f'{kind} "{reference.get("name", "")}" not found')


def _field(path: str, pod: Object) -> str:
    value: object = pod
    for part in path.replace("IPs", "IP").split("."):  # a pod has one address of each kind
        value = value.get(part, "") if isinstance(value, dict) else ""
    return str(value)


def _decoded(value: str) -> str:
    return base64.b64decode(value).decode(errors="replace")
