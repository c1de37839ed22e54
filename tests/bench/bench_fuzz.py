"""A hundred thousand mutated deliveries, kept books on."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from tests.bench.figures import Figure
from tests.bench.world import fresh_database
from tests.fuzz import Books, fuzz

PROCESSES = 2
MUTANTS = 100_000
PART = 5_000


def run() -> Iterator[Figure]:
    with ProcessPoolExecutor(PROCESSES) as pool:
        books = sum(pool.map(_fuzz_part, range(MUTANTS // PART)), Books())
    thrown = sum(books.statuses.values())
    answers = ", ".join(f"{status}: {count}" for status, count in sorted(books.statuses.items()))
    yield Figure("mutated deliveries", f"{thrown}", answers)
    yield Figure(
        "escaped exceptions, 5xx, rows without a signature",
        str(len(books.complaints)),
        "; ".join(books.complaints[:3]) or "0",
        not books.complaints,
    )


def _fuzz_part(seed: int) -> Books:
    with fresh_database() as database:
        return fuzz(database, seed, PART)
