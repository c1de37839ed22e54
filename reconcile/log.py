"""JSON lines on standard error, each with an `event` slug. Callers pass only what they name:
never a token, a configuration or a body."""

import json
import sys
import threading

Detail = str | int | float | bool | None

_lock = threading.Lock()


def emit(event: str, **details: Detail) -> None:
    told = {name: value for name, value in details.items() if value is not None}
    line = json.dumps({"event": event, **told}, separators=(",", ":")) + "\n"
    with _lock:
        sys.stderr.write(line)
        sys.stderr.flush()
