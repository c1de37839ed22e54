"""Mutated deliveries. `make bench ARGS=fuzz` does the same a hundred thousand times."""

import pytest

from tests.database import Database
from tests.fuzz import fuzz


@pytest.mark.parametrize("seed", range(4))
def test_mutated_deliveries_are_refused_or_recorded(database: Database, seed: int) -> None:
    books = fuzz(database, seed, count=1500)
    assert books.complaints == []
    # It would prove nothing if none got through, or all were stopped at one check.
    assert all(books.statuses[status] > 10 for status in (200, 400, 401)), books.statuses
