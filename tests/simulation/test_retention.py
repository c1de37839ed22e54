"""What is over goes when it is old, and nothing that is still needed goes."""

import dataclasses
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from reconcile.sim import faults
from reconcile.sim.cluster.images import Behaviour
from reconcile.sim.github import workflow
from reconcile.sim.github.deliveries import Mishap, MishapRule
from reconcile.sim.github.model import Repository
from tests.database import Database
from tests.simulated import LABEL
from tests.simulation import situations as it
from tests.simulation.history import (
    DAY,
    WEEK,
    backlog,
    counts,
    days,
    done,
    events,
    impact,
    past_midnight,
)
from tests.system import BOARD, TICK, System, system

# Nobody ends what goes on for long.
PATIENT = "[timeouts]\npod_active_deadline = 31536000\nrunner_hung = 31536000\n"
# Of the accounts that every world has: what they are is for ever.
INSTALLED = ["installation.created"] * 2
OF_A_JOB = ["workflow_job.queued", "workflow_job.in_progress", "workflow_job.completed"]


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        made.toml = WEEK + PATIENT
        yield made


def long_job(s: System, repository: Repository | None = None) -> None:
    """Of ten days, and its runner is there for it."""
    plan = workflow.uniform((LABEL,), seconds=10 * DAY)
    jobs = tuple(dataclasses.replace(each, timeout_seconds=11 * DAY) for each in plan.jobs)
    patient = dataclasses.replace(plan, jobs=jobs)
    s.world.github.engine.push(repository or s.repository, patient)
    s.ticks(6)


@pytest.fixture
def patient_github(monkeypatch: pytest.MonkeyPatch) -> None:
    """It usually cancels what waited for a day."""
    monkeypatch.setattr("reconcile.sim.github.engine.QUEUE_LIMIT", timedelta(days=30))


# What goes, and when ---------------------------------------------------------------------------


def test_lesson_24_what_is_over_goes_with_its_day_and_what_an_installation_is_stays(
    s: System,
) -> None:
    s.boards(2)
    done(s, count=2)
    assert sorted(events(s)) == sorted(INSTALLED + OF_A_JOB * 2)
    days(s, 7)
    s.world.time.step(DAY - past_midnight(s).total_seconds() - 1)
    assert impact(s.good_run()) is None, "the last second of its week"
    s.world.time.step(1)
    report = s.good_run()
    assert impact(report) == "events removed: 6, jobs removed: 2, workers removed: 2"
    assert s.statuses() == ([], [])
    assert events(s) == INSTALLED
    s.world.time.step(TICK)
    assert impact(s.good_run()) is None


@pytest.mark.parametrize(
    ("setting", "gone"),
    [("events_days", {"events"}), ("history_days", {"jobs", "workers"}), ("runs_days", {"runs"})],
)
def test_each_is_kept_as_long_as_is_said_of_it_and_zero_is_for_ever(
    s: System, setting: str, gone: set[str]
) -> None:
    every = dict.fromkeys(("events_days", "history_days", "runs_days"), 0) | {setting: 7}
    s.toml = "[retention]\n" + "".join(f"{name} = {value}\n" for name, value in every.items())
    s.boards(1)
    done(s)
    backlog(s, 1, runs=1_100)
    before = counts(s)
    s.world.time.step(400 * DAY)
    s.good_run()
    after = counts(s)
    assert {name for name in before if after[name] < before[name]} == gone


def test_without_a_word_a_year_is_kept_and_a_month_of_runs(s: System) -> None:
    s.toml = ""
    s.boards(1)
    done(s)
    backlog(s, 0, runs=1_100)
    s.world.time.step(22 * DAY)
    assert impact(s.good_run()) == "runs removed: 101"
    s.world.time.step(343 * DAY)
    s.good_run()
    assert s.statuses() == (["completed"], ["completed"])
    s.world.time.step(DAY)
    gone = str(impact(s.good_run()))
    assert gone.startswith("events removed: 3, jobs removed: 1, workers removed: 1")


def test_runs_take_their_phases_with_them_and_the_latest_thousand_stay(s: System) -> None:
    backlog(s, 0, runs=1_500)
    report = s.good_run()
    assert impact(report) == "runs removed: 501"
    assert s.database.rows("SELECT count(*), max(id) - min(id) AS span FROM reconcile_runs") == [
        {"count": 1_000, "span": 999}
    ]
    assert s.database.rows(
        "SELECT count(*) FROM reconcile_phases WHERE phase = 'of_old' AND run_id <= 501"
    ) == [{"count": 0}]


# What is active, and what explains it ----------------------------------------------------------


def test_a_job_that_goes_on_keeps_its_row_its_events_and_its_worker(s: System) -> None:
    s.boards(2)
    long_job(s)
    s.push(seconds=60)
    s.ticks(12)
    assert sorted(s.statuses()[0]) == ["completed", "running"]
    days(s, 9)
    assert s.statuses() == (["running"], ["running"]), "what is over has gone"
    [job] = s.jobs()
    assert events(s, f"job_id = {job['job_id']}") == OF_A_JOB[:2]
    assert events(s, "job_id IS NOT NULL") == OF_A_JOB[:2]
    days(s, 2)
    assert s.statuses() == (["completed"], ["completed"]), "it ended only now"
    assert events(s, "job_id IS NOT NULL") == OF_A_JOB[2:]
    days(s, 8)
    assert s.statuses() == ([], [])
    assert events(s) == INSTALLED


def test_a_job_that_waits_keeps_the_workers_that_failed_meanwhile(
    s: System, patient_github: None
) -> None:
    _, other, _ = s.tenant("second")
    s.boards(2)
    s.world.cluster.next_pod(Behaviour.CRASHES, 2)
    over = s.push(other)
    s.push()
    s.ticks(4)
    assert s.reasons() == ["pod_failed"] * 2
    s.world.github.engine.cancel(over)
    for node in range(2):
        s.world.cluster.cordon(f"{BOARD}-{node:03}")
    days(s, 9)
    [job], [worker] = s.jobs(), s.workers()
    assert (job["status"], worker["status"]) == ("pending", "failed")
    assert worker["entity_id"] == job["entity_id"], "the other account's has gone"
    s.world.cluster.uncordon(f"{BOARD}-000")
    days(s, 1)
    days(s, 1)
    assert s.statuses() == (["completed"], ["completed"]), "nothing is left for it to explain"


def test_a_worker_that_failed_before_the_job_came_explains_nothing(
    s: System, patient_github: None
) -> None:
    s.boards(1)
    s.world.cluster.next_pod(Behaviour.CRASHES)
    run = s.push()
    s.ticks(4)
    s.world.github.engine.cancel(run)
    s.world.cluster.cordon(f"{BOARD}-000")
    days(s, 1)
    s.push()
    days(s, 8)
    assert s.statuses() == (["pending"], [])


def test_a_job_stays_as_long_as_its_worker(s: System) -> None:
    """Else one that runs would be taken for one that waits for a job."""
    s.boards(1)
    s.world.cluster.next_pod(Behaviour.HANGS)
    it.working(s, seconds=60)
    s.ticks(4)
    assert s.statuses() == (["completed"], ["running"])
    days(s, 9)
    assert s.statuses() == (["completed"], ["running"])
    assert events(s) == INSTALLED
    it.remove_pod(s, *s.pods())
    days(s, 7)
    assert s.statuses() == (["completed"], ["completed"])
    days(s, 2)
    assert s.statuses() == ([], [])


def test_the_log_of_a_private_jobs_runner_is_never_shown_for_want_of_its_job(
    s: System, tmp_path: Path
) -> None:
    """The worker fails late: its job is of a day before."""
    s.environment["SITE_URL"] = f"file://{tmp_path}"
    backlog(s, 2, runs=0)
    s.database.execute(
        "UPDATE workers SET completed_at = completed_at + interval '2 days 12 hours',"
        " failure_info = %s WHERE pod_name = 'old-1'",
        json.dumps({"reason": "runner_idle", "logs": {"runner": "something to hide"}}),
    )
    s.toml = WEEK.replace("history_days = 7", "history_days = 8")
    page = tmp_path / "workers" / "old-1.json"
    s.good_run()
    assert [row["job_id"] for row in s.jobs()] == [1001]
    assert json.loads(page.read_text())["logs_hidden"]
    page.unlink()
    for _ in range(2):
        s.world.time.step(660)
        s.good_run()
    assert json.loads(page.read_text())["logs_hidden"], "made anew"
    days(s, 1)
    assert s.statuses() == ([], [])


def test_a_worker_stays_while_its_pod_is_there_and_its_job_with_it(s: System) -> None:
    s.toml += "pod_delete_grace = 864000\n"
    s.boards(1)
    done(s)
    days(s, 9)
    assert s.statuses() == (["completed"], ["completed"])
    s.toml = WEEK
    s.ticks(2)
    assert (s.pods(), s.statuses()) == ([], ([], []))


def test_unknown_pods_are_not_absent(s: System) -> None:
    s.boards(1)
    done(s)
    backlog(s, 1, runs=0)
    s.world.time.step(9 * DAY)
    s.database.execute("DELETE FROM workers WHERE pod_name = 'old-1'")
    s.world.faults.always("k8s.list_pods", faults.status(500))
    assert impact(s.run()) == "events removed: 4, jobs removed: 1"
    s.world.faults.clear()
    s.ticks(1)
    assert s.pods() == []
    s.world.time.step(TICK)
    assert impact(s.good_run()) == "jobs removed: 1, workers removed: 1"


# Installations ---------------------------------------------------------------------------------


def test_that_an_installation_is_gone_is_the_last_that_is_forgotten_of_it(s: System) -> None:
    _, _, installation = s.tenant("second")
    s.world.time.step(DAY)
    s.world.github.accounts.uninstall(installation)
    days(s, 7)
    of_it = f"installation_id = {installation.id}"
    assert events(s, of_it) == ["installation.created", "installation.deleted"]
    days(s, 1)
    assert events(s, of_it) == ["installation.deleted"]
    s.ticks(1)
    assert events(s, of_it) == []
    assert events(s) == INSTALLED


def test_it_is_not_forgotten_before_what_came_late(s: System) -> None:
    s.world.github.deliveries.misbehave(
        MishapRule(Mishap.DELAY, "installation.created", times=1, seconds=4 * DAY)
    )
    _, _, installation = s.tenant("second")
    s.world.time.step(DAY)
    s.world.github.accounts.uninstall(installation)
    days(s, 9)
    of_it = f"installation_id = {installation.id}"
    assert events(s, of_it) == ["installation.deleted", "installation.created"]
    days(s, 2)
    assert events(s, of_it) == ["installation.deleted"]
    s.ticks(1)
    assert events(s, of_it) == []


def test_a_failed_authentication_stays_while_a_job_of_the_account_waits(
    s: System, patient_github: None
) -> None:
    account, repository, installation = s.tenant("second")
    s.boards(1)
    s.push(repository)
    s.world.time.step(5)
    s.world.github.accounts.suspend(installation)
    days(s, 9, good=False)
    of_it = f"entity_id = {account.id}"
    kept = events(s, of_it)
    assert kept.count("auth_attempt.other_error") == 1
    assert {"installation.created", "installation.suspend", "workflow_job.queued"} <= set(kept)
    s.world.github.accounts.uninstall(installation)
    days(s, 1)
    assert it.job_reasons(s) == ["installation_gone"]
    s.ticks(1)
    left = events(s, of_it)
    assert "auth_attempt.other_error" not in left, "nothing is active any more"
    assert "workflow_job.queued" not in left
    assert {"installation.created", "installation.suspend"} <= set(left), "gone since a day only"
    days(s, 8)
    s.ticks(2)
    assert events(s) == INSTALLED


def test_a_former_installation_stays_while_a_job_of_the_account_goes_on(s: System) -> None:
    account, repository, former = s.tenant("second")
    s.world.github.accounts.uninstall(former)
    s.world.time.step(60)
    s.world.github.accounts.install(former.app, account)
    s.boards(1)
    long_job(s, repository)
    days(s, 9)
    assert events(s, f"installation_id = {former.id}") == [
        "installation.created",
        "installation.deleted",
    ]
    days(s, 3)
    s.ticks(1)
    assert events(s, f"installation_id = {former.id}") == []
    assert events(s, "event LIKE 'installation%%'") == [*INSTALLED, "installation.created"]
