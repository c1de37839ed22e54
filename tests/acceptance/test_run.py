"""From a queued job to a deleted pod, with `reconcile run` as a process of its own."""

import base64
from datetime import UTC, datetime

import pytest

from reconcile.sim.clock import SteppedClock
from reconcile.sim.cluster import Cluster
from reconcile.sim.github.model import Repository, Scope
from reconcile.sim.github.runners import read_jit_config
from reconcile.sim.timeline import SteppedTime
from tests.acceptance.command import PHASES, SCRIPT, good_run
from tests.database import Database
from tests.server import server
from tests.simulated import GROUP, LABEL, SECRET
from tests.system import BOARD, PREFIX, System, system

HOUR = 3600


def check_secret_belongs_to_its_pod(cluster: Cluster, name: str) -> str:
    """The configuration is in a Secret that the pod owns, and nowhere else; its text."""
    pod = cluster.pod(name)
    [secret] = [each for each in cluster.secrets() if each["metadata"]["name"] == name]
    [owner] = secret["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("Pod", pod["metadata"]["uid"])
    jit = base64.b64decode(secret["data"]["jitconfig"]).decode()
    assert read_jit_config(jit)
    assert jit not in str(pod)
    return jit


def check_records(s: System, runs: int, provisioned: int) -> None:
    """A row for each run, with its phases, and every one of them good."""
    records = s.database.rows("SELECT * FROM reconcile_runs ORDER BY id")
    assert [row["status"] for row in records] == ["completed"] * runs
    assert all(row["started_at"] <= row["completed_at"] for row in records)
    for record in records:
        phases = s.database.rows(
            "SELECT * FROM reconcile_phases WHERE run_id = %s ORDER BY id", record["id"]
        )
        assert [row["phase"] for row in phases] == PHASES
        assert all(row["success"] and row["error"] is None for row in phases)
    assert sum(row["workers_provisioned"] for row in records) == provisioned


def queued_jobs_become_deleted_pods(s: System, places: dict[Repository, Scope]) -> None:
    """One job in each repository, whose runner is registered in that scope."""
    world, count = s.world, len(places)
    s.boards(count)
    world.time.step(60)
    for repository in places:
        s.push(repository, seconds=300)
    world.time.step(5)
    assert s.statuses() == (["pending"] * count, [])

    first = good_run(s)
    assert first.summary["workers_provisioned"] == count
    names = sorted(row["pod_name"] for row in s.workers())
    assert all(name.startswith(PREFIX) for name in names)
    assert s.pods() == names
    for name in names:
        assert world.cluster.pod(name)["spec"]["nodeSelector"] == {"riseproject.dev/board": BOARD}
        assert check_secret_belongs_to_its_pod(world.cluster, name) not in first.stderr
    registered = [world.github.runners.in_scope(scope) for scope in places.values()]
    assert sorted(runner.name for [runner] in registered) == names
    assert {runner.labels for [runner] in registered} == {(LABEL,)}

    world.time.step(90)
    good_run(s)
    assert s.statuses() == (["running"] * count, ["running"] * count)
    assert sorted(row["k8s_pod"] for row in s.jobs()) == names
    for row in s.workers():
        assert row["k8s_node"] == world.cluster.pod(row["pod_name"])["spec"]["nodeName"]

    world.time.step(400)
    good_run(s)
    assert s.statuses() == (["completed"] * count, ["completed"] * count)
    assert [row["conclusion"] for row in s.jobs()] == ["success"] * count
    assert s.runners() == []

    world.time.step(5 * HOUR)
    good_run(s)
    assert s.pods() == names, "they stay for a while to be looked at"
    world.time.step(1.1 * HOUR)
    last = good_run(s)
    assert last.events("phase")[1]["impact"] == f"pods deleted: {count}"
    world.time.step(60)
    assert (s.pods(), world.cluster.secrets(), s.runners()) == ([], [], [])
    assert {(row["status"], row["failure_info"]) for row in s.workers()} == {("completed", None)}
    check_records(s, runs=5, provisioned=count)


def test_organizations_job_is_run_by_a_pod_that_is_gone_in_the_end(database: Database) -> None:
    with system(database) as s:
        queued_jobs_become_deleted_pods(s, {s.repository: s.organization})
        assert [row["repo_full_name"] for row in s.workers()] == [None]
        groups = s.world.github.runners.groups_of(s.organization)
        assert [group.name for group in groups] == ["Default", GROUP]


def test_personal_accounts_job_is_run_by_a_pod_that_is_gone_in_the_end(database: Database) -> None:
    with system(database) as s:
        queued_jobs_become_deleted_pods(s, {s.personal: s.personal})
        assert [row["repo_full_name"] for row in s.workers()] == ["octodog/toys"]


def test_enterprise_servers_jobs_are_run_by_pods_that_are_gone_in_the_end(
    database: Database,
) -> None:
    with system(database) as s:
        s.environment["GITHUB_API_URL"] = s.world.github_url + "/api/v3"
        queued_jobs_become_deleted_pods(s, {s.repository: s.organization, s.personal: s.personal})
        asked = [call.target for call in s.world.github_server.calls]
        assert asked
        assert all(target.startswith("/api/v3/") for target in asked)


@pytest.mark.skipif(not SCRIPT.exists(), reason="the package is not installed in this environment")
def test_installed_command_is_the_same(database: Database) -> None:
    with system(database) as s:
        s.boards(1)
        s.push()
        s.world.time.step(60)
        done = good_run(s, program=(str(SCRIPT),))
        assert done.summary["workers_provisioned"] == 1
        assert len(s.pods()) == 1


def test_webhooks_reach_it_through_the_functions_own_server(database: Database) -> None:
    """Every part is a process of its own. The server lives in real time: the world begins now."""
    now = datetime.now(UTC).replace(microsecond=0)
    with system(database, time=SteppedTime(SteppedClock(now))) as s:
        settings = {
            "POSTGRES_URL": database.role_url("prod_webhook_fn"),
            "RUNNERS_ENV": "prod",
            "GHAPP_WEBHOOK_SECRET": SECRET,
            "GHAPP_ORG_ID": str(s.app_ids[0]),
            "GHAPP_PERSONAL_ID": str(s.app_ids[1]),
        }
        with server(settings) as url:
            for installation in (s.installation, s.personal_installation):
                installation.app.webhook_url = url + "/webhook"
            queued_jobs_become_deleted_pods(s, {s.repository: s.organization})
    outcomes = database.rows(
        "SELECT outcome FROM installation_events WHERE event LIKE 'workflow%%'"
    )
    assert [row["outcome"] for row in outcomes] == [
        "job_stored",
        "job_marked_running",
        "job_marked_completed",
    ]
