"""Where pods go, and in which order."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.sim_cluster import BOARD, MERGE, PODS, World, pod_body


def test_first_come_is_first_served() -> None:
    world = World(nodes=2)
    names = []
    for letter in "dcba":
        names.append(world.create(f"pod-{letter}"))
        world.step(0.001)
    world.step(60)
    assert [world.phase(name) for name in names] == ["Running", "Running", "Pending", "Pending"]
    world.github.sessions[0].do_job()
    world.step(60)
    assert [world.phase(name) for name in names] == ["Succeeded", "Running", "Running", "Pending"]
    assert world.node_of(names[2]) == world.node_of(names[0])


def test_order_of_arrival_within_a_moment_does_not_matter() -> None:
    """Clients create in parallel, and a seed is to replay all the same."""

    def placed(letters: str) -> dict[str, tuple[str, str]]:
        world = World(nodes=2)
        for letter in letters:
            world.create(f"pod-{letter}")
        world.step(60)
        uid = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in world.cluster.pods()}
        return {name: (uid[name], world.node_of(name)) for name in uid}

    assert placed("abcd") == placed("dbca")


def test_pods_of_one_shape_do_not_wait_for_those_of_another() -> None:
    world = World(nodes=1)
    world.cluster.add_node("other", "milkv")
    names = [world.create() for _ in range(3)]
    other = world.create(nodeSelector={"riseproject.dev/board": "milkv"})
    world.step(60)
    assert [world.phase(name) for name in names] == ["Running", "Pending", "Pending"]
    assert world.node_of(other) == "other"


def test_pods_are_spread_over_the_emptiest_nodes() -> None:
    world = World(nodes=0)
    for name in ("a", "b"):
        world.cluster.add_node(name, BOARD, runners=2)
    pods = [world.create() for _ in range(4)]
    world.step(1)
    assert [world.node_of(pod) for pod in pods] == ["a", "b", "a", "b"]


def test_waiting_pod_says_why_and_how_many_nodes_there_are() -> None:
    world = World(nodes=3)
    world.cluster.add_node("other", "milkv")
    world.cluster.add_node("tainted", BOARD)
    world.cluster.add_node("cordoned", BOARD)
    world.cluster.taint("tainted", "maintenance", "yes")
    world.cluster.cordon("cordoned")
    names = [world.create() for _ in range(4)]
    world.step(60)
    scheduled = world.condition(names[3], "PodScheduled")
    assert (scheduled["status"], scheduled["reason"]) == ("False", "Unschedulable")
    assert scheduled["message"] == (
        "0/6 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) "
        "had untolerated taint {maintenance: yes}, 1 node(s) were unschedulable, 3 Insufficient "
        "riseproject.com/runner. preemption: 0/6 nodes are available: 3 No preemption victims "
        "found for incoming pod, 3 Preemption is not helpful for scheduling."
    )
    assert world.reasons(names[3]) == ["FailedScheduling"]


def test_without_nodes_there_is_nothing_to_wait_for() -> None:
    world = World(nodes=0)
    name = world.create()
    world.step(1)
    message = world.condition(name, "PodScheduled")["message"]
    assert message == "no nodes available to schedule pods"


def relabel(world: World, board: str) -> None:
    change = {"metadata": {"labels": {"riseproject.dev/board": board}}}
    world.ask("PATCH", "/api/v1/nodes/rv1-0", change, media_type=MERGE)


def silence(world: World) -> None:
    world.cluster.silence("rv1-0")
    world.step(60)


Way = Callable[[World], object]


@pytest.mark.parametrize(
    ("obstacle", "remedy"),
    [
        (lambda w: w.running(), lambda w: w.cluster.add_node("rv1-9", BOARD)),
        (lambda w: w.running(), lambda w: w.delete("pod-0001")),
        (lambda w: w.running(), lambda w: w.github.sessions[0].do_job()),
        (lambda w: w.cluster.cordon("rv1-0"), lambda w: w.cluster.uncordon("rv1-0")),
        (lambda w: w.cluster.taint("rv1-0", "x"), lambda w: w.cluster.untaint("rv1-0", "x")),
        (lambda w: w.cluster.not_ready("rv1-0"), lambda w: w.cluster.ready("rv1-0")),
        (silence, lambda w: w.cluster.revive("rv1-0")),
        (lambda w: relabel(w, "other"), lambda w: relabel(w, BOARD)),
    ],
)
def test_waiting_pod_is_tried_again_when_something_changes(obstacle: Way, remedy: Way) -> None:
    world = World(nodes=1)
    obstacle(world)
    name = world.create()
    world.step(250)
    assert world.phase(name) == "Pending"
    assert world.node_of(name) == ""
    remedy(world)
    world.step(60)
    assert world.phase(name) == "Running"


def test_cordoned_node_is_tainted_and_uncordoned_one_is_not() -> None:
    world = World()
    world.cluster.cordon("rv1-0")
    world.step(1)
    assert world.cluster.node("rv1-0")["spec"]["unschedulable"] is True
    assert world.taints("rv1-0") == {("node.kubernetes.io/unschedulable", "NoSchedule")}
    world.cluster.uncordon("rv1-0")
    world.step(1)
    assert world.cluster.node("rv1-0")["spec"] == {}


def test_tolerated_taint_is_none() -> None:
    world = World()
    world.cluster.taint("rv1-0", "maintenance", "yes")
    toleration = {"key": "maintenance", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}
    wrong = world.create(tolerations=[toleration | {"value": "no"}])
    right = world.create(tolerations=[toleration])
    world.step(60)
    assert (world.phase(wrong), world.phase(right)) == ("Pending", "Running")
    assert world.node_of(right) == "rv1-0"


def test_toleration_added_later_counts() -> None:
    world = World()
    world.cluster.taint("rv1-0", "maintenance")
    first, second = world.create(), world.create()
    world.step(60)
    added = {"key": "maintenance", "operator": "Exists"}
    for name in (second, first):
        before = world.cluster.pod(name)["spec"]["tolerations"]
        world.patch(name, {"spec": {"tolerations": [*before, added]}})
    world.step(60)
    assert (world.phase(first), world.phase(second)) == ("Running", "Pending"), "still first"


@pytest.mark.parametrize(
    ("resources", "fits"),
    [
        ({"cpu": "4"}, 1),
        ({"cpu": "2"}, 2),
        ({"cpu": "4100m"}, 0),
        ({"memory": "8000Mi"}, 2),
        ({"ephemeral-storage": "40Gi"}, 2),
        ({"ephemeral-storage": "90Gi"}, 1),
    ],
)
def test_other_resources_count_too(resources: dict[str, str], fits: int) -> None:
    world = World(nodes=0)
    world.cluster.add_node("a", BOARD, runners=9)
    container = {"resources": {"requests": resources}}
    names = [world.create(container=container) for _ in range(3)]
    world.step(60)
    assert [world.phase(name) for name in names].count("Running") == fits


def test_pod_bound_by_its_maker_is_not_scheduled() -> None:
    world = World(nodes=2)
    world.create("bound", nodeName="rv1-1")
    other = world.create()
    world.step(60)
    assert world.phase("bound") == "Running"
    assert world.node_of(other) == "rv1-0", "the one it takes is taken"


def test_pod_of_another_scheduler_is_left_alone() -> None:
    world = World()
    name = world.create(schedulerName="another")
    world.step(60)
    assert "conditions" not in world.cluster.pod(name)["status"]


def history(seed: int) -> Any:
    world = World(nodes=5, seed=seed)
    for number in range(12):
        world.create()
        world.step(7)
        if number % 4 == 3:
            world.github.sessions[number // 4].do_job()
    return world.cluster.pods(), world.cluster.events()


def test_same_seed_is_the_same_to_the_letter() -> None:
    assert history(3) == history(3)
    assert history(3) != history(4)


def test_large_world_is_scheduled_to_its_last_pod() -> None:
    world = World(nodes=0)
    for number in range(500):
        world.cluster.add_node(f"node-{number:03}", f"board-{number % 4}")
    for number in range(2000):
        selector = {"riseproject.dev/board": f"board-{number % 4}"}
        world.ask("POST", PODS, pod_body(f"pod-{number:04}", nodeSelector=selector))
    world.step(60)
    done = 0
    while done < 2000:
        for session in world.github.sessions[done:]:
            session.do_job()
        assert len(world.github.sessions) > done
        done = len(world.github.sessions)
        world.step(60)
    assert {pod["status"]["phase"] for pod in world.cluster.pods()} == {"Succeeded"}
    world.step(6 * 3600)
    listed = world.ask("GET", PODS, query={"labelSelector": "app=rise-riscv-runner"})
    assert len(listed["items"]) == 2000
    assert world.ask("GET", "/api/v1/events")["items"] == [], "and nobody remembers how"
