"""What happens in each scenario: pushes, and incidents. Pure, and the same for the same seed.

Times are seconds of the world since the beginning. What a scenario is about comes within its first
minutes, and again and again, for as long as somebody watches.
"""

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from . import load
from .fleet import FLOODING, TENANTS
from .load import Push

FLOOD_JOBS = 250


@dataclass(frozen=True, slots=True)
class Incident:
    """An act (see acts.py) at a moment."""

    at: float
    act: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    about: str  # for --help
    pushes: Callable[[int], Iterator[Push]]  # by seed
    incidents: Callable[[int], Iterator[Incident]]
    order: str = "fair"


def _nothing(seed: int) -> Iterator[Incident]:  # noqa: ARG001 calm whatever the seed
    return iter(())


def _repeated(every: float, *incidents: Incident) -> Callable[[int], Iterator[Incident]]:
    def stream(seed: int) -> Iterator[Incident]:  # noqa: ARG001 they are always the same
        for start in itertools.count(0.0, every):
            for each in incidents:
                yield Incident(start + each.at, each.act, each.arguments)

    return stream


def _waves(seed: int) -> Iterator[Push]:
    """The usual, and every half hour everybody at once."""
    starts = itertools.count(45.0, 1800.0)
    waves = itertools.chain.from_iterable(load.wave(start, seed) for start in starts)
    return load.merged(load.ordinary(seed), waves)


def _flooded(seed: int) -> Iterator[Push]:
    """The usual, and after three minutes, and then every hour, one account's flood."""
    [tenant] = [each for each in TENANTS if each.login == FLOODING]
    starts = itertools.count(180.0, 3600.0)
    floods = itertools.chain.from_iterable(
        load.flood(start, seed, tenant, FLOOD_JOBS) for start in starts
    )
    return load.merged(load.ordinary(seed), floods)


# What chaos draws from, and how often each. Everything heals by itself or by a later incident.
CHAOS = {
    "kill-board": 4,
    "cordon": 2,
    "break-github": 2,
    "break-cluster": 2,
    "drop-webhooks": 2,
    "crash-runners": 3,
    "kill-controller": 2,
    "stop-database": 1,
    "flood": 1,
}
UNDONE_BY = {"kill-board": "revive-board", "cordon": "uncordon"}


def _chaos(seed: int) -> Iterator[Incident]:
    chance = Random(f"{seed}:chaos")  # noqa: S311 a seed is to replay
    to_undo: list[tuple[float, str]] = []
    at = 60.0
    while True:
        at += chance.uniform(40, 150)
        while to_undo and to_undo[0][0] <= at:
            due, act = heapq.heappop(to_undo)
            yield Incident(due, act)
        [act] = chance.choices(list(CHAOS), weights=list(CHAOS.values()))
        yield Incident(at, act)
        if act in UNDONE_BY:
            heapq.heappush(to_undo, (at + chance.uniform(300, 700), UNDONE_BY[act]))


_A_BOARD_DIES = (Incident(240, "kill-board"), Incident(840, "revive-board"))

SCENARIOS = {
    each.name: each
    for each in (
        Scenario("calm", "an ordinary day, and nothing goes wrong", load.ordinary, _nothing),
        Scenario(
            "burst",
            "everybody pushes at once, jobs queue, and a board dies meanwhile",
            _waves,
            _repeated(1800, *_A_BOARD_DIES),
        ),
        Scenario(
            "flood",
            f"{FLOODING} asks for {FLOOD_JOBS} jobs at once; the others should hardly notice",
            _flooded,
            _nothing,
        ),
        Scenario(
            "outage",
            "GitHub fails, then webhooks get lost, then the database and the cluster are away",
            _waves,
            _repeated(
                1800,
                Incident(180, "break-github", ("4m",)),
                Incident(540, "drop-webhooks", ("4m",)),
                Incident(900, "stop-database", ("90s",)),
                Incident(1140, "break-cluster", ("3m",)),
            ),
        ),
        Scenario("chaos", "all of it, by chance, all the time", _waves, _chaos),
    )
}
