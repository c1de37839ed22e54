"""A run in a process of its own that is killed, with SIGKILL, at one of its effects outside.

An effect is a request that is no GET, to GitHub or to the cluster, or a round trip to PostgreSQL.
The run is dead and gone before the world sees the effect, or after it was done and before the
answer leaves: nothing in the process gets to know, to catch or to clean up.
"""

import contextlib
import multiprocessing
import os
import re
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import StrEnum
from multiprocessing import connection
from typing import Any, Protocol

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from reconcile import cli, run
from reconcile.sim.http import Endpoint, Request, Response, Service
from reconcile.sim.server import Server
from tests.system import System
from tests.waiting import wait_until

LOOPBACK = "127.0.0.1"
PATIENCE_SECONDS = 60
ENCRYPTION_ASKED = (80877103, 80877104)  # instead of a version: for TLS, for GSSAPI
# Each run is a fork of a process that has imported everything, as the controller's will be.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__, run.__name__])


class When(StrEnum):
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Point:
    effect: int  # its number
    when: When


class Victim(Protocol):
    """A process that does one run."""

    def kill(self) -> None:
        """It is over when this returns."""
        ...

    def wait(self) -> int:
        """Its exit code; minus the signal's number if one ended it."""
        ...


class Forked:
    def __init__(self, settings: dict[str, str]) -> None:
        self._process = _FORKS.Process(target=_reconcile_run, args=(settings,))
        self._process.start()

    def kill(self) -> None:
        self._process.kill()
        # Only looked at, not taken: the exit code is for whoever waits.
        connection.wait([self._process.sentinel], PATIENCE_SECONDS)

    def wait(self) -> int:
        self._process.join(PATIENCE_SECONDS)
        assert self._process.exitcode is not None, "The run did not come to its end."
        return self._process.exitcode


class Command:
    """`reconcile run`, as somebody would type it."""

    def __init__(self, settings: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "reconcile", "run"],
            env={**os.environ, **settings},
            stderr=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(PATIENCE_SECONDS)

    def wait(self) -> int:
        return self._process.wait(PATIENCE_SECONDS)


def _reconcile_run(settings: dict[str, str]) -> None:
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 it is no path of ours
        sys.stderr = nowhere
        os.environ.update(settings)
        os._exit(cli.main(["run"]))


@dataclass
class Watch:
    """Sees the effects in their order, and kills at one of them."""

    point: Point | None = None
    effects: list[str] = field(default_factory=list)
    victim: Future[Victim] = field(default_factory=Future)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def around(self, name: str, do: Callable[[], Any]) -> Any:
        """What came of it; None if nobody is left to hear it."""
        with self._lock:
            number = len(self.effects)
            self.effects.append(name)
        here = self.point is not None and self.point.effect == number
        if here and self.point == Point(number, When.BEFORE):
            return self._kill()
        answer = do()
        return self._kill() if here else answer

    def _kill(self) -> None:
        self.victim.result(PATIENCE_SECONDS).kill()


class Watched:
    """A service whose every writing request is an effect."""

    def __init__(self, service: Service, watch: Watch) -> None:
        self._service = service
        self._watch = watch
        self.name, self.prefix, self.router = service.name, service.prefix, service.router

    def respond(self, endpoint: Endpoint, request: Request) -> Response:
        if endpoint.method == "GET":
            return self._service.respond(endpoint, request)
        answer: Response | None = self._watch.around(
            f"{self.name}.{endpoint.name}", lambda: self._service.respond(endpoint, request)
        )
        return answer or self.refusal(503, None)  # To the dead.

    def no_such_path(self, request: Request) -> Response:
        return self._service.no_such_path(request)

    def refusal(self, status: int, retry_after: int | None) -> Response:
        return self._service.refusal(status, retry_after)


class Wire:
    """Between a run and PostgreSQL. Whatever the client asks before it waits is one effect."""

    def __init__(self, conninfo: str, watch: Watch) -> None:
        given = conninfo_to_dict(conninfo)
        self._server = str(given["host"]), int(str(given["port"]))
        self._watch = watch
        self._listener = socket.create_server((LOOPBACK, 0))
        port = self._listener.getsockname()[1]
        self.conninfo = make_conninfo(conninfo, host=LOOPBACK, port=port)
        self._thread = threading.Thread(target=self._serve, name="wire", daemon=True)

    @contextlib.contextmanager
    def open(self) -> Iterator[str]:
        self._thread.start()
        try:
            yield self.conninfo
        finally:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)  # wakes whoever accepts
            self._thread.join(PATIENCE_SECONDS)
            self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # It is closed: there will be no other.
            with (
                client,
                socket.create_connection(self._server) as server,
                contextlib.suppress(ConnectionError, EOFError),  # of either: the end of both
            ):
                self._carry(client, server)

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        greeting = True
        while True:
            asked, name, greeting = _greeting(client) if greeting else _request(client)
            if name == "goodbye":
                server.sendall(asked)
                return
            answer = self._watch.around(f"db.{name}", lambda: self._ask(server, asked))  # noqa: B023
            if answer is None:
                return
            client.sendall(answer)

    def _ask(self, server: socket.socket, asked: bytes) -> bytes:
        server.sendall(asked)
        return _answer(server, one_letter=_asks_for_encryption(asked))


def _greeting(client: socket.socket) -> tuple[bytes, str, bool]:
    """The first messages have no type; a question whether to encrypt has another after it."""
    size = _exactly(client, 4)
    message = size + _exactly(client, struct.unpack("!I", size)[0] - 4)
    again = _asks_for_encryption(message)
    return message, "encryption?" if again else "connect", again


def _request(client: socket.socket) -> tuple[bytes, str, bool]:
    messages, name = b"", "again, prepared"
    while True:
        kind, message = _message(client)
        messages += message
        if kind in (b"P", b"Q"):
            name = _statement(message)
        if kind == b"X":
            return messages, "goodbye", False
        if kind in (b"Q", b"S"):  # now it waits
            return messages, name, False


def _answer(server: socket.socket, *, one_letter: bool) -> bytes:
    if one_letter:
        return _exactly(server, 1)
    messages, kind = b"", b""
    while kind != b"Z":  # ready for the next
        kind, message = _message(server)
        messages += message
    return messages


def _message(source: socket.socket) -> tuple[bytes, bytes]:
    head = _exactly(source, 5)
    return head[:1], head + _exactly(source, struct.unpack("!I", head[1:])[0] - 4)


def _exactly(source: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = source.recv(size - len(data))
        if not piece:
            raise EOFError("The other end is closed.")
        data += piece
    return data


def _asks_for_encryption(message: bytes) -> bool:
    return len(message) == 8 and struct.unpack("!I", message[4:])[0] in ENCRYPTION_ASKED


def _statement(message: bytes) -> str:
    """How it begins, for a name."""
    text = message[5:].lstrip(b"\0").partition(b"\0")[0].decode(errors="replace")
    without_comments = re.sub(r"--[^\n]*", "", text)
    return " ".join(without_comments.split())[:48]


def watched_run(
    s: System, point: Point | None = None, victim: Callable[[dict[str, str]], Victim] = Forked
) -> list[str]:
    """One run in its own process, killed at that point or not at all; the effects it had."""
    watch = Watch(point)
    settings = s.settings()
    with contextlib.ExitStack() as stack:
        for server in (s.world.github_server, s.world.cluster_server):
            stack.enter_context(_watching(server, watch))
        wire = Wire(settings["POSTGRES_URL"], watch)
        settings["POSTGRES_URL"] = stack.enter_context(wire.open())
        started = victim(settings)
        watch.victim.set_result(started)
        code = started.wait()
        wait_until(lambda: not _sessions(s))
    assert code == (0 if point is None else -9), (code, watch.effects)
    return watch.effects


@contextlib.contextmanager
def _watching(server: Server, watch: Watch) -> Iterator[None]:
    service = server.service
    server.service = Watched(service, watch)
    try:
        yield
    finally:
        server.service = service


def _sessions(s: System) -> int:
    """Of runs. PostgreSQL ends what they left behind, locks included, when it finds them gone."""
    [row] = s.database.rows(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND usename = 'prod_reconcile_login'"
    )
    count: int = row["count"]
    return count
