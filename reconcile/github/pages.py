"""Listings: every page or an error, and what has not changed is not sent again.

A listing is pages that are asked for one after the other, and the world does not stand still
meanwhile: what is deleted from the first page moves something from the second onto it, which is
then never seen. GitHub says on each page how many there are; a listing whose pages disagree about
that, or that has fewer, is read again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from ..errors import PermanentError, TransientError
from ..model import Json, Listing, Pages, T
from .shapes import Kind, ShapeError, field
from .transport import Answer

PAGE_LIMIT = 1000
READS = 3  # of a listing that changes while it is read

Ask = Callable[[str, str | None], Answer]  # an address and an ETag; answered with 200 or 304


@dataclass(frozen=True, slots=True)
class _Page(Generic[T]):
    """New, or known from before."""

    etag: str
    total: int  # of all pages
    items: list[T]


def read_listing(ask: Ask, target: str, known: Pages, kind: Kind[T]) -> Listing[T]:
    """All there is at that address, which has a query already."""
    for _ in range(READS):
        listing, is_whole = _read_once(ask, target, known, kind)
        if is_whole:
            return listing
        known = []
    raise TransientError(f"{target.partition('?')[0]}: it changes while it is read.")


def _read_once(ask: Ask, first: str, known: Pages, kind: Kind[T]) -> tuple[Listing[T], bool]:
    """And whether it is whole."""
    pages: Pages = []
    items: dict[int, T] = {}
    totals: set[int] = set()
    changed = False
    target: str | None = first
    while target is not None:
        index = len(pages)
        if index == PAGE_LIMIT:
            raise PermanentError(f"{first.partition('?')[0]}: more than {PAGE_LIMIT} pages.")
        page = _stored(known[index], kind) if index < len(known) else None
        answer = ask(target, page.etag if page else None)
        if answer.status != 304:
            changed = True
            page = _fresh(answer, kind)
            pages.append(_to_store(page, kind))
            target = answer.next_page
        elif page is None:
            raise TransientError(f"{answer.call}: unchanged, though nothing was known.")
        else:
            pages.append(known[index])
            # Its number of pages is unchanged too: GitHub's tag covers how many there are.
            target = f"{first}&page={index + 2}" if index + 1 < len(known) else None
        totals.add(page.total)
        items.update((kind.id_of(it), it) for it in page.items)
    is_whole = totals == {len(items)}
    return Listing(list(items.values()), pages, changed), is_whole


def _fresh(answer: Answer, kind: Kind[T]) -> _Page[T]:
    try:
        items = [kind.read(each) for each in field(answer.value, kind.name, list)]
        return _Page(answer.etag or "", field(answer.value, "total_count", int), items)
    except ShapeError as error:
        raise unreadable(answer, error) from error


def _to_store(page: _Page[T], kind: Kind[T]) -> Json:
    items = [kind.store(each) for each in page.items]
    return {"etag": page.etag, "total": page.total, "items": items}


def _stored(page: Json, kind: Kind[T]) -> _Page[T] | None:
    """None for what cannot be read any more: then it is asked for as if it were new."""
    try:
        etag, total = field(page, "etag", str), field(page, "total", int)
        items = [kind.read(each) for each in field(page, "items", list)]
    except ShapeError:
        return None
    return _Page(etag, total, items) if etag else None


def unreadable(answer: Answer, error: ShapeError) -> TransientError:
    return TransientError(f"{answer.call}: an answer that cannot be used: {error}.")
