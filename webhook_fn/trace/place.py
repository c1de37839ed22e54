"""Where a job stands in the queue of its pool, and how long that takes, as nearly as is known."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from .facts import FailedWorker, Queue, QueuedDemand

# Only those compete for a board; the others wait for something else.
COMPETING = (None, "no_board", "runner")
FAIR = "fair"


@dataclass(frozen=True, slots=True)
class Place:
    position: int  # 1 gets the next board
    seconds: float | None  # None: nobody knows how long boards are held


def place_of(queue: Queue, entity_id: int) -> Place:
    scheduling = queue.boards.scheduling if queue.boards else None
    fair = scheduling == FAIR
    ahead = _ahead_fair(queue, entity_id) if fair else _ahead_fifo(queue)
    return Place(ahead + 1, _seconds(queue, ahead + 1))


def planned_at(queue: Queue) -> datetime | None:
    """When the last plan was made, as far as is known: a wait in which nothing changed is not
    written anew each time, what boards there are is."""
    told = [queue.wait.planned_at] if queue.wait is not None else []
    told += [queue.boards.observed_at] if queue.boards is not None else []
    return max(told, default=None)


def is_covered(queue: Queue, created_at: datetime, failures: Iterable[FailedWorker]) -> bool:
    """Whether there is a runner that will take the job: those of a demand take its oldest jobs. As
    the last plan saw it, less the runners that failed since and those that took their job."""
    wait, planned = queue.wait, planned_at(queue)
    if wait is None or planned is None or created_at > planned:
        return False
    own = next((each for each in queue.demands if each.own), None)
    left = max(0, wait.pending - own.pending) if own is not None else 0
    failed = sum(each.completed_at > planned for each in failures)
    return (own.older if own is not None else 0) + left < wait.covered - failed


def _ahead_fifo(queue: Queue) -> int:
    return sum(_older(each) for each in _competing(queue))


def _ahead_fair(queue: Queue, entity_id: int) -> int:
    """The next board goes to whoever has the fewest of the pool, the oldest job among equals: so
    others come first until each of them has as many as the account has when it is the job's turn,
    and one more if its next job is then the older one."""
    waiting: Counter[int] = Counter()
    older: Counter[int] = Counter()
    for each in _competing(queue):
        waiting[each.entity_id] += max(0, each.pending - each.covered)
        older[each.entity_id] += _older(each)
    boards = queue.supply.in_pool
    own = older[entity_id]
    level = boards.get(entity_id, 0) + own
    ahead = own
    for other in waiting.keys() - {entity_id}:
        before = level - boards.get(other, 0)
        if before >= 0:
            ahead += min(waiting[other], before + (older[other] > before))
    return ahead


def _competing(queue: Queue) -> list[QueuedDemand]:
    return [each for each in queue.demands if each.own or each.waiting_for in COMPETING]


def _older(each: QueuedDemand) -> int:
    """Runners take the oldest of their demand: those do not wait for a board any more."""
    return max(0, each.older - each.covered)


def _seconds(queue: Queue, position: int) -> float | None:
    held = queue.supply.seconds_held
    if held is None or queue.boards is None or queue.boards.usable == 0:
        return None
    return position * held / queue.boards.usable
