"""`reconcile controller` when something stands still or cannot be written to, and does not end."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.acceptance.command import KEEP_BYTECODE, MODULE
from tests.acceptance.controller import (
    ANY_PORT,
    PATIENCE_SECONDS,
    PATIENT,
    controller,
    fleet,
    needs_proc,
    push,
    run_held,
    runs,
    starting,
    wait_for_pods,
)
from tests.database import Database
from tests.system import System, command_environment
from tests.waiting import wait_until

# As the command, but for less patience.
IMPATIENT = """
import sys
from reconcile.controller import watcher_process
watcher_process.SILENCE_SECONDS = 8
from reconcile.cli import main
sys.exit(main())
"""


pytestmark = needs_proc


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with fleet(database) as made:
        yield made


def test_watcher_that_hangs_is_replaced(s: System) -> None:
    with controller(s, program=(sys.executable, "-c", IMPATIENT)) as c:
        first = c.watcher()
        os.kill(first, signal.SIGSTOP)
        c.wait_for("watcher_lost")
        assert "silent" in c.events("watcher_lost")[0]["error"]
        push(s)
        wait_for_pods(s, 1)
        assert c.watcher() != first
        assert c.stop() == 0


def test_server_that_stands_still_is_left_and_no_job_is_missed(s: System) -> None:
    """A process that is stopped keeps no time limit, and its kernel answers for it."""
    backend = (
        "SELECT pid FROM pg_stat_activity"
        " WHERE application_name = 'reconcile-controller' AND datname = current_database()"
    )
    with controller(s, interval=1) as c:
        [row] = s.database.rows(backend)
        os.kill(row["pid"], signal.SIGSTOP)
        try:
            c.wait_for("not_listening")
            c.wait_for("listening", 2)
            assert c.problems("/health") == []
            push(s)
            wait_for_pods(s, 1)
        finally:
            os.kill(row["pid"], signal.SIGCONT)
        assert c.stop() == 0


def test_killed_run_takes_all_it_started_along_and_leaves_no_file(
    s: System, tmp_path: Path
) -> None:
    """A kubeconfig's plugin may hang, and a kubeconfig's keys are files while a run goes on."""
    kubeconfig = yaml.safe_load(s.world.kubeconfig)
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}
    kubeconfig["users"][0]["user"] = {"exec": {**plugin, "command": "sleep", "args": ["1000"]}}
    s.environment["K8S_KUBECONFIG"] = yaml.safe_dump(kubeconfig)
    s.environment["TMPDIR"] = str(tmp_path)
    s.toml = PATIENT + "deadline = 1\ngrace = 1\n"
    with starting(command_environment(s)) as c:
        c.wait_for("run_killed")
        wait_until(lambda: c.runs("killed") >= 1, PATIENCE_SECONDS)
        assert c.stop() == 0, "and with it every process that there was"
    assert [path for path in tmp_path.iterdir() if path.name.startswith("reconcile-run-")] == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_log_that_cannot_be_written_stops_nothing(s: System) -> None:
    """As on a full disk."""
    with Path("/dev/full").open("w") as full:
        process = subprocess.Popen(
            [*MODULE, "controller", *ANY_PORT],
            # As the image has it: with a buffer, what is left in it at the end is exit code 120.
            env={**command_environment(s), **KEEP_BYTECODE, "PYTHONUNBUFFERED": "1"},
            stderr=full,
        )
    with process:
        try:
            push(s)
            wait_for_pods(s, 1)
            process.terminate()
            assert process.wait(PATIENCE_SECONDS) == 0
        finally:
            process.kill()
    assert set(runs(s.database)) == {"completed"}


def test_signal_for_a_run_is_not_taken_for_the_controllers(s: System) -> None:
    with controller(s) as c:
        watcher = c.watcher()
        with run_held(s.database) as hold:
            push(s)
            os.kill(c.run_in_flight(watcher), signal.SIGTERM)
            c.wait_for("run_crashed")
            hold.release()
        wait_for_pods(s, 1)
        assert c.events("controller_stopping") == []
        assert c.stop() == 0
