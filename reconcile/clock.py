"""The run's time, and how much of it is left.

The clock is injected everywhere; only this file reads it. A simulated world runs at a time and a
speed of its own, and whoever talks to it must live in that time too (GitHub looks at a JWT's):
`RUNNERS_CLOCK` says which.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

from .errors import DeadlineError


class Clock(Protocol):
    def now(self) -> datetime:
        """In UTC."""
        ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class SimulatedClock:
    """Stood at `start` when the machine's monotonic clock stood at `origin`, and has run at
    `speed` since: at 0 it stands still, at 60 a minute passes in a second."""

    def __init__(self, start: datetime, origin: float = 0, speed: float = 0) -> None:
        self._start = start
        self._origin = origin
        self._speed = speed

    def now(self) -> datetime:
        passed = (time.monotonic() - self._origin) * self._speed if self._speed else 0
        return self._start + timedelta(seconds=passed)


def parse(text: str) -> Clock:
    """`2026-03-02T09:00:00Z` stands still there; `…,ORIGIN,SPEED` runs. Raises ValueError."""
    start, _, rest = text.partition(",")
    moment = datetime.fromisoformat(start)
    if moment.tzinfo is None:
        raise ValueError("must have a time zone")
    moment = moment.astimezone(UTC)
    if not rest:
        return SimulatedClock(moment)
    origin, speed = (float(part) for part in rest.split(","))
    return SimulatedClock(moment, origin, speed)


class Deadline:
    """Real seconds, whatever the clock says: it bounds how long a process may take."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def remaining(self) -> float:
        return max(0.0, self._ends - time.monotonic())

    @property
    def passed(self) -> bool:
        return self.remaining() == 0

    def limit(self, seconds: float) -> float:
        """A timeout of that many seconds, or of what is left. Raises DeadlineError at the end."""
        if self.passed:
            raise DeadlineError("The run's time is over.")
        return max(0.05, min(seconds, self.remaining()))
