"""When the next run is due, and why. Pure: it is told the time."""

from dataclasses import dataclass, field
from enum import StrEnum

from ..run_outcome import WORKED, RunOutcome

FIRST_PAUSE_SECONDS = 1.0
STORM_SECONDS = 0.25  # from one start to the next, while jobs come faster than runs end


class Cause(StrEnum):
    """What a run was started by."""

    NOTIFY = "notify"  # there is a new job
    TICK = "tick"  # the interval is over
    CONNECTED = "connected"  # jobs may have come while nobody listened
    RETRY = "retry"  # the run before was not the one that was called for


@dataclass(slots=True)
class Schedule:
    """However often it is woken during a run, one more follows, straight after it; or, if that run
    was over in no time, a moment later: jobs that come by the hundred are for the same run.

    A run that could not do its work is repeated after a pause, longer each time, and no wake cuts
    that short: a storm of new jobs must not become one of failing processes.
    """

    interval: float
    next_tick: float  # the first one
    _wanted: Cause | None = field(default=None, init=False)
    _started_by: Cause = field(default=Cause.TICK, init=False)
    _began_at: float = field(default=0.0, init=False)
    _not_before: float = field(default=0.0, init=False)
    _pause: float = field(default=0.0, init=False)

    def wake(self, cause: Cause) -> None:
        self._wanted = cause

    def due(self, now: float) -> Cause | None:
        """Why a run is to start now, if one is."""
        if now < self.next_at:
            return None
        return self._wanted or Cause.TICK

    @property
    def next_at(self) -> float:
        """When the next one is due, unless something wakes it before."""
        return max(self._not_before, 0.0 if self._wanted else self.next_tick)

    def began(self, cause: Cause, now: float) -> None:
        self._wanted = None
        self._started_by = cause
        self._began_at = now
        self.next_tick = now + self.interval

    def ended(self, outcome: RunOutcome, now: float) -> None:
        if outcome is RunOutcome.SKIPPED and self._started_by is not Cause.TICK:
            # Whoever has the lock may have looked before what woke us.
            self._pause = min(self.interval, FIRST_PAUSE_SECONDS)
        elif outcome in WORKED:
            self._pause = 0.0
        else:
            self._pause = min(self.interval, max(FIRST_PAUSE_SECONDS, 2 * self._pause))
        woken = self._wanted is not None
        soonest = self._began_at + min(self.interval, STORM_SECONDS) if woken else now
        self._not_before = max(now + self._pause, soonest)
        if self._pause:
            self._wanted = self._wanted or Cause.RETRY
