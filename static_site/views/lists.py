"""Lists of jobs, workers and runs: one of the newest pages, or a part of a day."""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple

from ..formats import day, list_address, short_day
from . import rows, status

TITLES = {"jobs": "Jobs", "workers": "Workers", "runs": "Runs"}


class PageLink(NamedTuple):
    number: int  # 0: some are left out here
    address: str


def view(model: Mapping[str, Any]) -> dict[str, Any]:
    name, its_day, page = model["list_name"], model["day"], model["page"]
    title = TITLES[name]
    place = f"page {page} of {model['pages']}" if model["pages"] > 1 else ""
    return {
        "section": name,
        "title": ", ".join(part for part in (title, its_day and day(its_day), place) if part),
        "heading": title,
        "name": name,
        "rows": list(map(rows.OF_LISTS[name], model["rows"])),
        "day": its_day,
        "day_words": day(its_day) if its_day else "",
        "settled": bool(model["settled"]),
        "live": not model["settled"],
        "page": page,
        "pages": model["pages"],
        "links": list(_links(name, its_day, page, model["pages"])),
        "around": _days_around(name, its_day) if its_day else None,
        "older": _older(name, model) if not its_day else None,
        "choices": status.CHOICES[name],
        "address": list_address(name, its_day, page),
        "twin": list_address(name, its_day, page, twin=True),
    }


def _links(name: str, its_day: str | None, page: int, pages: int) -> Iterator[PageLink]:
    """All of a few pages; of many, the first, the last and those around this one."""
    before = 0
    for number in range(1, pages + 1):
        if pages <= 10 or number in (1, pages) or abs(number - page) <= 2:
            if number > before + 1:
                yield PageLink(0, "")
            yield PageLink(number, list_address(name, its_day, number))
            before = number


def _days_around(name: str, its_day: str) -> list[tuple[str, str, str]]:
    """The day before and the day after; days.json knows whether there are such."""
    this = date.fromisoformat(its_day)
    around = [("older", this - timedelta(days=1)), ("newer", this + timedelta(days=1))]
    return [
        (relation, list_address(name, other.isoformat()), short_day(other.isoformat()))
        for relation, other in around
    ]


def _older(name: str, model: Mapping[str, Any]) -> tuple[str, str] | None:
    """What is too old for the newest pages is found by its day: that of the oldest row here."""
    its_day = model["oldest_day"]
    return (list_address(name, its_day), short_day(its_day)) if its_day else None
