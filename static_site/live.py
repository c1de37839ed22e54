"""The pages that every run may change: the overview, usage, and the newest rows of each list."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from . import cuts, headers
from .memory import Memory
from .model import LISTS, ListName
from .pages import figures, overview, usage
from .pages.failed_worker import failed_worker
from .pages.lists import list_page
from .pages.waits import Waits
from .reading import FIRST, Reader
from .rows import FailedWorkerRow, Failure, FigureRows, Live, Place
from .uploading import Page, Uploader
from .words import stamp

# What a run writes it may commit a little later than it says, and clocks differ: so far back failed
# workers are looked for anew.
LOOK_BACK = timedelta(minutes=15)
_POD_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,239}")
MOST_CHANGED = 9  # pages that one publishing changes, if it can: with twins and all, 20 objects
AT_ONCE = 50  # failed workers' pages: each may have logs of 64 KiB


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that live pages are made of, of one moment."""

    live: Live
    newest: dict[ListName, list[Any]]
    figures: FigureRows | None  # None: those that are known are new enough
    figures_at: datetime
    failures: list[Failure]


def read(reader: Reader, memory: Memory, now: datetime) -> Snapshot:
    at = figures.moment_of(now)
    known = memory.figures is not None and memory.figures["at"] == stamp(at)
    with reader.one_moment():
        newest = {name: _newest(reader, memory, name) for name in LISTS}
        since = _failures_since(memory, newest["workers"], now)
        return Snapshot(
            live=reader.live(now, usage.JOBS_OF_GROUP, usage.WORKERS),
            newest=newest,
            figures=None
            if known
            else reader.figures(
                at,
                figures.first_hour(at),
                figures.LABEL_SETS,
                figures.TENANTS,
                figures.FAILURES,
            ),
            figures_at=at,
            failures=reader.failed_since(since, now, memory.failures),
        )


def _newest(reader: Reader, memory: Memory, name: ListName) -> list[Any]:
    known = memory.cuts.get(name, [])
    after: Place = known[-1] if len(known) == cuts.PAGES else FIRST[name]
    rows = reader.newest(name, after, cuts.MOST_ROWS)
    if not rows and after != FIRST[name]:  # All of them are gone: this is another database.
        rows = reader.newest(name, FIRST[name], cuts.MOST_ROWS)
    return rows


def _failures_since(memory: Memory, workers: Sequence[Any], now: datetime) -> datetime:
    """The first time, those that the live pages show; older ones come with their day."""
    if memory.failures_until is not None:
        return min(memory.failures_until, now) - LOOK_BACK
    return min((row.created_at for row in workers), default=now) - LOOK_BACK


class LivePages:
    def __init__(self, snapshot: Snapshot, memory: Memory, uploader: Uploader) -> None:
        self._snapshot = snapshot
        self._memory = memory
        self._uploader = uploader
        live = snapshot.live
        self.waits = Waits(live.waits, live.covered, live.boards, live.worker_counts)

    def publish(self, reader: Reader, now: datetime) -> None:
        """What a page leads to comes before it."""
        self._take_figures()
        self._cut_anew()
        pages = self._pages()
        room = MOST_CHANGED - sum(map(self._uploader.changed, pages))
        if self._pass_on(steps=room // 2):
            pages = self._pages()
        self._publish_failures(reader, now)
        # From the last page to the first: what moves from one to the next is then on both for a
        # moment, and never on neither.
        for number in reversed(range(1, cuts.PAGES + 1)):
            self._uploader.publish(page for page in pages if page.model.get("page") == number)
        self._uploader.publish(page for page in pages if "page" not in page.model)
        self._remove_left_over(pages)

    def _take_figures(self) -> None:
        rows = self._snapshot.figures
        if rows is not None:
            self._memory.figures = figures.figures(rows, self._snapshot.figures_at)
            self._memory.usual_seconds = figures.usual_seconds(rows.ended)

    # Lists ---------------------------------------------------------------------------------------

    def _cut_anew(self) -> None:
        for name in LISTS:
            rows = self._snapshot.newest[name]
            if cuts.are_due(rows, self._memory.cuts.get(name)):
                self._memory.cuts[name] = cuts.fresh(rows)

    def _pass_on(self, steps: int) -> bool:
        """So many steps at most, each of which changes two pages. Whether there was one."""
        taken = 0
        for name in LISTS:
            rows = self._snapshot.newest[name]
            while taken < steps and (moved := cuts.passed_on(rows, self._memory.cuts[name])):
                self._memory.cuts[name] = moved
                taken += 1
        return taken > 0

    @property
    def live_since(self) -> datetime | None:
        """What came before is not on the live pages of every list."""
        return max(
            (found[-1][0] for found in self._memory.cuts.values() if len(found) == cuts.PAGES),
            default=None,
        )

    def _pages(self) -> list[Page]:
        assert self._memory.figures is not None  # noqa: S101 taken before
        live = self._snapshot.live
        first = overview.overview(live, self._memory.figures, self._memory.usual_seconds)
        return [
            *(page for name in LISTS for page in self._list_pages(name)),
            Page("usage", "usage", usage.usage(live, self.waits)),
            Page("index", "overview", first),
            Page("404", "missing", {}, headers.LIVE, timed=False),
        ]

    def _list_pages(self, name: ListName) -> Iterable[Page]:
        pages = cuts.cut(self._snapshot.newest[name], self._memory.cuts[name])
        for number, rows in enumerate(pages, start=1):
            model = list_page(name, rows, self.waits, page=number, pages=len(pages))
            yield Page(page_name(name, number), "list", model, headers.LIVE, len(pages))

    def _remove_left_over(self, pages: Sequence[Page]) -> None:
        """Of a list that has become shorter."""
        there = {page.name for page in pages}
        possible = {
            page_name(name, number) for name in LISTS for number in range(1, cuts.PAGES + 1)
        }
        found = {path.rpartition(".")[0] for path in self._uploader.stored}
        for name in sorted(possible & found - there):
            self._uploader.remove(name)

    # Failed workers ------------------------------------------------------------------------------

    def _publish_failures(self, reader: Reader, now: datetime) -> None:
        failures = self._snapshot.failures
        new = [
            each.pod_name
            for each in failures
            if self._memory.failures.get(each.pod_name) != each.state
        ]
        publish_failed_workers(reader, self._uploader, new)
        if new or self._memory.failures_until is None:
            self._memory.failures_until = now
        recent = self._memory.failures_until - LOOK_BACK
        self._memory.failures = {
            each.pod_name: each.state
            for each in failures
            if each.updated_at > recent or each.job_is_live
        }


def publish_failed_workers(reader: Reader, uploader: Uploader, names: Sequence[str]) -> None:
    """Their pages stay as they are: they are not remembered one by one."""
    names = publishable(names)
    for start in range(0, len(names), AT_ONCE):
        rows = reader.failed_workers(names[start : start + AT_ONCE])
        uploader.publish(map(_page_of, rows), remember=False)


def publishable(names: Iterable[str]) -> list[str]:
    """A name that cannot be part of an address is nobody's pod."""
    return [name for name in names if _POD_NAME.fullmatch(name)]


def _page_of(row: FailedWorkerRow) -> Page:
    name = f"workers/{row.worker.pod_name}"
    return Page(name, "worker", failed_worker(row), headers.DIAGNOSIS, timed=False)


def page_name(name: str, number: int) -> str:
    return name if number == 1 else f"{name}.{number}"
