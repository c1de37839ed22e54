"""The same function as a WSGI application, for people without Lambda and for the demo."""

import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

from .app import make_receiver, system_clock
from .config import Config
from .http import BODY_LIMIT, Request, Response, malformed, too_large

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

    from .receiver import Receiver


def make_application(
    config: Config, clock: Callable[[], datetime] = system_clock
) -> Callable[["WSGIEnvironment", "StartResponse"], Iterable[bytes]]:
    """Servers call it from many threads: each gets a receiver, and so a connection, of its own."""
    local = threading.local()

    def application(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        receiver: Receiver | None = getattr(local, "receiver", None)
        if receiver is None:
            receiver = local.receiver = make_receiver(config, clock)
        return _write(receiver.respond(read_environ(environ)), start_response)

    return application


def read_environ(environ: "WSGIEnvironment") -> Request:
    headers = {
        name[5:].replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    headers["content-type"] = environ.get("CONTENT_TYPE", "")
    # Decoded already, but to bytes, which WSGI writes as if they were Latin-1.
    path = (environ.get("PATH_INFO") or "/").encode("latin-1").decode("utf-8", "replace")
    query = environ.get("QUERY_STRING") or ""
    return Request(environ["REQUEST_METHOD"], path, headers, lambda: _read_body(environ), query)


def _read_body(environ: "WSGIEnvironment") -> bytes:
    length = environ.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit()):
        raise malformed("The header Content-Length is not a number.")
    if int(length) > BODY_LIMIT:
        raise too_large()
    body: bytes = environ["wsgi.input"].read(int(length))
    return body


def _write(response: Response, start_response: "StartResponse") -> Iterable[bytes]:
    content = response.content().encode()
    headers = {**response.all_headers(), "content-length": str(len(content))}
    status = f"{response.status} {HTTPStatus(response.status).phrase}"
    start_response(status, list(headers.items()))
    return [] if response.bare else [content]
