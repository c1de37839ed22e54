"""Which jobs get a runner now, and what the others wait for."""

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ..model import Boards, DemandKey, Node, Pod, Scope
from ..settings import Scheduling, Settings
from .back_off import Trouble

PROVING_AFTER = 2  # failed attempts; from then on one worker must prove itself before the next


class Wait(StrEnum):
    """What a pending job waits for."""

    RUNNER = "runner"  # a worker for it is there and will take it
    BACKING_OFF = "backing_off"
    PARKED = "parked"
    RATE_LIMITED = "rate_limited"
    NO_ACCESS = "no_access"  # the installation gives no token
    CAP_REACHED = "cap_reached"
    NO_BOARD = "no_board"


@dataclass(frozen=True, slots=True)
class PendingJob:
    job_id: int
    key: DemandKey
    scope: Scope
    pool: str
    image: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Demand and supply at one moment. Workers are those pending or running."""

    now: datetime
    jobs: Sequence[PendingJob]  # pending, oldest first
    spare: Mapping[DemandKey, int]  # workers that have not taken a job yet
    boards: Mapping[tuple[str, int], int]  # workers by pool and entity
    free: Mapping[str, int]  # boards of a pool that can take a pod now
    trouble: Mapping[DemandKey, Trouble] = field(default_factory=dict)
    refused: Mapping[int, Wait] = field(default_factory=dict)  # by installation
    room: Mapping[int, int] = field(default_factory=dict)  # provisionings GitHub's limits leave


@dataclass(frozen=True, slots=True)
class Plan:
    provision: list[PendingJob]
    waiting: dict[int, Wait]  # by job


def boards(nodes: Sequence[Node], pods: Sequence[Pod]) -> list[Boards]:
    """Of each pool there is a node of: how many places there are, and what becomes of them."""
    on_node = Counter(pod.node for pod in pods if pod.node and not pod.terminal)
    pools: dict[str, list[Node]] = {}
    for node in nodes:
        if node.pool is not None:
            pools.setdefault(node.pool, []).append(node)
    return [
        Boards(
            k8s_pool=pool,
            slots=sum(node.slots for node in members),
            usable=sum(node.slots for node in members if node.schedulable),
            in_use=sum(on_node[node.name] for node in members),
            free=sum(_room(node, on_node) for node in members),
        )
        for pool, members in sorted(pools.items())
    ]


def _room(node: Node, on_node: Mapping[str, int]) -> int:
    return max(0, node.slots - on_node[node.name]) if node.schedulable else 0


def free_boards(
    nodes: Sequence[Node], pods: Sequence[Pod], unseen: Mapping[str, int]
) -> dict[str, int]:
    """By pool: places on nodes that can take a pod now, less those that pods have or wait for.

    A pod counts against the node it sits on, an unscheduled one against its pool; so does a
    worker whose pod is not in the list (`unseen`), because it may be on its way.
    """
    on_node = Counter(pod.node for pod in pods if pod.node and not pod.terminal)
    free: Counter[str] = Counter()
    for node in nodes:
        if node.pool is not None:
            free[node.pool] += _room(node, on_node)
    for pod in pods:
        if pod.node is None and pod.pool is not None and not pod.terminal:
            free[pod.pool] -= 1
    free.subtract(unseen)
    return {pool: places for pool, places in free.items() if places > 0}


def held_back(trouble: Trouble | None, proving: int, now: datetime) -> Wait | None:
    """Whether a demand that failed gets no further worker now. `proving`: those it has that took
    no job yet."""
    if trouble is None or trouble.failures == 0:
        return None
    if now < trouble.retry_at or (trouble.failures >= PROVING_AFTER and proving > 0):
        return Wait.PARKED if trouble.parked else Wait.BACKING_OFF
    return None


def plan(snapshot: Snapshot, settings: Settings) -> Plan:
    planning = _Planning(snapshot, settings)
    open_jobs = planning.without_obstacle()
    fair = settings.scheduling is Scheduling.FAIR
    for job in _fair(open_jobs, planning.boards) if fair else iter(open_jobs):
        planning.give(job)
    return Plan(planning.provision, planning.waiting)


class _Planning:
    """The books while they are being made up."""

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self._snapshot = snapshot
        self._settings = settings
        self._free = dict(snapshot.free)
        self._room = dict(snapshot.room)
        self.boards = Counter(dict(snapshot.boards))
        self._of_entity: Counter[int] = Counter()
        for (_, entity_id), count in snapshot.boards.items():
            self._of_entity[entity_id] += count
        self.provision: list[PendingJob] = []
        self.waiting: dict[int, Wait] = {}

    def without_obstacle(self) -> list[PendingJob]:
        """Those that only need a board."""
        spare = Counter(dict(self._snapshot.spare))
        proving: Counter[DemandKey] = Counter(dict(self._snapshot.spare))
        left = []
        for job in self._snapshot.jobs:
            if spare[job.key] > 0:
                spare[job.key] -= 1
                self.waiting[job.job_id] = Wait.RUNNER
            elif (wait := self._obstacle(job, proving)) is not None:
                self.waiting[job.job_id] = wait
            else:
                proving[job.key] += 1
                left.append(job)
        return left

    def _obstacle(self, job: PendingJob, proving: Counter[DemandKey]) -> Wait | None:
        if refused := self._snapshot.refused.get(job.scope.installation_id):
            return refused
        return held_back(self._snapshot.trouble.get(job.key), proving[job.key], self._snapshot.now)

    def give(self, job: PendingJob) -> None:
        entity, installation = job.key.entity_id, job.scope.installation_id
        if self._of_entity[entity] >= self._settings.cap(entity):
            self.waiting[job.job_id] = Wait.CAP_REACHED
        elif self._free.get(job.pool, 0) <= 0:
            self.waiting[job.job_id] = Wait.NO_BOARD
        elif self._room.get(installation, 1) <= 0:
            self.waiting[job.job_id] = Wait.RATE_LIMITED
        else:
            self._free[job.pool] -= 1
            self._of_entity[entity] += 1
            self.boards[job.pool, entity] += 1
            if installation in self._room:
                self._room[installation] -= 1
            self.provision.append(job)


def _fair(jobs: list[PendingJob], boards: Counter[tuple[str, int]]) -> Iterator[PendingJob]:
    """The next job of whichever entity has the fewest boards in the pool, the oldest among equals.

    `boards` moves on between two jobs, as they are given.
    """
    queues: dict[tuple[str, int], list[PendingJob]] = {}
    for job in reversed(jobs):
        queues.setdefault((job.pool, job.key.entity_id), []).append(job)
    heap = [(boards[place], _order(queue[-1]), place) for place, queue in queues.items()]
    heapq.heapify(heap)
    while heap:
        _, _, place = heapq.heappop(heap)
        queue = queues[place]
        yield queue.pop()
        if queue:
            heapq.heappush(heap, (boards[place], _order(queue[-1]), place))


def _order(job: PendingJob) -> tuple[datetime, int]:
    return job.created_at, job.job_id
