"""Edges between what is ended and what is kept: nothing that may be working goes, and what holds a
board for nothing does. Whole runs on the simulated world."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconcile.sim import faults
from reconcile.sim.cluster.images import Behaviour
from reconcile.sim.github import workflow
from reconcile.sim.http import Request
from tests.database import Database
from tests.simulated import LABEL
from tests.simulation import situations as it
from tests.system import BOARD, PREFIX, System, system

MINUTE = 60
POD_PENDING = 600
RUNNER_HUNG = 600


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


def minutes(s: System, count: int) -> None:
    """With a run at the end of each."""
    for _ in range(count):
        s.world.time.step(MINUTE)
        s.good_run()


# A runner that is not taken back ---------------------------------------------------------------


def test_runner_whose_secret_arrived_unknown_to_the_run_and_took_a_job_is_not_taken_back(
    s: System,
) -> None:
    """The first answer is lost, the second is an error; meanwhile the pod started."""
    s.boards(1)
    run = s.push(seconds=600)
    s.world.time.step(2)
    s.world.faults.next("k8s.create_secret", faults.reset(after_effect=True))
    s.world.faults.next("k8s.create_secret", faults.status(503))
    asked: list[Request] = []

    def watch(request: Request) -> None:
        if request.method == "POST" and request.path.endswith("/secrets"):
            asked.append(request)
            if len(asked) == 2:
                s.world.time.step(40)

    with it.watched(s.world.cluster_server, watch):
        report = s.run()
    [name] = it.busy_names(s)
    assert "took a job all the same" in it.problems(report)
    assert it.kills(s) == ["github.delete_org_runner"], "asked, and refused"
    assert (s.pods(), s.reasons()) == ([name], [])
    minutes(s, 12)
    assert it.conclusions(run) == {"success"}
    assert s.statuses() == (["completed"], ["completed"])


# Pods without a row ----------------------------------------------------------------------------


def test_pods_without_a_row_are_kept_while_no_scope_is_known_to_ask(s: System) -> None:
    """A database that was set up anew, under a fleet at work."""
    s.boards(1)
    run = it.working(s, seconds=900)
    s.database.execute("TRUNCATE workers, github_scopes, jobs")
    minutes(s, 5)
    assert it.kills(s) == []
    s.world.time.step(900)
    assert it.conclusions(run) == {"success"}


def test_pods_without_a_row_are_kept_while_a_scope_cannot_be_asked(s: System) -> None:
    s.boards(2)
    it.working(s, seconds=3600)
    it.working(s, s.personal, seconds=60)
    s.database.execute("TRUNCATE workers, jobs")
    s.world.faults.always("github.list_group_runners", faults.status(502))
    s.world.faults.always("github.list_org_runners", faults.status(502))
    s.world.time.step(100)
    report = s.run()
    assert "runners of riseproject are unknown" in it.problems(report)
    assert it.kills(s) == []


def test_pod_without_a_row_is_asked_for_where_runners_were_made_days_ago(s: System) -> None:
    """GitHub forgets an unused registration after a day, but not one that is connected."""
    s.boards(1)
    it.working(s, seconds=3600)
    s.database.execute("TRUNCATE workers, jobs")
    s.database.execute("UPDATE github_scopes SET used_at = used_at - interval '26 hours'")
    s.world.time.step(100)
    listed = s.calls("github.list_group_runners") + s.calls("github.list_org_runners")
    s.good_run()
    assert s.calls("github.list_group_runners") + s.calls("github.list_org_runners") > listed
    assert it.kills(s) == []


def test_pod_without_a_row_is_kept_while_a_job_names_it(s: System) -> None:
    """Its scope is forgotten, and all those that are known do not have it."""
    s.boards(2)
    run = it.working(s, seconds=600)
    it.working(s, s.personal, seconds=3600)
    s.database.execute("DELETE FROM workers WHERE entity_name = 'riseproject'")
    s.database.execute("DELETE FROM github_scopes WHERE entity_name = 'riseproject'")
    minutes(s, 5)
    assert it.kills(s) == []
    s.world.time.step(400)
    assert it.conclusions(run) == {"success"}


def test_pod_without_a_row_that_no_known_scope_has_goes(s: System) -> None:
    s.boards(3)
    it.working(s, seconds=3600)
    it.working(s, s.personal, seconds=3600)
    s.world.cluster.next_pod(Behaviour.NEVER_REGISTERS)
    it.make_pod(s, PREFIX + "lost")
    minutes(s, 3)
    [stopped] = [call for call in s.world.cluster_server.calls if call.endpoint == "k8s.patch_pod"]
    assert PREFIX + "lost" in stopped.target
    assert it.kills(s) == ["k8s.patch_pod"]
    assert len(it.busy_names(s)) == 2


# Pods that hold a board for nothing ------------------------------------------------------------


def never_started(s: System) -> str:
    """The pod of a tenant whose installation is suspended now."""
    s.boards(1)
    s.world.cluster.next_pod(Behaviour.MISSING)
    it.provisioned(s, seconds=60)
    s.world.github.accounts.suspend(s.installation)
    [name] = s.pods()
    return name


def test_pod_of_a_suspended_tenant_that_never_started_gives_its_board_back(s: System) -> None:
    name = never_started(s)
    other = s.push(s.personal, seconds=60)
    s.world.time.step(3 * POD_PENDING - 10)
    s.run()
    assert s.pods() == [name], "it may have started since it was listed"
    s.world.time.step(20)
    s.run()
    assert s.reasons() == ["pod_stuck_pending"]
    s.ticks(10, good=False)
    assert it.conclusions(other) == {"success"}
    assert "github.delete_org_runner" not in it.kills(s)


def test_pod_that_never_started_is_left_if_it_changed_since_it_was_listed(s: System) -> None:
    name = never_started(s)
    s.world.time.step(3 * POD_PENDING + 10)
    deletions: list[Request] = []

    def watch(request: Request) -> None:
        if request.method == "DELETE" and not deletions:
            deletions.append(request)
            it.kube(s, "PATCH", f"pods/{name}", {"metadata": {"labels": {"started": "now"}}})

    with it.watched(s.world.cluster_server, watch):
        s.run()
    assert deletions
    s.ticks(10, good=False)
    assert s.pods() == [name]


@contextlib.contextmanager
def kubelet_at_a_loss(s: System, node: str) -> Iterator[None]:
    """The node is ready; only what it is told about pods is not done."""
    kubelet = s.world.cluster._nodes._kubelets.get(node)
    assert kubelet is not None
    with s.world.time.timeline.lock:
        kubelet.lose_contact(power=False, online=True)
    yield
    with s.world.time.timeline.lock:
        kubelet.regain_contact()


def test_pod_that_was_told_to_stop_and_goes_on_is_deleted_after_a_while(s: System) -> None:
    s.boards(1)
    s.world.cluster.next_pod(Behaviour.NEVER_REGISTERS)
    it.provisioned(s)
    s.world.time.step(30)
    s.good_run()
    with kubelet_at_a_loss(s, f"{BOARD}-000"):
        s.world.time.step(150)
        s.good_run()
        [name] = s.pods()
        assert s.reasons() == ["runner_never_registered"]
        assert it.kills(s)[-1] == "k8s.patch_pod"
        s.world.time.step(RUNNER_HUNG - 10)
        s.good_run()
        assert "k8s.delete_pod" not in it.kills(s), "its kubelet is at it"
        s.world.time.step(20)
        s.good_run()
        assert it.kills(s)[-1] == "k8s.delete_pod"
        minutes(s, 2)
        assert s.pods() == [name]
        assert it.kills(s).count("k8s.delete_pod") == 1, "once is enough"
        assert len(s.workers()) == 1, "its board is not free as long as it is there"
    s.ticks(6)
    assert name not in s.pods()
    assert len(s.workers()) == 2


# A runner that works on what is not ours -------------------------------------------------------

BANNED = """
banned_senders = ["mallory"]
[[route]]
labels = ["ubuntu-24.04-riscv"]
pool = "scw-em-rv1"
image = "registry.example/good:1"
"""


def test_runner_taken_by_a_job_that_was_never_stored_is_not_waited_for(
    database: Database, tmp_path: Path
) -> None:
    """It was made for another job, which would wait for it as long as the foreign one takes."""
    routes = tmp_path / "routes.toml"
    routes.write_text(BANNED)
    with system(database, routes_file=routes) as s:
        mallory = s.world.github.accounts.add_user("Mallory")
        foreign = workflow.uniform((LABEL,), seconds=5 * 3600)
        s.world.github.engine.push(s.repository, foreign, actor=mallory)
        s.world.time.step(5)
        good = s.push(seconds=60)
        s.world.time.step(2)
        s.boards(3)
        minutes(s, 2)
        assert len(it.busy_names(s)) == len(s.jobs()) == 1
        assert len(s.workers()) == 1, "it may have taken the one that waits"
        minutes(s, 6)
        assert it.conclusions(good) == {"success"}
        assert sorted(s.statuses()[1]) == ["completed", "running"]
        assert it.kills(s) == []


def test_runner_that_is_busy_is_waited_for_until_github_says_that_the_job_still_waits(
    s: System,
) -> None:
    """The webhook that tells of it is lost, and GitHub cannot be asked."""
    s.boards(2)
    it.lose(s, "in_progress")
    run = it.provisioned(s, seconds=900)
    s.world.faults.always("github.list_run_jobs", faults.status(502))
    for _ in range(10):
        s.world.time.step(MINUTE)
        s.run()
    assert it.busy_names(s) == s.pods()
    assert (s.statuses(), len(s.workers())) == ((["pending"], ["running"]), 1)
    s.world.faults.clear()
    s.world.time.step(300)
    minutes(s, 3)
    assert it.conclusions(run) == {"success"}
    assert s.statuses() == (["completed"], ["completed"])
    assert it.kills(s) == []
