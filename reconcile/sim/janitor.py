"""Removes directories once nobody is left who uses them.

    python janitor.py

Their paths come on standard input, each with a NUL behind it. Whoever uses them keeps the other end
of that pipe open. However they end, also by SIGKILL, the kernel closes it for them, and when the
last of them is gone the input ends, and the directories with it.

Only the standard library, and no import of this project: it starts with `python -I -S`.
"""

import os
import shutil
import signal
import sys


def main() -> int:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # It has nothing to do but this.
    paths = sys.stdin.buffer.read().split(b"\0")[:-1]
    for path in reversed(paths):
        shutil.rmtree(os.fsdecode(path), ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
