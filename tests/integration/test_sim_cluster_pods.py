"""What becomes of pods on their nodes."""

import base64
from typing import Any

import pytest

from reconcile.sim.cluster import Behaviour, Image
from tests.integration.sim_cluster import BOARD, IMAGE, JIT, PODS, SECRETS, World

DEADLINE = {"spec": {"activeDeadlineSeconds": 1}}


@pytest.fixture
def world() -> World:
    return World()


def test_runner_does_its_job_and_its_pod_succeeds(world: World) -> None:
    name = world.running()
    [session] = world.github.sessions
    assert session.jit == JIT
    session.do_job()
    world.step(10)
    assert world.phase(name) == "Succeeded"
    terminated = world.state(name)["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (0, "Completed")
    assert world.condition(name, "Ready")["reason"] == "PodCompleted"
    lines = world.log(name).splitlines()
    assert lines[-3].endswith("Listening for Jobs")
    assert lines[-2].endswith("Running job: build")
    assert lines[-1].endswith("Job build completed with result: Succeeded")
    assert session.calls == []
    assert set(world.reasons(name)) == {"Scheduled", "Pulling", "Pulled", "Created", "Started"}


def test_image_is_pulled_once_for_each_node(world: World) -> None:
    world.cluster.set_image(IMAGE, Image(pull_seconds=100, start_seconds=1))
    first = world.create()
    world.step(50)
    assert world.state(first) == {"waiting": {"reason": "ContainerCreating"}}
    world.step(60)
    assert world.phase(first) == "Running"
    world.github.sessions[0].do_job()
    second = world.create()
    world.step(10)
    assert world.phase(second) == "Running"


def test_runner_that_github_does_not_know_exits(world: World) -> None:
    world.github.refuses = True
    name = world.create()
    world.step(60)
    assert world.phase(name) == "Failed"
    assert world.state(name)["terminated"]["exitCode"] == 1
    assert "registration has been deleted" in world.log(name)


def test_idle_runner_that_is_deregistered_exits(world: World) -> None:
    name = world.running()
    world.github.sessions[0].listener.deregistered()
    world.step(10)
    assert world.phase(name) == "Failed"
    assert world.condition(name, "Ready")["reason"] == "PodFailed"


def test_runner_without_a_configuration_complains(world: World) -> None:
    name = world.create(container={"env": []})
    world.step(60)
    assert world.phase(name) == "Failed"
    assert "RUNNER_JITCONFIG" in world.log(name)
    assert world.github.sessions == []


def test_without_a_github_runners_idle() -> None:
    world = World(nodes=0)
    world.cluster = type(world.cluster)(world.time.timeline)
    world.cluster.add_node("a", "scw-em-rv1")
    name = world.create()
    world.step(3600)
    assert world.phase(name) == "Running"


# What images do.


def test_crashing_image_fails_its_pod(world: World) -> None:
    world.cluster.set_image(IMAGE, Image(behaviour=Behaviour.CRASHES))
    name = world.create()
    world.step(60)
    assert world.phase(name) == "Failed"
    assert world.state(name)["terminated"]["exitCode"] == 1
    assert world.github.sessions == []


def test_image_that_never_registers_runs_for_ever(world: World) -> None:
    world.cluster.next_pod(Behaviour.NEVER_REGISTERS)
    name = world.running()
    world.step(86400)
    assert world.phase(name) == "Running"
    assert world.github.sessions == []


def test_hanging_runner_outlives_its_job_and_sigterm(world: World) -> None:
    world.cluster.next_pod(Behaviour.HANGS)
    name = world.running(terminationGracePeriodSeconds=120)
    world.github.sessions[0].do_job()
    world.step(3600)
    assert world.phase(name) == "Running"
    world.patch(name, DEADLINE)
    world.step(60)
    assert world.phase(name) == "Running", "it is deaf"
    world.step(70)
    assert world.phase(name) == "Failed"
    assert world.state(name)["terminated"]["exitCode"] == 137


def test_deaf_container_has_less_time_when_it_is_deleted_again(world: World) -> None:
    world.cluster.next_pod(Behaviour.HANGS)
    name = world.running()
    world.github.sessions[0].do_job()
    world.delete(name, gracePeriodSeconds=3600)
    world.step(60)
    assert "deletionTimestamp" in world.cluster.pod(name)["metadata"]
    world.delete(name, gracePeriodSeconds=5)
    world.step(10)
    assert world.names() == []


def test_container_that_fills_the_disk_is_evicted(world: World) -> None:
    world.cluster.set_image(IMAGE, Image(behaviour=Behaviour.FILLS_DISK))
    limits = {"riseproject.com/runner": "1", "ephemeral-storage": "90Gi"}
    name = world.create(container={"resources": {"limits": limits}})
    world.step(120)
    status = world.cluster.pod(name)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "Evicted")
    assert status["message"] == (
        "Pod ephemeral local storage usage exceeds the total limit of containers 90Gi. "
    )
    assert "Evicted" in world.reasons(name)
    assert world.github.sessions[0].calls == ["vanish"]


def test_leaking_image_prints_its_environment_and_runs(world: World) -> None:
    world.cluster.next_pod(Behaviour.LEAKS)
    name = world.running()
    assert f"RUNNER_JITCONFIG={JIT}" in world.log(name)
    world.github.sessions[0].do_job()
    world.step(10)
    assert world.phase(name) == "Succeeded"


def test_next_pods_misbehave_as_often_as_told() -> None:
    world = World(nodes=3)
    world.cluster.next_pod(Behaviour.CRASHES, times=2)
    names = [world.create() for _ in range(3)]
    world.step(60)
    assert [world.phase(name) for name in names] == ["Failed", "Failed", "Running"]


def test_missing_image_is_tried_again_and_again(world: World) -> None:
    world.cluster.set_image(IMAGE, Image(behaviour=Behaviour.MISSING))
    name = world.create()
    world.step(4)
    assert world.state(name)["waiting"]["reason"] in ("ErrImagePull", "ImagePullBackOff")
    world.step(3600)
    waiting = world.state(name)["waiting"]
    assert waiting["reason"] == "ImagePullBackOff"
    assert waiting["message"].startswith(f'Back-off pulling image "{IMAGE}"')
    [pulling] = [event for event in world.cluster.events() if event["reason"] == "Pulling"]
    assert 10 < pulling["count"] < 30, "less and less often"
    world.cluster.set_image(IMAGE, Image())
    world.step(600)
    assert world.phase(name) == "Running"


# Secrets.


def secret_env(**more: Any) -> dict[str, Any]:
    source = {"secretKeyRef": {"name": "jit", "key": "config", **more}}
    return {"env": [{"name": "RUNNER_JITCONFIG", "valueFrom": source}]}


def test_configuration_comes_from_a_secret(world: World) -> None:
    name = world.create(container=secret_env())
    world.step(60)
    assert world.state(name)["waiting"] == {
        "reason": "CreateContainerConfigError",
        "message": 'secret "jit" not found',
    }
    assert world.phase(name) == "Pending"
    assert "Failed" in world.reasons(name)
    body = {"metadata": {"name": "jit"}, "stringData": {"other": "x"}}
    world.ask("POST", SECRETS, body)
    world.step(20)
    message = world.state(name)["waiting"]["message"]
    assert message == "couldn't find key config in Secret default/jit"
    change = {"data": {"config": base64.b64encode(JIT.encode()).decode()}}
    world.ask("PATCH", f"{SECRETS}/jit", change, media_type="application/merge-patch+json")
    world.step(20)
    assert world.phase(name) == "Running"
    assert world.github.sessions[0].jit == JIT


def test_optional_secret_may_be_absent(world: World) -> None:
    name = world.create(container=secret_env(optional=True))
    world.step(60)
    assert world.phase(name) == "Failed"
    assert "RUNNER_JITCONFIG is not set" in world.log(name)


# Deadlines.


def test_deadline_stops_a_running_pod_and_its_runner(world: World) -> None:
    name = world.running(activeDeadlineSeconds=525600)
    world.github.sessions[0].listener.job_started("build")
    world.patch(name, DEADLINE)
    world.step(10)
    status = world.cluster.pod(name)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
    assert status["message"] == "Pod was active on the node longer than the specified deadline"
    assert world.state(name)["terminated"]["exitCode"] == 143
    assert world.github.sessions[0].calls == ["stop"]


def test_deadline_counts_from_the_start_on_the_node(world: World) -> None:
    first = world.create(activeDeadlineSeconds=300)
    second = world.create(activeDeadlineSeconds=300)
    world.step(290)
    assert world.phase(first) == "Running"
    world.step(20)
    assert world.phase(first) == "Failed"
    world.step(200)
    assert world.phase(second) == "Running", "it began when the first had gone"
    world.step(200)
    assert world.phase(second) == "Failed"


def test_deadline_means_nothing_to_a_pod_without_a_node() -> None:
    world = World(nodes=0)
    name = world.create(activeDeadlineSeconds=1)
    world.step(86400)
    assert world.phase(name) == "Pending"
    assert "startTime" not in world.cluster.pod(name)["status"]


def test_deadline_counts_while_the_image_is_pulled(world: World) -> None:
    world.cluster.set_image(IMAGE, Image(pull_seconds=1000))
    name = world.create(activeDeadlineSeconds=100)
    world.step(110)
    status = world.cluster.pod(name)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
    assert world.state(name)["terminated"]["reason"] == "ContainerStatusUnknown"


# Deletion.


def test_deleted_pod_is_given_time_to_stop(world: World) -> None:
    name = world.running()
    deleted = world.delete(name)
    assert deleted["metadata"]["deletionGracePeriodSeconds"] == 30
    assert world.names() == [name]
    again = world.delete(name)
    assert again["metadata"]["deletionTimestamp"] == deleted["metadata"]["deletionTimestamp"]
    world.step(5)
    assert world.names() == []
    assert world.github.sessions[0].calls == ["stop"]


def test_forced_deletion_is_at_once_and_the_runner_is_stopped_after(world: World) -> None:
    name = world.running()
    world.delete(name, gracePeriodSeconds=0)
    assert world.names() == []
    assert world.github.sessions[0].calls == []
    world.step(5)
    assert world.github.sessions[0].calls == ["stop"]


def test_pod_that_is_over_is_deleted_at_once(world: World) -> None:
    name = world.running()
    world.github.sessions[0].do_job()
    world.step(10)
    world.delete(name)
    assert world.names() == []


def test_pod_deleted_before_its_start_never_starts(world: World) -> None:
    name = world.create()
    world.step(5)
    world.delete(name)
    world.step(60)
    assert world.names() == []
    assert world.github.sessions == []


def test_name_can_be_used_again_while_the_old_pod_stops() -> None:
    world = World(nodes=0)
    world.cluster.add_node("wide", BOARD, runners=2)
    name = world.running()
    world.delete(name, gracePeriodSeconds=0)
    world.create(name)
    world.step(60)
    assert world.phase(name) == "Running"
    assert [session.calls for session in world.github.sessions] == [["stop"], []]


def test_finalizer_keeps_a_stopped_pod(world: World) -> None:
    name = world.running()
    world.patch(name, {"metadata": {"finalizers": ["riseproject.dev/diagnostics"]}})
    world.delete(name)
    world.step(60)
    pod = world.cluster.pod(name)
    assert pod["status"]["phase"] == "Failed"
    assert world.log(name)
    world.patch(
        name, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["riseproject.dev/diagnostics"]}}
    )
    assert world.names() == []


def test_two_containers_end_together(world: World) -> None:
    body = {
        "metadata": {"name": "two"},
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {"name": "a", "image": IMAGE, "env": [{"name": "RUNNER_JITCONFIG", "value": "a"}]},
                {"name": "b", "image": IMAGE, "env": [{"name": "RUNNER_JITCONFIG", "value": "b"}]},
            ],
        },
    }
    world.ask("POST", PODS, body)
    world.step(60)
    assert sorted(session.jit for session in world.github.sessions) == ["a", "b"]
    world.github.sessions[0].do_job()
    world.step(10)
    assert world.phase("two") == "Running"
    status = world.refused("GET", f"{PODS}/two/log")
    assert status["message"].endswith("choose one of: [a b]")
    world.github.sessions[1].listener.deregistered()
    world.step(10)
    assert world.phase("two") == "Failed"
