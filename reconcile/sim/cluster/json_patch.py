"""JSON Patch (RFC 6902), with its `test`. What it is given stays as it was."""

import copy
from typing import Any

from .patch import PatchError, PatchFailedError

NEEDED = {
    "add": ("value",),
    "remove": (),
    "replace": ("value",),
    "move": ("from",),
    "copy": ("from",),
    "test": ("value",),
}


def json_patch(document: Any, operations: Any) -> Any:
    """PatchError if these are no operations, PatchFailedError if one does not fit."""
    if not isinstance(operations, list):
        raise PatchError("error decoding patch: json: cannot unmarshal into jsonpatch.Patch")
    result = copy.deepcopy(document)
    for operation in operations:
        _check(operation)
        result = _apply(result, operation)
    return result


def _check(operation: Any) -> None:
    if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
        raise PatchError("error decoding patch: an operation is an object with a path")
    name = operation.get("op")
    if not isinstance(name, str) or name not in NEEDED:
        raise PatchError(f"Unexpected kind: {name}")
    if any(field not in operation for field in NEEDED[name]):
        raise PatchFailedError(f"{name} operation does not have all its fields")


def _apply(document: Any, operation: dict[str, Any]) -> Any:
    path = _parts(operation["path"])
    match operation["op"]:
        case "test":
            if not _same(_get(document, path), operation["value"]):
                raise PatchFailedError(f"testing value {operation['path']} failed")
            return document
        case "add":
            return _add(document, path, copy.deepcopy(operation["value"]))
        case "replace":
            _get(document, path)
            if not path:
                return copy.deepcopy(operation["value"])
            _parent(document, path)[_last(document, path)] = copy.deepcopy(operation["value"])
            return document
        case "remove":
            return _remove(document, path)
        case "copy":
            value = copy.deepcopy(_get(document, _parts(operation["from"])))
            return _add(document, path, value)
    source = _parts(operation["from"])
    if path[: len(source)] == source and path != source:
        raise PatchFailedError("a value cannot be moved into itself")
    value = _get(document, source)
    return _add(_remove(document, source), path, value)


def _same(left: Any, right: Any) -> bool:
    # In JSON, true is not 1, though it is in Python.
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


def _parts(pointer: Any) -> list[str]:
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise PatchFailedError(f"{pointer} is no JSON pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _index(container: list[Any], part: str, *, inserting: bool = False) -> int:
    if inserting and part == "-":
        return len(container)
    if not part.isdecimal() or (len(part) > 1 and part[0] == "0"):
        raise PatchFailedError(f"{part} is no index")
    index = int(part)
    if index >= len(container) + inserting:
        raise PatchFailedError(f"Unable to access invalid index: {index}")
    return index


def _get(document: Any, path: list[str]) -> Any:
    for part in path:
        if isinstance(document, list):
            document = document[_index(document, part)]
        elif isinstance(document, dict) and part in document:
            document = document[part]
        else:
            raise PatchFailedError(f"there is no {part} at /{'/'.join(path)}")
    return document


def _parent(document: Any, path: list[str]) -> Any:
    parent = _get(document, path[:-1])
    if not isinstance(parent, dict | list):
        raise PatchFailedError(f"there is nothing to hold /{'/'.join(path)}")
    return parent


def _last(document: Any, path: list[str]) -> str | int:
    parent = _parent(document, path)
    return _index(parent, path[-1]) if isinstance(parent, list) else path[-1]


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent = _parent(document, path)
    if isinstance(parent, list):
        parent.insert(_index(parent, path[-1], inserting=True), value)
    else:
        parent[path[-1]] = value
    return document


def _remove(document: Any, path: list[str]) -> Any:
    if not path:
        raise PatchFailedError("the whole object cannot be removed")
    _get(document, path)
    del _parent(document, path)[_last(document, path)]
    return document
