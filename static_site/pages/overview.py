"""The first page: boards, queues, and the figures of the last day and week."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from ..model import Boards, Figures, Overview, Queue
from ..rows import BoardsRow, Live
from ..words import about
from .lists import labels, maybe


def overview(live: Live, figures: Figures, usual_seconds: Mapping[str, float]) -> Overview:
    return {
        "boards": [_boards(row) for row in live.boards],
        "queue": queues(live, usual_seconds),
        "pending": sum(each.pending for each in live.job_counts),
        "running": sum(each.running for each in live.job_counts),
        "backing_off": live.backing_off,
        "figures": figures,
    }


def _boards(row: BoardsRow) -> Boards:
    return {
        "pool": row.pool,
        "slots": row.slots,
        "in_use": row.in_use,
        "free": row.free,
        "unusable": max(0, row.slots - row.in_use - row.free),
    }


def queues(live: Live, usual_seconds: Mapping[str, float]) -> list[Queue]:
    """By label set and pool. Jobs of all labels of a pool wait for the same boards, so it is the
    pool's queue that decides when the last of them has begun."""
    waiting: Counter[str] = Counter()
    of_queue: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    oldest: dict[tuple[str, str], str | None] = {}
    for each in live.job_counts:
        waiting[each.pool] += each.pending
        key = each.labels, each.pool
        of_queue[key][0] += each.pending
        of_queue[key][1] += each.running
        if each.oldest_queued_at is not None:
            first = maybe(each.oldest_queued_at)
            oldest[key] = min(filter(None, (oldest.get(key), first)))
    usable = {each.pool: each.usable for each in live.boards}
    found: list[Queue] = []
    for (label_text, pool), (pending, running) in of_queue.items():
        seconds, words = drain(pending, waiting[pool], usable.get(pool, 0), usual_seconds.get(pool))
        found.append(
            {
                "labels": labels(label_text),
                "pool": pool,
                "pending": pending,
                "running": running,
                "oldest_queued_at": oldest.get((label_text, pool)),
                "drain_seconds": seconds,
                "drain": words,
            }
        )
    return sorted(found, key=_longest_first)


def _longest_first(queue: Queue) -> tuple[int, int, list[str], str]:
    """The same each time: rows come in no order."""
    return -queue["pending"], -queue["running"], queue["labels"], queue["pool"]


def drain(
    pending: int, waiting: int, boards: int, usual_seconds: float | None
) -> tuple[int | None, str]:
    if pending == 0:
        return 0, "nothing waits"
    if boards == 0:
        return None, "no board can take a job"
    if usual_seconds is None:
        return None, "not known yet: no job of this pool ended within a week"
    seconds = waiting * usual_seconds / boards
    return round(seconds), about(seconds)
