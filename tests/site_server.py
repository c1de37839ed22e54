"""`python -m static_site` in a process of its own, and asking it."""

import contextlib
import http.client
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMMAND = (sys.executable, "-m", "static_site")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Site:
    directory: Path
    port: int
    process: subprocess.Popen[str]

    def write(self, file: str, content: str | bytes = "") -> Path:
        path = self.directory / file.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def ask(self, path: str, method: str = "GET", **said: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        with contextlib.closing(connection):
            named = {name.replace("_", "-"): value for name, value in said.items()}
            connection.request(method, path, headers=named)
            answer = connection.getresponse()
            lowered = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, lowered, answer.read())

    def raw(self, sent: bytes) -> bytes:
        """Whatever is answered to these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(sent)
            return b"".join(iter(lambda: connection.recv(65536), b""))


@contextlib.contextmanager
def serving(directory: Path, *command: str) -> Iterator[Site]:
    process = subprocess.Popen(
        [*(command or COMMAND), str(directory), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("Listening on http://127.0.0.1:"), line
        yield Site(directory, int(line.strip().rstrip("/").rpartition(":")[2]), process)
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=10)
        assert not errors, errors
