"""A request and a response, the same for Lambda and WSGI."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

BODY_LIMIT = 25 * 1024 * 1024  # GitHub's own limit for a delivery.

# Every answer is for whoever asked, now, and of the type that it says.
EVERY_ANSWER = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str  # percent-decoded
    headers: Mapping[str, str]  # names in lower case
    read_body: Callable[[], bytes]  # raises RequestError: a body's faults come after the path's
    query: str = ""  # as it came


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    page: str | None = None  # HTML, sent in place of the body
    bare: bool = False  # an answer to HEAD: everything but the content

    def all_headers(self) -> dict[str, str]:
        kind = "application/json" if self.page is None else "text/html; charset=utf-8"
        return {"content-type": kind, **EVERY_ANSWER, **self.headers}

    def content(self) -> str:
        return json.dumps(self.body) if self.page is None else self.page


class RequestError(Exception):
    """The request cannot be served as it is; the sentence goes back to the sender.

    It also goes into the log: what a sender wrote does not belong into it, but into the details.
    """

    def __init__(
        self,
        status: int,
        sentence: str,
        headers: Mapping[str, str] | None = None,
        details: Mapping[str, Any] | None = None,
    ):
        super().__init__(sentence)
        self.response = Response(status, {"error": sentence, **(details or {})}, headers or {})


def malformed(sentence: str) -> RequestError:
    return RequestError(400, sentence)


def too_large() -> RequestError:
    return RequestError(413, f"The body is larger than {BODY_LIMIT // 1024 // 1024} MiB.")


def no_such_path() -> RequestError:
    return RequestError(404, "There is nothing at this path.")


def check_method(request: Request, method: str) -> None:
    """Whoever may GET may ask for the headers alone."""
    methods = [method, "HEAD"] if method == "GET" else [method]
    if request.method not in methods:
        sentence = f"This path takes {' and '.join(methods)}."
        raise RequestError(405, sentence, {"allow": ", ".join(methods)})
