"""The embedded PostgreSQL leaves nothing behind, however its owner ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

OWNER = """
import sys, time
from reconcile.sim import postgres
with postgres.running() as server:
    print(server.url(), flush=True)
    {rest}
"""


def wait_until(condition: Callable[[], bool], seconds: float = 15) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def start(rest: str, scratch: Path) -> tuple[subprocess.Popen[str], str]:
    scratch.chmod(0o777)  # As root the server runs as somebody else.
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(rest=rest)],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(scratch)},
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def directories(scratch: Path) -> list[Path]:
    return list(scratch.glob("riscv-runners-postgres-*"))


@pytest.mark.parametrize("killed", [signal.SIGKILL, signal.SIGTERM])
def test_server_ends_with_its_owner(killed: signal.Signals, tmp_path: Path) -> None:
    owner, url = start("time.sleep(60)", tmp_path)
    assert answers(url)
    assert directories(tmp_path)

    owner.send_signal(killed)
    owner.communicate()
    assert wait_until(lambda: not answers(url))
    assert wait_until(lambda: not directories(tmp_path))


def test_server_ends_with_its_block_and_with_an_exception(tmp_path: Path) -> None:
    for rest in ("pass", "raise SystemExit(3)"):
        owner, url = start(rest, tmp_path)
        owner.communicate()
        assert not answers(url)
        assert directories(tmp_path) == []
