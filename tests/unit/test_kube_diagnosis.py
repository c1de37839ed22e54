"""What is told of a failed pod: all that helps, bounded, whatever the outside sends."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reconcile.errors import DeadlineError, PermanentError, TransientError
from reconcile.kube.diagnosis import Sources, diagnose
from reconcile.model import Json, Pod

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
POD = Pod(
    name="runner-1",
    uid="uid-1",
    version="17",
    phase="Failed",
    pool="scw-em-rv1",
    node="rv1-01",
    created_at=NINE,
    started_at=NINE,
    finished_at=None,
    deleting=False,
    stopping=False,
    reason="Evicted",
    waiting=None,
)
SECRET = "RUNNER_JITCONFIG=c2VjcmV0IGNvbmZpZ3VyYXRpb24="
BOUND = 2 * 1024 * 1024


def sources(
    raw: Json | None = None, events: list[Json] | None = None, log: bytes = b"the log\n"
) -> Sources:
    return Sources(lambda: raw, lambda: events or [], lambda *_: log)


def raw_pod(**status: Any) -> Json:
    return {
        "metadata": {"uid": "uid-1", "creationTimestamp": "2026-03-02T09:00:00Z"},
        "spec": {"nodeName": "rv1-01", "containers": [{"name": "runner"}]},
        "status": {"phase": "Failed", **status},
    }


def failing(error: Exception) -> Any:
    def fail(*_: Any) -> Any:
        raise error

    return fail


def test_container_states_are_told_in_full() -> None:
    ended = {
        "exitCode": 137,
        "signal": 9,
        "reason": "OOMKilled",
        "message": f"with {SECRET}",
        "startedAt": "2026-03-02T09:01:00Z",
        "finishedAt": "2026-03-02T09:02:00Z",
        "containerID": "containerd://1",
    }
    status = {
        "name": "runner",
        "image": "registry.example/ubuntu:prod",
        "ready": False,
        "restartCount": 1,
        "state": {"terminated": ended},
        "lastState": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off"}},
    }
    told = diagnose(POD, sources(raw_pod(containerStatuses=[status])))
    assert told["containers"] == [
        {
            "name": "runner",
            "image": "registry.example/ubuntu:prod",
            "state": {
                "terminated": {
                    "reason": "OOMKilled",
                    "message": "with RUNNER_JITCONFIG=[scrubbed]",
                    "exit_code": 137,
                    "signal": 9,
                    "started_at": "2026-03-02T09:01:00Z",
                    "finished_at": "2026-03-02T09:02:00Z",
                }
            },
            "last_state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off"}},
            "ready": False,
            "restart_count": 1,
        }
    ]
    assert told["pod"]["started_at"] == "2026-03-02T09:01:00Z"
    assert told["pod"]["finished_at"] == "2026-03-02T09:02:00Z"
    assert told["logs"] == {"runner": "the log\n"}
    assert told["errors"] == []


def event(number: int, **fields: Any) -> Json:
    return {"metadata": {"resourceVersion": str(number)}, "reason": f"Event{number}", **fields}


def test_events_of_all_kinds_are_in_their_order() -> None:
    events = [
        event(9, lastTimestamp="2026-03-02T09:00:05Z", eventTime=None, count=3),
        event(3, lastTimestamp="2026-03-02T09:00:00Z", count=1),
        event(2, eventTime="2026-03-02T09:00:00.100000Z", lastTimestamp=None),
        event(
            4,
            eventTime="2026-03-02T08:00:00.100000Z",
            series={"lastObservedTime": "2026-03-02T09:00:04.000000Z", "count": 7},
        ),
        event(5, lastTimestamp="when?"),
    ]
    told = diagnose(POD, sources(raw_pod(), events))["events"]
    assert [one["reason"] for one in told] == ["Event5", "Event2", "Event3", "Event4", "Event9"]
    assert [one["count"] for one in told] == [1, 1, 1, 7, 3]


def test_last_fifty_events_are_kept() -> None:
    events = [event(n, lastTimestamp=f"2026-03-02T09:{n:02}:00Z") for n in range(60)]
    told = diagnose(POD, sources(raw_pod(), events))["events"]
    assert [one["reason"] for one in told] == [f"Event{number}" for number in range(10, 60)]


def test_what_cannot_be_had_is_said() -> None:
    broken = Sources(
        failing(TransientError("Reading pod runner-1: no answer in time.")),
        failing(PermanentError("Listing the events: 403 forbidden")),
        failing(DeadlineError("The run's time is over.")),
    )
    told = diagnose(POD, broken)
    assert told["errors"] == [
        "Reading pod runner-1: no answer in time.",
        "Listing the events: 403 forbidden",
        "The run's time is over.",
    ]
    assert told["pod"]["phase"] == "Failed"
    assert told["pod"]["reason"] == "Evicted"
    assert told["pod"]["created_at"] == "2026-03-02T09:00:00Z"
    assert (told["containers"], told["events"], told["logs"]) == ([], [], {})


def test_pod_that_cannot_be_read_still_has_its_log() -> None:
    broken = replace(sources(), read_pod=failing(TransientError("no answer")))
    assert diagnose(POD, broken)["logs"] == {"runner": "the log\n"}


def test_log_of_another_pod_of_the_name_is_not_taken_for_its_own() -> None:
    other = raw_pod() | {"metadata": {"uid": "uid-2"}}
    for raw in (other, None):
        told = diagnose(POD, sources(raw))
        assert told["logs"] == {}
        assert told["errors"] == ["The pod is gone: only what was seen of it before is told."]


def test_pod_that_was_on_no_node_is_not_asked_for_a_log() -> None:
    raw = raw_pod() | {"spec": {"containers": [{"name": "runner"}]}}
    unscheduled = replace(sources(raw), log=failing(AssertionError()))
    told = diagnose(replace(POD, node=None), unscheduled)
    assert told["errors"] == ["The pod was never on a node: it has no log."]


def test_empty_log_is_said_to_be_empty() -> None:
    told = diagnose(POD, sources(raw_pod(), log=b""))
    assert (told["logs"], told["errors"]) == (
        {},
        ["Container runner left no log that could be kept."],
    )


def test_document_of_a_pod_of_absurd_sizes_is_bounded() -> None:
    huge = "absurd \x00 " * 100_000
    state = {
        "terminated": {"reason": huge, "message": huge, "exitCode": 10**4000, "startedAt": huge}
    }
    status = {"name": huge, "image": huge, "state": state, "lastState": state, "restartCount": 1}
    raw = raw_pod(
        reason=huge,
        message=huge,
        conditions=[{"type": huge, "message": huge}] * 200,
        containerStatuses=[status] * 200,
    )
    raw["spec"]["containers"] = [{"name": f"{number} {huge}"} for number in range(200)]
    events = [event(number, message=huge, type=huge, count=10**400) for number in range(500)]
    lines = b"\x1b\x00\xff long line " * 100 + b"\n"
    told = diagnose(POD, sources(raw, events, lines * 300))
    text = json.dumps(told)
    assert len(text) < BOUND
    assert "\\u0000" not in text
    assert len(told["logs"]) == 4
    assert all(len(log.encode()) <= 64 * 1024 for log in told["logs"].values())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(json_values, json_values, json_values, json_values, st.binary(max_size=50))
def test_no_shape_of_an_answer_breaks_it(
    status: Any, spec: Any, container: Any, odd_event: Any, log: bytes
) -> None:
    raw = raw_pod() | {"spec": spec, "status": status}
    json.dumps(diagnose(POD, sources(raw, odd_event, log)))
    raw = raw_pod(containerStatuses=[container, {"state": container, "name": container}])
    raw["status"]["conditions"] = [container]
    raw["spec"] = {"containers": [container, {"name": container}], "nodeName": container}
    events = [odd_event, {"metadata": odd_event, "series": odd_event, "lastTimestamp": odd_event}]
    text = json.dumps(diagnose(POD, sources(raw, events, log)))
    assert "\\u0000" not in text
