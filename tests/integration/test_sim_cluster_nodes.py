"""Nodes that go silent, come back, are not well, or leave for good."""

import pytest

from tests.integration.sim_cluster import BOARD, PODS, World, pod_body

UNREACHABLE = "node.kubernetes.io/unreachable"
NOT_READY = "node.kubernetes.io/not-ready"


@pytest.fixture
def world() -> World:
    return World()


def ready(world: World, node: str = "rv1-0") -> tuple[str, str]:
    [condition] = [
        one for one in world.cluster.node(node)["status"]["conditions"] if one["type"] == "Ready"
    ]
    return condition["status"], condition["reason"]


def test_silent_node_is_found_out_after_a_while(world: World) -> None:
    name = world.running()
    world.cluster.silence("rv1-0")
    world.step(49)
    assert ready(world) == ("True", "KubeletReady")
    assert world.condition(name, "Ready")["status"] == "True"
    world.step(2)
    assert ready(world) == ("Unknown", "NodeStatusUnknown")
    assert world.taints("rv1-0") == {(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")}
    assert world.condition(name, "Ready")["status"] == "False"
    assert world.phase(name) == "Running", "nobody knows better"
    assert "NodeNotReady" in world.reasons("rv1-0")
    assert "NodeNotReady" in world.reasons(name)


def test_pods_of_a_lost_node_are_marked_and_stay_until_forced(world: World) -> None:
    name = world.running()
    world.cluster.silence("rv1-0")
    world.step(345)
    assert "deletionTimestamp" not in world.cluster.pod(name)["metadata"]
    world.step(10)
    assert "deletionTimestamp" in world.cluster.pod(name)["metadata"]
    assert world.condition(name, "DisruptionTarget")["reason"] == "DeletionByTaintManager"
    assert "TaintManagerEviction" in world.reasons(name)
    world.step(6 * 3600)
    assert world.phase(name) == "Running"
    world.delete(name)
    world.step(60)
    assert world.names() == [name], "an ordinary deletion waits for the kubelet, too"
    world.delete(name, gracePeriodSeconds=0)
    assert world.names() == []


def test_node_that_was_not_well_and_fell_silent_is_only_unreachable(world: World) -> None:
    world.cluster.not_ready("rv1-0")
    world.step(10)
    world.cluster.silence("rv1-0")
    world.step(60)
    assert world.taints("rv1-0") == {(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")}


def test_pods_of_a_node_that_never_was_are_collected(world: World) -> None:
    world.create("lost", nodeName="ghost")
    world.step(60)
    assert world.names() == []


def test_pod_waits_for_the_node_it_is_bound_to(world: World) -> None:
    world.create("early", nodeName="late")
    world.cluster.add_node("late", BOARD)
    world.step(60)
    assert world.phase("early") == "Running"


def test_node_that_comes_back_under_its_name_takes_up_its_pods(world: World) -> None:
    name = world.running()
    world.cluster.remove_node("rv1-0")
    world.step(5)
    world.cluster.add_node("rv1-0", BOARD)
    world.step(60)
    assert world.phase(name) == "Running"
    assert len(world.github.sessions) == 2, "a new machine starts it anew"


def test_pod_of_a_removed_node_ends_before_it_goes(world: World) -> None:
    body = pod_body("held")
    body["metadata"]["finalizers"] = ["riseproject.dev/diagnostics"]
    world.ask("POST", PODS, body)
    world.step(60)
    world.cluster.remove_node("rv1-0")
    world.step(60)
    assert world.phase("held") == "Failed"
    assert world.condition("held", "DisruptionTarget")["reason"] == "DeletionByPodGC"
    world.cluster.add_node("rv1-0", BOARD)
    assert world.running(), "and holds no board"


def test_board_whose_device_plugin_is_down_takes_no_pod(world: World) -> None:
    world.cluster.set_runners("rv1-0", 0)
    name = world.create()
    world.step(60)
    assert world.phase(name) == "Pending"
    world.cluster.set_runners("rv1-0", 1)
    world.step(60)
    assert world.phase(name) == "Running"


def test_pod_says_itself_how_long_it_stays_on_a_lost_node(world: World) -> None:
    long = {
        "key": UNREACHABLE,
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 3600,
    }
    name = world.running(tolerations=[long])
    world.cluster.silence("rv1-0")
    world.step(3600)
    assert "deletionTimestamp" not in world.cluster.pod(name)["metadata"]
    world.step(60)
    assert "deletionTimestamp" in world.cluster.pod(name)["metadata"]


def test_power_cut_ends_runners_without_a_word(world: World) -> None:
    name = world.running()
    world.cluster.silence("rv1-0")
    assert world.github.sessions[0].calls == ["vanish"]
    world.step(100)
    world.cluster.revive("rv1-0")
    world.step(5)
    assert ready(world) == ("True", "KubeletReady")
    assert world.taints("rv1-0") == set()
    assert world.phase(name) == "Failed"
    terminated = world.state(name)["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (137, "Error")
    assert "Rebooted" in world.reasons("rv1-0")
    assert world.github.sessions[0].calls == ["vanish"]


def test_short_power_cut_is_never_found_out_but_by_its_pods(world: World) -> None:
    name = world.running()
    world.cluster.silence("rv1-0")
    world.step(20)
    world.cluster.revive("rv1-0")
    world.step(100)
    assert world.taints("rv1-0") == set()
    assert world.phase(name) == "Failed"


def test_terminating_pods_go_when_their_node_is_back(world: World) -> None:
    name = world.running()
    world.cluster.silence("rv1-0")
    world.step(600)
    assert world.names() == [name]
    world.cluster.revive("rv1-0")
    world.step(5)
    assert world.names() == []


def test_pod_being_prepared_is_prepared_again_after_a_power_cut(world: World) -> None:
    name = world.create()
    world.step(5)
    world.cluster.silence("rv1-0")
    world.step(100)
    assert world.phase(name) == "Pending"
    world.cluster.revive("rv1-0")
    world.step(60)
    assert world.phase(name) == "Running"


def test_job_goes_on_where_only_the_link_is_cut(world: World) -> None:
    name = world.running()
    [session] = world.github.sessions
    session.listener.job_started("build")
    world.cluster.silence("rv1-0", runner_survives=True)
    world.step(100)
    session.listener.job_finished("build", "success")
    world.step(100)
    assert session.calls == []
    assert world.phase(name) == "Running", "the cluster cannot know"
    world.cluster.revive("rv1-0")
    world.step(5)
    assert world.phase(name) == "Succeeded"


def test_running_pod_is_ready_again_when_the_link_is_back(world: World) -> None:
    name = world.running()
    world.cluster.silence("rv1-0", runner_survives=True)
    world.step(100)
    assert world.condition(name, "Ready")["status"] == "False"
    world.cluster.revive("rv1-0")
    world.step(5)
    assert world.condition(name, "Ready")["status"] == "True"
    world.step(3600)
    assert world.phase(name) == "Running", "its eviction is off"
    assert world.github.sessions[0].calls == []


def test_runner_of_a_pod_forced_away_is_stopped_when_the_link_is_back(world: World) -> None:
    name = world.running()
    world.cluster.silence("rv1-0", runner_survives=True)
    world.step(100)
    world.delete(name, gracePeriodSeconds=0)
    world.step(100)
    assert world.github.sessions[0].calls == []
    world.cluster.revive("rv1-0")
    world.step(5)
    assert world.github.sessions[0].calls == ["stop"]


def test_runners_line_can_be_cut_with_the_nodes(world: World) -> None:
    world.running()
    world.cluster.silence("rv1-0", runner_survives=True, online=False)
    world.step(100)
    world.cluster.revive("rv1-0")
    assert world.github.sessions[0].calls == ["lose", "resume"]


@pytest.mark.parametrize("survives", [True, False])
def test_deadline_is_not_enforced_while_the_node_is_silent(world: World, survives: bool) -> None:
    name = world.running(activeDeadlineSeconds=525600)
    world.cluster.silence("rv1-0", runner_survives=survives)
    world.patch(name, {"spec": {"activeDeadlineSeconds": 1}})
    world.step(200)
    assert world.phase(name) == "Running"
    world.cluster.revive("rv1-0")
    world.step(10)
    assert world.phase(name) == "Failed"
    reason = world.cluster.pod(name)["status"].get("reason")
    assert reason == ("DeadlineExceeded" if survives else None)


def test_link_that_is_cut_can_lose_its_power_too(world: World) -> None:
    world.running()
    world.cluster.silence("rv1-0", runner_survives=True)
    world.cluster.silence("rv1-0")
    assert world.github.sessions[0].calls == ["vanish"]
    world.step(50)
    assert ready(world)[0] == "Unknown"


def test_node_that_is_not_well_keeps_its_pods_for_five_minutes(world: World) -> None:
    name = world.running()
    world.cluster.not_ready("rv1-0")
    world.step(1)
    assert ready(world) == ("False", "KubeletNotReady")
    assert world.taints("rv1-0") == {(NOT_READY, "NoSchedule"), (NOT_READY, "NoExecute")}
    world.step(290)
    assert world.phase(name) == "Running"
    assert world.github.sessions[0].calls == []
    world.step(20)
    assert world.names() == [], "its kubelet is alive and stops them"
    assert world.github.sessions[0].calls == ["stop"]
    world.cluster.ready("rv1-0")
    world.step(1)
    assert world.taints("rv1-0") == set()
    assert "NodeReady" in world.reasons("rv1-0")


def test_node_that_is_well_in_time_keeps_its_pods(world: World) -> None:
    name = world.running()
    world.cluster.not_ready("rv1-0")
    world.step(200)
    world.cluster.ready("rv1-0")
    world.step(3600)
    assert world.phase(name) == "Running"
    assert world.condition(name, "Ready")["status"] == "True"


def test_taint_that_is_not_tolerated_empties_the_node_at_once(world: World) -> None:
    world.running()
    world.cluster.taint("rv1-0", "maintenance", effect="NoExecute")
    world.step(10)
    assert world.names() == []


def test_removed_node_takes_its_pods_along(world: World) -> None:
    name = world.running()
    world.cluster.remove_node("rv1-0")
    assert world.github.sessions[0].calls == ["vanish"]
    status = world.refused("GET", f"{PODS}/{name}/log")
    assert (status["code"], status["message"]) == (404, 'nodes "rv1-0" not found')
    world.step(60)
    assert world.names() == []
    world.cluster.add_node("rv1-0", BOARD)
    name = world.running()
    assert world.node_of(name) == "rv1-0"


def test_many_nodes_at_rest_cost_nothing() -> None:
    world = World(nodes=500)
    world.step(1)
    assert world.time.timeline.next_moment() is None
    before = world.ask("GET", "/api/v1/nodes")["metadata"]["resourceVersion"]
    world.step(6 * 3600)
    assert world.ask("GET", "/api/v1/nodes")["metadata"]["resourceVersion"] == before
