"""The trace over HTTP: who may ask, and what was asked. What it says is for `trace` to say."""

import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from .config import Config
from .fields import LARGEST_ID
from .http import Request, RequestError, Response, check_method, malformed, no_such_path
from .store import Reading, Store

if TYPE_CHECKING:
    from .trace.trace import Trace

_NUMBER = re.compile(r"[1-9][0-9]{0,18}")
_LOGIN = re.compile(r"[A-Za-z0-9_-]{1,39}")
_REPOSITORY = re.compile(r"[A-Za-z0-9_-]{1,39}/[A-Za-z0-9._-]{1,100}")
LONGEST_QUERY = 1000
MOST = 100  # events of one answer

PARAMETERS = {
    "job": ("at", "repository"),
    "installation": ("at", "repository", "before", "limit"),
    "entity": ("at", "repository", "before", "limit"),
    "payload": (),
}
UNKNOWN = {
    "job": "Nothing is known of this job.",
    "installation": "Nothing is known of this installation.",
    "entity": "Nothing is known of this account.",
    "payload": "There is no such event.",
}


@dataclass(frozen=True, slots=True)
class Question:
    kind: str
    about: int | str  # a number, or an account's name, which may be all digits
    at: datetime | None
    repository: str | None
    before: int | None
    limit: int | None


def respond(
    request: Request, secret: bytes, config: Config, store: Store, now: datetime
) -> Response:
    kind, about = _subject(request.path)
    check_method(request, "GET")
    _check_token(request.headers.get("authorization", ""), secret)
    parameters = _parameters(request.query, PARAMETERS[kind])
    question = Question(
        kind,
        about,
        at=_time(parameters, "at", now),
        repository=_repository(parameters, "repository"),
        before=_number(parameters, "before", LARGEST_ID),
        limit=_number(parameters, "limit", MOST),
    )
    with store.reading() as source:
        return _answer(question, source, config, now)


# Who asks for what -------------------------------------------------------------------------------


def _subject(path: str) -> tuple[str, int | str]:
    kind, _, name = path.removeprefix("/trace/").partition("/")
    if kind == "entity" and _LOGIN.fullmatch(name):
        return kind, name
    if kind in PARAMETERS and _NUMBER.fullmatch(name) and int(name) <= LARGEST_ID:
        return kind, int(name)
    raise no_such_path()


def _check_token(header: str, secret: bytes) -> None:
    scheme, _, token = header.partition(" ")
    # On bytes: compare_digest refuses a str that is not ASCII.
    given = token.strip(" ").encode("utf-8", "backslashreplace")
    if not (hmac.compare_digest(given, secret) and scheme.lower() == "bearer"):
        sentence = "The header Authorization does not hold the token."
        raise RequestError(401, sentence, {"www-authenticate": "Bearer"})


# How it is asked ---------------------------------------------------------------------------------


def _parameters(query: str, known: tuple[str, ...]) -> dict[str, str]:
    if len(query) > LONGEST_QUERY:
        raise malformed(f"The query is longer than {LONGEST_QUERY} characters.")
    pairs = parse_qsl(query, keep_blank_values=True)
    given = [name for name, _ in pairs]
    unknown = sorted(set(given) - set(known))
    if unknown:
        details = {"unknown": unknown, "known": known}
        raise RequestError(400, "There are parameters that this takes none of.", details=details)
    for name in known:
        if given.count(name) > 1:
            raise malformed(f"The parameter {name} is given more than once.")
    return dict(pairs)


def _time(parameters: dict[str, str], name: str, now: datetime) -> datetime | None:
    if name not in parameters:
        return None
    # In a query + is a space, and few people write the %2B that they mean.
    value = re.sub(r" (?=\d\d(:?\d\d)?$)", "+", parameters[name])
    try:
        moment = datetime.fromisoformat(value)
        at = moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        at = None
    if at is None:
        raise malformed(f"The parameter {name} must be an ISO 8601 time with its zone.")
    if at > now:
        raise malformed(f"The parameter {name} must not be in the future.")
    return at


def _repository(parameters: dict[str, str], name: str) -> str | None:
    value = parameters.get(name)
    if value is not None and not _REPOSITORY.fullmatch(value):
        raise malformed(f"The parameter {name} must be owner/name.")
    return value


def _number(parameters: dict[str, str], name: str, largest: int) -> int | None:
    value = parameters.get(name)
    if value is None:
        return None
    if not _NUMBER.fullmatch(value) or int(value) > largest:
        raise malformed(f"The parameter {name} must be a whole number from 1 to {largest}.")
    return int(value)


# What is answered --------------------------------------------------------------------------------


def _answer(question: Question, source: Reading, config: Config, now: datetime) -> Response:
    from .trace.tracer import USUAL, Asked, Page, Tracer  # No webhook needs it.

    tracer = Tracer(source, config.apps, config.routes)
    asked = Asked(now, question.at, question.repository)
    page = Page(question.before, question.limit or USUAL)
    trace: Trace | None
    match question.kind, question.about:
        case "payload", int(number):
            row = tracer.payload(number)
            return _unknown(question) if row is None else Response(200, row)
        case "job", int(number):
            trace = tracer.job(number, asked)
        case "installation", int(number):
            trace = tracer.installation(number, asked, page)
        case _, about:
            trace = tracer.entity(about, asked, page)
    if trace is None:
        return _unknown(question)
    if not trace.known:
        return _unknown(question, trace.document())
    return _told(trace, question, page.limit)


def _unknown(question: Question, document: dict[str, Any] | None = None) -> Response:
    """A script goes by the status, a person by what there is to say of it nevertheless."""
    return Response(404, {"error": UNKNOWN[question.kind], **(document or {})})


def _told(trace: "Trace", question: Question, limit: int) -> Response:
    """With the way to the next page, if there is one: relative, since only the proxy in front
    knows the whole URL."""
    if "before" not in PARAMETERS[question.kind]:
        return Response(200, trace.document())
    if trace.older is None:
        return Response(200, {**trace.document(), "next": None})
    parameters: dict[str, Any] = {
        "at": question.at and question.at.isoformat().replace("+00:00", "Z"),
        "repository": question.repository,
        "before": trace.older,
        "limit": limit,
    }
    given = {name: value for name, value in parameters.items() if value is not None}
    address = "?" + urlencode(given, safe="/:")
    link = {"link": f'<{address}>; rel="next"'}
    return Response(200, {**trace.document(), "next": address}, link)
