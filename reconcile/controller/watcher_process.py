"""The watcher as the controller sees it: a process that is replaced when it dies or hangs."""

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
SILENCE_SECONDS = 60.0  # it says something every few seconds, whatever it waits for
CHUNK_BYTES = 65536

# What it says is a byte a word: however many there are, none arrives in two halves.
ALIVE = b"."
WORDS = {Cause.NOTIFY: b"n", Cause.CONNECTED: b"c"}
CAUSES = {word[0]: cause for cause, word in WORDS.items()}

Work = Callable[[socket.socket], int]  # what the watcher does with its end of the line


class WatcherProcess:
    """`work` runs in the child, and ends when its socket does."""

    def __init__(self, work: Work, keep: int) -> None:
        self._work, self._keep = work, keep
        self._pause = FIRST_PAUSE_SECONDS
        self._started_at = 0.0
        self._heard_at = 0.0
        self.pid: int | None = None
        self.line: socket.socket | None = None  # on which it speaks; None while there is none
        self.start_at = 0.0  # then

    @property
    def silent_at(self) -> float:
        """When it is taken for one that hangs, if it says nothing before."""
        return float("inf") if self.line is None else self._heard_at + SILENCE_SECONDS

    def start(self, now: float) -> socket.socket:
        """The line. Raises OSError."""
        self._started_at = self._heard_at = now
        ours, theirs = socket.socketpair()
        with theirs:
            work = self._work
            try:
                self.pid = fork(lambda: work(theirs), keep=(theirs.fileno(), self._keep))
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

    def causes(self, now: float) -> set[Cause] | None:
        """What it says there is to wake for; None if it is gone."""
        if self.line is None:
            return set()
        try:
            data = self.line.recv(CHUNK_BYTES)
        except BlockingIOError:
            return set()
        except OSError:
            return None
        self._heard_at = now
        return {CAUSES[byte] for byte in data if byte in CAUSES} if data else None

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
        if self.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = None
