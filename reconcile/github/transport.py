"""One request to GitHub: its limits, its timeouts, its redirects, its repeats, and what the ways
in which it can fail mean.

An answer that was lost says nothing about what was done. A read, a deletion or a token can be
asked for again; anything else may have happened, and UncertainError says so.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.hooks import default_hooks
from requests.structures import CaseInsensitiveDict
from requests.utils import parse_header_links
from urllib3.exceptions import MaxRetryError, NewConnectionError

from ..clock import Deadline
from ..errors import (
    DeadlineError,
    NameTakenError,
    NotFoundError,
    PermanentError,
    RateLimitedError,
    TransientError,
    UncertainError,
)
from ..model import Json
from .limits import Limiter

CONNECT_SECONDS = 5
REPEATS = 2
FIRST_WAIT = (0.2, 0.5)  # seconds, drawn between; doubled with each repeat
REDIRECTS = 3
MOVED = (301, 302, 307, 308)
MESSAGE_LENGTH = 200
PORTS = {"http": 80, "https": 443}
HEADERS = {
    "Accept": "application/vnd.github+json",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": "riscv-runners",
    "X-GitHub-Api-Version": "2022-11-28",
}


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    target: str  # a path below the base URL, or the whole address of a next page; with its query
    key: str  # of the credential whose limits it counts against
    credential: str = field(repr=False)  # the token or JWT itself
    body: Json | None = field(default=None, repr=False)
    etag: str | None = None
    polling: bool = False
    repeatable: bool = False

    def __str__(self) -> str:
        return f"{self.method} {urlsplit(self.target).path}"


@dataclass(frozen=True, slots=True)
class Answer:
    call: Call
    status: int
    value: Any = field(repr=False)  # the JSON of a success
    message: str  # GitHub's words for a refusal
    etag: str | None
    next_page: str | None  # its address, on our own server

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def refusal(self) -> PermanentError:
        kind = {404: NotFoundError, 409: NameTakenError}.get(self.status, PermanentError)
        return kind(f"{self.call}: {self.status} {self.message}".rstrip())


class Transport:
    """For any number of threads; as many requests at once as `parallel` says."""

    def __init__(
        self,
        base_url: str,
        limiter: Limiter,
        deadline: Deadline,
        request_timeout: float,
        parallel: int,
        sleep: Callable[[float], None],
    ) -> None:
        self._base_url = base_url.rstrip("/")
        parts = urlsplit(self._base_url)
        self._origin = _origin(parts)
        if self._origin is None:
            raise ValueError("GitHub's URL must begin with http:// or https:// and name a host.")
        self._root = f"{parts.scheme}://{parts.netloc}"
        self._limiter = limiter
        self._deadline = deadline
        self._request_timeout = request_timeout
        self._sleep = sleep
        # A session's adapter without the session: there are no cookies, no redirects that it
        # should follow by itself, and only one host, whose proxy and certificates are looked up
        # once, where requests finds them.
        self._adapter = HTTPAdapter(pool_connections=1, pool_maxsize=parallel, pool_block=True)
        with requests.Session() as session:
            self._settings: Any = session.merge_environment_settings(
                self._base_url, {}, False, None, None
            )

    def close(self) -> None:
        self._adapter.close()

    def send(self, call: Call) -> Answer:
        """What GitHub said, refusals included; raises for its limits, and if it said nothing."""
        attempt = 0
        while True:
            try:
                return self._follow(call)
            except (RateLimitedError, DeadlineError):
                raise
            except TransientError as error:
                wait = random.uniform(*FIRST_WAIT) * 2**attempt  # noqa: S311 no secret
                # A poll that hangs is left to the next run.
                hangs = call.polling and isinstance(error.__cause__, requests.Timeout)
                if (
                    hangs
                    or not call.repeatable
                    or attempt == REPEATS
                    or wait >= self._deadline.remaining()
                ):
                    raise
            self._sleep(wait)
            attempt += 1

    def _follow(self, call: Call) -> Answer:
        """A renamed repository is elsewhere now; the same is asked there, whatever it was."""
        target = call.target
        url = target if target.startswith("http") else self._base_url + target
        for _ in range(REDIRECTS + 1):
            response = self._exchange(call, url)
            if response.status_code not in MOVED:
                return self._read(call, response)
            url = self._on_our_server(call, url, response.headers.get("Location", ""))
        raise PermanentError(f"{call}: redirected more than {REDIRECTS} times.")

    def _exchange(self, call: Call, url: str) -> requests.Response:
        read_seconds = self._deadline.limit(self._request_timeout)
        request = _prepared(call, url)
        self._limiter.admit(call.key, write=call.method != "GET", polling=call.polling)
        costs = True
        try:
            response = self._adapter.send(
                request,
                timeout=(min(CONNECT_SECONDS, read_seconds), read_seconds),
                **self._settings,
            )
            costs = response.status_code != 304
            response.content  # noqa: B018 read here, where it may fail
        except requests.RequestException as error:
            if _nothing_was_sent(error):
                costs = False
                text = f"{call}: GitHub could not be reached ({_cause(error)})."
                raise TransientError(text) from error
            raise _lost(call, f"no answer ({type(error).__name__})") from error
        finally:
            if call.polling:
                self._limiter.settle(call.key, costs=costs)
        return response

    def _read(self, call: Call, response: requests.Response) -> Answer:
        status, headers = response.status_code, response.headers
        message = _message(response.content) if status >= 400 else ""
        until = self._limiter.learn(call.key, status, headers, message)
        if until is not None:
            raise RateLimitedError(f"{call}: {status} {message}", until)
        if status >= 500:
            raise _lost(call, f"{status} {message}".rstrip())
        value = None
        if 200 <= status < 300 and response.content:
            value = _json(call, response.content)
        return Answer(
            call, status, value, message, headers.get("ETag"), self._next_page(call, response)
        )

    def _next_page(self, call: Call, response: requests.Response) -> str | None:
        links = response.headers.get("Link", "")
        if "next" not in links:
            return None
        for link in parse_header_links(links):
            if link.get("rel") == "next":
                return self._on_our_server(call, self._base_url, link["url"])
        return None

    def _on_our_server(self, call: Call, near: str, address: str) -> str:
        """The same address, if a token may be sent there."""
        try:
            parts = urlsplit(urljoin(near, address))
            ours = _origin(parts) == self._origin
        except ValueError as error:
            raise PermanentError(f"{call}: GitHub's answer leads nowhere.") from error
        if not ours:
            raise PermanentError(f"{call}: GitHub's answer leads to another server.")
        query = f"?{parts.query}" if parts.query else ""
        return f"{self._root}{parts.path}{query}"


def _origin(parts: SplitResult) -> tuple[str, str, int] | None:
    if parts.scheme not in PORTS or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, parts.port or PORTS[parts.scheme]


def _prepared(call: Call, url: str) -> requests.PreparedRequest:
    """By hand, as everything is in its final form already: with the session left out as well, that
    halves what a request costs, and no .netrc replaces the token."""
    request = requests.PreparedRequest()
    request.method, request.url, request.hooks = call.method, url, default_hooks()
    headers = CaseInsensitiveDict(HEADERS)
    headers["Authorization"] = f"Bearer {call.credential}"
    if call.etag is not None:
        headers["If-None-Match"] = call.etag
    if call.body is not None:
        request.body = json.dumps(call.body).encode()
        headers["Content-Type"] = "application/json"
        headers["Content-Length"] = str(len(request.body))
    elif call.method != "GET":
        headers["Content-Length"] = "0"
    request.headers = headers
    return request


def _nothing_was_sent(error: requests.RequestException) -> bool:
    if isinstance(error, requests.ConnectTimeout | requests.exceptions.ProxyError):
        return True
    cause = error.args[0] if error.args else None
    return isinstance(cause, MaxRetryError) and isinstance(cause.reason, NewConnectionError)


def _cause(error: requests.RequestException) -> str:
    """By its class: a name that is not known, a port that is closed, no time left."""
    told = error.args[0] if error.args else None
    return type(told.reason if isinstance(told, MaxRetryError) else error).__name__


def _lost(call: Call, what: str) -> TransientError:
    if call.repeatable:
        return TransientError(f"{call}: {what}")
    return UncertainError(f"{call}: {what}; it may have been done")


def _json(call: Call, content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        # Without its cause, which holds the body.
        raise _lost(call, "an answer that is no JSON") from None


def _message(content: bytes) -> str:
    """GitHub's own words, if there are any."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    message = value.get("message") if isinstance(value, dict) else None
    return message[:MESSAGE_LENGTH] if isinstance(message, str) else ""
