"""JSON lines on standard output, where Lambda and container runtimes collect them.

Never a body, a header's secret or a connection string: callers pass only what they name.
"""

import json
import sys


def emit(event: str, **details: str | float | None) -> None:
    sys.stdout.write(json.dumps({"event": event, **details}, separators=(",", ":")) + "\n")
    sys.stdout.flush()  # A pipe would keep lines back, and lose them with the process.
