"""Calls of the official client: bounded in time, repeated where that is safe, raw JSON back.

The client's models are not made of the answers: for 2,000 pods they take seconds.
"""

import json
import random
from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

from kubernetes.client import ApiClient

from ..clock import Deadline
from ..model import Json
from .failures import CAUSES, Failure, explain

ATTEMPTS = 3
CONNECT_SECONDS = 5.0
FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 5.0
CHUNK_BYTES = 256 * 1024

T = TypeVar("T")
Method = Callable[..., Any]


class Safety(Enum):
    """What may be done about a call that failed without an answer that counts."""

    READ = "read"  # repeat it
    GLANCE = "glance"  # repeat it, unless that would take long again
    REPEATABLE = "repeatable"  # a write: repeat it, it comes to the same
    ONCE = "once"  # a write: leave it, it may have happened

    @property
    def writes(self) -> bool:
        return self in (Safety.REPEATABLE, Safety.ONCE)


class Calls:
    def __init__(
        self, api: ApiClient, deadline: Deadline, timeout: float, sleep: Callable[[float], None]
    ) -> None:
        self._api = api
        self._deadline = deadline
        self._timeout = timeout
        self._sleep = sleep

    def ask(
        self, what: str, safety: Safety, method: Method, *arguments: Any, **options: Any
    ) -> Json:
        """The answer as JSON; `what` is being done, for the message of an error."""
        return self._repeated(
            what, safety, lambda: _object(self._body(method, arguments, options, self._timeout))
        )

    def ask_text(
        self,
        what: str,
        method: Method,
        *arguments: Any,
        limit: int,
        timeout: float,
        **options: Any,
    ) -> bytes:
        """The beginning of an answer that is no JSON."""
        timeout = min(timeout, self._timeout)
        return self._repeated(
            what, Safety.GLANCE, lambda: self._body(method, arguments, options, timeout, limit)
        )

    def close(self) -> None:
        # The client's own close ends its threads, of which there are none, and no connection.
        self._api.close()
        self._api.rest_client.pool_manager.clear()

    def _repeated(self, what: str, safety: Safety, call: Callable[[], T]) -> T:
        attempt = 1
        while True:
            try:
                return call()
            except CAUSES as cause:
                failure = explain(what, cause, writes=safety.writes)
                wait = _wait(failure, attempt)
                hopeless = safety is Safety.GLANCE and failure.futile
                if (
                    safety is Safety.ONCE
                    or hopeless
                    or not failure.repeatable
                    or attempt == ATTEMPTS
                    or wait >= self._deadline.remaining()
                ):
                    raise failure.error from cause
            self._sleep(wait)
            attempt += 1

    def _body(
        self,
        method: Method,
        arguments: tuple[Any, ...],
        options: dict[str, Any],
        timeout: float,
        limit: int | None = None,
    ) -> bytes:
        seconds = self._deadline.limit(timeout)
        until = Deadline(seconds)
        response = method(
            *arguments,
            **options,
            _preload_content=False,
            _request_timeout=(min(CONNECT_SECONDS, seconds), seconds),
        )
        try:
            body = _read(response, until, limit)
        finally:
            # Back into the pool if it was read to its end, else closed.
            response.close()
        return body


def _read(response: Any, until: Deadline, limit: int | None) -> bytes:
    """The client's timeout is for each piece; a server that drips would take for ever."""
    chunks: list[bytes] = []
    size = 0
    while limit is None or size < limit:
        chunk: bytes = response.read1(CHUNK_BYTES)
        if not chunk:
            break
        if until.passed:
            raise TimeoutError("The answer took too long.")
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)[:limit]


def _wait(failure: Failure, attempt: int) -> float:
    """Longer each time, never all at the same moment, and as long as the server asks for if that
    is not too long to wait within a run."""
    usual = FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.5)  # noqa: S311
    return min(max(usual, failure.wait), LONGEST_WAIT_SECONDS)


def _object(body: bytes) -> Json:
    value = json.loads(body)
    if not isinstance(value, dict):
        raise ValueError("The answer is no JSON object.")  # noqa: TRY004 it is what came, no bug
    return value
