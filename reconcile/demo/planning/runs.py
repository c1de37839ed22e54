"""When runs start: the controller's schedule, on a stepped timeline."""

from collections.abc import Callable
from datetime import datetime

from ...controller.schedule import Cause, Schedule
from ...run_outcome import RunOutcome
from ...sim.clock import span
from ...sim.timeline import Appointment, Timeline
from .pace import Pace


class Runs:
    """Starts one at each new job, and every interval while a run might find something to do."""

    def __init__(
        self,
        timeline: Timeline,
        pace: Pace,
        decide: Callable[[], None],
        is_of_use: Callable[[], bool],
    ) -> None:
        self._timeline = timeline
        self._origin = timeline.now()
        self._pace = pace
        self._decide = decide
        self._is_of_use = is_of_use
        self._schedule = Schedule(pace.interval, next_tick=pace.interval)
        self._in_flight = False
        self._next: Appointment | None = None

    def wake(self) -> None:
        self._schedule.wake(Cause.NOTIFY)
        self._appoint_next()

    def _appoint_next(self) -> None:
        if self._in_flight:
            return
        if self._next is not None:
            self._next.cancel()
            self._next = None
        due_at = self._schedule.next_at
        if self._schedule.due(due_at) is not Cause.TICK or self._is_of_use():
            self._next = self._timeline.at(self._moment(due_at), self._is_due)

    def _is_due(self) -> None:
        # Whatever else happens at this moment happened before the run looks.
        self._next = self._timeline.at(self._timeline.now(), self._begin)

    def _begin(self) -> None:
        now = self._seconds()
        self._schedule.began(self._schedule.due(now) or Cause.TICK, now)
        self._in_flight = True
        self._decide()
        if self._pace.run > 0:
            self._timeline.after(self._pace.run, self._end)
        else:
            self._end()

    def _end(self) -> None:
        self._in_flight = False
        self._schedule.ended(RunOutcome.COMPLETED, self._seconds())
        self._appoint_next()

    def _seconds(self) -> float:
        return (self._timeline.now() - self._origin).total_seconds()

    def _moment(self, seconds: float) -> datetime:
        return self._origin + span(seconds)
