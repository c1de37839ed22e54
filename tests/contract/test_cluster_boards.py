"""Pods that run: what scheduler, kubelet and API server do together."""

import base64

from tests.contract.cluster import (
    FILLING_COMMAND,
    FILLING_IMAGE,
    MISSING_IMAGE,
    Body,
    Kube,
)


def state(pod: Body) -> Body:
    [status] = pod["status"].get("containerStatuses", [{"state": {}}])
    found: Body = status["state"]
    return found


def reasons(kube: Kube, pod: Body) -> set[str]:
    return {event["reason"] for event in kube.events(pod)}


def test_pod_runs_and_is_stopped(board: Kube) -> None:
    pod = board.create(board.board_body())
    running = board.until_phase(pod, "Running")
    assert running["spec"]["nodeName"]
    assert running["status"]["startTime"]
    assert state(running)["running"]["startedAt"]
    conditions = {one["type"]: one["status"] for one in running["status"]["conditions"]}
    assert conditions["PodScheduled"] == conditions["Initialized"] == "True"
    board.until(lambda: {"Scheduled", "Created", "Started"} <= reasons(board, pod))
    deleted = board.delete(pod, grace_period_seconds=5)
    assert deleted["metadata"]["deletionTimestamp"]
    assert deleted["metadata"]["deletionGracePeriodSeconds"] == 5
    name = pod["metadata"]["name"]
    board.until(lambda: board.is_gone("read_namespaced_pod", name))


def test_log_can_be_read_in_part(board: Kube) -> None:
    pod = board.create(board.board_body())
    board.until_phase(pod, "Running")
    board.until(lambda: board.log(pod).count(b"\n") >= 2)
    whole = board.log(pod, container="runner")
    last = board.log(pod, tail_lines=1)
    assert last.count(b"\n") == 1
    assert whole.endswith(last)
    assert board.log(pod, limit_bytes=2) == whole[:2]
    assert board.log(pod, tail_lines=0) == b""
    stamped = board.log(pod, timestamps=True, tail_lines=1)
    assert stamped.endswith(b" " + last)
    assert stamped.startswith(b"20")
    status = board.refused(
        "read_namespaced_pod_log", pod["metadata"]["name"], board.namespace, previous=True
    )
    assert status["code"] == 400
    board.delete(pod, grace_period_seconds=0)


def test_deadline_of_one_second_ends_a_pod_that_stays(board: Kube) -> None:
    pod = board.create(board.board_body(activeDeadlineSeconds=525600))
    board.until_phase(pod, "Running")
    board.patch(pod, {"spec": {"activeDeadlineSeconds": 1}})
    failed = board.until_phase(pod, "Failed")
    assert failed["status"]["reason"] == "DeadlineExceeded"
    assert failed["status"]["message"].startswith("Pod was active on the node longer than")
    board.until(lambda: "terminated" in state(board.read(pod)))
    assert not board.is_gone("read_namespaced_pod", pod["metadata"]["name"])
    assert board.log(pod).count(b"\n") >= 1, "its log can still be read"
    assert board.delete(pod)["kind"] == "Pod"
    assert board.is_gone("read_namespaced_pod", pod["metadata"]["name"])


def test_container_that_fails_fails_its_pod(board: Kube) -> None:
    container = {"command": ["sh", "-c", "echo no; exit 1"], "env": []}
    pod = board.create(board.board_body(container))
    failed = board.until_phase(pod, "Failed")
    terminated = state(failed)["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (1, "Error")
    assert terminated["finishedAt"]
    assert board.log(pod)


def test_image_that_is_missing_leaves_the_pod_pending(board: Kube) -> None:
    pod = board.create(board.board_body({"image": MISSING_IMAGE}, activeDeadlineSeconds=525600))

    def waits_for(*names: str) -> bool:
        return state(board.read(pod)).get("waiting", {}).get("reason") in names

    board.until(lambda: waits_for("ErrImagePull", "ImagePullBackOff"))
    board.until(lambda: waits_for("ImagePullBackOff"))
    assert board.read(pod)["status"]["phase"] == "Pending"
    board.until(lambda: {"Pulling", "Failed", "BackOff"} <= reasons(board, pod))
    status = board.refused("read_namespaced_pod_log", pod["metadata"]["name"], board.namespace)
    assert status["code"] == 400
    assert "is waiting to start" in status["message"]
    # The kubelet has seen it, so its deadline counts although nothing ever ran.
    board.patch(pod, {"spec": {"activeDeadlineSeconds": 1}})
    assert board.until_phase(pod, "Failed")["status"]["reason"] == "DeadlineExceeded"


def test_pod_waits_for_the_secret_it_refers_to(board: Kube) -> None:
    name = board.name()
    source = {"secretKeyRef": {"name": name, "key": "jit"}}
    container = {"env": [{"name": "RUNNER_JITCONFIG", "valueFrom": source}]}
    pod = board.create(board.board_body(container))

    def waiting() -> str:
        return str(state(board.read(pod)).get("waiting", {}).get("reason"))

    board.until(lambda: waiting() == "CreateContainerConfigError")
    body = {
        "metadata": {"name": name, "labels": board.labels()},
        "data": {"jit": base64.b64encode(b"configuration").decode()},
    }
    board.call("create_namespaced_secret", board.namespace, body)
    board.until_phase(pod, "Running")
    board.delete(pod, grace_period_seconds=0)
    assert board.is_gone("read_namespaced_pod", pod["metadata"]["name"])


def test_pod_that_fills_the_disk_is_evicted(board: Kube) -> None:
    limits = {"limits": {"ephemeral-storage": "10Mi"}}
    pod = board.create(
        board.board_body({"image": FILLING_IMAGE, "command": FILLING_COMMAND, "resources": limits})
    )
    failed = board.until_phase(pod, "Failed")
    assert failed["status"]["reason"] == "Evicted"
    assert "ephemeral" in failed["status"]["message"]
    board.until(lambda: "Evicted" in reasons(board, pod))


def test_boards_have_runners_to_give(board: Kube) -> None:
    selector = f"riseproject.dev/board={board.board}"
    nodes = board.call("list_node", label_selector=selector)["items"]
    assert any(int(node["status"]["allocatable"]["riseproject.com/runner"]) > 0 for node in nodes)


def test_log_of_a_pod_that_never_started_cannot_be_read(board: Kube) -> None:
    pod = board.create(board.board_body({"image": MISSING_IMAGE}, activeDeadlineSeconds=5))
    board.until_phase(pod, "Failed")
    name = pod["metadata"]["name"]
    status = board.refused("read_namespaced_pod_log", name, board.namespace)
    assert status["code"] == 400
