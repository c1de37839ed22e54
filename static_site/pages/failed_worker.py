"""The page of a failed worker: why, what to do about it, and what was left to see of its pod.

`failure_info` is bounded and scrubbed where it is written. Its shape is not relied on here: a row
that somebody mended by hand must not stop all other pages.
"""

import json
from collections.abc import Iterable
from typing import Any

from .. import words
from ..model import Condition, Container, Event, FailedWorker, Log
from ..privacy import log_is_public, public_text, without
from ..rows import FailedWorkerRow
from .lists import worker

POD = ("phase", "reason", "message", "node", "created_at", "started_at", "finished_at")


def failed_worker(row: FailedWorkerRow) -> FailedWorker:
    told, info = worker(row.worker), _object(_loaded(row.failure_info))
    reason = told["reason"] or "unknown"
    public_job = row.worker.job_public if row.worker.job_id is not None else None
    open_log = log_is_public(reason, public_job, str(info))
    logs = _object(info.get("logs"))
    page: FailedWorker = {
        "worker": told,
        "image": row.image,
        "reason": words.worker_reason(reason),
        "pod": _pairs(_object(info.get("pod")), POD),
        "conditions": [
            _condition(each) for each in _objects(_object(info.get("pod")).get("conditions"))
        ],
        "containers": [_container(each, open_log) for each in _objects(info.get("containers"))],
        "events": [_event(each) for each in _objects(info.get("events"))],
        "logs": [_log(name, text) for name, text in logs.items()] if open_log else [],
        "logs_hidden": bool(logs) and not open_log,
        "errors": [public_text(str(each)) for each in _list(info.get("errors"))],
    }
    hidden: FailedWorker = without(page, *row.worker.secrets)
    return hidden


def _loaded(text: str | None) -> Any:
    """PostgreSQL stores what no parser here takes: numbers of thousands of digits, say."""
    try:
        return json.loads(text or "null")
    except (ValueError, RecursionError):
        return None


def _log(container: str, text: Any) -> Log:
    return {"container": container, "text": text if isinstance(text, str) else ""}


def _container(raw: dict[str, Any], with_messages: bool) -> Container:
    state, details = _state(raw.get("state"), with_messages)
    last, last_details = _state(raw.get("last_state"), with_messages)
    return {
        "name": _text(raw.get("name")),
        "image": _text(raw.get("image")),
        "ready": raw.get("ready") is True,
        "restart_count": _number(raw.get("restart_count")),
        "state": state or "unknown",
        "details": details,
        "last_state": last,
        "last_details": last_details,
    }


def _state(raw: Any, with_messages: bool) -> tuple[str | None, list[tuple[str, str]]]:
    """A message may be the end of a log, and is shown only where that is."""
    for kind, inner in _object(raw).items():
        names = [name for name in _object(inner) if with_messages or name != "message"]
        return str(kind), _pairs(_object(inner), names)
    return None, []


def _pairs(raw: dict[str, Any], names: Iterable[str]) -> list[tuple[str, str]]:
    return [
        (name.replace("_", " "), public_text(str(raw[name])))
        for name in names
        if raw.get(name) not in (None, "")
    ]


def _event(raw: dict[str, Any]) -> Event:
    return {
        "time": _text(raw.get("time")),
        "type": _text(raw.get("type")),
        "reason": _text(raw.get("reason")),
        "message": _message(raw.get("message")),
        "count": _number(raw.get("count")) or 1,
    }


def _condition(raw: dict[str, Any]) -> Condition:
    return {
        "type": _text(raw.get("type")),
        "status": _text(raw.get("status")),
        "reason": _text(raw.get("reason")),
        "message": _message(raw.get("message")),
        "at": _text(raw.get("at")),
    }


def _message(value: Any) -> str | None:
    text = _text(value)
    return public_text(text) if text else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in _list(value) if isinstance(each, dict)]
