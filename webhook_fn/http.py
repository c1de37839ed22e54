"""A request and a response, the same for Lambda and WSGI."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

BODY_LIMIT = 25 * 1024 * 1024  # GitHub's own limit for a delivery.


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    read_body: Callable[[], bytes]  # raises RequestError: a body's faults come after the path's


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    body: dict[str, str]
    headers: Mapping[str, str] = field(default_factory=dict)


class RequestError(Exception):
    """The request cannot be served as it is; the sentence goes back to the sender."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None):
        super().__init__(sentence)
        self.response = Response(status, {"error": sentence}, headers or {})


def malformed(sentence: str) -> RequestError:
    return RequestError(400, sentence)


def too_large() -> RequestError:
    return RequestError(413, f"The body is larger than {BODY_LIMIT // 1024 // 1024} MiB.")
