"""Many rows at once, and none lost to another."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from .. import log
from ..errors import StoreError
from .context import Context
from .outcome import Outcome

T = TypeVar("T")


def write_all(
    context: Context,
    rows: Sequence[T],
    statement: Callable[[Sequence[T]], int],
    name: Callable[[T], str],
    outcome: Outcome,
) -> int:
    """All in one statement; should that fail, each in its own savepoint, so that one row that
    cannot be written takes no other with it. How many were changed."""
    if not rows:
        return 0
    try:
        with context.database.transaction():
            return statement(rows)
    except StoreError as error:
        if context.database.broken:
            raise
        if len(rows) == 1:
            outcome.problem(f"{name(rows[0])} could not be written: {error}")
            return 0
        log.emit("rows_written_one_by_one", count=len(rows), error=str(error))
    return sum(write_all(context, [row], statement, name, outcome) for row in rows)
