"""The function as an HTTP server in a process of its own."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def server(settings: dict[str, str], *arguments: str) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "webhook_fn", "--port", "0", *arguments],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("Listening on "), line
        yield line.removeprefix("Listening on ").strip().rstrip("/")
    finally:
        process.terminate()
        process.communicate(timeout=10)
