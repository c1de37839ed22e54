"""What is particular to each kind of object when it is created, changed and deleted."""

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass

from . import decoding
from .conditions import has_ended
from .names import KEY, check_metadata, label_key_faults, label_value_faults
from .pod_defaults import qos_class, with_defaults
from .pod_rules import check_pod, check_update
from .status import FieldError, duplicate, forbidden_field, invalid_field, too_long, unsupported
from .store import Object

SECRET_LIMIT = 1024 * 1024
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def _no_grace(_value: Object, _asked: int | None) -> int:
    return 0


def _anything_goes(_old: Object, _new: Object) -> list[FieldError]:
    return []


@dataclass(frozen=True)
class Strategy:
    shape: decoding.Decoder
    prepare: Callable[[Object], Object]  # a new object with all that the server fills in
    normalise: Callable[[Object], Object]  # a changed one, likewise
    check: Callable[[Object], list[FieldError]]
    check_update: Callable[[Object, Object], list[FieldError]] = _anything_goes
    grace: Callable[[Object, int | None], int] = _no_grace
    returns_deleted: bool = False  # the object itself, not a Status


def _new_pod(pod: Object) -> Object:
    spec = with_defaults(pod.get("spec", {}))
    status = {"phase": "Pending", "qosClass": qos_class(spec)}
    metadata = pod["metadata"] | {"generation": 1}
    return {"metadata": metadata, "spec": spec, "status": status}


def _changed_pod(pod: Object) -> Object:
    return pod | {"spec": with_defaults(pod.get("spec", {}))}


def _pod_grace(pod: Object, asked: int | None) -> int:
    """A pod that runs nowhere, or no more, needs no time to go."""
    if not pod["spec"].get("nodeName") or has_ended(pod):
        return 0
    seconds: int = pod["spec"]["terminationGracePeriodSeconds"] if asked is None else asked
    return seconds if seconds >= 0 else 1


def _secret(secret: Object) -> Object:
    written = {
        name: base64.b64encode(text.encode()).decode()
        for name, text in secret.get("stringData", {}).items()
    }
    rest = {name: value for name, value in secret.items() if name not in ("stringData", "data")}
    data = secret.get("data", {}) | written
    return {"type": "Opaque"} | rest | ({"data": data} if data else {})


def _check_secret(secret: Object) -> list[FieldError]:
    errors = check_metadata(secret["metadata"])
    size = 0
    for key, value in secret.get("data", {}).items():
        size += len(base64.b64decode(value))
        if len(key) > 253 or not re.fullmatch(KEY, key):
            detail = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
            errors.append(invalid_field(f"data[{key}]", key, detail))
    if size > SECRET_LIMIT:
        errors.append(too_long("data", SECRET_LIMIT))
    return errors


def _check_changed_secret(old: Object, new: Object) -> list[FieldError]:
    errors = []
    if old["type"] != new["type"]:
        errors.append(invalid_field("type", new["type"], "field is immutable"))
    if old.get("immutable"):
        detail = "field is immutable when `immutable` is set"
        if not new.get("immutable"):
            errors.append(forbidden_field("immutable", detail))
        if old.get("data") != new.get("data"):
            errors.append(forbidden_field("data", detail))
    return errors


def _node(node: Object) -> Object:
    return {"spec": {}} | node


def _check_node(node: Object) -> list[FieldError]:
    errors = check_metadata(node["metadata"])
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(node["spec"].get("taints", [])):
        field = f"spec.taints[{index}]"
        key, effect = taint.get("key", ""), taint.get("effect", "")
        errors += [invalid_field(f"{field}.key", key, fault) for fault in label_key_faults(key)]
        errors += [
            invalid_field(f"{field}.value", taint["value"], fault)
            for fault in label_value_faults(taint.get("value", ""))
        ]
        if effect not in EFFECTS:
            errors.append(unsupported(f"{field}.effect", effect, EFFECTS))
        if (key, effect) in seen:
            errors.append(duplicate(field, f"{key}:{effect}"))
        seen.add((key, effect))
    return errors


STRATEGIES = {
    "pods": Strategy(
        decoding.POD,
        prepare=_new_pod,
        normalise=_changed_pod,
        check=check_pod,
        check_update=check_update,
        grace=_pod_grace,
        returns_deleted=True,
    ),
    "secrets": Strategy(
        decoding.SECRET,
        prepare=_secret,
        normalise=_secret,
        check=_check_secret,
        check_update=_check_changed_secret,
    ),
    "nodes": Strategy(decoding.NODE, prepare=_node, normalise=_node, check=_check_node),
}
