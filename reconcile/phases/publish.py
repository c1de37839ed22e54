"""The site, last of all: what this run did is on it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ..errors import BusyError
from .context import Context
from .outcome import Outcome

LONGEST = 60.0  # seconds; jobs that came meanwhile wait for the next run


class Published(Protocol):
    @property
    def uploaded(self) -> int: ...
    @property
    def deleted(self) -> int: ...
    @property
    def problems(self) -> Sequence[str]: ...


class Publisher(Protocol):
    def publish(self, now: datetime, seconds: float) -> Published:
        """What could not be published are problems. Raises StoreError, and BusyError if another is
        at it."""


def publish(context: Context, publisher: Publisher) -> Outcome:
    outcome = Outcome()
    try:
        done = publisher.publish(context.now(), min(LONGEST, context.deadline.remaining()))
    except BusyError:  # Somebody publishes everything anew: then this is part of it.
        outcome.did["publishing left to another"] += 1
        return outcome
    outcome.objects_published = done.uploaded
    outcome.did["objects published"] = done.uploaded
    outcome.did["objects deleted"] = done.deleted
    for text in done.problems:
        outcome.problem(text)
    return outcome
