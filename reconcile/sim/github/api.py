"""GitHub's REST API: who asks, whether they may, within which limits, and what has not changed.

The endpoints themselves are in `api_apps`, `api_runners` and `api_actions`.
"""

import functools
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

from ..http import Endpoint, Request, Response, encode
from .auth import permit
from .errors import ApiError
from .model import App, Repository, Token
from .shapes import Json

DOCUMENTATION = "https://docs.github.com/rest"
MEDIA_TYPE = {"Content-Type": "application/json; charset=utf-8"}
PAGE_SIZE = 30
LARGEST_PAGE = 100

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """A request by somebody known."""

    request: Request
    now: datetime

    def number(self, name: str) -> int:
        number = whole_number(self.request.parameters[name])
        if number is None:
            raise ApiError(404, "Not Found")
        return number

    def body(self) -> Json:
        if not self.request.body:
            return {}
        try:
            body = self.request.json
        except (ValueError, RecursionError):
            raise ApiError(400, "Problems parsing JSON") from None
        if not isinstance(body, dict):
            raise ApiError(400, "Body should be a JSON object")
        return body


@dataclass(frozen=True)
class AppCall(Call):
    app: App


@dataclass(frozen=True)
class InstallationCall(Call):
    token: Token

    def covering(self, repository: Repository) -> Repository:
        if not self.token.covers(repository):
            raise ApiError(404, "Not Found")
        return repository


@dataclass(frozen=True)
class Reply:
    status: int
    value: object = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """An endpoint with what it takes to call it: a permission of an installation's token, or
    without one an App's JWT."""

    name: str
    method: str
    template: str
    handler: Callable[[Any], Reply]  # of an InstallationCall, or without permission an AppCall
    permission: str | None = None

    def __call__(self, call: Call) -> Reply:
        if isinstance(call, InstallationCall) and self.permission is not None:
            permit(call.token, self.permission, "read" if self.method == "GET" else "write")
        return self.handler(call)

    def endpoints(self, serve: Callable[["Operation", Request], Response]) -> list[Endpoint]:
        """Where it is found: a repository's also by its number, as redirects lead to it."""
        numbered = self.template.replace("/repos/{owner}/{repo}/", "/repositories/{repository_id}/")
        templates = dict.fromkeys((self.template, numbered))
        handler = functools.partial(serve, self)
        return [Endpoint(self.name, self.method, template, handler) for template in templates]


def respond(reply: Reply, call: Call, credential: str) -> Response:
    """With an ETag for what can be asked for again. GitHub's depends on the token as well: a new
    token finds nothing unchanged."""
    if reply.value is None:
        return Response(reply.status, b"", reply.headers)
    body = encode(reply.value)
    headers = {**MEDIA_TYPE, **reply.headers}
    if call.request.method == "GET" and reply.status == 200:
        digest = hashlib.sha256(credential.encode() + b"\0" + body).hexdigest()
        headers["ETag"] = tag = f'W/"{digest}"'
        headers["Cache-Control"] = "private, max-age=60, s-maxage=60"
        headers["Vary"] = "Accept, Authorization, Cookie, X-GitHub-OTP"
        if tag.removeprefix("W/") in call.request.headers.get("if-none-match", ""):
            return Response(304, b"", headers)
    return Response(reply.status, body, headers)


def error_response(error: ApiError) -> Response:
    headers = dict(MEDIA_TYPE)
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    value = {
        "message": error.message,
        "documentation_url": DOCUMENTATION,
        "status": str(error.status),
    }
    return Response(error.status, encode(value), headers)


def paged(call: Call, name: str, items: list[Any], show: Callable[[Any], Json]) -> Reply:
    """`{"total_count": …, name: […]}`, a page of it."""
    part, headers = page(call, items)
    return Reply(200, {"total_count": len(items), name: [show(each) for each in part]}, headers)


def page(call: Call, items: list[Any]) -> tuple[list[Any], dict[str, str]]:
    number = _positive(call.request, "page", 1)
    size = page_size(call.request)
    last = max(1, -(-len(items) // size))
    links: dict[str, int] = {}
    if number > 1:
        links |= {"prev": min(number - 1, last), "first": 1}
    if number < last:
        links |= {"next": number + 1, "last": last}
    headers = {}
    if links:
        headers["Link"] = ", ".join(
            f'<{_address(call.request, page=str(target))}>; rel="{relation}"'
            for relation, target in links.items()
        )
    return items[(number - 1) * size : number * size], headers


def page_size(request: Request) -> int:
    return min(_positive(request, "per_page", PAGE_SIZE), LARGEST_PAGE)


def next_link(request: Request, **changed: str) -> dict[str, str]:
    return {"Link": f'<{_address(request, **changed)}>; rel="next"'}


def _address(request: Request, **changed: str) -> str:
    return f"{request.base_url}{request.path}?{urlencode({**request.query, **changed})}"


def _positive(request: Request, name: str, default: int) -> int:
    number = whole_number(request.query.get(name, ""))
    return default if number is None else max(1, number)


def whole_number(text: str) -> int | None:
    """None for what is no number, or none that fits a database."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def list_of(kind: type[T], body: Json, name: str) -> list[T]:
    """A list in a request's body; nothing is an empty one."""
    value = body.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(type(item) is kind for item in value):
        raise ApiError(422, f"Validation Failed: {name} is not a list of {kind.__name__}")
    return value
