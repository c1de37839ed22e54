"""Mutated deliveries and questions. `make bench ARGS=fuzz` throws a hundred thousand of each."""

import pytest

from tests.database import Database
from tests.fuzz import fuzz
from tests.questions import throw, trace_everything


@pytest.mark.parametrize("seed", range(4))
def test_mutated_deliveries_are_refused_or_recorded(database: Database, seed: int) -> None:
    books = fuzz(database, seed, count=1500)
    assert books.complaints == []
    # It would prove nothing if none got through, or all were stopped at one check.
    assert all(books.statuses[status] > 10 for status in (200, 400, 401)), books.statuses


@pytest.mark.parametrize("seed", range(4))
def test_mutated_questions_are_answered_to_whoever_may_ask(database: Database, seed: int) -> None:
    books = throw(database, seed, count=1500)
    assert books.complaints == []
    assert all(books.statuses[status] > 10 for status in (200, 400, 401, 404, 405)), books.statuses
    assert books.accepted > 50, "some were told what strangers must not be"


def test_whatever_was_accepted_can_be_traced(database: Database) -> None:
    assert fuzz(database, seed=7, count=1500).accepted > 500
    books = trace_everything(database)
    assert books.complaints == []
    assert books.statuses[200] > 500, books.statuses
