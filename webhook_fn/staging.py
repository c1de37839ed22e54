"""Handing a delivery on to staging, exactly as it came."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from .http import RequestError

TIMEOUT_SECONDS = 3  # to connect, and then to answer; GitHub waits 10 for us.
# What staging needs to verify and read the delivery by itself.
PASSED_ON = (
    "content-type",
    "user-agent",
    "x-github-delivery",
    "x-github-event",
    "x-github-hook-id",
    "x-github-hook-installation-target-id",
    "x-github-hook-installation-target-type",
    "x-hub-signature-256",
)


def hand_on(url: str, headers: Mapping[str, str], body: bytes) -> None:
    """Returns if staging accepted it; else 502, so that the delivery counts as failed."""
    # Most functions have no staging, and a cold start should not pay for it.
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    parts = urlsplit(url)
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connect(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
    # A header that HTTP cannot carry did not come by HTTP, and is none that staging needs.
    passed = {name: headers[name] for name in PASSED_ON if _is_sendable(headers.get(name))}
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", path, body, passed)
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        raise RequestError(502, "Staging did not answer.") from error
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise RequestError(502, f"Staging answered {status}.")


def _is_sendable(value: str | None) -> bool:
    return value is not None and value.isascii() and value.isprintable()
