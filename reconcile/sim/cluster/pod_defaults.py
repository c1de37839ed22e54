"""What the server fills in when it creates a pod."""

from typing import Any

from .store import Object

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
TOLERATED_SECONDS = 300

SPEC: dict[str, Any] = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "serviceAccountName": "default",
    "securityContext": {},
    "schedulerName": "default-scheduler",
    "priority": 0,
    "enableServiceLinks": True,
    "preemptionPolicy": "PreemptLowerPriority",
}
CONTAINER: dict[str, Any] = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}


def with_defaults(spec: Object) -> Object:
    spec = SPEC | spec
    spec.setdefault("serviceAccount", spec["serviceAccountName"])
    host_network = bool(spec.get("hostNetwork"))
    spec["containers"] = [
        _container(container, host_network=host_network) for container in spec.get("containers", [])
    ]
    spec["tolerations"] = _tolerations(spec.get("tolerations", []))
    return spec


def _container(container: Object, *, host_network: bool) -> Object:
    container = CONTAINER | container
    container.setdefault("imagePullPolicy", _pull_policy(container.get("image", "")))
    limits = container["resources"].get("limits", {})
    requests = container["resources"].get("requests", {})
    if limits or requests:
        container["resources"] = container["resources"] | {"requests": limits | requests}
    if "ports" in container:
        container["ports"] = [_port(port, host_network) for port in container["ports"]]
    if "env" in container:
        container["env"] = [_variable(variable) for variable in container["env"]]
    return container


def _pull_policy(image: str) -> str:
    name = image.rpartition("/")[2]
    tag = name.partition(":")[2]
    return "Always" if "@" not in name and tag in ("", "latest") else "IfNotPresent"


def _port(port: Object, host_network: bool) -> Object:
    port = {"protocol": "TCP"} | port
    if host_network and "containerPort" in port:
        port.setdefault("hostPort", port["containerPort"])
    return port


def _variable(variable: Object) -> Object:
    source = variable.get("valueFrom", {})
    if "fieldRef" not in source:
        return variable
    return variable | {"valueFrom": {"fieldRef": {"apiVersion": "v1"} | source["fieldRef"]}}


def _tolerations(tolerations: list[Object]) -> list[Object]:
    """Every pod stays five minutes on a node that is lost, unless it says otherwise itself."""
    added = [
        {
            "key": key,
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": TOLERATED_SECONDS,
        }
        for key in (NOT_READY, UNREACHABLE)
        if not any(_covers(toleration, key) for toleration in tolerations)
    ]
    return [*tolerations, *added]


def _covers(toleration: Object, key: str) -> bool:
    return bool(
        toleration.get("key", key) == key and toleration.get("effect", "NoExecute") == "NoExecute"
    )


def qos_class(spec: Object) -> str:
    requests, limits, guaranteed = 0, 0, True
    for container in spec["containers"]:
        resources = container["resources"]
        wanted = {n: q for n, q in resources.get("requests", {}).items() if n in ("cpu", "memory")}
        most = {n: q for n, q in resources.get("limits", {}).items() if n in ("cpu", "memory")}
        requests += len(wanted)
        limits += len(most)
        guaranteed = guaranteed and len(most) == 2 and wanted == most
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"
