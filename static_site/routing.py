"""Which file answers a request, and the Link header of a list. Pure.

The CDN's function in template.yaml has the same rules; tests/site_routing.json tries both.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import parse_qsl, unquote

from .headers import CONTENT_TYPES

# There is no such file, and so the answer is 404: for what no file can be called.
NOWHERE = "/nowhere.html"

ONE_DAY = (
    "A file holds one day. Ask for each day by itself, with start and end the same date; "
    "/days.json lists the days there are."
)
DATES = (
    "start and end are days in UTC: YYYY-MM-DD, or -Xd for X days before today; "
    "end is not before start, and is today if it is left out."
)

_LONGEST_PATH = 300  # A worker's name has at most 253 letters.
_LONGEST_PAGE = 4  # digits
# Letters that need no encoding, no empty names, none that begins with a dot.
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
_EXTENSION = re.compile(rf".*\.(?:{'|'.join(CONTENT_TYPES)})")
_LIST = re.compile(r"(jobs|history|workers|runs)(\.html|\.json)?")
_PART = re.compile(
    r"/(?:days/([0-9]{4}-[0-9]{2}-[0-9]{2})/)?(jobs|workers|runs)"
    r"(?:\.([1-9][0-9]{0,3}))?(\.html|\.json)"
)
# Not int() and isoformat's leniency: other digits than these ten, week dates, signs.
_NUMBER = re.compile(r"[0-9]+")
_DATE = re.compile(r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}")
_DAYS_AGO = re.compile(r"-0*([0-9]{1,4})d")

_OF_THEIR_OWN = {
    "": "/index.html",
    "health": "/health.json",
    "days": "/days.json",
}


@dataclass(frozen=True)
class Found:
    """A file, by its path from the site's root; or what is wrong with the question, which is
    answered with 400. Exactly one of them."""

    file: str | None = None
    error: str | None = None


def resolve(path: str, query: str, today: date) -> Found:
    """Path and query as they are in the URL, percent-encoded. Whatever they are, a file's path is
    plain: nothing in it needs encoding or leads out of the site. What is a file already is
    itself, so resolving twice changes nothing."""
    if len(path) > _LONGEST_PATH:
        return Found(NOWHERE)
    name = unquote(path).strip("/")
    if name in _OF_THEIR_OWN:
        return Found(_OF_THEIR_OWN[name])
    if not _PLAIN.fullmatch(name):
        return Found(NOWHERE)
    if asked := _LIST.fullmatch(name):
        the_list = "jobs" if asked[1] == "history" else asked[1]
        return _page_of_list(the_list, asked[2] or ".html", _parameters(query), today)
    return Found(f"/{name}" if _EXTENSION.fullmatch(name) else f"/{name}.html")


def _parameters(query: str) -> dict[str, str]:
    """Of a repeated one, the first."""
    pairs = parse_qsl(query, keep_blank_values=True, errors="replace")
    return dict(reversed(pairs))


def _page_of_list(name: str, extension: str, parameters: dict[str, str], today: date) -> Found:
    start, end = parameters.get("start", ""), parameters.get("end", "")
    page = parameters.get("page", "")
    if not start and not end:
        return Found(_page(f"/{name}", page, extension))
    try:
        day = _one_day(start, end, today)
    except ValueError:
        error = DATES
    else:
        if day is not None:
            return Found(_page(f"/days/{day.isoformat()}/{name}", page, extension))
        error = ONE_DAY
    # The page's script puts a range together, and says what is wrong with one.
    return Found(f"/{name}.html") if extension == ".html" else Found(error=error)


def _one_day(start: str, end: str, today: date) -> date | None:
    """The day that is asked for, None if there are several. A ValueError if there is none."""
    last = _day(end, today) if end else today
    if not start:
        return None
    first = _day(start, today)
    if last < first:
        raise ValueError("end before start")
    return first if first == last else None


def _day(text: str, today: date) -> date:
    if ago := _DAYS_AGO.fullmatch(text):
        return today - timedelta(days=int(ago[1]))
    if not _DATE.fullmatch(text):
        raise ValueError("not a day")
    return date.fromisoformat(text)


def _page(stem: str, page: str, extension: str) -> str:
    number = page.lstrip("0") if _NUMBER.fullmatch(page) else ""
    if number in ("", "1"):
        return f"{stem}{extension}"
    return f"{stem}.{number}{extension}" if len(number) <= _LONGEST_PAGE else NOWHERE


def pages(file: str) -> Iterator[str]:
    """All the pages that the file's list could have, in order. None if it is no list's."""
    if part := _PART.fullmatch(file):
        stem = f"/days/{part[1]}/{part[2]}" if part[1] else f"/{part[2]}"
        for number in range(1, 10**_LONGEST_PAGE):
            yield _page(stem, str(number), part[4])


def link(file: str, pages: int, base: str) -> str | None:
    """The Link header of a list's page as GitHub writes it, of whole URLs under `base`
    (`https://host`). None for what is no list, or has but one page."""
    part = _PART.fullmatch(file)
    if part is None or pages < 2:
        return None
    day, name, number, extension = part.groups()
    page = int(number or 1)
    dates = f"start={day}&end={day}&" if day else ""
    address = f"{base}/{name}{extension.replace('.html', '')}?{dates}page="
    related = {}
    if page > 1:
        # There may be fewer by now than when this page was made.
        related["prev"] = min(page - 1, pages)
    if page < pages:
        related |= {"next": page + 1, "last": pages}
    if page > 1:
        related["first"] = 1
    return ", ".join(f'<{address}{to}>; rel="{relation}"' for relation, to in related.items())
