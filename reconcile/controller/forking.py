"""Processes that are copies of this one, warm with all it has imported, and share nothing else.

Only a process with one thread may do this: a lock that another thread holds would stay locked in
the copy for good.
"""

import contextlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from .. import log

HANDLED = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
STANDARD = (0, 1, 2)


def fork(work: Callable[[], int], keep: Iterable[int]) -> int:
    """The pid of a child that does the work and ends with what it returns. Of our open files it
    keeps only those, so that nobody's connection is held open, or closed, by a copy."""
    _flush()
    # A signal that comes before the child is loose would reach our pipe, as if it were for us.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED)
    try:
        pid = os.fork()
    except OSError:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise
    if pid:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        with contextlib.suppress(OSError):  # Whoever is first: the child does it, too.
            os.setpgid(pid, pid)
        return pid
    code = 1
    try:
        _come_loose(keep)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        code = work()
    except BaseException:  # noqa: BLE001 nothing above this frame is the child's to run
        log.emit("process_crashed", traceback=traceback.format_exc(limit=-8))
    finally:
        _flush()
        os._exit(code)


def _flush() -> None:
    streams: tuple[TextIO | None, ...] = (sys.stdout, sys.stderr)
    for stream in streams:
        if stream is not None:  # None: it was closed when we were started.
            with contextlib.suppress(OSError, ValueError):
                stream.flush()


def _come_loose(keep: Iterable[int]) -> None:
    signal.set_wakeup_fd(-1)
    for each in HANDLED:
        signal.signal(each, signal.SIG_DFL)
    # A group of its own: Ctrl-C in a terminal is the parent's to handle, and whatever the child
    # starts (a kubeconfig's plugin, say) can be ended with it.
    os.setpgid(0, 0)
    _close_all_but({*STANDARD, *keep})


def _close_all_but(kept: set[int]) -> None:
    """What is open is looked up: a container may be allowed a thousand million files, and closing
    each number on the chance takes minutes."""
    for path in Path("/dev/fd").iterdir():
        if (number := int(path.name)) not in kept:
            with contextlib.suppress(OSError):  # Its directory was listed through a file, too.
                os.close(number)


def end_with_parent(lifeline: int, last: Callable[[], None]) -> None:
    """Ends this process, and its group, when the other end of that pipe is closed, as it is however
    its holder ends. (`prctl(PR_SET_PDEATHSIG)` is Linux's alone.) `last` is what it does then."""

    def wait() -> None:
        while os.read(lifeline, 1):
            pass
        last()
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()
