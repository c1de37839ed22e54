"""Edges at which one thing goes wrong and the rest goes on: something outside hangs, refuses, is
lost or says what cannot be stored. Whole runs on the simulated world."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconcile import store
from reconcile.settings import RunLimits
from reconcile.sim import faults
from reconcile.sim.cluster.images import Behaviour
from reconcile.sim.github.deliveries import Mishap, MishapRule
from reconcile.sim.github.workflow import JobSpec, Step, Workflow
from reconcile.sim.http import Request
from tests.database import Database
from tests.simulated import LABEL
from tests.simulation import situations as it
from tests.system import System, system
from tests.unit.test_docs_configuration import github_permissions

MINUTE = 60


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


def minutes(s: System, count: int) -> None:
    """With a run at the end of each, whatever becomes of it."""
    for _ in range(count):
        s.world.time.step(MINUTE)
        s.run()


def refuse(s: System, event: str) -> None:
    """Webhooks of this action do not reach their receiver."""
    s.world.github.deliveries.misbehave(MishapRule(Mishap.REFUSE, f"workflow_job.{event}"))


# Time ------------------------------------------------------------------------------------------


def test_job_listings_that_hang_leave_time_for_workers_and_provisioning(s: System) -> None:
    s.boards(2)
    it.working(s, seconds=60)
    for _ in range(12):
        s.push(seconds=60)
    s.world.time.step(60)
    s.toml = "[run]\nrequest_timeout = 0.2\ndeadline = 2\n[github]\nparallel = 1\n"
    s.world.faults.always("github.list_run_jobs", faults.timeout(600))
    report = s.run()
    assert "no answer" in str(it.phase(report, "sync_jobs").error)
    assert all(each.success for each in report.phases if each.phase != "sync_jobs")
    assert sorted(s.statuses()[1]) == ["completed", "pending", "pending"]


def test_diagnosis_that_the_runs_end_cut_short_is_left_to_the_next_run(s: System) -> None:
    s.boards(1)
    s.world.cluster.next_pod(Behaviour.CRASHES)
    it.provisioned(s)
    s.world.time.step(60)
    s.toml = "[run]\ndeadline = 1\n"
    s.world.faults.always("k8s.read_pod_log", faults.timeout(600))
    s.run()
    assert s.reasons() == []
    s.world.faults.clear()
    s.toml = ""
    s.run()
    [info] = [row["failure_info"] for row in s.workers() if row["failure_info"]]
    assert (info["reason"], info["errors"]) == ("pod_failed", [])
    assert list(info["logs"]) == ["runner"]


# One demand, two pools -------------------------------------------------------------------------

TWO_POOLS = """
[[route]]
labels = ["ubuntu-24.04-riscv"]
repositories = ["riseproject/other"]
pool = "scw-em-rv2"
image = "registry.example/good:1"

[[route]]
labels = ["ubuntu-24.04-riscv"]
pool = "scw-em-rv1"
image = "registry.example/good:1"
"""


def test_jobs_of_a_full_pool_do_not_hide_younger_ones_of_a_pool_with_boards(
    database: Database, tmp_path: Path
) -> None:
    """The same account and the same labels: one demand, in two pools."""
    routes = tmp_path / "routes.toml"
    routes.write_text(TWO_POOLS)
    with system(database, routes_file=routes) as s:
        other = s.world.github.accounts.add_repository(s.organization, "other", private=True)
        s.boards(2, "scw-em-rv2")
        s.push(count=5)
        s.world.time.step(2)
        s.push(other, count=2)
        s.world.time.step(2)
        s.good_run()
        assert [row["k8s_pool"] for row in s.workers()] == ["scw-em-rv2"] * 2


# GitHub's limits, and webhooks -----------------------------------------------------------------


def plans(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """As the log has them since it was last looked at."""
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    return [line for line in lines if line["event"] == "plan"]


def test_app_that_github_limits_makes_no_rows_and_its_jobs_say_so(
    s: System, capsys: pytest.CaptureFixture[str]
) -> None:
    s.boards(6)
    run = s.push(count=5, seconds=60)
    s.world.time.step(2)
    s.world.faults.next("github.create_token", faults.rate_limited(retry_after=600))
    capsys.readouterr()
    s.ticks(10)
    assert s.workers() == []
    assert s.calls("github.create_token") == 1
    waiting = [plan["waiting_rate_limited"] for plan in plans(capsys)]
    assert waiting == [5] * 10
    s.push(s.personal)
    s.ticks(1)
    assert [row["entity_name"] for row in s.workers()] == ["octodog"], "its App is another"
    s.world.time.step(600)
    s.ticks(10)
    assert it.conclusions(run) == {"success"}
    assert s.reasons() == []


def test_no_redelivery_is_ever_asked_for_with_no_attempts(s: System) -> None:
    s.toml = "[run]\nredelivery_attempts = 0\n"
    refuse(s, "queued")
    s.push(count=3)
    for _ in range(12):
        s.world.time.step(300)
        s.good_run()
    assert s.calls("github.list_deliveries") >= 12
    assert s.calls("github.redeliver") == 0


def test_many_redeliveries_are_asked_for_a_few_at_each_run_and_leave_room_for_tokens(
    s: System,
) -> None:
    """As the App, whose points its installations' tokens need, too."""
    s.toml = "default_max_workers = 1\n"
    s.boards(2)
    refuse(s, "queued")
    s.push(count=200, seconds=3600)
    s.world.time.step(2)
    s.world.github.deliveries.behave()
    s.good_run()
    asked = [s.calls("github.redeliver")]
    _, small, _ = s.tenant("smallorg")
    s.push(small, seconds=3600)
    for _ in range(10):
        s.ticks(1)
        asked.append(s.calls("github.redeliver"))
        active = [row for row in s.workers() if row["status"] in ("pending", "running")]
        assert {row["entity_name"] for row in active} == {"riseproject", "smallorg"}
    assert asked == [20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 200]
    assert len(s.jobs()) == 201


def test_apps_with_no_other_permissions_than_documented_do_all_their_work(s: System) -> None:
    installations = (s.installation, s.personal_installation)
    for installation, documented in zip(installations, github_permissions(), strict=True):
        installation.permissions = installation.app.permissions = documented
    s.boards(3)
    idle = s.push(seconds=60)
    runs = [s.push(seconds=60), s.push(s.personal, seconds=60)]
    s.world.time.step(2)
    s.good_run()
    s.world.github.engine.cancel(idle)
    minutes(s, 15)
    assert [it.conclusions(run) for run in runs] == [{"success"}] * 2
    assert s.reasons() == ["runner_idle"]
    assert s.runners() == []
    assert s.calls("github.delete_org_runner") == 1
    runs_done = s.database.rows("SELECT DISTINCT status FROM reconcile_runs")
    assert [row["status"] for row in runs_done] == ["completed"]


# What cannot be stored -------------------------------------------------------------------------


@pytest.mark.parametrize("odd", ["\x00", "\ud800", "\udfff\ud83d"], ids=["nul", "half", "halves"])
def test_text_that_postgresql_cannot_store_is_replaced_and_stops_nobody(
    s: System, odd: str
) -> None:
    s.boards(2)
    it.lose(s, "in_progress", "completed")
    steps = (Step(f"na{odd}me \N{ROCKET}", 30),)
    plan = Workflow("CI", "ci.yml", (JobSpec("build", "build", (LABEL,), steps),))
    runs = [s.world.github.engine.push(s.repository, plan), s.push(s.personal, seconds=30)]
    s.ticks(12)
    assert [it.conclusions(run) for run in runs] == [{"success"}] * 2
    assert s.statuses() == (["completed"] * 2, ["completed"] * 2)
    [job] = [row for row in s.jobs() if row["entity_name"] == "riseproject"]
    replaced = "\N{REPLACEMENT CHARACTER}" * len(odd)
    assert f"na{replaced}me \N{ROCKET}" in [step["name"] for step in job["steps"]]


# Outages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "endpoints", ["github.create_jit_config_*", "github.*", "k8s.create_*", "k8s.*"]
)
def test_outage_backs_off_but_parks_nobody_and_its_end_is_seen_within_five_minutes(
    s: System, endpoints: str
) -> None:
    s.boards(2)
    runs = [s.push(seconds=MINUTE), s.push(s.personal, seconds=MINUTE)]
    s.world.time.step(2)
    s.world.faults.always(endpoints, faults.status(503))
    minutes(s, 20)
    failed = len(s.workers())
    assert failed <= 2 * 8, "it is not tried at every run"
    assert not any(row["parked"] for row in it.trouble(s))
    assert it.job_reasons(s) == [None, None]
    s.world.faults.clear()
    minutes(s, 5)
    assert len(s.workers()) == failed + 2
    minutes(s, 3)
    assert [it.conclusions(run) for run in runs] == [{"success"}] * 2


def test_database_lost_while_provisioning_begins_nothing_more_and_is_repaired(s: System) -> None:
    """With the connection the lock is lost, too: another run may be at work."""
    s.toml = "[run]\nprovision_parallel = 1\n"
    s.boards(4)
    run = s.push(count=4, seconds=60)
    s.world.time.step(2)
    made: list[Request] = []

    def watch(request: Request) -> None:
        if request.method == "POST" and request.path.endswith("/pods"):
            made.append(request)
            s.database.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE application_name = 'reconcile' AND datname = current_database()"
            )

    with it.watched(s.world.cluster_server, watch):
        report = s.run()
    assert (report.exit_code, it.phase(report, "demand_match").success) == (1, False)
    assert len(made) == len(s.pods()) == len(s.runners()) == 1
    minutes(s, 8)
    assert it.conclusions(run) == {"success"}
    assert s.statuses()[0] == ["completed"] * 4
    assert s.statuses()[1].count("completed") == 4
    assert s.runners() == []


def test_run_whose_machine_dies_leaves_no_lock_for_long(s: System) -> None:
    """The server notices by itself that nobody is there any more."""
    limits = RunLimits(deadline=90)
    with store.connect(s.config().conninfo, "prod", limits) as database:
        settings = {
            name: database._connection.execute("SELECT current_setting(%s)", [name]).fetchone()
            for name in (
                *("idle_session_timeout", "idle_in_transaction_session_timeout"),
                *("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count"),
            )
        }
    assert settings == {
        "idle_session_timeout": ("210s",),
        "idle_in_transaction_session_timeout": ("210s",),
        "tcp_keepalives_idle": ("30",),
        "tcp_keepalives_interval": ("10",),
        "tcp_keepalives_count": ("3",),
    }


# Trouble that is over --------------------------------------------------------------------------


def test_trouble_of_long_ago_is_not_told_of_new_jobs(s: System) -> None:
    s.boards(3)
    s.push(count=3)
    s.world.time.step(2)
    job, *_ = s.jobs()
    s.database.execute(
        "INSERT INTO demand_back_off (entity_id, repo_full_name, job_labels, failures, reason,"
        " failed_at, retry_at, parked) SELECT %s, '', %s::jsonb, 7, 'pod_failed',"
        " %s::timestamptz - interval '15 days', %s::timestamptz - interval '14 days', true",
        job["entity_id"],
        json.dumps(job["job_labels"]),
        *[s.world.time.clock.now()] * 2,
    )
    s.good_run()
    assert it.job_reasons(s) == [None] * 3
    assert len(s.workers()) == 1, "one is tried first"
    assert it.trouble(s) == []
    s.world.time.step(15)
    s.good_run()
    assert len(s.workers()) == 3
