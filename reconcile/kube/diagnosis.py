"""What is left to see of a pod, as `failure_info` keeps it: bounded, scrubbed, and made without
trusting what the outside sends to have the shape that it should have.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from ..errors import PermanentError, TransientError
from ..model import Json, Pod
from . import logs
from .manifests import CONTAINER
from .reading import moment
from .scrubbing import message

EVENTS_KEPT = 50
CONDITIONS_KEPT = 20
CONTAINERS_KEPT = 4
NAME_LIMIT = 253
ERROR_LIMIT = 400
STATES = ("waiting", "running", "terminated")
BEGINNING = datetime.min.replace(tzinfo=UTC)

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Sources:
    """Where to look. Each may raise TransientError or PermanentError."""

    read_pod: Callable[[], Json | None]
    events: Callable[[], list[Json]]
    log: Callable[[str, int, int], bytes]  # of that container: tailLines, limitBytes


def diagnose(pod: Pod, sources: Sources) -> Json:
    """Never raises for what the outside does: what could not be had is said in `errors`."""
    errors: list[str] = []
    raw = _tried(sources.read_pod, errors, Json())
    if raw is None or (raw and _object(raw.get("metadata")).get("uid") != pod.uid):
        errors.append("The pod is gone: only what was seen of it before is told.")
        raw = None
    events = _tried(sources.events, errors, list[Json]())
    return {
        "pod": described_pod(raw) if raw else remembered_pod(pod),
        "containers": described_containers(raw) if raw else [],
        "events": described_events(events),
        "logs": {} if raw is None else _logs(pod, raw, sources, errors),
        "errors": errors,
    }


def _tried(call: Callable[[], T], errors: list[str], otherwise: S) -> T | S:
    try:
        return call()
    except (TransientError, PermanentError) as error:
        errors.append(message(str(error), ERROR_LIMIT) or type(error).__name__)
        return otherwise


def _logs(pod: Pod, raw: Json, sources: Sources, errors: list[str]) -> Json:
    """By container. If the pod itself could not be read, it is taken to be one of ours."""
    spec = _object(raw.get("spec"))
    if raw and not spec.get("nodeName") and not pod.node:
        errors.append("The pod was never on a node: it has no log.")
        return {}
    found: Json = {}
    listed = _objects(spec.get("containers"))[:CONTAINERS_KEPT]
    names = [name for name in (_name(one.get("name")) for one in listed) if name]
    for name in names or [CONTAINER]:
        text = _tried(partial(_log, sources, name), errors, None)
        if text:
            found[name] = text
        elif text is not None:
            errors.append(f"Container {name} left no log that could be kept.")
    return found


def _log(sources: Sources, container: str) -> str | None:
    return logs.tail(partial(sources.log, container))


def described_pod(raw: Json) -> Json:
    status, spec = _object(raw.get("status")), _object(raw.get("spec"))
    conditions = _objects(status.get("conditions"))
    states = [_object(one.get("state")) for one in _statuses(raw)]
    ended = [_object(state.get("terminated")) for state in states]
    begun = [_object(state.get("running")) for state in states] + ended
    return {
        "phase": _name(status.get("phase")),
        "reason": _name(status.get("reason")),
        "message": message(status.get("message")),
        "node": _name(spec.get("nodeName")),
        "created_at": _name(_object(raw.get("metadata")).get("creationTimestamp")),
        "started_at": _first(one.get("startedAt") for one in begun),
        "finished_at": _first(one.get("finishedAt") for one in ended),
        "conditions": [_condition(one) for one in conditions[:CONDITIONS_KEPT]],
    }


def remembered_pod(pod: Pod) -> Json:
    return {
        "phase": pod.phase,
        "reason": message(pod.reason, NAME_LIMIT),
        "message": None,
        "node": pod.node,
        "created_at": _stamp(pod.created_at),
        "started_at": _stamp(pod.started_at),
        "finished_at": _stamp(pod.finished_at),
        "conditions": [],
    }


def _condition(raw: Json) -> Json:
    return {
        "type": _name(raw.get("type")),
        "status": _name(raw.get("status")),
        "reason": _name(raw.get("reason")),
        "message": message(raw.get("message")),
        "at": _name(raw.get("lastTransitionTime")),
    }


def described_containers(raw: Json) -> list[Json]:
    return [
        {
            "name": _name(one.get("name")),
            "image": message(one.get("image")),
            "state": _state(one.get("state")),
            "last_state": _state(one.get("lastState")),
            "ready": one.get("ready") is True,
            "restart_count": _number(one.get("restartCount")) or 0,
        }
        for one in _statuses(raw)
    ]


def _state(raw: Any) -> Json:
    for kind in STATES:
        if kind in (state := _object(raw)):
            inner = _object(state[kind])
            told = {
                "reason": _name(inner.get("reason")),
                "message": message(inner.get("message")),
                "exit_code": _number(inner.get("exitCode")),
                "signal": _number(inner.get("signal")),
                "started_at": _name(inner.get("startedAt")),
                "finished_at": _name(inner.get("finishedAt")),
            }
            return {kind: {name: value for name, value in told.items() if value is not None}}
    return {}


def described_events(raw: list[Json]) -> list[Json]:
    """The latest, oldest first."""
    ordered = sorted(_objects(raw), key=_event_order)
    return [_event(one) for one in ordered[-EVENTS_KEPT:]]


def _event_order(raw: Json) -> tuple[datetime, int]:
    """Most times are in whole seconds; within one, what was written first comes first."""
    version = _name(_object(raw.get("metadata")).get("resourceVersion")) or ""
    number = int(version) if version.isascii() and version.isdigit() else 0
    return _moment(_event_time(raw)).replace(microsecond=0), number


def _event(raw: Json) -> Json:
    count = _number(raw.get("count")) or _number(_object(raw.get("series")).get("count"))
    return {
        "time": _event_time(raw),
        "type": _name(raw.get("type")),
        "reason": _name(raw.get("reason")),
        "message": message(raw.get("message")),
        "count": count or 1,
    }


def _event_time(raw: Json) -> str | None:
    """The scheduler's events have only the newer times and a series, the kubelet's the older."""
    return _first(
        (
            _object(raw.get("series")).get("lastObservedTime"),
            raw.get("lastTimestamp"),
            raw.get("eventTime"),
            raw.get("firstTimestamp"),
            _object(raw.get("metadata")).get("creationTimestamp"),
        )
    )


def _moment(text: str | None) -> datetime:
    try:
        found = moment(text or "")
    except ValueError:
        return BEGINNING
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _statuses(raw: Json) -> list[Json]:
    return _objects(_object(raw.get("status")).get("containerStatuses"))[:CONTAINERS_KEPT]


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[Json]:
    found = value if isinstance(value, list) else []
    return [one for one in found if isinstance(one, dict)]


def _name(value: Any) -> str | None:
    return message(value, NAME_LIMIT)


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and abs(value) < 2**63 else None


def _first(values: Any) -> str | None:
    return next((text for text in map(_name, values) if text), None)


def _stamp(value: datetime | None) -> str | None:
    return None if value is None else f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
