"""What a plan comes to over time."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Held:
    """A board, while a worker had it."""

    pool: str
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Moment:
    """From then on, until the next."""

    at: datetime
    waiting: int  # jobs
    busy: int  # boards


def series(
    created: Sequence[datetime], started: Sequence[datetime], held: Sequence[Held]
) -> list[Moment]:
    """One at each change."""
    changes: defaultdict[datetime, list[int]] = defaultdict(lambda: [0, 0])
    for at in created:
        changes[at][0] += 1
    for at in started:
        changes[at][0] -= 1
    for each in held:
        changes[each.since][1] += 1
        changes[each.until][1] -= 1
    moments = sorted(changes)
    waiting = accumulate(changes[at][0] for at in moments)
    busy = accumulate(changes[at][1] for at in moments)
    return [Moment(*each) for each in zip(moments, waiting, busy, strict=True)]


def uses(
    boards: Mapping[str, int], held: Sequence[Held], found: Sequence[Moment]
) -> dict[str, float]:
    """Of each pool, 0 to 1. Of a pool without boards nothing is used."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for each in held:
        seconds[each.pool] += (each.until - each.since).total_seconds()
    whole = (found[-1].at - found[0].at).total_seconds() if found else 0.0
    return {
        pool: seconds[pool] / (count * whole) if count and whole else 0.0
        for pool, count in boards.items()
    }


def in_steps(found: Sequence[Moment], start: datetime, end: datetime, steps: int) -> list[Moment]:
    """So many equal spans, each with the most that waited and were busy at once within it."""
    step = (end - start) / steps if end > start else timedelta(seconds=1)
    result, place = [], 0
    before = Moment(start, 0, 0)
    for number in range(steps):
        beginning, over = start + number * step, start + (number + 1) * step
        waiting, busy = before.waiting, before.busy
        while place < len(found) and (found[place].at < over or number == steps - 1):
            before = found[place]
            waiting, busy = max(waiting, before.waiting), max(busy, before.busy)
            place += 1
        result.append(Moment(beginning, waiting, busy))
    return result
