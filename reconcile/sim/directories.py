"""Temporary directories that go when everybody who uses them is gone, however they went."""

import contextlib
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from . import janitor

PATIENCE_SECONDS = 60


class Directories:
    """A process that is to be waited for is started with `pass_fds=(directories.lifeline,)`, and
    starts nothing that it passes it on to."""

    def __init__(self) -> None:
        self._janitor = subprocess.Popen(
            [sys.executable, "-I", "-S", janitor.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,  # Whoever reads ours is not to wait for it.
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        assert self._janitor.stdin is not None  # noqa: S101 a pipe was asked for
        self._pipe = self._janitor.stdin
        self.lifeline = self._pipe.fileno()

    def make(self, parent: Path, prefix: str) -> Path:
        """A new one, for us alone. Told of before it is there: in between we may be killed."""
        path = parent.absolute() / f"{prefix}{secrets.token_hex(6)}"
        self._pipe.write(os.fsencode(path) + b"\0")
        self._pipe.flush()
        path.mkdir(mode=0o700)
        return path

    def close(self) -> None:
        """We are done with them; they are gone when this returns, if everybody else is."""
        with contextlib.suppress(OSError):
            self._pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._janitor.wait(PATIENCE_SECONDS)


@contextlib.contextmanager
def temporary() -> Iterator[Directories]:
    made = Directories()
    try:
        yield made
    finally:
        made.close()
