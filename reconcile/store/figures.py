"""Figures of the fleet, read at one time from what the database knows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from ..clock import Deadline
from ..errors import StoreError
from .database import Database, Parameters

T = TypeVar("T")
# So many series of a kind at most, the largest first: thousands of accounts help no graph.
MOST_SERIES = 500
# A job's row is there by then, counted from the time that it says: the function may find that its
# connection is dead (4 s), open another (3) and run two statements on it (3 each).
SETTLED_SECONDS = 15
# All together. Meanwhile nobody listens, and what takes longer looks like a process that hangs.
READ_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class LiveJobs:
    labels: Sequence[str]
    pool: str
    pending: int
    running: int
    oldest_pending_seconds: float


@dataclass(frozen=True, slots=True)
class Queued:
    labels: Sequence[str]
    tenant: str
    count: int


@dataclass(frozen=True, slots=True)
class Quantiles:
    labels: Sequence[str]
    tenant: str | None  # None: of all
    count: int
    seconds: Sequence[float]  # of each of QUANTILES


QUANTILES = ("0.5", "0.95", "0.99")


@dataclass(frozen=True, slots=True)
class Concluded:
    labels: Sequence[str]
    conclusion: str
    count: int


@dataclass(frozen=True, slots=True)
class PoolBoards:
    pool: str
    slots: int
    usable: int
    in_use: int


@dataclass(frozen=True, slots=True)
class Workers:
    pool: str
    status: str
    count: int


@dataclass(frozen=True, slots=True)
class EndedWorkers:
    pool: str
    reason: str | None  # None: they did not fail
    count: int


@dataclass(frozen=True, slots=True)
class Limit:
    installation: str
    remaining: float | None  # of 1
    blocked: bool


@dataclass(frozen=True, slots=True)
class Figures:
    until: datetime  # up to when new jobs are counted
    live_jobs: list[LiveJobs]
    queued: list[Queued]  # since the figures before these
    waits: list[Quantiles]
    durations: list[Quantiles]
    concluded: list[Concluded]
    usual_duration: dict[str, float]  # seconds, by pool
    boards: list[PoolBoards]
    workers: list[Workers]
    ended_workers: list[EndedWorkers]
    backing_off: int
    parked: int
    limits: list[Limit]
    last_success_age: float | None  # or since the first run, if none did its work; None: no run yet


def read(
    database: Database, now: datetime, since: datetime | None, within: float = READ_SECONDS
) -> Figures:
    """`since` is `until` of the figures before; without any, no job is new. Raises StoreError,
    also if it takes longer than `within`."""
    deadline = Deadline(within)

    def fetch(name: str, parameters: Parameters, row: Callable[..., T]) -> list[T]:
        if deadline.passed:
            raise StoreError(f"{name}: the figures take longer than {within:.0f} s.")
        return database.fetch(name, parameters, row)

    until = now - timedelta(seconds=SETTLED_SECONDS)
    if since is not None:
        until = max(until, since)  # A clock that was set back: nothing is counted twice.
    at = {"now": now}
    limited = {**at, "limit": MOST_SERIES}
    window = {"since": since or until, "until": until}
    [(backing_off, parked)] = fetch("figure_held", at, _pair)
    last_success = fetch("figure_last_success", at, float)
    return Figures(
        until=until,
        live_jobs=fetch("figure_live_jobs", at, LiveJobs),
        queued=fetch("figure_queued", window, Queued),
        waits=fetch("figure_waits", limited, Quantiles),
        durations=fetch("figure_durations", limited, Quantiles),
        concluded=fetch("figure_conclusions", at, Concluded),
        usual_duration=dict(fetch("figure_usual_duration", {}, _named)),
        boards=fetch("figure_boards", {}, PoolBoards),
        workers=fetch("figure_workers", {}, Workers),
        ended_workers=fetch("figure_ended_workers", at, EndedWorkers),
        backing_off=backing_off,
        parked=parked,
        limits=fetch("figure_limits", limited, Limit),
        last_success_age=last_success[0] if last_success else None,
    )


def _pair(first: int, second: int) -> tuple[int, int]:
    return first, second


def _named(name: str, value: float) -> tuple[str, float]:
    return name, value


def drain_seconds(figures: Figures) -> dict[tuple[str, ...], float]:
    """By label set: when the last of its jobs that wait now would have begun.

    Jobs of all labels of a pool wait for the same boards, so it is the pool's queue that counts:
    what waits, times what a job usually takes, over the boards that can take one. Infinite if none
    can; of a pool in which no job has ended yet nothing is said. 0 if none of these labels waits.
    """
    pending: dict[str, int] = {}
    for each in figures.live_jobs:
        pending[each.pool] = pending.get(each.pool, 0) + each.pending
    usable = {each.pool: each.usable for each in figures.boards}
    drains: dict[tuple[str, ...], float] = {}
    for each in figures.live_jobs:
        boards, labels = usable.get(each.pool, 0), tuple(each.labels)
        if each.pending == 0:
            seconds = 0.0
        elif boards == 0:
            seconds = float("inf")
        elif each.pool in figures.usual_duration:
            seconds = pending[each.pool] * figures.usual_duration[each.pool] / boards
        else:
            continue
        drains[labels] = max(seconds, drains.get(labels, 0.0))
    return drains
