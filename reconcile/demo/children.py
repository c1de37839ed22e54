"""The demo's processes, each under a supervisor: they end with us, however we end."""

import contextlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from ..sim import supervisor

START_SECONDS = 60
STOP_SECONDS = 20
LOG_TAIL = 2000


class DemoError(Exception):
    """The demo cannot begin or go on; the message says why."""


class Child:
    """One of them, with what it says in a file."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        logs: Path,
        *,
        lifeline: int,
        pause_signal: str = "TERM",
    ) -> None:
        """`arguments` of Python. `lifeline`: what it holds of the directory that it writes to."""
        self.name = name
        self.log = logs / f"{name}.log"
        command = [sys.executable, "-I", "-S", supervisor.__file__, "--pause-signal", pause_signal]
        command += ["--", sys.executable, *arguments]
        with self.log.open("ab") as log:
            self._supervisor = subprocess.Popen(
                command,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(lifeline,),
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Asked to; after a while the supervisor insists."""
        if self._supervisor.stdin is not None:
            self._supervisor.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._supervisor.wait(STOP_SECONDS)

    def pause(self) -> None:
        self._supervisor.send_signal(signal.SIGUSR1)

    def resume(self) -> None:
        self._supervisor.send_signal(signal.SIGUSR2)

    def check(self) -> None:
        """Raises DemoError if it ended by itself."""
        if (code := self._supervisor.poll()) is not None:
            said = self.log.read_text(errors="replace")[-LOG_TAIL:]
            raise DemoError(f"The {self.name} ended with exit code {code}. It said:\n{said}")

    def wait_for(self, pattern: str) -> str:
        """What it says of itself, once it has said so: the pattern's first group."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if found := re.search(pattern, self.log.read_text(errors="replace")):
                return found.group(1)
            self.check()
            time.sleep(0.02)
        raise DemoError(f"The {self.name} did not start within {START_SECONDS} s: see {self.log}")
