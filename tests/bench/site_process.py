"""Publishing as a run does it, in a process of its own with all that a run has in memory:

    python -m tests.bench.site_process NOW [--from-scratch]

with the environment of a run; prints what it did, how long it took and how much memory that was.
"""

import json
import os
import sys
import time
from datetime import datetime
from pathlib import Path

from reconcile import attempt, config, site  # noqa: F401 attempt: what a run imports


def main() -> None:
    now, from_scratch = datetime.fromisoformat(sys.argv[1]), "--from-scratch" in sys.argv
    settings = config.from_environment(os.environ)
    publisher = site.publisher(settings)
    assert publisher is not None
    site.warm_up(settings)  # As the controller does, once for all its runs.
    started = time.perf_counter()
    done = publisher.publish(now, 3600, from_scratch=from_scratch)
    seconds = time.perf_counter() - started
    print(
        json.dumps(
            {
                "objects": done.uploaded,
                "problems": done.problems,
                "seconds": seconds,
                "megabytes": _most_memory(),
            }
        )
    )


def _most_memory() -> float:
    """In megabytes. Of this program alone: what getrusage tells began with whoever started it."""
    status = Path("/proc/self/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
