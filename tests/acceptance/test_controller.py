"""`reconcile controller`: every new job has its run at once, no run is one too many, and whoever
asks is told."""

import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import call
from tests.acceptance.controller import (
    PATIENCE_SECONDS,
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

pytestmark = needs_proc


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with fleet(database) as made:
        yield made


def wait_for_runs(s: System, count: int) -> list[str]:
    """Until so many are over."""
    wait_until(lambda: len(over(s)) >= count, PATIENCE_SECONDS)
    return runs(s.database)


def over(s: System) -> list[str]:
    return [status for status in runs(s.database) if status != "running"]


def test_new_job_gets_its_pod_without_waiting_for_the_tick(s: System) -> None:
    with controller(s) as c:
        assert runs(s.database) == ["completed"], "one at the start: jobs may have come before"
        push(s)
        wait_for_pods(s, 1)
        wait_for_runs(s, 2)
        wait_until(lambda: c.metric("reconcile_wakes_total", cause="notify") == 1)
        assert c.metric("reconcile_wakes_total", cause="connected") == 1
        assert c.stop() == 0
    assert runs(s.database) == ["completed"] * 2


def test_run_follows_every_interval_without_any_new_job(s: System) -> None:
    with controller(s, interval=0.3) as c:
        wait_for_runs(s, 4)
        assert (c.metric("reconcile_wakes_total", cause="tick") or 0) >= 2
        assert c.metric("reconcile_wakes_total", cause="notify") == 0
        assert c.stop() == 0


def test_jobs_that_come_during_a_run_cause_exactly_one_more_straight_after_it(s: System) -> None:
    with controller(s) as c:
        with run_held(s.database) as hold:
            push(s)
            hold.wait()
            for _ in range(10):
                push(s)
            time.sleep(0.5)  # The last notification is on its way, too.
            hold.release()
        wait_for_runs(s, 3)
        wait_for_pods(s, 5)
        time.sleep(0.5)  # Time enough for a run too many to begin.
        assert c.stop() == 0
    assert runs(s.database) == ["completed"] * 3, "the first, the one held, the one for all others"


def test_many_jobs_at_once_are_no_storm_of_runs(s: System) -> None:
    with controller(s) as c:
        push(s, count=100)
        wait_for_pods(s, 5)
        assert c.stop() == 0
    assert len(runs(s.database)) <= 1 + 5


def test_two_controllers_do_no_work_twice(s: System) -> None:
    """As while one is replaced by another, or by mistake."""
    with controller(s, interval=0.3) as one, controller(s, interval=0.3) as other:
        for _ in range(5):
            push(s)
        wait_for_pods(s, 5)
        worked = len(runs(s.database))
        wait_for_runs(s, worked + 4)
        assert (one.stop(), other.stop()) == (0, 0)
        said = one.events("run") + other.events("run")
    assert {line["status"] for line in said} <= {"completed", "skipped"}
    assert len(s.workers()) == len(s.pods()) == len(s.runners()) == 5
    assert s.calls("k8s.create_pod") == s.calls("github.create_jit_config_org") == 5


def test_backstop_beside_the_controller_leaves_while_a_run_goes_on(s: System) -> None:
    with controller(s) as c:
        with run_held(s.database) as hold:
            push(s)
            hold.wait()
            done = call(command_environment(s), "run")
            assert (done.code, done.summary["status"]) == (0, "skipped")
            hold.release()
        wait_for_pods(s, 1)
        assert c.stop() == 0


# What it tells -----------------------------------------------------------------------------------


def test_ready_once_a_run_has_done_its_work(s: System) -> None:
    with run_held(s.database) as hold, starting(command_environment(s)) as c:
        hold.wait()
        assert c.problems("/health") == []
        assert c.problems("/ready") == ["No run has done its work yet."]
        hold.release()
        wait_until(lambda: c.problems("/ready") == [])
        assert c.stop() == 0


def test_metrics_tell_of_runs_and_of_the_fleet(s: System) -> None:
    with controller(s, interval=0.5) as c:
        push(s, count=7)
        wait_for_pods(s, 5)
        s.world.time.step(2)  # The cluster gives them boards.
        label = {"runner_label": "ubuntu-24.04-riscv"}
        wait_until(lambda: c.metric("cicd_queue_depth", **label) == 7)
        wait_until(lambda: c.metric("cicd_boards_in_use", pool="scw-em-rv1") == 5)
        assert c.metric("cicd_board_capacity", pool="scw-em-rv1") == 5
        assert c.metric("reconcile_listening") == 1
        assert (c.metric("reconcile_last_success_age_seconds") or 0) >= 0
        assert c.runs("completed") >= 2
        assert (c.metric("reconcile_phase_seconds_count", phase="demand_match") or 0) >= 2
        assert c.stop() == 0


# Settings ----------------------------------------------------------------------------------------


def test_settings_that_cannot_be_used_are_exit_2_before_anything_starts(s: System) -> None:
    done = call({**command_environment(s), "RUNNERS_ENV": "nonsense"}, "controller")
    assert done.code == 2
    [line] = done.lines
    assert line["event"] == "config_error"
    assert "RUNNERS_ENV" in line["error"]


def test_port_that_is_taken_is_exit_2(s: System) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = call(command_environment(s), "controller", "--host", "127.0.0.1", "--port", port)
    assert done.code == 2
    assert f"127.0.0.1:{port}" in done.events("config_error")[0]["error"]


@pytest.mark.parametrize("interval", ["0", "-1", "nan", "soon", "100000"])
def test_interval_that_is_none_is_exit_2(interval: str) -> None:
    done = call({}, "controller", "--interval", interval)
    assert done.code == 2


def test_settings_file_is_read_anew_by_every_run(s: System, tmp_path: Path) -> None:
    """One that is broken meanwhile stops nothing but runs, and only until it is mended."""
    path = tmp_path / "runners.toml"
    path.write_text("default_max_workers = 0\n")
    with controller(s, RUNNERS_CONFIG=str(path)) as c:
        push(s)
        wait_for_runs(s, 2)
        assert s.pods() == []
        path.write_text("default_max_workers = 'all'\n")
        push(s)
        c.wait_for("config_error")
        assert "default_max_workers" in c.events("config_error")[0]["error"]
        wait_until(lambda: c.runs("unusable") >= 1)
        assert c.problems("/health") == []
        path.write_text("default_max_workers = 2\n")
        wait_for_pods(s, 2)
        assert c.stop() == 0


def test_interrupt_is_an_end_like_any_other(s: System) -> None:
    with controller(s) as c:
        c.process.send_signal(signal.SIGINT)
        assert c.ended() == 0
        assert c.lines[-1]["event"] == "controller_stopped"


def test_it_has_one_thread_and_so_may_fork(s: System) -> None:
    with controller(s) as c:
        assert len(list(Path(f"/proc/{c.process.pid}/task").iterdir())) == 1
        assert c.stop() == 0
