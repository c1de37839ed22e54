"""Handing a delivery on to staging, exactly as it came."""

from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from .http import Request, RequestError

TIMEOUT_SECONDS = 6  # GitHub waits 10 for us.
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


def hand_on(url: str, request: Request) -> None:
    """Returns if staging accepted it; else 502, so that the delivery counts as failed."""
    parts = urlsplit(url)
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connect(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
    headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", path, request.body, headers)
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        raise RequestError(502, "Staging did not answer.") from error
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise RequestError(502, f"Staging answered {status}.")
