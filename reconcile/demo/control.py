"""How `reconcile demo act` in one terminal reaches the demo in another: a Unix socket in a
directory that only its user can enter. A line of JSON there, a line of JSON back."""

import contextlib
import json
import os
import socket
import socketserver
import stat
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .acts import ActError, perform
from .children import DemoError
from .stage import Stage

LINE_LIMIT = 4096
PATIENCE_SECONDS = 10
SETTINGS = "settings"
LONGEST_PLACE = 60  # A socket's path may have a hundred characters.


@contextlib.contextmanager
def listening(stage: Stage) -> Iterator[str]:
    """The demo's side; its number, by which it is told from others."""
    number = str(os.getpid())
    path = _directory(stage.options.environ) / number
    # It gets its name once it answers: whoever finds one that does not removes it.
    unnamed = path.with_name(f".{number}")
    unnamed.unlink(missing_ok=True)
    server = _Server(str(unnamed), stage)
    unnamed.rename(path)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield number
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        _remove(path)


def ask(
    act: str, arguments: Sequence[str], environ: Mapping[str, str], demo: str | None = None
) -> str:
    """The other side: what was done, in a sentence. Raises DemoError, ActError."""
    return str(_ask({"act": act, "arguments": list(arguments)}, environ, demo))


def settings(environ: Mapping[str, str], demo: str | None = None) -> dict[str, str]:
    """For a command that only asks the demo's database. Raises DemoError."""
    return dict(_ask({"wanted": SETTINGS}, environ, demo))


def _ask(question: dict[str, Any], environ: Mapping[str, str], demo: str | None) -> Any:
    running = {}
    place = _directory(environ)
    there = sorted(path for path in place.iterdir() if not path.name.startswith("."))
    if not there:
        with contextlib.suppress(OSError):
            place.rmdir()
    for path in there:
        if (connection := _connected(path)) is not None:
            running[path.name] = connection
    with contextlib.ExitStack() as open_until_the_end:
        for connection in running.values():
            open_until_the_end.enter_context(connection)
        if not running:
            raise DemoError("No demo is running here. Start one with `make demo`.")
        if demo is None and len(running) > 1:
            raise DemoError(f"Several demos are running: --demo {' or '.join(running)}.")
        chosen = next(iter(running)) if demo is None else demo
        if chosen not in running:
            raise DemoError(f"There is no demo {demo}; there is {', '.join(running)}.")
        return _exchange(running[chosen], json.dumps(question))


def _exchange(connection: socket.socket, line: str) -> Any:
    if len(line) >= LINE_LIMIT:
        raise ActError("That is too long.")
    try:
        connection.sendall(line.encode() + b"\n")
        with connection.makefile("rb") as lines:
            answer: dict[str, Any] = json.loads(lines.readline(2 * LINE_LIMIT))
    except (OSError, ValueError) as error:
        raise DemoError("The demo did not answer; it may just have ended.") from error
    if "error" in answer:
        raise ActError(answer["error"])
    return answer["done"]


def _connected(path: Path) -> socket.socket | None:
    """None if nobody is there any more; then the socket is removed."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE_SECONDS)
        try:
            connection.connect(str(path))
        except BlockingIOError:  # More ask at once than it has room for.
            connection.close()
            if time.monotonic() > deadline:
                return None
            time.sleep(0.05)
        except OSError as error:
            connection.close()
            if isinstance(error, ConnectionRefusedError):
                _remove(path)
            return None
        else:
            return connection


def _remove(path: Path) -> None:
    """And its directory, unless there is another demo's in it."""
    with contextlib.suppress(OSError):
        path.unlink()
        path.parent.rmdir()


def _directory(environ: Mapping[str, str]) -> Path:
    """Raises DemoError if it is not ours: in a directory that everybody can write to somebody may
    have been there before us."""
    places = (environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp")  # noqa: S108
    base = next(
        place
        for place in places
        if place and len(place) <= LONGEST_PLACE and os.access(place, os.W_OK | os.X_OK)
    )
    path = Path(base) / f"riscv-runners-demo.{os.getuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise DemoError(f"{path} cannot be used: {error.strerror}.") from error
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not ours or stat.S_IMODE(found.st_mode) & 0o077:
        raise DemoError(f"{path} is not ours alone; remove it.")
    return path


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path: str, stage: Stage) -> None:
        self.stage = stage
        super().__init__(path, _Question)


class _Question(socketserver.StreamRequestHandler):
    server: _Server
    timeout = PATIENCE_SECONDS

    def handle(self) -> None:
        line = self.rfile.readline(LINE_LIMIT)
        if not line:
            return  # Somebody only looked whether we are here.
        try:
            asked = json.loads(line)
            wanted, act = asked.get("wanted"), str(asked.get("act"))
            arguments = [str(each) for each in asked.get("arguments", ())]
        except (ValueError, AttributeError, TypeError):
            answer = {"error": "That is no question."}
        else:
            answer = self._answer(wanted, act, arguments)
        with contextlib.suppress(OSError):
            self.wfile.write(json.dumps(answer).encode() + b"\n")

    def _answer(self, wanted: Any, act: str, arguments: list[str]) -> dict[str, Any]:
        stage = self.server.stage
        if wanted == SETTINGS:
            return {"done": dict(stage.settings)}
        try:
            return {"done": perform(stage, act, arguments)}
        except ActError as error:
            return {"error": str(error)}
