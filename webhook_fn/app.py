"""Lambda's door: a function URL's event (payload format 2.0) in, its response out."""

import base64
import binascii
import functools
import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from . import config, log
from .http import BODY_LIMIT, Request, RequestError, Response, malformed, too_large
from .receiver import Receiver
from .staging import hand_on
from .store import Store


def handler(event: Any, context: Any) -> dict[str, Any]:  # noqa: ARG001 Lambda's signature
    try:
        response = respond(event, _receiver())
    except config.ConfigError as error:
        log.emit("config_error", error=str(error))
        response = Response(500, {"error": "The function is not configured; its log says why."})
    return write_response(response)


def respond(event: Any, receiver: Receiver) -> Response:
    try:
        request = read_event(event)
    except RequestError as error:
        log.emit("rejected", status=error.response.status, error=str(error))
        return error.response
    return receiver.respond(request)


@functools.cache
def _receiver() -> Receiver:
    """Made once an execution environment, at the first request: a faulty setting is then an
    answer and a log line with every variable at fault, not an import error."""
    return make_receiver(config.from_environment(os.environ))


def system_clock() -> datetime:
    return datetime.now(UTC)


def make_receiver(
    settings: config.Config, clock: Callable[[], datetime] = system_clock
) -> Receiver:
    store = Store(settings.conninfo, settings.environment, config.STATEMENT_TIMEOUT_SECONDS)
    return Receiver(settings, store, clock=clock, hand_on=hand_on)


def read_event(event: Any) -> Request:
    """Lambda hands over what it likes, and a test event from the console is no HTTP request."""
    try:
        http = event["requestContext"]["http"]
        method, path = http["method"], event["rawPath"]
        headers = event.get("headers") or {}
        body = event.get("body") or ""
        query = event.get("rawQueryString") or ""
        encoded = event.get("isBase64Encoded", False)
        names = {name.lower(): value for name, value in headers.items()}
    except (AttributeError, KeyError, TypeError):
        raise malformed("This is not a function URL event of format 2.0.") from None
    if not all(isinstance(text, str) for text in (method, path, query, body, *names.values())):
        raise malformed("This is not a function URL event of format 2.0.")
    read_body = functools.partial(_decode, body, bool(encoded))
    return Request(method, unquote(path), names, read_body, query)


def _decode(body: str, encoded: bool) -> bytes:
    # Four characters of base64 hold three bytes: refused before it is decoded.
    if len(body) > BODY_LIMIT * (4 / 3 if encoded else 1) + 4:
        raise too_large()
    try:
        return base64.b64decode(body, validate=True) if encoded else body.encode()
    except (binascii.Error, ValueError):
        raise malformed("The body is not what isBase64Encoded says it is.") from None


def write_response(response: Response) -> dict[str, Any]:
    return {
        "statusCode": response.status,
        "headers": response.all_headers(),
        "body": "" if response.bare else response.content(),
    }
