"""`reconcile controller` when something ends, hangs or goes away: nothing is lost, nothing stays
behind, and it goes on."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconcile.sim import postgres
from tests.acceptance.command import good_run
from tests.acceptance.controller import (
    PATIENCE_SECONDS,
    PATIENT,
    controller,
    fleet,
    lock_is_free,
    needs_proc,
    push,
    run_held,
    runs,
    wait_for_pods,
)
from tests.database import Cluster, Database
from tests.system import System
from tests.waiting import wait_until

pytestmark = needs_proc


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with fleet(database) as made:
        yield made


# It is told to end, or does ----------------------------------------------------------------------


def test_sigterm_during_a_run_lets_it_finish(s: System) -> None:
    with controller(s) as c:
        with run_held(s.database) as hold:
            push(s)
            hold.wait()
            push(s)
            c.process.terminate()
            c.wait_for("controller_stopping")
            assert c.problems("/health") == [], "it is still there"
            assert c.process.poll() is None
            hold.release()
        assert c.ended() == 0
        assert c.events("controller_stopping")[0]["run_in_flight"] is True
    assert runs(s.database) == ["completed"] * 2, "and none after it"
    # The second job came while the run was held, before it looked at the demand.
    assert len(s.pods()) == 2


def test_second_sigterm_does_not_wait_for_the_run(s: System) -> None:
    with controller(s) as c:
        with run_held(s.database) as hold:
            push(s)
            hold.wait()
            c.process.terminate()
            c.wait_for("controller_stopping")
            c.process.terminate()
            assert c.ended() == 0
            assert len(c.events("run_killed")) == 1
        wait_until(lambda: lock_is_free(s.database))
    assert s.pods() == []
    assert good_run(s).summary["workers_provisioned"] == 1


def test_sigkill_of_the_controller_leaves_no_run_no_lock_and_no_file_behind(
    s: System, tmp_path: Path
) -> None:
    s.environment["TMPDIR"] = str(tmp_path)
    with controller(s) as c, run_held(s.database) as hold:
        push(s)
        hold.wait()
        assert not lock_is_free(s.database)
        assert len(list(tmp_path.iterdir())) == 1  # of the run, for a kubeconfig's keys
        assert len(c.processes()) == 3
        c.process.kill()
        assert c.ended() == -signal.SIGKILL, "and all its processes with it"
        assert list(tmp_path.iterdir()) == []
        # Though the server was in the middle of a statement for it, waiting for a lock.
        wait_until(lambda: lock_is_free(s.database))
    assert s.pods() == []
    assert good_run(s).summary["workers_provisioned"] == 1
    assert runs(s.database) == ["completed", "failed", "completed"]


# A run does not come to its end -------------------------------------------------------------------


def test_run_past_its_deadline_is_killed_and_counted_and_the_next_goes_on(s: System) -> None:
    s.toml = PATIENT + "deadline = 4\ngrace = 1\n"
    with controller(s) as c:
        watcher = c.watcher()
        with run_held(s.database) as hold:
            push(s)
            hold.wait()
            os.kill(c.run_in_flight(watcher), signal.SIGSTOP)
            c.wait_for("run_killed")
            hold.release()
        wait_for_pods(s, 1)
        wait_until(lambda: c.runs("killed") == 1)
        wait_until(lambda: c.metric("reconcile_wakes_total", cause="retry") == 1)
        assert c.stop() == 0
    assert runs(s.database) == ["completed", "failed", "completed"]


def test_run_that_dies_is_counted_and_followed_by_another(s: System) -> None:
    with controller(s) as c:
        watcher = c.watcher()
        with run_held(s.database) as hold:
            push(s)
            hold.wait()
            os.kill(c.run_in_flight(watcher), signal.SIGKILL)
            c.wait_for("run_crashed")
            hold.release()
        wait_for_pods(s, 1)
        wait_until(lambda: c.runs("crashed") == 1)
        assert c.stop() == 0
    assert runs(s.database) == ["completed", "failed", "completed"]


# What it leans on goes away -----------------------------------------------------------------------


def test_watcher_that_dies_is_replaced_and_no_job_waits_for_the_tick(s: System) -> None:
    with controller(s) as c:
        first = c.watcher()
        os.kill(first, signal.SIGKILL)
        push(s)
        wait_for_pods(s, 1)
        wait_until(lambda: c.problems("/ready") == [], PATIENCE_SECONDS)
        assert c.watcher() != first
        push(s)
        wait_for_pods(s, 2)
        assert len(c.events("watcher_lost")) == 1
        assert c.stop() == 0


def test_lost_listen_connection_is_opened_again_and_no_job_is_missed(s: System) -> None:
    with controller(s) as c:
        for number in range(1, 4):
            s.database.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'reconcile-controller' AND datname = current_database()"
            )
            push(s)
            wait_for_pods(s, number)
            c.wait_for("listening", number + 1)
        assert c.stop() == 0
    assert len(c.events("not_listening")) == 3


@pytest.fixture
def server() -> Iterator[postgres.Server]:
    """One of its own, to stop and start."""
    with postgres.running() as running:
        yield running


def test_database_restart_while_waiting_loses_no_job(server: postgres.Server) -> None:
    cluster = Cluster(server.url(), server.binaries / "psql")
    cluster.make_template()
    with cluster.new_database() as database, fleet(database) as s, controller(s) as c:
        push(s)
        wait_for_pods(s, 1)
        wait_until(lambda: runs(database) == ["completed"] * 2)
        s.database.execute("ALTER ROLE prod_reconcile_login NOLOGIN")
        with server.stopped():
            c.wait_for("not_listening")
            assert c.problems("/health") == [], "to start anew would not help"
            assert c.problems("/ready")[0].startswith("The database: ")
            assert c.metric("reconcile_listening") == 0
        push(s)  # Nobody can listen yet: no notification ever tells of it.
        assert c.metric("reconcile_listening") == 0
        s.database.execute("ALTER ROLE prod_reconcile_login LOGIN")
        wait_for_pods(s, 2)
        wait_until(lambda: c.problems("/ready") == [], PATIENCE_SECONDS)
        push(s)
        wait_for_pods(s, 3)
        assert c.stop() == 0
    assert {line["status"] for line in c.events("run")} == {"completed"}


def test_outage_of_the_database_is_said_and_survived(server: postgres.Server) -> None:
    cluster = Cluster(server.url(), server.binaries / "psql")
    cluster.make_template()
    with cluster.new_database() as database, fleet(database) as s, controller(s, interval=2) as c:
        before = len(c.events("run"))
        with server.stopped():
            wait_until(lambda: c.runs("unusable") >= 3, PATIENCE_SECONDS)
            unusable = [line for line in c.events("run")[before:] if line["status"] == "failed"]
            assert "reconcile check" in unusable[0]["error"]
        push(s)
        wait_for_pods(s, 1)
        assert c.stop() == 0
