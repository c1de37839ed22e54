"""`reconcile demo` as a process of its own: what it says, and what is left of it."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.acceptance.command import MODULE
from tests.waiting import wait_until

PATIENCE_SECONDS = 200
SPEED = "90"


class Demo:
    """Everything it starts knows the directory of its temporary files, and is known by it."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        self.directory = directory
        # A socket's path is short, and a test's directory is not.
        self._runtime = tempfile.mkdtemp(prefix="demo-")
        self.environment = {
            **os.environ,
            "TMPDIR": str(directory),
            "XDG_RUNTIME_DIR": self._runtime,
            # None of these is to reach it, or to do harm if it does.
            "POSTGRES_URL": "postgresql://nobody@127.0.0.1:1/none",
            "KUBECONFIG": "/nowhere",
            "http_proxy": "http://127.0.0.1:1",
        }
        self.output = directory / "output"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [*MODULE, "demo", "--speed", SPEED, *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @property
    def said(self) -> str:
        return self.output.read_text()

    def wait_for(self, pattern: str) -> str:
        def there() -> bool:
            assert self.process.poll() is None or re.search(pattern, self.said), self.said
            return re.search(pattern, self.said) is not None

        wait_until(there, PATIENCE_SECONDS)
        found = re.search(pattern, self.said)
        assert found is not None
        return found.group(found.lastindex or 0)

    @property
    def url(self) -> str:
        return self.wait_for(r"(http://127\.0\.0\.1:\d+)/")

    def ended(self) -> int:
        return self.process.wait(PATIENCE_SECONDS)

    def act(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run_command("demo", "act", *words, environment=self.environment)

    def trace(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run_command("demo", "trace", *words, environment=self.environment)

    def processes(self) -> dict[int, str]:
        """All that are there because of it: the command lines."""
        needle = f"TMPDIR={self.directory}".encode()
        found = {}
        for path in Path("/proc").glob("[0-9]*/environ"):
            # Gone meanwhile, or somebody else's. One that has ended has no environment any more.
            with contextlib.suppress(OSError):
                if needle in path.read_bytes().split(b"\0"):
                    command = path.with_name("cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(path.parent.name)] = command.decode(errors="replace")
        return found

    def left_behind(self) -> list[str]:
        """Of its files, in all the places where it puts some."""
        kept = [path.name for path in self.directory.iterdir() if path != self.output]
        return kept + [str(path) for path in Path(self._runtime).iterdir()]

    def close(self) -> None:
        """Only it is killed: the rest is to go by itself, with all its files. What does not go is
        told, and killed, too."""
        self.process.kill()
        self.process.wait()
        try:
            wait_until(lambda: self.processes() == {}, 60)
        finally:
            for pid in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            shutil.rmtree(self._runtime)


@contextlib.contextmanager
def demo(directory: Path, *arguments: str) -> Iterator[Demo]:
    started = Demo(directory, *arguments)
    try:
        yield started
    finally:
        started.close()


def run_command(
    *words: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MODULE, *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def summary(kept: Path) -> Any:
    return json.loads((kept / "summary.json").read_text())
