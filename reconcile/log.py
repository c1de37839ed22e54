"""JSON lines on standard error, each with a time and an `event` slug, and once there is one the
run's number. Callers pass only what they name: never a token, a configuration or a body."""

import contextlib
import json
import sys
import threading
from typing import TextIO

from .clock import Clock, SystemClock

Detail = str | int | float | bool | None

_lock = threading.Lock()
_clock: Clock = SystemClock()
_bound: dict[str, Detail] = {}


def bind(clock: Clock, **details: Detail) -> None:
    """For all lines from now on: whose time they tell, and what each of them carries."""
    global _clock, _bound
    _clock, _bound = clock, details


def emit(event: str, **details: Detail) -> None:
    told = {
        "time": _clock.now().isoformat(timespec="milliseconds"),
        "event": event,
        **{name: value for name, value in (_bound | details).items() if value is not None},
    }
    line = json.dumps(told, separators=(",", ":")) + "\n"
    stream: TextIO | None = sys.stderr  # None: it was closed when we were started.
    # A log that cannot be written (a full disk, nobody reading) must not leave jobs waiting.
    with _lock, contextlib.suppress(OSError, ValueError):
        if stream is not None:
            stream.write(line)
            stream.flush()
