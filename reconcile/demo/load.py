"""Who pushes what, and when: without end, and the same for the same seed. Pure."""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from . import workflows
from .fleet import TENANTS, Repository, Tenant, pool

REGRETTED = 0.05  # part of all pushes whose runs somebody cancels
FOLLOW_UP = 0.35  # how likely one push is followed by the next within minutes
MATRIX_LIMIT = 64  # jobs of one workflow run of a flood: people split larger ones


@dataclass(frozen=True, slots=True)
class Push:
    at: float  # seconds since the beginning
    tenant: str
    repository: str
    workflow: str  # the file's text
    cancelled_after: float | None = None  # seconds, if somebody changes their mind


def ordinary(seed: int, tenants: Sequence[Tenant] = TENANTS) -> Iterator[Push]:
    """Everybody's usual work."""
    return merged(*(_of_tenant(tenant, seed) for tenant in tenants))


def wave(at: float, seed: int, tenants: Sequence[Tenant] = TENANTS) -> list[Push]:
    """Everybody pushes within two minutes: the morning, or the end of a freeze."""
    chance = Random(f"{seed}:wave:{at}")  # noqa: S311 a seed is to replay
    return sorted(
        (
            _push(at + chance.uniform(0, 120), tenant, chance)
            for tenant in tenants
            for _ in range(chance.randint(1, 3))
        ),
        key=lambda push: push.at,
    )


def flood(at: float, seed: int, tenant: Tenant, jobs: int) -> list[Push]:
    """One account asks for more than there is, all at once."""
    chance = Random(f"{seed}:flood:{at}:{tenant.login}")  # noqa: S311
    repository = tenant.repositories[0]
    label = pool(repository.pool).label
    names = [f"package {number}" for number in range(1, jobs + 1)]
    return [
        Push(
            at + first / MATRIX_LIMIT,
            tenant.login,
            repository.name,
            workflows.matrix(label, names[first : first + MATRIX_LIMIT], chance),
        )
        for first in range(0, jobs, MATRIX_LIMIT)
    ]


def merged(*streams: Iterable[Push]) -> Iterator[Push]:
    return heapq.merge(*streams, key=lambda push: push.at)


def _of_tenant(tenant: Tenant, seed: int) -> Iterator[Push]:
    """At times that nobody planned, and often one shortly after the other: a fix for the fix."""
    chance = Random(f"{seed}:{tenant.login}")  # noqa: S311
    firsts = tenant.pushes_an_hour * (1 - FOLLOW_UP) / 3600
    at = chance.expovariate(firsts) / 4  # Nobody wants to watch a fleet that has nothing to do.
    while True:
        yield _push(at, tenant, chance)
        at += chance.uniform(60, 300) if chance.random() < FOLLOW_UP else chance.expovariate(firsts)


def _push(at: float, tenant: Tenant, chance: Random) -> Push:
    repository: Repository = chance.choice(tenant.repositories)
    file = workflows.text(chance.choice(repository.shapes), pool(repository.pool).label, chance)
    regretted = chance.uniform(60, 400) if chance.random() < REGRETTED else None
    return Push(at, tenant.login, repository.name, file, regretted)
