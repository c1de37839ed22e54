"""Pods that their node does not take, or never gets to start."""

import pytest

from reconcile.sim.cluster import Behaviour
from tests.integration.sim_cluster import PODS, World, pod_body


@pytest.fixture
def world() -> World:
    return World()


def test_board_of_a_pod_deleted_by_force_is_taken_until_that_has_stopped(world: World) -> None:
    """The scheduler does not know; the kubelet does, and refuses."""
    world.cluster.next_pod(Behaviour.HANGS)
    hung = world.running()
    world.github.sessions[0].do_job()
    world.delete(hung, gracePeriodSeconds=0)
    refused = world.create()
    world.step(5)
    status = world.cluster.pod(refused)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "UnexpectedAdmissionError")
    assert "containerStatuses" not in status
    assert "UnexpectedAdmissionError" in world.reasons(refused)
    log = world.refused("GET", f"{PODS}/{refused}/log")
    assert (log["code"], "not available" in log["message"]) == (400, True)
    world.step(30)
    assert world.running(), "it had its 30 seconds, and is gone"


def test_pod_can_be_rejected_by_its_node(world: World) -> None:
    world.cluster.next_pod(Behaviour.REJECTED)
    name = world.create()
    world.step(5)
    assert world.cluster.pod(name)["status"]["reason"] == "UnexpectedAdmissionError"
    assert world.running()


def test_log_of_a_pod_that_never_started_cannot_be_read(world: World) -> None:
    world.cluster.next_pod(Behaviour.MISSING)
    name = world.create(activeDeadlineSeconds=60)
    world.step(120)
    assert world.phase(name) == "Failed"
    log = world.refused("GET", f"{PODS}/{name}/log")
    assert (log["code"], "is terminated" in log["message"]) == (400, True)


def test_pod_deleted_before_its_node_saw_it_holds_no_board(world: World) -> None:
    body = pod_body("held")
    body["metadata"]["finalizers"] = ["riseproject.dev/diagnostics"]
    world.ask("POST", PODS, body)
    world.step(0.15)
    assert world.node_of("held")
    world.delete("held")
    world.step(60)
    assert world.phase("held") == "Failed"
    assert world.running()
