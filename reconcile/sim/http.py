"""What a simulator is to HTTP: requests in, responses out, and which path means what."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol
from urllib.parse import unquote


@dataclass(frozen=True)
class Request:
    method: str
    path: str  # without the service's prefix, still percent-encoded
    query: Mapping[str, str]
    headers: Mapping[str, str]  # by lower-case name
    body: bytes
    base_url: str  # how the client reached us, with the prefix
    at_once: int = 1  # requests of this caller being answered now, this one included
    parameters: Mapping[str, str] = field(default_factory=dict)  # the named parts of the path

    @cached_property
    def json(self) -> Any:
        """Raises ValueError if the body is no JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Response:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def encode(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Endpoint:
    """One method of one path. The template has named parts: `/orgs/{org}/actions/runners`. What the
    handler is called with is between it and its service."""

    name: str
    method: str
    template: str
    handler: Callable[..., Response]


class Router:
    def __init__(self, endpoints: list[Endpoint]) -> None:
        self.endpoints = endpoints
        self._patterns = [(_pattern(endpoint.template), endpoint) for endpoint in endpoints]

    def match(self, method: str, path: str) -> tuple[Endpoint, dict[str, str]] | None:
        for pattern, endpoint in self._patterns:
            if endpoint.method == method and (found := pattern.fullmatch(path)):
                return endpoint, {name: unquote(part) for name, part in found.groupdict().items()}
        return None


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", template)
    return re.compile(
        "".join(
            f"(?P<{part}>[^/]+)" if index % 2 else re.escape(part)
            for index, part in enumerate(parts)
        )
    )


class Service(Protocol):
    """What a simulator is to its server. Called under the world's lock, one request at a time."""

    name: str  # its endpoints are known as `name.endpoint`
    router: Router
    prefix: str  # a path under which it answers as well, or nothing

    def respond(self, endpoint: Endpoint, request: Request) -> Response:
        """The whole answer, errors and headers included."""
        ...

    def no_such_path(self, request: Request) -> Response: ...

    def refusal(self, status: int, retry_after: int | None) -> Response:
        """An injected error in the service's own words; 401 is what an expired token gets."""
        ...
