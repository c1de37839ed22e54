"""A load in stepped time: the decisions are the runs' own, and nothing else of them is needed.

A worker has a board from the run that makes it until its pod has ended. Once its runner is online
it takes the oldest job of its demand, which need not be the one that it was made for.
"""

import dataclasses
import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from ...model import DemandKey
from ...policy.plan import PendingJob, Snapshot, plan
from ...settings import Settings
from ...sim.clock import SteppedClock, span
from ...sim.timeline import SteppedTime
from .demand import Demand, as_pending, count_down
from .load import LoadJob
from .pace import Pace
from .runs import Runs
from .series import Held, Moment, series, uses

__all__ = ["Pace", "Planned", "simulate"]


@dataclass(frozen=True, slots=True)
class Planned:
    waits: Sequence[float | None]  # of each job as they were given; None: it never started
    uses: Mapping[str, float]  # by pool: the part of its boards' time that workers had them
    series: Sequence[Moment]  # from the first job to the last board that became free

    @property
    def never_started(self) -> int:
        return sum(wait is None for wait in self.waits)


def simulate(
    jobs: Sequence[LoadJob],
    boards: Mapping[str, int],
    settings: Settings,
    pace: Pace = Pace(),  # noqa: B008 frozen
    caps: Mapping[str, int] | None = None,
) -> Planned:
    """`boards` by pool. `caps` are most workers by account, where they are not the settings'."""
    names = sorted({job.entity for job in jobs})
    entity_ids = {name: number for number, name in enumerate(names, start=1)}
    max_workers = {entity_ids[name]: cap for name, cap in (caps or {}).items() if name in names}
    settings = dataclasses.replace(settings, max_workers=max_workers)  # by id, as here
    places = sorted(range(len(jobs)), key=lambda place: jobs[place].created_at)
    in_order = [jobs[place] for place in places]
    fleet = _Fleet(in_order, as_pending(in_order, entity_ids), boards, settings, pace)
    fleet.let_time_pass()
    waits: list[float | None] = [None] * len(jobs)
    for place, job, started_at in zip(places, in_order, fleet.started, strict=True):
        if started_at is not None:
            waits[place] = (started_at - job.created_at).total_seconds()
    created = [job.created_at for job in in_order]
    found = series(created, [each for each in fleet.started if each is not None], fleet.held)
    return Planned(waits, uses(boards, fleet.held, found), found)


@dataclass(slots=True)
class _Pool:
    free: list[int]  # numbers of boards: a heap, as schedulers take the first that fits
    fresh: set[int]  # those that never had a pod, and so have no image


@dataclass(frozen=True, slots=True)
class _Worker:
    key: DemandKey
    pool: str
    board: int
    made_at: datetime


class _Fleet:
    """Boards, workers and jobs on one timeline. `jobs` are in order, and numbered so."""

    def __init__(
        self,
        jobs: Sequence[LoadJob],
        pending: Sequence[PendingJob],
        boards: Mapping[str, int],
        settings: Settings,
        pace: Pace,
    ) -> None:
        self._jobs = jobs
        self._pending = pending
        self._settings = settings
        self._pace = pace
        self._pools = {
            name: _Pool(list(range(count)), set(range(count))) for name, count in boards.items()
        }
        self._time = SteppedTime(SteppedClock(jobs[0].created_at) if jobs else None)
        self._timeline = self._time.timeline
        self._runs = Runs(self._timeline, pace, self._run, self._is_run_of_use)
        self._demand = Demand()
        self._boards: Counter[tuple[str, int]] = Counter()  # in use, by pool and account
        self._of_entity: Counter[int] = Counter()
        self._seen = 0  # jobs that are known of so far
        self._changed = False  # since the last run
        self.started: list[datetime | None] = [None] * len(jobs)
        self.held: list[Held] = []

    def let_time_pass(self) -> None:
        """Until nothing more will happen."""
        self._expect_jobs()
        while (moment := self._timeline.next_moment()) is not None:
            self._time.step((moment - self._timeline.now()).total_seconds())

    # Jobs ----------------------------------------------------------------------------------------

    def _expect_jobs(self) -> None:
        if self._seen < len(self._jobs):
            heard_at = self._jobs[self._seen].created_at + span(self._pace.notice)
            self._timeline.at(heard_at, self._hear_of_jobs)

    def _hear_of_jobs(self) -> None:
        """All that came at the same moment: one run is for all of them."""
        came_at = self._jobs[self._seen].created_at
        while self._seen < len(self._jobs) and self._jobs[self._seen].created_at == came_at:
            self._demand.add(self._pending[self._seen])
            self._seen += 1
        self._changed = True
        self._runs.wake()
        self._expect_jobs()

    # Runs ----------------------------------------------------------------------------------------

    def _is_run_of_use(self) -> bool:
        """Where nothing changed and no worker will end, what waits now waits for another job."""
        return self._demand.uncovered > 0 and (self._changed or len(self._of_entity) > 0)

    def _run(self) -> None:
        """The same books give the same plan: only what has changed is worth a look."""
        if not self._changed or not self._demand.uncovered:
            return
        self._changed = False
        free = {name: len(pool.free) for name, pool in self._pools.items() if pool.free}
        if not free:
            return
        jobs = self._demand.oldest(free, self._of_entity, self._settings)
        snapshot = Snapshot(self._timeline.now(), jobs, self._demand.spare, self._boards, free)
        for job in plan(snapshot, self._settings).provision:
            self._provision(job)

    # Workers -------------------------------------------------------------------------------------

    def _provision(self, job: PendingJob) -> None:
        pool = self._pools[job.pool]
        worker = _Worker(job.key, job.pool, heapq.heappop(pool.free), self._timeline.now())
        self._demand.cover(job.key)
        self._boards[job.pool, job.key.entity_id] += 1
        self._of_entity[job.key.entity_id] += 1
        seconds = self._pace.run + self._pace.start
        if worker.board in pool.fresh:
            pool.fresh.discard(worker.board)
            seconds += self._pace.pull
        self._timeline.after(seconds, partial(self._take_job, worker))

    def _take_job(self, worker: _Worker) -> None:
        job = self._demand.take(worker.key)
        self.started[job.job_id] = self._timeline.now()
        seconds = self._jobs[job.job_id].seconds + self._pace.stop
        self._timeline.after(seconds, partial(self._free_board, worker))

    def _free_board(self, worker: _Worker) -> None:
        heapq.heappush(self._pools[worker.pool].free, worker.board)
        count_down(self._boards, (worker.pool, worker.key.entity_id))
        count_down(self._of_entity, worker.key.entity_id)
        self.held.append(Held(worker.pool, worker.made_at, self._timeline.now()))
        self._changed = True
