"""`reconcile controller` as a process of its own: what it says, shows, and leaves behind."""

import contextlib
import json
import os
import signal
import subprocess
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from reconcile.store.database import QUERIES
from tests.acceptance.command import KEEP_BYTECODE, MODULE
from tests.database import Database, Row
from tests.system import System, command_environment, system
from tests.waiting import wait_until

ANY_PORT = ("--host", "127.0.0.1", "--port", "0")
NO_TICK = 3600.0  # whatever happens then happens for another reason
PATIENCE_SECONDS = 60
PATIENT = "[run]\nlock_timeout = 60\n"
# Of this database: the same table has the same number in all that were cloned from one template.
WAITS_FOR_WORKERS = """
    SELECT 1 FROM pg_locks JOIN pg_database AS d ON d.oid = database
     WHERE d.datname = current_database() AND NOT granted AND relation = 'workers'::regclass
"""
MARK = "MARK_OF_THIS_TEST"  # a variable by which a process and all its forks are known


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="processes are found through /proc"
)


class Controller:
    def __init__(
        self, environment: dict[str, str], interval: float, program: tuple[str, ...] = MODULE
    ) -> None:
        self._mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [*program, "controller", *ANY_PORT, "--interval", str(interval)],
            env={**environment, **KEEP_BYTECODE, MARK: self._mark},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(json.loads(line))

    def events(self, event: str) -> list[dict[str, Any]]:
        return [line for line in list(self.lines) if line["event"] == event]

    def wait_for(self, event: str, times: int = 1) -> None:
        wait_until(lambda: len(self.events(event)) >= times, PATIENCE_SECONDS)

    # Its processes -------------------------------------------------------------------------------

    def processes(self) -> set[int]:
        """All that are left of it."""
        needle = f"{MARK}={self._mark}".encode()
        found = set()
        for path in Path("/proc").glob("[0-9]*/environ"):
            # Gone meanwhile, or somebody else's. One that has ended has no environment any more.
            with contextlib.suppress(OSError):
                if needle in path.read_bytes().split(b"\0"):
                    found.add(int(path.parent.name))
        return found

    def watcher(self) -> int:
        """The one beside itself, while there is no run."""
        return self._other_than(self.process.pid)

    def run_in_flight(self, watcher: int) -> int:
        return self._other_than(self.process.pid, watcher)

    def _other_than(self, *known: int) -> int:
        """The only one, once there is only one."""
        found: set[int] = set()

        def alone() -> bool:
            found.clear()
            found.update(self.processes() - {*known})
            return len(found) == 1

        wait_until(alone, PATIENCE_SECONDS)
        return found.pop()

    def stop(self) -> int:
        self.process.terminate()
        return self.ended()

    def ended(self) -> int:
        code = self.process.wait(PATIENCE_SECONDS)
        wait_until(lambda: self.processes() == set(), PATIENCE_SECONDS)
        self._reader.join()
        return code

    def close(self) -> None:
        """Whatever a test that failed left of it."""
        for pid in {*self.processes(), self.process.pid}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()

    # Its port ------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        self.wait_for("controller_started")
        return f"http://127.0.0.1:{self.events('controller_started')[0]['port']}"

    def get(self, path: str) -> requests.Response:
        return requests.get(self.url + path, timeout=PATIENCE_SECONDS)

    def problems(self, path: str) -> list[str]:
        answer = self.get(path)
        problems: list[str] = answer.json()["problems"]
        assert (answer.status_code == 200) == (problems == []) == answer.json()["ok"]
        return problems

    def metric(self, name: str, **labels: str) -> float | None:
        """None if it is not shown."""
        for family in text_string_to_metric_families(self.get("/metrics").text):
            for sample in family.samples:
                if sample.name == name and labels.items() <= sample.labels.items():
                    return float(sample.value)
        return None

    def runs(self, outcome: str) -> float:
        return self.metric("reconcile_runs_total", outcome=outcome) or 0


@contextlib.contextmanager
def controller(
    made: System,
    interval: float = NO_TICK,
    program: tuple[str, ...] = MODULE,
    **environment: str,
) -> Iterator[Controller]:
    """Running, and past its first run."""
    with starting({**command_environment(made), **environment}, interval, program) as started:
        started.wait_for("run")
        yield started


@contextlib.contextmanager
def starting(
    environment: dict[str, str], interval: float = NO_TICK, program: tuple[str, ...] = MODULE
) -> Iterator[Controller]:
    """Not waited for."""
    started = Controller(environment, interval, program)
    try:
        yield started
    finally:
        started.close()


# What happens around it ------------------------------------------------------------------------


@contextlib.contextmanager
def fleet(database: Database) -> Iterator[System]:
    """With boards, nothing to do, and patience for `run_held`."""
    with system(database) as made:
        made.boards(5)
        made.toml = PATIENT
        yield made


def push(made: System, count: int = 1) -> None:
    """Jobs, their webhooks, their rows."""
    before = len(made.jobs())
    made.push(count=count)
    made.world.time.step(2)
    wait_until(lambda: len(made.jobs()) == before + count)


def wait_for_pods(made: System, count: int) -> None:
    wait_until(lambda: len(made.pods()) == count, PATIENCE_SECONDS)


@contextlib.contextmanager
def run_held(database: Database) -> Iterator["Hold"]:
    """Every run gets as far as the table of the workers, and not past it, to the block's end."""
    with database.connect() as connection:
        connection.execute("BEGIN")
        connection.execute("LOCK TABLE workers IN EXCLUSIVE MODE")
        yield Hold(database, connection)


class Hold:
    def __init__(self, database: Database, connection: psycopg.Connection[Row]) -> None:
        self._database, self._connection = database, connection

    def wait(self) -> None:
        """Until a run is held."""
        wait_until(
            lambda: bool(self._database.rows(WAITS_FOR_WORKERS)),
            PATIENCE_SECONDS,
        )

    def release(self) -> None:
        self._connection.execute("COMMIT")


def runs(database: Database) -> list[str]:
    """What became of all runs so far, the oldest first."""
    return [row["status"] for row in database.rows("SELECT status FROM reconcile_runs ORDER BY id")]


def lock_is_free(database: Database) -> bool:
    with database.connect() as connection:
        [row] = connection.execute(QUERIES["take_lock"], {"schema": "prod"}).fetchall()
        return bool(next(iter(row.values())))
