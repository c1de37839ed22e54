"""What went wrong with a call, in our own terms, and whether the call bears being repeated."""

import json
import ssl
from dataclasses import dataclass
from typing import Any

from kubernetes.client import ApiException
from kubernetes.config import ConfigException
from urllib3 import exceptions as http

from ..errors import (
    NameTakenError,
    NotFoundError,
    PermanentError,
    TransientError,
    UncertainError,
)
from .scrubbing import message

REASON_LIMIT = 300
TOO_MANY_REQUESTS = 429
# What a call can raise: refusals, everything the connection does, answers that are no JSON, and
# credentials that the client could not renew.
CAUSES = (ApiException, http.HTTPError, OSError, ValueError, ConfigException)


class RefusedError(PermanentError):
    """The server's no, with its number for whoever expects it."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


class ExpiredError(TransientError):
    """410: the list that is being read is too old to be gone on with."""


@dataclass(frozen=True, slots=True)
class Failure:
    error: TransientError | PermanentError
    repeatable: bool
    futile: bool = False  # waiting for it once more would only take as long again
    wait: float = 0  # as long as the server asks for


def explain(what: str, cause: Exception, *, writes: bool) -> Failure:
    if isinstance(cause, ApiException) and cause.status:
        return _refused(what, cause, cause.status, writes=writes)
    if isinstance(cause, ConfigException):
        error = PermanentError(f"{what}: the credentials for the cluster cannot be renewed.")
        return Failure(error, repeatable=False)
    reason = cause.reason if isinstance(cause, http.MaxRetryError) else cause
    if _is_untrusted(reason):
        error = PermanentError(f"{what}: the cluster's certificate is not the one to expect.")
        return Failure(error, repeatable=False)
    if isinstance(reason, http.NewConnectionError | http.ConnectTimeoutError):
        return Failure(TransientError(f"{what}: the cluster cannot be reached."), repeatable=True)
    slow = isinstance(reason, http.TimeoutError | TimeoutError)
    if slow:
        why = "no answer in time"
    elif isinstance(reason, ValueError) and not isinstance(reason, http.HTTPError):
        why = "an answer that cannot be read"
    else:
        why = "the connection broke"
    return Failure(_lost(f"{what}: {why}.", writes=writes), repeatable=True, futile=slow)


def _refused(what: str, cause: Any, status: int, *, writes: bool) -> Failure:
    said = _status_body(cause.body)
    if said is None:
        # Not the API server's word, whatever the number: a proxy's, or a broken one.
        error = _lost(f"{what}: {status}, without saying why.", writes=writes)
        return Failure(error, repeatable=True)
    reason = said.get("reason")
    text = f"{what}: {status} {message(said.get('message'), REASON_LIMIT) or ''}".rstrip()
    if status == TOO_MANY_REQUESTS:
        wait = _retry_after(cause.headers)
        return Failure(TransientError(text), repeatable=True, wait=wait)
    if status >= 500:
        # A node that cannot be asked for its logs is 500, after a long while.
        return Failure(_lost(text, writes=writes), repeatable=True, futile=status == 500)
    if status == 404 and reason == "NotFound":
        return Failure(NotFoundError(text), repeatable=False)
    if status == 410:
        return Failure(ExpiredError(text), repeatable=False)
    if status == 409 and reason == "AlreadyExists":
        return Failure(NameTakenError(text), repeatable=False)
    return Failure(RefusedError(text, status), repeatable=False)


def _status_body(body: Any) -> dict[str, Any] | None:
    """The server's own words, if they are."""
    try:
        said = json.loads(body or "")
    except ValueError:
        return None
    return said if isinstance(said, dict) and said.get("kind") == "Status" else None


def _retry_after(headers: Any) -> float:
    value = str((headers or {}).get("Retry-After") or "")
    return float(value) if value.isascii() and value.isdigit() else 0


def _lost(text: str, *, writes: bool) -> TransientError:
    return UncertainError(text) if writes else TransientError(text)


def _is_untrusted(reason: object) -> bool:
    return isinstance(reason, http.SSLError) and any(
        isinstance(one, ssl.SSLCertVerificationError) for one in (reason.__cause__, *reason.args)
    )
