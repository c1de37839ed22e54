"""Lessons 4 to 7: deciding on boards and pods. Whole runs on the simulated world."""

import json
from collections.abc import Iterator

import pytest

from reconcile.sim.cluster.images import Behaviour
from tests.database import Database
from tests.simulation import situations as it
from tests.system import System, system


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


# 4: capacity -----------------------------------------------------------------------------------


def test_lesson_04_only_boards_that_can_take_a_pod_now_are_counted(s: System) -> None:
    s.boards(6)
    cluster = s.world.cluster
    cordoned, not_ready, tainted, silent, down, good = (
        node["metadata"]["name"] for node in cluster.nodes()
    )
    cluster.cordon(cordoned)
    cluster.not_ready(not_ready)
    cluster.taint(tainted, "maintenance", effect="NoSchedule")
    cluster.silence(silent)
    cluster.set_runners(down, 0)
    s.world.time.step(60)
    s.push(count=6, seconds=3600)
    s.world.time.step(2)
    s.good_run()
    assert len(s.pods()) == 1
    s.world.time.step(60)
    assert cluster.pod(s.pods()[0])["spec"]["nodeName"] == good
    cluster.uncordon(cordoned)
    cluster.ready(not_ready)
    cluster.untaint(tainted, "maintenance")
    cluster.revive(silent)
    cluster.set_runners(down, 1)
    s.world.time.step(15)
    s.good_run()
    assert len(s.pods()) == 6


def test_lesson_04_a_pod_counts_against_the_node_it_sits_on(s: System) -> None:
    """It has one of three boards; cordoned, that board is none to begin with."""
    s.boards(3)
    it.make_pod(s, it.staging_name())
    s.world.time.step(20)
    s.world.cluster.cordon(s.world.cluster.pod(it.staging_name())["spec"]["nodeName"])
    s.push(count=3)
    s.world.time.step(2)
    s.good_run()
    assert len(s.workers()) == 2


def test_lesson_04_an_unscheduled_pod_counts_against_its_pool(s: System) -> None:
    s.boards(3)
    it.make_pod(s, it.staging_name(), slots=2)  # No board has two: it stays unscheduled.
    s.push(count=3)
    s.world.time.step(2)
    s.good_run()
    assert len(s.workers()) == 2
    assert "nodeName" not in s.world.cluster.pod(it.staging_name())["spec"]


# 5: rows without pods, pods without rows -------------------------------------------------------


def test_lesson_05_a_worker_without_a_pod_is_orphaned_only_once_it_is_old_enough(s: System) -> None:
    s.boards(1)
    run = it.provisioned(s)
    it.remove_pod(s, s.pods()[0])
    s.world.time.step(59)
    s.good_run()
    assert s.statuses()[1] == ["pending"]
    s.world.time.step(1)
    s.good_run()
    assert s.reasons() == ["pod_vanished"]
    assert s.runners() == []
    s.ticks(32)
    assert it.conclusions(run) == {"success"}
    assert s.statuses() == (["completed"], ["failed", "completed"])


@pytest.mark.parametrize("forget", ["DELETE FROM workers", "UPDATE workers SET status = 'failed'"])
def test_lesson_05_a_pod_without_an_active_row_is_removed(s: System, forget: str) -> None:
    s.boards(1)
    run = it.provisioned(s)
    [name] = s.pods()
    s.database.execute(forget)
    s.world.github.engine.cancel(run)
    s.world.time.step(59)
    s.good_run()
    assert not {"k8s.patch_pod", "k8s.delete_pod"} & set(it.writes(s)), "it is too new"
    s.world.time.step(61)
    s.good_run()
    s.world.time.step(60)
    s.good_run()
    assert s.world.cluster.pod(name)["status"]["phase"] == "Failed"
    assert s.runners() == []


@pytest.mark.parametrize("forget", ["DELETE FROM workers", "UPDATE workers SET status = 'failed'"])
@pytest.mark.parametrize("told", [True, False])
def test_lesson_05_a_pod_without_an_active_row_whose_runner_is_busy_stays(
    s: System, forget: str, told: bool
) -> None:
    s.boards(1)
    if not told:
        it.lose(s, "in_progress")
    run = it.working(s) if told else it.provisioned(s)
    s.world.time.step(100)
    s.database.execute(forget)
    s.good_run()
    s.world.time.step(60)
    s.good_run()
    assert it.kills(s) == []
    s.world.time.step(300)
    s.good_run()
    assert it.conclusions(run) == {"success"}
    assert s.jobs()[0]["status"] == "completed"


# 6: pods that no node takes --------------------------------------------------------------------


def test_lesson_06_an_unscheduled_pod_is_deleted_with_its_diagnostics_kept(s: System) -> None:
    s.boards(1)
    [node] = [each["metadata"]["name"] for each in s.world.cluster.nodes()]
    run = it.provisioned(s)
    s.world.cluster.cordon(node)
    s.world.time.step(599)
    s.good_run()
    assert len(s.pods()) == 1
    s.world.time.step(1)
    s.good_run()
    assert s.pods() == []
    assert s.runners() == []
    [worker] = s.workers()
    info = worker["failure_info"]
    assert (info["version"], info["reason"]) == (2, "pod_stuck_pending")
    assert info["pod"]["phase"] == "Pending"
    assert "FailedScheduling" in {event["reason"] for event in info["events"]}
    s.world.cluster.uncordon(node)
    s.ticks(30)
    assert it.conclusions(run) == {"success"}


def test_lesson_06_a_pod_that_a_node_took_is_stopped_and_stays_to_be_seen(s: System) -> None:
    s.boards(1)
    s.world.cluster.next_pod(Behaviour.MISSING)
    it.provisioned(s)
    name = s.pods()[0]
    s.world.time.step(600)
    s.good_run()
    assert s.reasons() == ["pod_stuck_pending"]
    assert "ImagePullBackOff" in json.dumps(s.workers()[0]["failure_info"], default=str)
    s.world.time.step(15)
    assert s.world.cluster.pod(name)["status"]["phase"] == "Failed"


# 7: hung after the job -------------------------------------------------------------------------


def test_lesson_07_a_runner_that_hangs_after_its_job_is_stopped_after_a_grace(s: System) -> None:
    s.boards(1)
    s.world.cluster.next_pod(Behaviour.HANGS)
    run = it.working(s, seconds=300)
    ended = run.jobs[0]
    s.world.time.step_until(lambda: ended.conclusion is not None)
    after = it.provisioned(s)
    assert s.pods() == [s.workers()[0]["pod_name"]], "the board is not free yet"
    s.world.time.step(590)
    s.good_run()
    assert s.reasons() == []
    s.world.time.step(15)
    s.good_run()
    assert s.reasons() == ["runner_hung"]
    assert it.trouble(s) == [], "the demand did nothing wrong"
    s.ticks(32)
    assert it.conclusions(after) == {"success"}
    assert s.statuses() == (["completed"] * 2, ["failed", "completed"])
