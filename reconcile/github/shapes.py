"""GitHub's JSON, read with suspicion: what is not as it should be raises ShapeError.

Jobs and runners are read from GitHub's answers and from the stored pages by the same functions:
what is stored is GitHub's own object with most of it left out.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic

from ..model import Delivery, Json, RemoteJob, Runner, T

LARGEST_ID = 2**63 - 1  # that a column can hold
STEP_FIELDS = ("number", "name", "status", "conclusion", "started_at", "completed_at")


class ShapeError(Exception):
    """Names what is missing or of the wrong kind, never its value."""


def field(value: Any, name: str, kind: type[T]) -> T:
    # `type is`: JSON's true is no number, though Python thinks so.
    found = value.get(name) if isinstance(value, dict) else None
    if type(found) is not kind:
        raise ShapeError(f"it has no {name} of the right kind")
    return found


def optional_text(value: Json, name: str) -> str | None:
    """GitHub writes "no such thing" as null, or sometimes as an empty text: None for both."""
    return None if value.get(name) is None else field(value, name, str) or None


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """What a listing lists: under which name, how one is read, and what of it is stored."""

    name: str
    read: Callable[[Any], T]
    store: Callable[[T], Json]
    id_of: Callable[[T], int]


def job(value: Any) -> RemoteJob:
    job_id, status = field(value, "id", int), field(value, "status", str)
    runner_name = optional_text(value, "runner_name")
    started_at = optional_text(value, "started_at")
    return RemoteJob(
        job_id=job_id,
        status=status,
        conclusion=optional_text(value, "conclusion"),
        runner_name=runner_name,
        # GitHub fills it in for jobs that nobody has taken: a start is a start only with a runner.
        started_at=started_at if runner_name else None,
        completed_at=optional_text(value, "completed_at"),
        steps=_steps(value) if runner_name else None,
    )


def _steps(value: Json) -> list[Json] | None:
    if value.get("steps") is None:
        return None
    steps = field(value, "steps", list)
    if not all(isinstance(step, dict) for step in steps):
        raise ShapeError("its steps are not objects")
    return [{name: step.get(name) for name in STEP_FIELDS} for step in steps] or None


def _stored_job(it: RemoteJob) -> Json:
    return {
        "id": it.job_id,
        "status": it.status,
        "conclusion": it.conclusion,
        "runner_name": it.runner_name,
        "started_at": it.started_at,
        "completed_at": it.completed_at,
    }


def _runner(value: Any) -> Runner:
    return Runner(
        id=field(value, "id", int),
        name=field(value, "name", str),
        online=field(value, "status", str) == "online",
        busy=field(value, "busy", bool),
    )


def _stored_runner(it: Runner) -> Json:
    status = "online" if it.online else "offline"
    return {"id": it.id, "name": it.name, "status": status, "busy": it.busy}


@dataclass(frozen=True, slots=True)
class Group:
    id: int
    name: str
    allows_public_repositories: bool


def group(value: Any) -> Group:
    return Group(
        id=field(value, "id", int),
        name=field(value, "name", str),
        allows_public_repositories=field(value, "allows_public_repositories", bool),
    )


def account_login(value: Any) -> str:
    """Of an installation."""
    return field(field(value, "account", dict), "login", str)


JOBS = Kind("jobs", job, _stored_job, lambda it: it.job_id)
RUNNERS = Kind("runners", _runner, _stored_runner, lambda it: it.id)
GROUPS = Kind("runner_groups", group, lambda it: {"id": it.id}, lambda it: it.id)


def deliveries(value: Any) -> list[Delivery]:
    if not isinstance(value, list):
        raise ShapeError("it is not a list")
    return [_delivery(each) for each in value]


def _delivery(value: Any) -> Delivery:
    return Delivery(
        id=field(value, "id", int),
        guid=field(value, "guid", str),
        event=field(value, "event", str),
        action=optional_text(value, "action"),
        installation_id=_identifier(value, "installation_id"),
        status_code=field(value, "status_code", int),
        delivered_at=_time(value, "delivered_at"),
    )


def job_of_delivery(value: Any) -> int | None:
    """Of a delivery's own record. What was sent may be there as an object, as text or not at all:
    that no job is told is no fault."""
    payload = _inner(_inner(value, "request"), "payload")
    if isinstance(payload, str):
        try:
            payload = json.loads(payload)
        except (ValueError, RecursionError):
            return None
    return _identifier(_inner(payload, "workflow_job"), "id")


def _inner(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _identifier(value: Any, name: str) -> int | None:
    """None for whatever else is there: it is only told of, nothing depends on it."""
    found = _inner(value, name)
    return found if type(found) is int and 0 < found <= LARGEST_ID else None


def _time(value: Json, name: str) -> datetime:
    try:
        moment = datetime.fromisoformat(field(value, name, str))
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass  # The same fault as a time that names no zone.
    raise ShapeError(f"its {name} is not a time with its zone")
