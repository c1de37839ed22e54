"""GitHub's REST API: who asks, whether they may, within which limits, and what has not changed.

The endpoints themselves are in `api_apps`, `api_runners` and `api_actions`.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
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


@dataclass(frozen=True)
class Call:
    """A request by somebody known."""

    request: Request
    now: datetime

    def number(self, name: str) -> int:
        text = self.request.parameters[name]
        if not text.isascii() or not text.isdigit():
            raise ApiError(404, "Not Found")
        return int(text)

    def body(self) -> Json:
        if not self.request.body:
            return {}
        try:
            body = self.request.json
        except ValueError:
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
    """An endpoint with what it takes to call it. Without a permission, it takes an App's JWT."""

    name: str
    method: str
    template: str
    handler: Callable[[Any], Reply]  # of an AppCall, or with a permission an InstallationCall
    permission: str | None = None

    def __call__(self, call: Call) -> Reply:
        if isinstance(call, InstallationCall) and self.permission is not None:
            permit(call.token, self.permission, "read" if self.method == "GET" else "write")
        return self.handler(call)

    def endpoint(self) -> Endpoint:
        return Endpoint(self.name, self.method, self.template, handler=_unused)


def _unused(*_: Any) -> Response:
    raise AssertionError("Operations are called through the service.")


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
    size = min(_positive(call.request, "per_page", PAGE_SIZE), LARGEST_PAGE)
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
    text = request.query.get(name, "")
    return max(1, int(text)) if text.isascii() and text.isdigit() else default
