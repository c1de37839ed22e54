"""What GitHub says of jobs whose webhooks were lost, and what becomes of those it forgot."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from reconcile.sim.github.model import Status
from tests.database import Database
from tests.simulation import situations as it
from tests.system import System, system


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


def test_job_whose_start_was_not_told_is_found_running_with_its_runner(s: System) -> None:
    s.boards(1)
    it.lose(s, "in_progress")
    s.push(seconds=600)
    s.ticks(6)
    [job], [worker] = s.jobs(), s.workers()
    assert (job["status"], job["k8s_pod"]) == ("running", worker["pod_name"])
    assert job["started_at"] is not None


def test_job_whose_end_was_not_told_is_found_completed_with_its_steps(s: System) -> None:
    s.boards(1)
    it.lose(s, "completed")
    s.push(seconds=60)
    s.ticks(12)
    [job] = s.jobs()
    assert (job["status"], job["conclusion"]) == ("completed", "success")
    assert job["completed_at"] > job["started_at"]
    assert {step["conclusion"] for step in job["steps"]} == {"success"}


def test_job_whose_run_is_not_known_is_asked_for_by_itself(s: System) -> None:
    s.boards(1)
    it.lose(s, "completed")
    s.push(seconds=60)
    s.world.time.step(2)
    s.database.execute("UPDATE jobs SET run_id = NULL")
    s.ticks(12)
    assert [row["status"] for row in s.jobs()] == ["completed"]
    assert s.calls("github.list_run_jobs") == 0


def test_queued_job_of_a_completed_run_is_given_up_after_ten_minutes(s: System) -> None:
    run = s.push()
    s.ticks(1)
    run.attempt.status = Status.COMPLETED  # GitHub lost track of its own job.
    s.ticks(38)
    assert [row["status"] for row in s.jobs()] == ["pending"], "not within ten minutes"
    s.ticks(3)
    [job] = s.jobs()
    assert (job["status"], job["failure_info"]["reason"]) == ("failed", "stuck_queued")


def test_queued_job_of_a_run_that_goes_on_is_left_waiting(s: System) -> None:
    s.push()
    s.ticks(50)
    assert [row["status"] for row in s.jobs()] == ["pending"]
    assert 0 < s.calls("github.get_run") <= 2, "asked now and then, not at every run"


def test_those_unconfirmed_for_longest_are_looked_at_first(s: System) -> None:
    """With room for two looks a run; what a webhook has just told comes last."""
    s.toml = "[github]\npoints_per_minute = 30\npolling_points_share = 0.25\n"
    runs = [s.push() for _ in range(6)]
    s.world.time.step(2)
    s.database.execute(
        "UPDATE jobs SET updated_at = %s WHERE run_id = %s",
        s.world.time.clock.now() + timedelta(seconds=3),
        runs[0].id,
    )
    looked: list[set[int]] = []
    for _ in range(3):
        s.world.time.step(61)
        before = polls(s)
        s.good_run()
        looked.append({run for run, at in polls(s).items() if before.get(run) != at})
    first, second, third, fourth, fifth, sixth = (run.id for run in runs)
    assert looked == [{second, third}, {fourth, fifth}, {sixth, first}]


def test_run_that_was_confirmed_a_moment_ago_is_not_asked_about(s: System) -> None:
    """A new job starts a run at once: it must not ask about all others, nor wait for GitHub."""
    s.boards(1)
    s.push()
    s.world.time.step(2)
    s.good_run()
    assert s.calls("github.list_run_jobs") == 0, "its webhook has just told"
    assert len(s.pods()) == 1
    s.world.time.step(15)
    s.good_run()
    assert s.calls("github.list_run_jobs") == 1
    s.world.time.step(5)
    s.good_run()
    assert s.calls("github.list_run_jobs") == 1, "that look was a moment ago"
    s.world.time.step(5)
    s.good_run()
    assert s.calls("github.list_run_jobs") == 2


def polls(s: System) -> dict[int, datetime]:
    rows = s.database.rows("SELECT target, checked_at FROM github_polls")
    return {row["target"]: row["checked_at"] for row in rows}
