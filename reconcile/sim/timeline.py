"""What will happen in the world, and when. Nothing in a simulator changes but by a request that
comes in or by an appointment kept here.

An action runs under the world's lock and may answer with an effect, which runs without it: talk
to the outside (a webhook's delivery) belongs there, because whoever is called may call back.
"""

import heapq
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Self, TypeVar

from .clock import Clock, LiveClock, SteppedClock, span

Effect = Callable[[], None]
Action = Callable[[], Effect | None]
EFFECTS_AT_ONCE = 8
FEW_APPOINTMENTS = 1024

T = TypeVar("T")


class Appointment:
    """An action at a moment; equal moments keep the order in which they were made."""

    __slots__ = ("action", "moment", "number")

    def __init__(self, moment: datetime, number: int, action: Action) -> None:
        self.moment = moment
        self.number = number
        self.action: Action | None = action

    def cancel(self) -> None:
        self.action = None

    def __lt__(self, other: "Appointment") -> bool:
        return (self.moment, self.number) < (other.moment, other.number)


class Timeline:
    """The appointments, and the one lock that everything in the world is changed under."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self._appointments: list[Appointment] = []
        self._made = 0
        self._room = FEW_APPOINTMENTS

    def now(self) -> datetime:
        return self.clock.now()

    def at(self, moment: datetime, action: Action) -> Appointment:
        with self.lock:
            self._made += 1
            appointment = Appointment(max(moment, self.now()), self._made, action)
            heapq.heappush(self._appointments, appointment)
            if len(self._appointments) > self._room:
                self._forget_cancelled()
            self.changed.notify_all()
        return appointment

    def after(self, seconds: float, action: Action) -> Appointment:
        return self.at(self.now() + span(seconds), action)

    def next_moment(self) -> datetime | None:
        with self.lock:
            while self._appointments and self._appointments[0].action is None:
                heapq.heappop(self._appointments)
            return self._appointments[0].moment if self._appointments else None

    def _forget_cancelled(self) -> None:
        """Some are made for days ahead and cancelled within minutes."""
        self._appointments = [one for one in self._appointments if one.action is not None]
        heapq.heapify(self._appointments)
        self._room = max(FEW_APPOINTMENTS, 2 * len(self._appointments))

    def take_due(self, until: datetime) -> Appointment | None:
        """The next appointment not later than that, taken off the list."""
        moment = self.next_moment()
        if moment is None or moment > until:
            return None
        return heapq.heappop(self._appointments)


class SteppedTime:
    """Time that passes only when told to, in this thread, effects included: a seed replays."""

    def __init__(self, clock: SteppedClock | None = None) -> None:
        self.clock = clock or SteppedClock()
        self.timeline = Timeline(self.clock)

    def step(self, seconds: float = 0) -> None:
        """Let that much time pass, with all that happens meanwhile, in its order."""
        target = self.clock.now() + timedelta(seconds=seconds)
        while True:
            with self.timeline.lock:
                appointment = self.timeline.take_due(target)
                if appointment is None:
                    # An effect may have stepped further, and so may another thread.
                    self.clock.move_to(max(target, self.clock.now()))
                    return
                self.clock.move_to(max(appointment.moment, self.clock.now()))
                effect = appointment.action() if appointment.action else None
            if effect is not None:
                effect()

    def step_until(self, condition: Callable[[], bool], limit: float = 3600) -> None:
        """Let time pass, appointment by appointment, until the condition holds."""
        deadline = self.clock.now() + timedelta(seconds=limit)
        self.step()
        while not condition():
            moment = self.timeline.next_moment()
            if moment is None or moment > deadline:
                raise TimeoutError(f"It did not come to pass within {limit:g} s.")
            self.step((moment - self.clock.now()).total_seconds())


class LiveTime:
    """Time that runs by itself, in a thread of its own; effects run beside it.

    What fails does not stop time: it is kept in `errors`, and raised when time ends.
    """

    def __init__(self, clock: LiveClock | None = None) -> None:
        self.clock = clock or LiveClock()
        self.timeline = Timeline(self.clock)
        self.errors: list[Exception] = []
        self._running = False
        self._effects = ThreadPoolExecutor(EFFECTS_AT_ONCE, thread_name_prefix="sim-effect")
        self._thread = threading.Thread(target=self._run, name="sim-time", daemon=True)

    def __enter__(self) -> Self:
        self._running = True
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self.timeline.lock:
            self._running = False
            self.timeline.changed.notify_all()
        self._thread.join()
        self._effects.shutdown(wait=True, cancel_futures=True)
        if self.errors:
            raise ExceptionGroup("What failed while time ran.", self.errors)

    def _run(self) -> None:
        timeline = self.timeline
        with timeline.lock:
            while self._running:
                appointment = timeline.take_due(self.clock.now())
                if appointment is None:
                    moment = timeline.next_moment()
                    wait = None if moment is None else self.clock.real_seconds_until(moment)
                    timeline.changed.wait(wait)
                    continue
                effect = self._guarded(appointment.action) if appointment.action else None
                if effect is not None:
                    self._effects.submit(self._guarded, effect)

    def _guarded(self, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except Exception as error:  # noqa: BLE001 whatever it is, it is kept and raised at the end
            self.errors.append(error)
            return None
