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
from .live import page_name, publish_failed_workers
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
AUDITED_WORKERS = 50


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

    def is_due(self, live_since: datetime | None, *, quiet: bool) -> bool:
        """What is not live any more must be in its day's files."""
        last = self._memory.archive.refreshed_at
        if last is None or not self._memory.archive.complete or last > self._now:
            return True
        if live_since is not None and live_since >= last:
            return True
        return self._now - last >= (REFRESH_EVERY if quiet else REFRESH_AT_LAST)

    def refresh(self, waits: Waits, has_time: Callable[[], bool]) -> None:
        """What may have changed, what is missing at its newest end, and as much of what is missing
        at its oldest as there is time for."""
        self._load()
        for day in sorted(self._unsettled() | set(self._new_days()), reverse=True):
            if day not in self._days:
                self._publish_failed_of(day)
            self._make(day, waits)
        while not self._memory.archive.complete and has_time():
            self._go_back(waits)
        self._audit_days()
        self._audit_workers()
        self._memory.archive.refreshed_at = self._now
        self._save()

    def everything(self, waits: Waits) -> None:
        """Every day there is, whatever is known of it."""
        self._load()
        self._uploader.stored |= self._target.listing("workers/")
        day: date | None = self._today
        while day is not None:
            self._publish_failed_of(day)
            self._make(day, waits)
            day = self._reader.day_before(day)
        self._memory.archive.oldest = min(self._days)
        self._memory.archive.complete = True
        self._memory.archive.refreshed_at = self._now
        self._save()

    @property
    def _today(self) -> date:
        return self._now.astimezone(UTC).date()

    # Which days ----------------------------------------------------------------------------------

    def _load(self) -> None:
        found = load_days(self._target.get(INDEX))
        if found is None:  # Then nothing is known of what there is.
            self._memory.archive.oldest, self._memory.archive.complete = None, False
            self._changed = True
        self._days = found or {}

    def _save(self) -> None:
        if self._changed:
            days = [self._days[day] for day in sorted(self._days, reverse=True)]
            self._uploader.put([Object(INDEX, dumped({"days": days}), headers.LIVE)])

    def _unsettled(self) -> set[date]:
        return {day for day, entry in self._days.items() if not entry["settled"]} | {self._today}

    def _new_days(self) -> Iterable[date]:
        """Back from today to the first one that is known: nobody may have published for days."""
        day = self._reader.day_before(self._today)
        while day is not None and day not in self._days and self._days:
            yield day
            day = self._reader.day_before(day)

    def _go_back(self, waits: Waits) -> None:
        archive = self._memory.archive
        before = archive.oldest or min(self._days, default=self._today)
        day = self._reader.day_before(before)
        if day is None:
            archive.complete = True
            return
        if day not in self._days:
            self._publish_failed_of(day)
            self._make(day, waits)
        archive.oldest = day

    # One day -------------------------------------------------------------------------------------

    def _make(self, day: date, waits: Waits) -> None:
        folder = f"days/{day}/"
        self._uploader.stored |= self._target.listing(folder)
        with self._reader.one_moment():
            counts = {name: self._reader.count(name, day) for name in LISTS}
            if self._was_more(day, counts):
                return
            over = self._now >= span(day)[1] + SETTLED_AFTER
            settled = over and not any(active for _, active in counts.values())
            for name in LISTS:
                self._make_list(folder, name, day, counts[name][0], settled, waits)
        entry: DayEntry = {
            "day": day.isoformat(),
            "settled": settled,
            "jobs": _count(counts["jobs"][0]),
            "workers": _count(counts["workers"][0]),
            "runs": _count(counts["runs"][0]),
        }
        if self._days.get(day) != entry:
            self._days[day] = entry
            self._changed = True

    def _was_more(self, day: date, counts: Mapping[ListName, tuple[int, int]]) -> bool:
        """What was removed from the database stays published."""
        known = self._days.get(day)
        return (
            known is not None
            and known["settled"]
            and any(counts[name][0] < known[name]["rows"] for name in LISTS)
        )

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

    def _publish_failed_of(self, day: date) -> None:
        """Before the day's files, which lead to them."""
        publish_failed_workers(self._reader, self._uploader, self._reader.failed_of_day(day))

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
        """The pages of a few more failed workers, at each refresh."""
        after = self._memory.archive.audited_worker
        names = self._reader.failed_after(after, AUDITED_WORKERS)
        there = self._target.present(
            [f"workers/{name}.{extension}" for name in names for extension in EXTENSIONS]
        )
        missing = [
            name
            for name in names
            if not there.issuperset(f"workers/{name}.{extension}" for extension in EXTENSIONS)
        ]
        publish_failed_workers(self._reader, self._uploader, missing)
        whole_round = len(names) < AUDITED_WORKERS
        self._memory.archive.audited_worker = "" if whole_round else names[-1]


def _pages(rows: int) -> int:
    """A day that is there at all has a first part, even if that is empty."""
    return max(1, -(-rows // PART))


def _count(rows: int) -> DayCount:
    return {"rows": rows, "pages": _pages(rows)}


def paths_of(entry: DayEntry) -> set[str]:
    return {
        f"days/{entry['day']}/{page_name(name, number)}.{extension}"
        for name in LISTS
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
