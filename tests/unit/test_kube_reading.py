"""Pods and nodes as the server describes them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from reconcile.kube import reading
from reconcile.model import Json

CREATED = "2026-03-02T09:00:00Z"
NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)


def at(minute: int, second: int = 0) -> datetime:
    return NINE.replace(minute=minute, second=second)


def raw_pod(status: Json | None = None, metadata: Json | None = None, **spec: Any) -> Json:
    named = {
        "name": "runner-1",
        "uid": "uid-1",
        "resourceVersion": "17",
        "creationTimestamp": CREATED,
    }
    return {
        "metadata": named | (metadata or {}),
        "spec": {"nodeSelector": {"riseproject.dev/board": "scw-em-rv1"}, **spec},
        "status": {"phase": "Pending"} | (status or {}),
    }


def container(**state: Json) -> Json:
    return {"containerStatuses": [{"name": "runner", "state": state}]}


def test_new_pod() -> None:
    pod = reading.pod(raw_pod())
    assert (pod.name, pod.uid, pod.version) == ("runner-1", "uid-1", "17")
    assert (pod.phase, pod.pool, pod.node) == ("Pending", "scw-em-rv1", None)
    assert (pod.created_at, pod.started_at, pod.finished_at) == (NINE, None, None)
    assert (pod.deleting, pod.stopping, pod.terminal) == (False, False, False)
    assert (pod.reason, pod.waiting) == (None, None)


def test_pod_that_waits_says_for_what() -> None:
    status = container(waiting={"reason": "ImagePullBackOff", "message": "Back-off"})
    pod = reading.pod(raw_pod(status, nodeName="rv1-01"))
    assert (pod.waiting, pod.node, pod.started_at) == ("ImagePullBackOff", "rv1-01", None)


def test_running_pod_has_the_time_of_its_containers_start() -> None:
    status = {"phase": "Running"} | container(running={"startedAt": "2026-03-02T09:01:05Z"})
    pod = reading.pod(raw_pod(status))
    assert (pod.started_at, pod.finished_at) == (at(1, 5), None)


def test_ended_pod_has_both_times() -> None:
    times = {"startedAt": "2026-03-02T09:01:05Z", "finishedAt": "2026-03-02T09:30:00Z"}
    pod = reading.pod(raw_pod({"phase": "Succeeded"} | container(terminated=times)))
    assert (pod.started_at, pod.finished_at, pod.terminal) == (at(1, 5), at(30), True)


@pytest.mark.parametrize(
    ("conditions", "finished"),
    [
        ([{"lastTransitionTime": "2026-03-02T09:05:00Z"}, {"lastTransitionTime": CREATED}], at(5)),
        ([{"lastTransitionTime": None}, {}], NINE),
        (None, NINE),
    ],
    ids=["the latest condition's", "no times", "no conditions"],
)
@pytest.mark.parametrize(
    "state",
    [
        {},
        {"containerStatuses": None},
        container(waiting={"reason": "ContainerCreating"}),
        container(terminated={"reason": "ContainerStatusUnknown", "finishedAt": None}),
    ],
    ids=["no container", "null", "never started", "lost"],
)
def test_end_of_a_failed_pod_whose_container_has_none(
    state: Json, conditions: list[Json] | None, finished: datetime
) -> None:
    status = {"phase": "Failed", "reason": "Evicted", "conditions": conditions} | state
    pod = reading.pod(raw_pod(status))
    assert (pod.finished_at, pod.reason) == (finished, "Evicted")


def test_pod_of_several_containers_starts_with_the_first_and_ends_with_the_last() -> None:
    states: list[Json] = [
        {"terminated": {"startedAt": "2026-03-02T09:01:00Z", "finishedAt": "2026-03-02T09:09:00Z"}},
        {"terminated": {"startedAt": "2026-03-02T09:02:00Z", "finishedAt": "2026-03-02T09:03:00Z"}},
    ]
    statuses = [{"state": state} for state in states]
    pod = reading.pod(raw_pod({"phase": "Failed", "containerStatuses": statuses}))
    assert (pod.started_at, pod.finished_at) == (at(1), at(9))


def test_unknown_phase_passes_through() -> None:
    pod = reading.pod(raw_pod({"phase": "Unknown"}))
    assert (pod.phase, pod.terminal, pod.finished_at) == ("Unknown", False, None)


def test_stopped_and_deleted_pods_are_known() -> None:
    assert reading.pod(raw_pod(activeDeadlineSeconds=1)).stopping
    assert not reading.pod(raw_pod(activeDeadlineSeconds=525_600)).stopping
    assert reading.pod(raw_pod(metadata={"deletionTimestamp": CREATED})).deleting


def test_pod_of_somebody_else_has_no_pool() -> None:
    assert reading.pod(raw_pod(nodeSelector=None)).pool is None
    assert reading.pod(raw_pod(nodeSelector={"another": "label"})).pool is None


@pytest.mark.parametrize(
    ("text", "microsecond"),
    [
        (CREATED, 0),
        ("2026-03-02T09:00:00.25Z", 250_000),
        ("2026-03-02T09:00:00.123456Z", 123_456),
        ("2026-03-02T09:00:00.123456789Z", 123_456),
        ("2026-03-02T11:00:00+02:00", 0),
    ],
)
def test_times_of_every_precision(text: str, microsecond: int) -> None:
    assert reading.moment(text) == NINE.replace(microsecond=microsecond)


def raw_node(
    *, ready: str = "True", taints: list[Json] | None = None, runner: Any = "1", **spec: Any
) -> Json:
    return {
        "metadata": {"name": "rv1-01", "labels": {"riseproject.dev/board": "scw-em-rv1"}},
        "spec": spec | ({} if taints is None else {"taints": taints}),
        "status": {
            "allocatable": {"cpu": "4", "riseproject.com/runner": runner},
            "conditions": [
                {"type": "MemoryPressure", "status": "False"},
                {"type": "Ready", "status": ready},
            ],
        },
    }


def test_board_that_can_take_a_pod() -> None:
    node = reading.node(raw_node())
    assert (node.name, node.pool, node.slots) == ("rv1-01", "scw-em-rv1", 1)
    assert (node.schedulable, node.unreachable) == (True, False)


@pytest.mark.parametrize(
    "raw",
    [
        raw_node(unschedulable=True),
        raw_node(ready="False"),
        raw_node(ready="Unknown"),
        raw_node(taints=[{"key": "maintenance", "effect": "NoSchedule"}]),
        raw_node(taints=[{"key": "maintenance", "effect": "NoExecute"}]),
        {"metadata": {"name": "rv1-01"}, "spec": {}, "status": {}},
    ],
    ids=["cordoned", "not ready", "unknown", "no schedule", "no execute", "nothing said"],
)
def test_board_that_cannot_take_a_pod(raw: Json) -> None:
    assert not reading.node(raw).schedulable


def test_taint_that_only_discourages_does_not_count() -> None:
    taints = [{"key": "maintenance", "effect": "PreferNoSchedule"}]
    assert reading.node(raw_node(taints=taints)).schedulable


def test_unreachable_node_is_known_by_its_taint() -> None:
    taints = [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]
    node = reading.node(raw_node(ready="Unknown", taints=taints))
    assert (node.unreachable, node.schedulable) == (True, False)


@pytest.mark.parametrize(
    ("quantity", "slots"),
    [
        ("1", 1),
        ("8", 8),
        (2, 2),
        ("0", 0),
        (None, 0),
        ("500m", 0),
        ("1k", 0),
        ("-1", 0),
        ("", 0),
        ("²", 0),
        ([], 0),
        ("9" * 5000, 0),
    ],
)
def test_slots_are_whole_numbers_or_none(quantity: Any, slots: int) -> None:
    assert reading.node(raw_node(runner=quantity)).slots == slots
