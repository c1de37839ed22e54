"""What is read of a delivery's record, whatever is in it."""

import json
from typing import Any

import pytest

from reconcile.github import shapes
from reconcile.github.shapes import ShapeError

LISTED = {
    "id": 12345678901234,
    "guid": "0b989ba4-242f-11e5-81e1-c7b6966d2516",
    "delivered_at": "2026-03-02T09:00:00Z",
    "redelivery": False,
    "duration": 0.27,
    "status": "Invalid HTTP Response: 503",
    "status_code": 503,
    "event": "workflow_job",
    "action": "queued",
    "installation_id": 123,
    "repository_id": 456,
}


def record(payload: Any) -> Any:
    return LISTED | {"request": {"headers": {}, "payload": payload}, "response": {}}


def test_a_delivery_is_read_as_it_is_listed() -> None:
    [found] = shapes.deliveries([LISTED])
    assert (found.id, found.installation_id, found.status_code) == (12345678901234, 123, 503)
    assert found.qualified_event == "workflow_job.queued"
    assert found.failed


@pytest.mark.parametrize("action", [None, ""])
def test_an_event_without_an_action_is_called_by_its_name_alone(action: str | None) -> None:
    [found] = shapes.deliveries([LISTED | {"event": "ping", "action": action}])
    assert found.qualified_event == "ping"


@pytest.mark.parametrize("value", [None, "123", 0, -1, True, 1.5, 2**63, [], {}])
def test_an_installation_that_is_no_number_is_none(value: Any) -> None:
    [found] = shapes.deliveries([LISTED | {"installation_id": value}])
    assert found.installation_id is None
    without = {name: each for name, each in LISTED.items() if name != "installation_id"}
    assert shapes.deliveries([without])[0].installation_id is None


def test_what_redelivering_depends_on_must_be_there() -> None:
    with pytest.raises(ShapeError):
        shapes.deliveries([{**LISTED, "guid": None}])


JOB = {"action": "queued", "workflow_job": {"id": 41234567890, "run_id": 7}}


@pytest.mark.parametrize("payload", [JOB, json.dumps(JOB)])
def test_the_job_is_told_by_what_was_sent(payload: Any) -> None:
    assert shapes.job_of_delivery(record(payload)) == 41234567890


@pytest.mark.parametrize(
    "payload",
    [
        None,
        "",
        "{",
        "[" * 100_000,
        "null",
        [],
        17,
        {},
        {"workflow_job": None},
        {"workflow_job": [JOB]},
        {"workflow_job": {}},
        *({"workflow_job": {"id": number}} for number in (None, "1", 0, -1, True, 1.0, 2**63)),
    ],
    ids=lambda payload: str(payload)[:40],
)
def test_without_a_job_none_is_told(payload: Any) -> None:
    assert shapes.job_of_delivery(record(payload)) is None


@pytest.mark.parametrize("value", [None, [], "text", 1, {}, {"request": None}, {"request": []}])
def test_a_record_without_what_was_sent_tells_of_no_job(value: Any) -> None:
    assert shapes.job_of_delivery(value) is None
