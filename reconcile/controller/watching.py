"""The watcher as the controller sees it: a process that is replaced when it dies."""

import contextlib
import json
import os
import signal
import socket
from collections.abc import Callable

from .. import log
from .forking import fork
from .schedule import Cause

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
LASTING_SECONDS = 60.0  # one that lived that long was a good one
CHUNK_BYTES = 65536

# A byte a word: however many there are, none arrives in two halves.
WORDS = {cause.encode()[0]: cause for cause in (Cause.NOTIFY, Cause.CONNECTED)}

Work = Callable[[socket.socket], int]  # what the watcher does with its end of the line


class Watching:
    """`work` runs in the child, and ends when its socket does."""

    def __init__(self, work: Work, keep: int) -> None:
        self._work, self._keep = work, keep
        self._pause = FIRST_PAUSE_SECONDS
        self._pid: int | None = None
        self.line: socket.socket | None = None  # for whoever waits for what it says
        self._started_at = 0.0
        self.start_at = 0.0

    def start(self, now: float) -> socket.socket:
        """What it says can be read there. Raises OSError."""
        self._started_at = now
        ours, theirs = socket.socketpair()
        with theirs:
            work = self._work
            try:
                self._pid = fork(lambda: work(theirs), keep=(theirs.fileno(), self._keep))
            except OSError:
                ours.close()
                raise
        ours.setblocking(False)
        self.line = ours
        return ours

    def tell(self, event: str, **details: object) -> None:
        """It must not be waited for: one that does not listen is as good as dead."""
        if self.line is None:
            return
        try:
            self.line.sendall(json.dumps({"event": event, **details}).encode() + b"\n")
        except OSError:
            with contextlib.suppress(OSError):  # Its end is noticed where its words are.
                self.line.shutdown(socket.SHUT_RDWR)

    def causes(self, line: socket.socket) -> set[Cause] | None:
        """What it says there is to wake for; None if it is gone."""
        try:
            data = line.recv(CHUNK_BYTES)
        except BlockingIOError:
            return set()
        except OSError:
            return None
        return {WORDS[byte] for byte in data} if data else None

    def replace_later(self, now: float, error: str) -> None:
        self.stop()
        if now - self._started_at > LASTING_SECONDS:
            self._pause = FIRST_PAUSE_SECONDS
        log.emit("watcher_lost", error=error, retry_seconds=self._pause)
        self.start_at = now + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    def stop(self) -> None:
        if self.line is not None:
            self.line.close()
            self.line = None
        if self._pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._pid = None
