"""The files of days: everything, also what is older than the live pages.

A day's files are made anew while they may change and then never again. A run makes a few of those
that are missing, the newest first, and looks whether some are gone: what it does is the same
however much history there is.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any

from . import headers
from .live import page_name, publish_failed_workers, publishable
from .memory import Memory
from .model import LISTS, DayCount, DayEntry, ListName
from .pages.lists import list_page
from .pages.waits import NOTHING_WAITS, Waits
from .reading import FIRST, Reader, span
from .targets import Object, Target
from .uploading import EXTENSIONS, Page, Uploader, dumped

INDEX = "days.json"
PART = 1000  # rows
REFRESH_EVERY = timedelta(minutes=5)  # if there is nothing else to do, else
REFRESH_AT_LAST = timedelta(minutes=10)
SETTLED_AFTER = timedelta(hours=1)  # a day's end, if all its rows are at theirs
REMOVED_AFTER = timedelta(
    days=7
)  # a day's end, at the earliest: for so long all its rows are there
AUDITED_WORKERS = 20
TELLING_OF_EACH_OTHER: set[ListName] = {"jobs", "workers"}


class ArchivePages:
    def __init__(
        self, reader: Reader, target: Target, memory: Memory, uploader: Uploader, now: datetime
    ) -> None:
        self._reader = reader
        self._target = target
        self._memory = memory
        self._uploader = uploader
        self._now = now
        self._days: dict[date, DayEntry] = {}
        self._changed = False
        # From the one day to the other all are listed; and whether there are none before.
        self._known: tuple[date | None, date | None, bool] = (None, None, False)

    def is_due(self, live_since: datetime | None, *, quiet: bool) -> bool:
        """What is not live any more must be in its day's files."""
        last = self._memory.archive.refreshed_at
        if last is None or not self._memory.archive.complete or last > self._now:
            return True
        if live_since is not None and live_since >= last:
            return True
        return self._now - last >= (REFRESH_EVERY if quiet else REFRESH_AT_LAST)

    def refresh(self, waits: Waits, has_time: Callable[[], bool]) -> None:
        """What may have changed, and as much of what is missing as there is time for. What was made
        is listed, and known to be, also if the rest could not be."""
        self._load()
        try:
            for day in sorted(self._unsettled(), reverse=True):
                self._make_with_failures(day, waits)
            self._make_missing(waits, has_time)
            self._audit_days()
            self._audit_workers()
        finally:
            self._save()
        self._memory.archive.refreshed_at = self._now

    def everything(self, waits: Waits) -> None:
        """Every day there is, whatever is known of it."""
        self._load()
        self._uploader.stored |= self._target.listing("workers/")
        self._known, day = (self._today, self._today, False), self._today
        try:
            while True:
                self._make_with_failures(day, waits, anew=True)
                self._known = day, self._today, False
                before = self._reader.day_before(day)
                if before is None:
                    self._known = day, self._today, True
                    break
                day = before
        finally:
            self._save()
        self._memory.archive.refreshed_at = self._now

    @property
    def _today(self) -> date:
        return self._now.astimezone(UTC).date()

    # Which days ----------------------------------------------------------------------------------

    def _load(self) -> None:
        archive = self._memory.archive
        found = load_days(self._target.get(INDEX))
        if found is None:  # Then nothing is known of what there is.
            archive.oldest, archive.newest, archive.complete = None, None, False
            self._changed = True
        self._days = found or {}
        self._known = archive.oldest, archive.newest, archive.complete

    def _save(self) -> None:
        """Only what is listed is known: else nobody would look for it again."""
        if self._changed:
            days = [self._days[day] for day in sorted(self._days, reverse=True)]
            item = Object(INDEX, dumped({"days": days}), headers.LIVE)
            self._uploader.put([item], in_any_case=True)
        archive = self._memory.archive
        archive.oldest, archive.newest, archive.complete = self._known

    def _unsettled(self) -> set[date]:
        return {day for day, entry in self._days.items() if not entry["settled"]} | {self._today}

    def _make_missing(self, waits: Waits, has_time: Callable[[], bool]) -> None:
        """Back from today, past those that are known, one at least: there may be none of the latest
        if nobody published, and none of the oldest if nobody ever did."""
        oldest, newest, _ = self._known
        day, made = self._today, 0
        while (before := self._reader.day_before(day)) is not None:
            day = before
            if oldest is not None and newest is not None and oldest <= day <= newest:
                day = oldest
            elif day not in self._days:
                if made and not has_time():
                    return
                self._make_with_failures(day, waits)
                made += 1
            self._known = day, self._today, False
        self._known = day, self._today, True

    def _make_with_failures(self, day: date, waits: Waits, *, anew: bool = False) -> None:
        """What a day's files lead to comes before them."""
        if anew or day not in self._days:
            names = self._reader.failed_of_day(day)
            publish_failed_workers(self._reader, self._uploader, names)
        self._make(day, waits)

    # One day -------------------------------------------------------------------------------------

    def _make(self, day: date, waits: Waits) -> None:
        folder = f"days/{day}/"
        there = self._target.listing(folder)
        self._uploader.stored |= there
        with self._reader.one_moment():
            counts = {name: self._reader.count(name, day) for name in LISTS}
            rows = {name: counts[name][0] for name in LISTS}
            kept = self._kept(day, rows, there)
            over = self._now >= span(day)[1] + SETTLED_AFTER
            settled = over and not any(active for _, active in counts.values())
            for name in LISTS:
                if name not in kept:
                    self._make_list(folder, name, day, rows[name], settled, waits)
        rows |= kept
        for left_over in left_over_parts(folder, there, rows):
            self._uploader.remove(left_over)
        entry: DayEntry = {
            "day": day.isoformat(),
            "settled": settled,
            "jobs": _count(rows["jobs"]),
            "workers": _count(rows["workers"]),
            "runs": _count(rows["runs"]),
        }
        if self._days.get(day) != entry:
            self._days[day] = entry
            self._changed = True

    def _kept(
        self, day: date, rows: Mapping[ListName, int], there: Iterable[str]
    ) -> dict[ListName, int]:
        """The lists that are left as they were published, and how many rows they have: what was
        removed from the database since stays."""
        known = self._days.get(day)
        if known is None:
            return {}
        if not known["settled"] and self._now < span(day)[1] + REMOVED_AFTER:
            return {}
        shorter = {name for name in LISTS if rows[name] < known[name]["rows"]}
        if shorter & TELLING_OF_EACH_OTHER:
            shorter |= TELLING_OF_EACH_OTHER
        found = set(there)
        return {
            name: known[name]["rows"]
            for name in shorter
            if found.issuperset(_paths_of(known, name))
        }

    def _make_list(
        self, folder: str, name: ListName, day: date, rows: int, settled: bool, waits: Waits
    ) -> None:
        after = FIRST[name]
        pages = _pages(rows)
        for number in range(1, pages + 1):
            oldest_first: list[Any] = self._reader.of_day(name, day, after, PART)
            if oldest_first:
                after = oldest_first[-1].place
            model = list_page(
                name,
                oldest_first[::-1],
                waits,
                page=number,
                pages=pages,
                day=day.isoformat(),
                settled=settled,
            )
            page = Page(
                folder + page_name(name, number),
                "list",
                model,
                headers.ARCHIVE if settled else headers.SETTLING,
                pages,
                timed=not settled,
            )
            self._uploader.publish([page])
            if settled:
                self._uploader.forget(page.name)

    # What somebody took away ---------------------------------------------------------------------

    def _audit_days(self) -> None:
        """The next month's, at each refresh: all come round, and none costs more than a listing."""
        months = [
            (month, list(days))
            for month, days in groupby(sorted(self._days), key=lambda day: f"{day:%Y-%m}")
        ]
        if not months:
            return
        later = [each for each in months if each[0] > self._memory.archive.audited_month]
        month, days = (later or months)[0]
        there = set(self._target.names(f"days/{month}"))
        for day in days:
            if not there.issuperset(paths_of(self._days[day])):
                self._make(day, NOTHING_WAITS)
        self._memory.archive.audited_month = month

    def _audit_workers(self) -> None:
        """The pages of a few more failed workers, at each refresh: whether they are there, and say
        what there is to say. A webhook that comes hours late may tell that a job was private."""
        after = self._memory.archive.audited_worker
        names = self._reader.failed_after(after, AUDITED_WORKERS)
        pages = publishable(names)
        self._uploader.stored |= self._target.tokens(
            [f"workers/{name}.{extension}" for name in pages for extension in EXTENSIONS]
        )
        publish_failed_workers(self._reader, self._uploader, pages)
        whole_round = len(names) < AUDITED_WORKERS
        self._memory.archive.audited_worker = "" if whole_round else names[-1]


def left_over_parts(folder: str, there: Iterable[str], rows: Mapping[ListName, int]) -> list[str]:
    """Of lists of that day that have become shorter: the database is an older state of itself."""
    wanted = {
        folder + page_name(name, number)
        for name in LISTS
        for number in range(1, _pages(rows[name]) + 1)
    }
    return sorted({path.rpartition(".")[0] for path in there} - wanted)


def _pages(rows: int) -> int:
    """A day that is there at all has a first part, even if that is empty."""
    return max(1, -(-rows // PART))


def _count(rows: int) -> DayCount:
    return {"rows": rows, "pages": _pages(rows)}


def paths_of(entry: DayEntry) -> set[str]:
    return {path for name in LISTS for path in _paths_of(entry, name)}


def _paths_of(entry: DayEntry, name: ListName) -> set[str]:
    return {
        f"days/{entry['day']}/{page_name(name, number)}.{extension}"
        for number in range(1, entry[name]["pages"] + 1)
        for extension in EXTENSIONS
    }


def load_days(stored: bytes | None) -> dict[date, DayEntry] | None:
    """None if there is no list, or none that can be read."""
    try:
        found = json.loads(stored or b"")["days"]
        return {date.fromisoformat(entry["day"]): _entry(entry) for entry in found}
    except (ValueError, TypeError, KeyError):
        return None


def _entry(found: dict[str, Any]) -> DayEntry:
    def count(name: str) -> DayCount:
        return {"rows": int(found[name]["rows"]), "pages": int(found[name]["pages"])}

    return {
        "day": str(found["day"]),
        "settled": bool(found["settled"]),
        "jobs": count("jobs"),
        "workers": count("workers"),
        "runs": count("runs"),
    }
