"""What waits, by demand and pool: what a run reads of the database, kept in memory."""

import heapq
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import TypeVar

from ...model import ORGANIZATION, USER, DemandKey, Scope
from ...policy.plan import PendingJob
from ...settings import Settings
from .load import LoadJob

T = TypeVar("T")


def as_pending(jobs: Iterable[LoadJob], entity_ids: Mapping[str, int]) -> list[PendingJob]:
    """Each as a run knows it, numbered in the order in which they are given."""
    return [_pending(number, job, entity_ids[job.entity]) for number, job in enumerate(jobs)]


def _pending(number: int, job: LoadJob, entity_id: int) -> PendingJob:
    key = DemandKey(entity_id, job.repository or "", job.labels)
    kind = USER if job.repository else ORGANIZATION
    scope = Scope(entity_id, entity_id, job.entity, kind, job.repository)
    return PendingJob(number, key, scope, job.pool, "", job.created_at)


class Demand:
    """Jobs that no worker took yet, and how many workers have yet to take one.

    Of a demand there are never more such workers than jobs, because none is made for a job that
    another will take: a worker always finds one.
    """

    def __init__(self) -> None:
        self._queues: dict[DemandKey, dict[str, deque[PendingJob]]] = {}
        self._pending: Counter[DemandKey] = Counter()
        self.spare: Counter[DemandKey] = Counter()
        self.uncovered = 0  # jobs that there is no worker for

    def add(self, job: PendingJob) -> None:
        """Later than all before: queues stay in order."""
        self._queues.setdefault(job.key, {}).setdefault(job.pool, deque()).append(job)
        self._pending[job.key] += 1
        self.uncovered += 1

    def cover(self, key: DemandKey) -> None:
        """A worker was made, which will take one."""
        self.spare[key] += 1
        self.uncovered -= 1

    def take(self, key: DemandKey) -> PendingJob:
        """The oldest of that demand, in whatever pool, for a worker that took none yet."""
        queues = self._queues[key]
        pool = min(queues, key=lambda each: _order(queues[each][0]))
        job = queues[pool].popleft()
        if not queues[pool]:
            del queues[pool]
        if not queues:
            del self._queues[key]
        count_down(self._pending, key)
        count_down(self.spare, key)
        return job

    def oldest(
        self, free: Mapping[str, int], of_entity: Mapping[int, int], settings: Settings
    ) -> list[PendingJob]:
        """No more of each demand than could get a board, after those that workers will take:
        thousands may wait behind them. What is over the account's cap could not get one either."""
        found = []
        for key, queues in self._queues.items():
            spare = self.spare[key]
            room = settings.cap(key.entity_id) - of_entity.get(key.entity_id, 0)
            if self._pending[key] > spare and room > 0 and any(free.get(pool) for pool in queues):
                found += [
                    islice(queue, spare + min(room, free.get(pool, 0)))
                    for pool, queue in queues.items()
                ]
        return list(heapq.merge(*found, key=_order))


def count_down(counter: Counter[T], key: T) -> None:
    """What is none is not kept: a run looks through all that is."""
    counter[key] -= 1
    if not counter[key]:
        del counter[key]


def _order(job: PendingJob) -> tuple[datetime, int]:
    return job.created_at, job.job_id
