"""Request bodies: what type each field has to be, as far as the simulator looks at it.

The real server reads a body into typed structures, so a field of the wrong type is a body it
cannot read (400), long before anything is validated (422).
"""

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any

from ..http import Request
from . import quantity
from .status import bad_request, unsupported_media_type

MAX_INTEGER = 2**63


class ShapeError(ValueError):
    """In the words of Go's JSON decoder."""


Decoder = Callable[[Any, str], Any]


def _wrong(value: Any, wanted: str, path: str) -> ShapeError:
    found = {bool: "bool", int: "number", float: "number", str: "string", list: "array"}
    name = found.get(type(value), "object")
    return ShapeError(f"json: cannot unmarshal {name} into Go struct field {path} of type {wanted}")


def string(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise _wrong(value, "string", path)
    return value


def boolean(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(value, "bool", path)
    return value


def integer(value: Any, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= MAX_INTEGER:
        raise _wrong(value, "int64", path)
    return value


def amount(value: Any, path: str) -> str:
    """A quantity, which may be a bare number, and is kept in its canonical form."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _wrong(value, "resource.Quantity", path)
    try:
        return str(quantity.parse(value if isinstance(value, str) else json.dumps(value)))
    except ValueError as error:
        raise ShapeError(str(error)) from error


def base64_data(value: Any, path: str) -> str:
    text = string(value, path)
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ShapeError("illegal base64 data at input byte 0") from error
    return text


def anything(value: Any, _path: str) -> Any:
    return without_nulls(value)


def without_nulls(value: Any) -> Any:
    """In Go a null is as good as nothing."""
    if isinstance(value, dict):
        return {name: without_nulls(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [without_nulls(one) for one in value]
    return value


def listed(decoder: Decoder) -> Decoder:
    def decode(value: Any, path: str) -> Any:
        if not isinstance(value, list):
            raise _wrong(value, "[]struct", path)
        return [decoder(one, path) for one in value if one is not None]

    return decode


def mapped(decoder: Decoder) -> Decoder:
    def decode(value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong(value, "map[string]string", path)
        return {name: decoder(one, path) for name, one in value.items() if one is not None}

    return decode


def structure(**fields: Decoder) -> Decoder:
    """An object; what it does not name is taken as it is."""

    def decode(value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong(value, "struct", path)
        return {
            name: fields.get(name, anything)(one, f"{path}.{name}")
            for name, one in value.items()
            if one is not None
        }

    return decode


METADATA = structure(
    name=string,
    generateName=string,
    namespace=string,
    uid=string,
    resourceVersion=string,
    creationTimestamp=string,
    labels=mapped(string),
    annotations=mapped(string),
    finalizers=listed(string),
    ownerReferences=listed(
        structure(
            apiVersion=string,
            kind=string,
            name=string,
            uid=string,
            controller=boolean,
            blockOwnerDeletion=boolean,
        )
    ),
)
REFERENCE = structure(name=string, key=string, optional=boolean)
CONTAINER = structure(
    name=string,
    image=string,
    imagePullPolicy=string,
    command=listed(string),
    args=listed(string),
    env=listed(
        structure(
            name=string,
            value=string,
            valueFrom=structure(
                secretKeyRef=REFERENCE,
                configMapKeyRef=REFERENCE,
                fieldRef=structure(apiVersion=string, fieldPath=string),
            ),
        )
    ),
    envFrom=listed(structure(prefix=string, secretRef=REFERENCE, configMapRef=REFERENCE)),
    ports=listed(structure(containerPort=integer, hostPort=integer, protocol=string)),
    resources=structure(limits=mapped(amount), requests=mapped(amount)),
    securityContext=structure(privileged=boolean),
)
TOLERATION = structure(
    key=string, operator=string, value=string, effect=string, tolerationSeconds=integer
)
POD = structure(
    metadata=METADATA,
    spec=structure(
        activeDeadlineSeconds=integer,
        containers=listed(CONTAINER),
        hostNetwork=boolean,
        initContainers=listed(CONTAINER),
        nodeName=string,
        nodeSelector=mapped(string),
        restartPolicy=string,
        schedulerName=string,
        serviceAccountName=string,
        terminationGracePeriodSeconds=integer,
        tolerations=listed(TOLERATION),
    ),
)
NODE = structure(
    metadata=METADATA,
    spec=structure(
        unschedulable=boolean,
        taints=listed(structure(key=string, value=string, effect=string, timeAdded=string)),
    ),
)
SECRET = structure(
    metadata=METADATA,
    data=mapped(base64_data),
    stringData=mapped(string),
    type=string,
    immutable=boolean,
)
DELETE_OPTIONS = structure(
    gracePeriodSeconds=integer,
    propagationPolicy=string,
    orphanDependents=boolean,
    dryRun=listed(string),
    preconditions=structure(uid=string, resourceVersion=string),
)
ATTRIBUTES = structure(
    namespace=string, verb=string, group=string, resource=string, subresource=string, name=string
)
ACCESS_REVIEW = structure(
    spec=structure(
        resourceAttributes=ATTRIBUTES, nonResourceAttributes=structure(path=string, verb=string)
    )
)


def typed(value: Any, kind: str, shape: Decoder) -> dict[str, Any]:
    """The value as an object of that kind, or a refusal."""
    try:
        decoded: dict[str, Any] = shape(value, kind)
    except ShapeError as error:
        message = f'{kind} in version "v1" cannot be handled as a {kind}: {error}'
        raise bad_request(message) from error
    return decoded


def number(text: str) -> int:
    """A whole number in a query."""
    try:
        return int(text)
    except ValueError as error:
        message = f'strconv.ParseInt: parsing "{text}": invalid syntax'
        raise bad_request(message) from error


def parsed(request: Request) -> Any:
    try:
        return _whole(request.json) if b"\\ud" in request.body.lower() else request.json
    except (ValueError, RecursionError) as error:
        message = f"couldn't get version/kind; json parse error: {error}"
        raise bad_request(message) from error


def _whole(value: Any) -> Any:
    """Half of a surrogate pair is no character: it is replaced, as Go's decoder does."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(one) for name, one in value.items()}
    return value


def body(request: Request, kind: str, shape: Decoder, api_version: str = "v1") -> dict[str, Any]:
    """The object a request brings. Its kind may be left out, but not be another."""
    media_type = request.headers.get("content-type", "application/json").partition(";")[0]
    if media_type.strip() not in ("application/json", "*/*"):
        raise unsupported_media_type(["application/json"])
    value = parsed(request)
    if isinstance(value, dict):
        found = value.get("kind") or kind, value.get("apiVersion") or api_version
        if found != (kind, api_version):
            message = f'{found[0]} in version "{found[1]}" cannot be handled as a {kind}'
            raise bad_request(message)
    decoded = typed(value, kind, shape)
    return {name: one for name, one in decoded.items() if name not in ("kind", "apiVersion")}
