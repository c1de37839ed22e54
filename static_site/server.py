"""The site from a directory, by the CDN's rules: what `make demo` and people without a CDN use."""

import contextlib
import errno
import gzip
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date
from itertools import takewhile
from pathlib import Path
from urllib.parse import quote
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from . import headers, routing

# Below this, what gzip saves is less than what it costs: the CDN has the same limit.
_WORTH_COMPRESSING = 1000
# Of a path, not of the disk: there is no such file.
_NO_SUCH_FILE = {
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENXIO,
}
# What a Host header may be in a URL that others are given.
_HOST = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_NO_FILE = b"There is no such page.\n"
_UNREADABLE = "The server cannot read this file."
_METHODS = "GET, HEAD"


@dataclass(frozen=True)
class _Answer:
    status: str
    kind: str
    body: bytes
    cache: str = headers.REVALIDATE
    # Beside those that every answer has.
    more: tuple[tuple[str, str], ...] = ()
    tag: str | None = None


def application(directory: Path, today: Callable[[], date]) -> WSGIApplication:
    """Serves the directory as it is at each request. `today` is the day in UTC."""

    def serve(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        answer = _answer(environ, directory, today)
        said = [*headers.SECURITY.items(), ("Cache-Control", answer.cache), *answer.more]
        said.append(("Vary", "Accept-Encoding"))
        if answer.tag:
            said.append(("ETag", answer.tag))
            if _known(environ.get("HTTP_IF_NONE_MATCH", ""), answer.tag):
                start_response("304 Not Modified", said)
                return []
        body, coding = _encoded(answer, environ.get("HTTP_ACCEPT_ENCODING", ""))
        said += [("Content-Type", answer.kind), ("Content-Length", str(len(body))), *coding]
        start_response(answer.status, said)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    return serve


def _answer(environ: WSGIEnvironment, directory: Path, today: Callable[[], date]) -> _Answer:
    if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        refused = _said("405 Method Not Allowed", f"There is only {_METHODS} here.")
        return replace(refused, more=(("Allow", _METHODS),))
    # WSGI has decoded the path, into Latin-1; the rules are about paths as they are in URLs.
    path = quote(environ.get("PATH_INFO", "").encode("latin-1", "replace"))
    found = routing.resolve(path, environ.get("QUERY_STRING", ""), today())
    if found.file is None:
        return _said("400 Bad Request", found.error or "")
    try:
        content = _content(directory, found.file)
    except PermissionError:
        return _said("403 Forbidden", _UNREADABLE)
    except OSError:
        return _said("500 Internal Server Error", _UNREADABLE)
    if content is None:
        return _missing(directory)
    related = routing.link(found.file, _pages(directory, found.file), _base(environ))
    return _Answer(
        "200 OK",
        headers.content_type(found.file),
        content,
        cache=headers.ASSET if found.file.startswith("/assets/") else headers.REVALIDATE,
        more=(("Link", related),) if related else (),
        # Weak, for it is the same whether the body is compressed or not.
        tag=f'W/"{hashlib.sha256(content).hexdigest()[:32]}"',
    )


def _said(status: str, error: str) -> _Answer:
    body = json.dumps({"error": error}) + "\n"
    return _Answer(status, headers.CONTENT_TYPES["json"], body.encode())


def _missing(directory: Path) -> _Answer:
    with contextlib.suppress(OSError):
        if page := _content(directory, "/404.html"):
            return _Answer("404 Not Found", headers.CONTENT_TYPES["html"], page)
    return _Answer("404 Not Found", headers.CONTENT_TYPES["txt"], _NO_FILE)


def _content(directory: Path, file: str) -> bytes | None:
    """One whole file, though it may be replaced at any moment: opened once, read once. None if
    there is none, or none within the directory."""
    root = os.path.realpath(directory)
    path = os.path.realpath(root + file)
    if not path.startswith(root.rstrip("/") + "/"):
        return None
    try:
        # A pipe must not keep this waiting, nor a link that was not there a moment ago lead out.
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                return None
            with os.fdopen(opened, "rb", closefd=False) as source:
                return source.read()
        finally:
            os.close(opened)
    except OSError as error:
        if error.errno in _NO_SUCH_FILE:
            return None
        raise


def _pages(directory: Path, file: str) -> int:
    exist = takewhile(lambda page: Path(f"{directory}{page}").is_file(), routing.pages(file))
    return sum(1 for _ in exist)


def _base(environ: WSGIEnvironment) -> str:
    host = environ.get("HTTP_HOST", "")
    if not _HOST.fullmatch(host):
        host = f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    return f"{environ['wsgi.url_scheme']}://{host}"


def _known(if_none_match: str, tag: str) -> bool:
    """Whether the client has it already. Weakly compared, as the standard wants it here."""
    theirs = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return "*" in theirs or tag.removeprefix("W/") in theirs


def _encoded(answer: _Answer, accepted: str) -> tuple[bytes, list[tuple[str, str]]]:
    """The body as it is sent, and the header that says how."""
    if len(answer.body) >= _WORTH_COMPRESSING and _takes_gzip(accepted):
        smaller = gzip.compress(answer.body, compresslevel=6, mtime=0)
        if len(smaller) < len(answer.body):
            return smaller, [("Content-Encoding", "gzip")]
    return answer.body, []


def _takes_gzip(accepted: str) -> bool:
    weights = {}
    for each in accepted.lower().split(","):
        coding, _, weight = each.partition(";")
        weights[coding.strip()] = weight.replace(" ", "")
    refused = re.compile(r"q=0(\.0*)?")
    return not refused.fullmatch(weights.get("gzip", weights.get("*", "q=0")))
