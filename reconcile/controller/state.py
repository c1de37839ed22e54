"""What is known of the controller from outside it: the ground for /health and /ready."""

import threading
import time
from dataclasses import dataclass, field, replace

from ..run_outcome import WORKED, RunOutcome
from ..store.figures import Figures

SILENCE_SECONDS = 30.0  # the controller says every few seconds that it is there
STALE_INTERVALS = 4


@dataclass(frozen=True, slots=True)
class Observed:
    """Moments are of the monotonic clock; None is not yet, or not any more."""

    heard_at: float  # when the controller last said anything
    listened_at: float  # when whoever listens last came by
    run_started_at: float | None = None  # of a run in flight
    worked_at: float | None = None  # when a run last did its work
    listening: bool = False
    trouble: str = "no connection yet"  # why it is not listening
    figures: Figures | None = None
    figures_at: float = 0.0


def health_problems(observed: Observed, now: float) -> list[str]:
    """Why the process should be started anew."""
    problems = []
    if now - observed.heard_at > SILENCE_SECONDS:
        problems.append(f"The controller is silent for {now - observed.heard_at:.0f} s.")
    if now - observed.listened_at > 2 * SILENCE_SECONDS:
        problems.append(f"The listener is silent for {now - observed.listened_at:.0f} s.")
    return problems


def ready_problems(observed: Observed, now: float, interval: float) -> list[str]:
    """Why it does not do its work at present. A long run is no reason: what counts is whether
    the one before it ended long before it began."""
    problems = health_problems(observed, now)
    if not observed.listening:
        problems.append(f"The database: {observed.trouble}")
    limit = STALE_INTERVALS * interval
    if observed.worked_at is None:
        problems.append("No run has done its work yet.")
    else:
        until = observed.run_started_at if observed.run_started_at is not None else now
        if until - observed.worked_at > limit:
            age = now - observed.worked_at
            problems.append(f"No run has done its work for {age:.0f} s (more than {limit:.0f}).")
    return problems


@dataclass(slots=True)
class State:
    """The same, while it changes: several threads write and read it."""

    _observed: Observed = field(
        default_factory=lambda: Observed(heard_at=time.monotonic(), listened_at=time.monotonic())
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def observed(self) -> Observed:
        return self._observed

    def heard(self) -> None:
        self._change(heard_at=time.monotonic())

    def resumed(self, *, worked_at: float | None, running: bool) -> None:
        """What happened before there was anybody to observe it."""
        self._change(worked_at=worked_at, run_started_at=time.monotonic() if running else None)

    def run_began(self) -> None:
        self._change(run_started_at=time.monotonic())

    def run_ended(self, outcome: RunOutcome) -> None:
        """In one change: between two, a long run that did its work would look like a stale one."""
        if outcome in WORKED:
            self._change(run_started_at=None, worked_at=time.monotonic())
        else:
            self._change(run_started_at=None)

    def listened(self) -> None:
        self._change(listened_at=time.monotonic())

    def connected(self) -> None:
        self._change(listening=True, trouble="")

    def lost(self, trouble: str) -> None:
        self._change(listening=False, trouble=trouble)

    def learned(self, figures: Figures) -> None:
        self._change(figures=figures, figures_at=time.monotonic())

    def _change(self, **values: object) -> None:
        with self._lock:
            self._observed = replace(self._observed, **values)  # type: ignore[arg-type]
