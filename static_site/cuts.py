"""Which row is on which live page.

The newest ten pages of a list are live, and a new row must not move all others one down: nine pages
would change for each. So a page begins where it began last time, and only the first one grows. One
that has become twice as long passes its older half on to the next: few of them at a publishing, so
that none has much to do.
"""

from collections.abc import Sequence
from typing import Any

from .rows import Place

PAGE = 100
PAGES = 10
LONG = 200  # rows, from which on a page passes the older ones on
LONGEST = 300  # when there is no time for that: then all pages are cut anew
MOST_ROWS = 1600  # that are ever read


def fresh(newest_first: Sequence[Any]) -> list[Place]:
    """Where each page ends: rows up to that place are on the next. With as many cuts as pages, the
    last one is where the live part of the list ends."""
    return [
        newest_first[PAGE * page].place
        for page in range(1, PAGES + 1)
        if len(newest_first) > PAGE * page
    ]


def cut(newest_first: Sequence[Any], cuts: Sequence[Place]) -> list[list[Any]]:
    """The pages; at least one, which may be empty."""
    count = min(len(cuts) + 1, PAGES)
    pages: list[list[Any]] = [[] for _ in range(count)]
    page = 0
    for row in newest_first:
        while page < len(cuts) and row.place <= cuts[page]:
            page += 1
        if page >= count:
            break
        pages[page].append(row)
    return pages


def are_due(newest_first: Sequence[Any], cuts: Sequence[Place] | None) -> bool:
    """Whether the pages are to be cut anew: none are known, more came than could be passed on, the
    newest rows are gone, and this is another database or an older state of it, or the oldest, which
    were not to be kept for so long."""
    if cuts is None or len(newest_first) >= MOST_ROWS:
        return True
    pages = cut(newest_first, cuts)
    if len(pages) > 1 and not (pages[0] and pages[-1]):
        return True
    return max(map(len, pages)) >= LONGEST


def passed_on(newest_first: Sequence[Any], cuts: Sequence[Place]) -> list[Place] | None:
    """The cuts after one step: the last of the long pages has given its oldest hundred rows to the
    next, which is not too long with them, or, as the last of all, away. None if no page is long."""
    pages = cut(newest_first, cuts)
    for number in reversed(range(len(pages))):
        if len(pages[number]) >= LONG:
            return [*cuts[:number], pages[number][-PAGE].place, *cuts[number + 1 :]]
    return None
