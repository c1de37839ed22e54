"""The three ways to patch an object: strategic merge, JSON merge (RFC 7386), JSON (RFC 6902).

None of them changes what it is given: the result shares with it whatever stayed the same.
"""

from collections.abc import Mapping
from typing import Any

DELETE_FROM = "$deleteFromPrimitiveList/"
SET_ORDER = "$setElementOrder/"
RETAIN_KEYS = "$retainKeys"
DIRECTIVE = "$patch"

# Lists that are merged by a key, or as a set ("") where they hold plain values. Every other list
# is replaced as a whole: tolerations and taints are, whatever one might expect.
MERGE_KEYS: Mapping[str, str] = {
    "metadata.finalizers": "",
    "metadata.ownerReferences": "uid",
    "spec.containers": "name",
    "spec.containers.env": "name",
    "spec.containers.ports": "containerPort",
    "spec.containers.volumeDevices": "devicePath",
    "spec.containers.volumeMounts": "mountPath",
    "spec.ephemeralContainers": "name",
    "spec.hostAliases": "ip",
    "spec.imagePullSecrets": "name",
    "spec.initContainers": "name",
    "spec.initContainers.env": "name",
    "spec.topologySpreadConstraints": "topologyKey",
    "spec.volumes": "name",
    "status.addresses": "type",
    "status.conditions": "type",
    "status.hostIPs": "ip",
    "status.podIPs": "ip",
}


class PatchError(ValueError):
    """The patch itself is malformed."""


class PatchFailedError(Exception):
    """A well-formed JSON patch that does not fit the object, or whose `test` does not hold."""


def merge(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge(result.get(name), value)
    return result


def strategic_merge(target: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    return _merge_maps(target, patch, "")


def _merge_maps(target: Mapping[str, Any], patch: Mapping[str, Any], path: str) -> dict[str, Any]:
    directive = patch.get(DIRECTIVE)
    if directive == "replace":
        return {name: value for name, value in patch.items() if name != DIRECTIVE}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise PatchError(f"unknown patch type found: {directive}")
    result = dict(target)
    if RETAIN_KEYS in patch:
        kept = _listed(patch[RETAIN_KEYS])
        result = {name: value for name, value in result.items() if name in kept}
    for name, value in patch.items():
        if not name.startswith("$"):
            _merge_field(result, name, value, f"{path}.{name}" if path else name)
    _apply_list_directives(result, patch, path)
    return result


def _merge_field(result: dict[str, Any], name: str, value: Any, path: str) -> None:
    if value is None:
        result.pop(name, None)
    else:
        result[name] = _merged(result.get(name), value, path)


def _apply_list_directives(result: dict[str, Any], patch: Mapping[str, Any], path: str) -> None:
    for name, value in patch.items():
        if name.startswith(DELETE_FROM):
            field = name.removeprefix(DELETE_FROM)
            gone = _listed(value)
            result[field] = [one for one in _listed(result.get(field, [])) if one not in gone]
        elif name.startswith(SET_ORDER):
            field = name.removeprefix(SET_ORDER)
            place = f"{path}.{field}" if path else field
            key = MERGE_KEYS.get(place, "")
            result[field] = _in_order(_listed(result.get(field, [])), _listed(value), key)


def _merged(old: Any, value: Any, path: str) -> Any:
    if isinstance(value, dict):
        return _merge_maps(old if isinstance(old, dict) else {}, value, path)
    if isinstance(value, list) and path in MERGE_KEYS:
        old = old if isinstance(old, list) else []
        key = MERGE_KEYS[path]
        return _merge_lists(old, value, key, path) if key else _union(old, value)
    return value


def _union(old: list[Any], added: list[Any]) -> list[Any]:
    result = list(old)
    for one in added:
        if one not in result:
            result.append(one)
    return result


def _merge_lists(old: list[Any], patch: list[Any], key: str, path: str) -> list[Any]:
    elements = [one for one in patch if isinstance(one, dict)]
    if any(one.get(DIRECTIVE) == "replace" for one in elements):
        return [one for one in elements if one.get(DIRECTIVE) != "replace"]
    result = [one for one in old if isinstance(one, dict)]
    for element in patch:
        if not isinstance(element, dict) or key not in element:
            raise PatchError(f"map: {element} does not contain declared merge key: {key}")
        places = [i for i, one in enumerate(result) if one.get(key) == element[key]]
        if element.get(DIRECTIVE) == "delete":
            result = [one for one in result if one.get(key) != element[key]]
        elif places:
            result[places[0]] = _merge_maps(result[places[0]], element, path)
        else:
            result.append(_merge_maps({}, element, path))
    return result


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise PatchError(f"a list was expected, not {value}")
    return value


def _in_order(values: list[Any], order: list[Any], key: str) -> list[Any]:
    """Those named first and in that order; the others keep theirs."""
    names = [one.get(key) if key and isinstance(one, dict) else one for one in order]

    def place(value: Any) -> int:
        name = value.get(key) if key and isinstance(value, dict) else value
        return names.index(name) if name in names else len(names)

    return sorted(values, key=place)
