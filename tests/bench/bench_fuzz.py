"""A hundred thousand mutated deliveries, and as many questions, kept books on."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor

from tests.bench.figures import Figure
from tests.bench.world import fresh_database
from tests.database import Database
from tests.fuzz import Books, fuzz
from tests.questions import throw

PROCESSES = 2
MUTANTS = 100_000
PART = 5_000


def run() -> Iterator[Figure]:
    yield from _figures(
        "mutated deliveries", "escaped exceptions, 5xx, rows without a signature", fuzz
    )
    yield from _figures(
        "mutated questions", "escaped exceptions, 5xx, anything told without the token", throw
    )


def _figures(
    thing: str, complaint: str, throw_at: Callable[[Database, int, int], Books]
) -> Iterator[Figure]:
    with ProcessPoolExecutor(PROCESSES) as pool:
        parts = range(MUTANTS // PART)
        books = sum(pool.map(_part, [throw_at] * len(parts), parts), Books())
    thrown = sum(books.statuses.values())
    answers = ", ".join(f"{status}: {count}" for status, count in sorted(books.statuses.items()))
    yield Figure(thing, f"{thrown}", answers)
    yield Figure(
        complaint,
        str(len(books.complaints)),
        "; ".join(books.complaints[:3]) or "0",
        not books.complaints,
    )


def _part(throw_at: Callable[[Database, int, int], Books], seed: int) -> Books:
    with fresh_database() as database:
        return throw_at(database, seed, PART)
