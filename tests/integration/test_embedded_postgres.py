"""The embedded PostgreSQL leaves nothing behind, however its owner ends."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from reconcile.sim import postgres
from tests.waiting import wait_until

OWNER = """
import signal, sys, time
from reconcile.sim import postgres
with postgres.running(in_memory={in_memory}) as server:
    print(server.url(), flush=True)
    {rest}
"""


@pytest.fixture
def scratch() -> Iterator[Path]:
    """Not pytest's own: that is closed to others, and as root the server is somebody else."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@contextlib.contextmanager
def owner(
    rest: str, scratch: Path, *, in_memory: bool = True
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(rest=rest, in_memory=in_memory)],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(scratch)},
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("postgresql://"), "the server did not start"
        yield process, url
    finally:
        process.kill()
        process.communicate()


def answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def directories(scratch: Path) -> list[Path]:
    return list(scratch.glob("riscv-runners-postgres-*"))


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize("killed", [signal.SIGKILL, signal.SIGTERM])
def test_server_ends_with_its_owner(killed: signal.Signals, in_memory: bool, scratch: Path) -> None:
    with owner("time.sleep(60)", scratch, in_memory=in_memory) as (process, url):
        assert answers(url)
        assert in_memory or directories(scratch)
        process.send_signal(killed)
        process.wait()
        wait_until(lambda: not answers(url))
        wait_until(lambda: not directories(scratch))


@pytest.mark.parametrize("moment", [0.1, 0.2, 0.3, 0.4, 0.6, 0.8])
def test_nothing_is_left_of_a_start_that_was_killed(moment: float, scratch: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(rest="time.sleep(60)", in_memory=False)],
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    time.sleep(moment)
    process.kill()
    process.wait()
    wait_until(lambda: list(scratch.iterdir()) == [])


@pytest.mark.parametrize(("rest", "status"), [("pass", 0), ("raise SystemExit(3)", 3)])
def test_server_ends_with_its_block(rest: str, status: int, scratch: Path) -> None:
    with owner(rest, scratch) as (process, url):
        assert process.wait() == status
        assert not answers(url)
        assert directories(scratch) == []


def test_server_can_be_away_for_a_while_and_keeps_what_it_had() -> None:
    with postgres.running() as server:
        with psycopg.connect(server.url()) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
        for _ in range(2):
            with server.stopped():
                assert not answers(server.url())
            with psycopg.connect(server.url()) as connection:
                assert connection.execute("SELECT value FROM kept").fetchall() == [(7,)]
    assert not answers(server.url())


def test_server_that_is_away_ends_with_its_block_all_the_same(scratch: Path) -> None:
    away = "server._supervisor.send_signal(signal.SIGUSR1); time.sleep(0.5)"
    with owner(away, scratch) as (process, _):
        assert process.wait(30) == 0
        assert directories(scratch) == []


def test_port_that_somebody_took_is_given_up_for_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        taken: int = somebody.getsockname()[1]
        free = postgres._free_port()
        ports = iter([taken, free])
        monkeypatch.setattr(postgres, "_free_port", lambda: next(ports))
        with postgres.running() as server:
            assert server.port == free
            assert answers(server.url())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as somebody else")
def test_root_runs_binaries_that_only_root_can_reach(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clone under /root: the server's user may not even look there."""
    closed = scratch / "closed"
    closed.mkdir(mode=0o700)
    binaries = postgres.find_binaries()
    package = binaries.parent.parent
    for part in (package, package.with_name(f"{package.name}.libs")):
        if part.is_dir():
            shutil.copytree(part, closed / part.name, symlinks=True)
    hidden = closed / package.name / binaries.parent.name / "bin"
    monkeypatch.setattr(postgres, "find_binaries", lambda: hidden)
    monkeypatch.setenv("TMPDIR", str(closed))
    monkeypatch.setattr(tempfile, "tempdir", None)

    with postgres.running() as server:
        assert answers(server.url())
        assert closed not in server.binaries.parents
