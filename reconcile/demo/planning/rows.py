"""A job as a file tells of it, and what its fields may be."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any

from webhook_fn.routes import normalised_labels

LONGEST_NAME = 255  # letters
# GitHub ends a workflow run after 35 days.
LONGEST_JOB = 35 * 86_400
YEARS = range(1970, 3000)
SHOWN = 60  # letters of what is wrong, in a message


class RowError(ValueError):
    """What is wrong with a row, without where."""


class State(IntEnum):
    """How far a job had come. Of two files that have the same one, the further is the later."""

    WAITING = 0
    RUNNING = 1
    NEVER_RAN = 2  # it ended without: cancelled, skipped, given up
    RAN = 3


@dataclass(frozen=True, slots=True)
class Row:
    job_id: int | None  # None: nothing that could be in two files
    entity: str
    repository: str | None  # as a job of a personal account has it, else None
    labels: tuple[str, ...]
    pool: str
    created_at: datetime
    state: State
    seconds: float | None  # of one that ran


def name(value: Any, field: str) -> str:
    """What is shown on a terminal and drawn in a picture, so nothing but what can be."""
    if not isinstance(value, str) or not value:
        raise RowError(f"{field} is missing or no text")
    if len(value) > LONGEST_NAME or not value.isprintable():
        raise RowError(f"{field} is too long or has letters that cannot be shown: {shown(value)}")
    return value


def labels(values: Any) -> tuple[str, ...]:
    if not isinstance(values, Iterable) or isinstance(values, str | dict):
        raise RowError("labels is missing or no list")
    found = normalised_labels([name(value, "a label") for value in values])
    if not found:
        raise RowError("labels is empty")
    return found


def moment(value: Any, field: str) -> datetime:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        found = None
    if found is None or found.tzinfo is None or found.year not in YEARS:
        raise RowError(
            f"{field} is no time with its zone, such as 2026-11-18T12:00:05Z: {shown(value)}"
        )
    return found.astimezone(UTC)


def length(value: Any, field: str) -> float:
    """In seconds."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= LONGEST_JOB:  # what is not a number is not between two
        raise RowError(f"{field} is no number of seconds from 0 to 35 days: {shown(value)}")
    return float(value)


def shown(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
