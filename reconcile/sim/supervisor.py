"""Run one program for as long as our parent lives, then stop it and clean up after it.

    python supervisor.py [--signal INT] [--grace 10] [--user 65534] [--remove DIR]… -- PROGRAM ARG…

The parent keeps the other end of our standard input and never writes to it. However the parent
ends, also by SIGKILL, the kernel closes that pipe, and the end of input is our order to stop.
That holds on every Unix and for a parent with threads, which `prctl(PR_SET_PDEATHSIG)` does not.

Only the standard library, and no import of this project: it starts with `python -I -S`.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="supervisor")
    parser.add_argument("--signal", default="TERM", help="how the program is asked to stop")
    parser.add_argument("--grace", type=float, default=10, help="seconds before it is killed")
    parser.add_argument("--user", type=int, help="user and group id to run it as")
    parser.add_argument(
        "--remove",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="a directory removed at the end",
    )
    parser.add_argument("program", nargs="+")
    options = parser.parse_args(arguments)
    stop_signal = signal.Signals[f"SIG{options.signal}"]

    program = subprocess.Popen(
        options.program,
        stdin=subprocess.DEVNULL,
        user=options.user,
        group=options.user,
        extra_groups=None if options.user is None else [],
        # A session of its own: Ctrl-C in the parent's terminal is the parent's to handle.
        start_new_session=True,
    )

    def stop(_signal: int = 0, _frame: FrameType | None = None) -> None:
        with contextlib.suppress(ProcessLookupError):
            program.send_signal(stop_signal)
        killer = threading.Timer(options.grace, program.kill)
        killer.daemon = True
        killer.start()

    def stop_at_end_of_input() -> None:
        # The raw descriptor: a buffered reader may not be abandoned by an exiting interpreter.
        while os.read(0, 4096):
            pass
        stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    try:
        return program.wait()
    finally:
        for directory in options.remove:
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
