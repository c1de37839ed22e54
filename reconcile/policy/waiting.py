"""What the pending jobs of each demand and pool wait for, once the plan was acted on.

The plan looks only at jobs that could get a board. Here everything that waits is told of, and as
exactly as is known: also what would be in its way if there were a board.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..model import DemandKey, Scope
from ..settings import Settings
from .back_off import Trouble
from .plan import PendingJob, Plan, Snapshot, Wait, held_back

Place = tuple[DemandKey, str]  # a demand, and the pool that its jobs are routed to


@dataclass(frozen=True, slots=True)
class Group:
    """Pending jobs of one demand in one pool."""

    key: DemandKey
    pool: str
    pending: int
    scope: Scope  # of the newest of them: who installs the App anew has jobs of both

    @property
    def place(self) -> Place:
        return self.key, self.pool


@dataclass(frozen=True, slots=True)
class Obstacle:
    wait: Wait
    until: datetime | None = None  # if it is known when it ends


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a plan, and what is known after it."""

    on_their_way: Mapping[Place, int]  # workers that it made; those that failed are not
    trouble: Mapping[DemandKey, Trouble]
    refused: Mapping[int, Obstacle]  # by installation


@dataclass(frozen=True, slots=True)
class DemandWait:
    """A row of `demand_waits`."""

    key: DemandKey
    pool: str
    pending: int
    covered: int  # the oldest of them, whose workers are there or on their way
    obstacle: Obstacle | None  # of the others
    max_workers: int  # that its entity may have, over all pools


def covered_by_spare(
    groups: Sequence[Group], spare: Mapping[DemandKey, int], oldest: Sequence[PendingJob]
) -> Counter[Place]:
    """For how many jobs of each group there is a worker that took none yet. It will take the
    oldest of its demand, in whatever pool: of a demand in several `oldest` has at least as many
    of each as there are such workers."""
    pools = Counter(group.key for group in groups)
    covered = Counter(
        {
            group.place: min(group.pending, spare.get(group.key, 0))
            for group in groups
            if pools[group.key] == 1
        }
    )
    left = Counter(dict(spare))
    for job in oldest:
        if pools[job.key] > 1 and left[job.key] > 0:
            left[job.key] -= 1
            covered[job.key, job.pool] += 1
    return covered


def demand_waits(
    groups: Sequence[Group],
    covered: Mapping[Place, int],
    snapshot: Snapshot,
    plan: Plan,
    result: Result,
    settings: Settings,
) -> list[DemandWait]:
    """One for each group. `covered`: by workers that were there before the plan."""
    books = _Books(snapshot, plan, result, settings)
    waits = []
    for group in groups:
        made = covered.get(group.place, 0) + result.on_their_way.get(group.place, 0)
        # They were not counted at the same moment: one may have come or gone between.
        got = min(group.pending, made)
        obstacle = books.obstacle(group) if got < group.pending else None
        cap = settings.cap(group.key.entity_id)
        waits.append(DemandWait(group.key, group.pool, group.pending, got, obstacle, cap))
    return waits


class _Books:
    """As the plan left them. What it gave to a worker that failed is still given away: the boards
    and caps that it saw are what the others were held against."""

    def __init__(self, snapshot: Snapshot, plan: Plan, result: Result, settings: Settings) -> None:
        self._now = snapshot.now
        self._result = result
        self._settings = settings
        self._planned = Counter((job.key, job.pool) for job in plan.provision)
        self._of_entity = Counter(job.key.entity_id for job in plan.provision)
        for (_, entity_id), count in snapshot.boards.items():
            self._of_entity[entity_id] += count
        self._proving = Counter(dict(snapshot.spare))
        for (key, _), count in result.on_their_way.items():
            self._proving[key] += count
        # What the plan says of the oldest of each group that it looked at and gave nothing.
        self._said: dict[Place, Wait] = {}
        for job in snapshot.jobs:
            wait = plan.waiting.get(job.job_id, Wait.RUNNER)
            if wait is not Wait.RUNNER:
                self._said.setdefault((job.key, job.pool), wait)

    def obstacle(self, group: Group) -> Obstacle:
        """In the order in which the plan looks for them. Where jobs of a group are held up by
        different things, it is what the oldest waits for."""
        if refused := self._result.refused.get(group.scope.installation_id):
            return refused
        trouble = self._result.trouble.get(group.key)
        held = held_back(trouble, self._proving[group.key], self._now)
        if trouble is not None and held is not None:
            return Obstacle(held, trouble.retry_at if trouble.retry_at > self._now else None)
        if self._result.on_their_way.get(group.place, 0) < self._planned[group.place]:
            # It was to get one, and what went wrong is not held against it: the run's time was
            # over, say. The next run makes it.
            return Obstacle(Wait.RUNNER)
        entity_id = group.key.entity_id
        if self._of_entity[entity_id] >= self._settings.cap(entity_id):
            return Obstacle(Wait.CAP_REACHED)
        # What was not looked at could not get a board.
        return Obstacle(self._said.get(group.place, Wait.NO_BOARD))
