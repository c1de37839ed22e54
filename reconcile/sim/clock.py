"""The world's time: stepped by hand, or real and perhaps sped up.

Both have `now()`, and nothing in a simulator looks at any other clock.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

# Any moment would do; a fixed one makes a replay the same to the letter.
BEGINNING = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CENTURY = 100 * 365 * 86400


def span(seconds: float) -> timedelta:
    """That long, but at most a century: whoever asks for more will not be there to see it."""
    return timedelta(seconds=max(-CENTURY, min(CENTURY, seconds)))


class Clock(Protocol):
    def now(self) -> datetime:
        """The world's time, in UTC, never earlier than it was before."""
        ...


class SteppedClock:
    """Stands still until it is moved."""

    def __init__(self, start: datetime = BEGINNING) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def move_to(self, moment: datetime) -> None:
        if moment < self._now:
            raise ValueError(f"Time cannot go back from {self._now} to {moment}.")
        self._now = moment


class LiveClock:
    """Runs by itself: at speed 60 a minute of the world passes in a second of ours."""

    def __init__(self, speed: float = 1.0, start: datetime | None = None) -> None:
        if speed <= 0:
            raise ValueError("The speed of time must be above zero.")
        self.speed = speed
        self.start = start or datetime.now(UTC)
        self.origin = time.monotonic()  # which is the same for all processes of a machine

    def now(self) -> datetime:
        return self.start + timedelta(seconds=(time.monotonic() - self.origin) * self.speed)

    def real_seconds_until(self, moment: datetime) -> float:
        return max(0.0, (moment - self.now()).total_seconds() / self.speed)
