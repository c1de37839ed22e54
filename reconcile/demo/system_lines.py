"""Rows to lines: what the system met and did about it, a short sentence each. Pure."""

import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeVar

from .figures import Happening

R = TypeVar("R")
K = TypeVar("K")
TOLD_ONE_BY_ONE = 3  # of those that were met by the same at a time; of more, their number is told
STILL_THE_SAME = 3  # runs later at most
LONGEST_ERROR = 160


class FailedWorker(NamedTuple):
    pod: str
    node: str | None
    reason: str
    at: datetime


class GivenUpJob(NamedTuple):
    job_id: int
    account: str
    reason: str
    at: datetime


class TroubledRun(NamedTuple):
    number: int
    status: str
    at: datetime
    error: str


class HeldDemand(NamedTuple):
    entity_id: int
    repository: str
    labels_key: str
    failures: int
    reason: str
    failed_at: datetime
    retry_at: datetime
    parked: bool
    name: str  # of the account, or of its repository
    labels: Sequence[str]

    @property
    def key(self) -> tuple[object, ...]:
        """Another failure is another happening."""
        return self.entity_id, self.repository, self.labels_key, self.failed_at


@dataclass(frozen=True, slots=True)
class Streak:
    """The same trouble in one run after the other."""

    last_run: int
    times: int
    told_at: int  # how many times it was when it was last told


Streaks = Mapping[tuple[str, str], Streak]


def of_workers(rows: Sequence[FailedWorker]) -> list[Happening]:
    lines = []
    for reason, alike in _grouped(rows, lambda row: row.reason).items():
        if len(alike) <= TOLD_ONE_BY_ONE:
            for each in alike:
                where = f" on {each.node}" if each.node else ""
                lines.append(_told(each.at, f"worker failed ({reason}){where}: {each.pod}"))
        else:
            nodes = {each.node for each in alike if each.node}
            where = f" on {_counted(len(nodes), 'board')}" if nodes else ""
            lines.append(_told(_last(alike), f"{len(alike)} workers failed ({reason}){where}"))
    return lines


def of_jobs(rows: Sequence[GivenUpJob]) -> list[Happening]:
    return [
        _told(_last(alike), f"gave up {_counted(len(alike), 'job')} of {account} ({reason})")
        for (account, reason), alike in _grouped(rows, lambda r: (r.account, r.reason)).items()
    ]


def of_runs(rows: Iterable[TroubledRun], streaks: Streaks) -> tuple[list[Happening], Streaks]:
    """The oldest first. An outage befalls each run alike, and there may be one a second: it is told
    once, and then each time that it has become twice as long."""
    now = dict(streaks)
    newest: dict[tuple[str, str], TroubledRun] = {}
    for row in rows:
        key = (row.status, _kind_of(row.error))
        before = now.get(key)
        if before is None or row.number - before.last_run > STILL_THE_SAME:
            before = Streak(row.number, 0, 0)
        now[key] = Streak(row.number, before.times + 1, before.told_at)
        newest[key] = row
    lines = []
    for key, row in newest.items():
        streak = now[key]
        if streak.times >= 2 * streak.told_at:
            now[key] = Streak(streak.last_run, streak.times, streak.times)
            # Before the error, which may be longer than a line has room for.
            times = f" ({streak.times} times)" if streak.times > 1 else ""
            error = textwrap.shorten(row.error, LONGEST_ERROR, placeholder=" …")
            lines.append(_told(row.at, f"run {row.number} {row.status}{times}: {error}"))
    last = max((streak.last_run for streak in now.values()), default=0)
    kept = {key: s for key, s in now.items() if last - s.last_run <= STILL_THE_SAME}
    return lines, kept


def of_demand(rows: Sequence[HeldDemand]) -> list[Happening]:
    lines = []
    for (parked, reason), alike in _grouped(rows, lambda row: (row.parked, row.reason)).items():
        if len(alike) <= TOLD_ONE_BY_ONE:
            lines += [_held(row) for row in alike]
        else:
            held = "are parked" if parked else "back off"
            until = max(row.retry_at for row in alike)
            text = f"{len(alike)} demands {held} ({reason}), the last until {until:%H:%M:%S}"
            lines.append(_told(max(row.failed_at for row in alike), text))
    return lines


def _held(row: HeldDemand) -> Happening:
    held = "is parked" if row.parked else "backs off"
    after = f"after {_counted(row.failures, 'failure')} ({row.reason})"
    labels = ", ".join(row.labels)
    text = f"{row.name} {held} until {row.retry_at:%H:%M:%S} {after}: {labels}"
    return _told(row.failed_at, text)


def of_redeliveries(count: int, at: datetime | None) -> list[Happening]:
    if count <= 0 or at is None:
        return []
    return [_told(at, f"asked GitHub to deliver {_counted(count, 'webhook')} again")]


def _told(at: datetime, text: str) -> Happening:
    return Happening(at, " ".join(text.split()), by_system=True)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _kind_of(error: str) -> str:
    """The first thing that it names, without the names and numbers in it."""
    return re.sub(r"\S*\d\S*", "#", error.partition("; ")[0])


def _last(rows: Sequence[FailedWorker] | Sequence[GivenUpJob]) -> datetime:
    return max(row.at for row in rows)


def _grouped(rows: Iterable[R], by: Callable[[R], K]) -> dict[K, list[R]]:
    groups: defaultdict[K, list[R]] = defaultdict(list)
    for row in rows:
        groups[by(row)].append(row)
    return groups
