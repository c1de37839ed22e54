"""Typed reading of a payload: the value, or one sentence naming the field at fault."""

from datetime import UTC, datetime
from typing import Any

from .http import RequestError, malformed
from .payload import Payload

LARGEST_ID = 2**63 - 1  # BIGINT
LARGEST_INTEGER = 2**31 - 1  # INTEGER


def optional(payload: Payload, *path: str) -> Any:
    """The value at the path; None where any part of it is absent or null."""
    value: Any = payload
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def identifier(payload: Payload, *path: str, largest: int = LARGEST_ID) -> int:
    value = optional(payload, *path)
    # bool is an int in Python, and JSON's true is no id.
    if type(value) is not int or not 0 < value <= largest:
        raise _wrong(path, value, "a positive whole number")
    return value


def optional_identifier(payload: Payload, *path: str, largest: int = LARGEST_ID) -> int | None:
    if optional(payload, *path) is None:
        return None
    return identifier(payload, *path, largest=largest)


def text(payload: Payload, *path: str) -> str:
    value = optional(payload, *path)
    if not isinstance(value, str) or not value:
        raise _wrong(path, value, "a text")
    return value


def optional_text(payload: Payload, *path: str) -> str | None:
    """GitHub writes "no such thing" as null, or sometimes as an empty text: None for both."""
    value = optional(payload, *path)
    if value is not None and not isinstance(value, str):
        raise _wrong(path, value, "a text or null")
    return value or None


def optional_flag(payload: Payload, *path: str) -> bool | None:
    value = optional(payload, *path)
    if value is not None and not isinstance(value, bool):
        raise _wrong(path, value, "true, false or null")
    return value


def optional_time(payload: Payload, *path: str) -> datetime | None:
    value = optional_text(payload, *path)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass  # The same fault as a time that names no zone.
    raise _wrong(path, value, "a time with its zone, or null")


def items(payload: Payload, *path: str, of: type) -> list[Any]:
    value = optional(payload, *path)
    if not isinstance(value, list) or not all(isinstance(item, of) for item in value):
        raise _wrong(path, value, f"a list of {'texts' if of is str else 'objects'}")
    return value


def _wrong(path: tuple[str, ...], value: Any, wanted: str) -> RequestError:
    name = ".".join(path)
    if value is None:
        return malformed(f"The payload has no {name}.")
    return malformed(f"The payload's {name} is not {wanted}.")
