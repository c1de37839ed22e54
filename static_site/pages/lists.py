"""The rows of the lists: jobs, workers and runs."""

import functools
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from ..formats import outside
from ..model import Job, ListName, ListPage, Phase, Run, Worker, WorkerJob
from ..privacy import public_text, without
from ..rows import JobRow, RunRow, WorkerRow
from ..words import stamp
from .waits import Waits

# What still goes on comes first, then what went wrong.
NAME_LENGTH = 200  # letters of a name that are shown
ORDER = {"pending": 0, "running": 1, "failed": 2, "completed": 3}


@functools.lru_cache(maxsize=4096)
def labels(text: str) -> list[str]:
    """Thousands of rows have the same few sets. Nobody changes a model once it is made."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):  # a number of thousands of digits, say
        found = None
    return [clipped(str(label)) for label in found] if isinstance(found, list) else [clipped(text)]


def clipped(text: str) -> str:
    """What people name may be of any length; a page has room for so much of it."""
    return text if len(text) <= NAME_LENGTH else f"{text[: NAME_LENGTH - 1]}…"


def maybe_clipped(text: str | None) -> str | None:
    return None if text is None else clipped(text)


def seconds_between(start: datetime | None, end: datetime | None) -> int | None:
    """Clocks differ: what ended before it began took no time."""
    if start is None or end is None:
        return None
    return max(0, round((end - start).total_seconds()))


def maybe(moment: datetime | None) -> str | None:
    return None if moment is None else stamp(moment)


def job(row: JobRow, waits: Waits) -> Job:
    public = row.public
    # One that was taken after all may still say why nothing was tried for it.
    held_up = row.status in ("pending", "failed")
    return {
        "id": row.job_id,
        "status": row.status,
        "conclusion": row.conclusion,
        "reason": row.reason if held_up else None,
        "message": _message(row.message if held_up else None, *_secrets(row)),
        "waiting": waits.of(row) if row.status == "pending" else None,
        "entity": row.entity_name,
        "private": not public,
        "repository": row.repo_full_name if public else None,
        "workflow": maybe_clipped(row.workflow_name) if public else None,
        "name": maybe_clipped(row.job_name) if public else None,
        "attempt": row.run_attempt,
        "url": outside(row.html_url) if public else None,
        "labels": labels(row.labels),
        "pool": row.pool,
        "worker": row.pod,
        "worker_failed": row.worker_failed,
        "queued_at": stamp(row.queued_at),
        "started_at": maybe(row.started_at),
        "completed_at": maybe(row.completed_at),
        "wait_seconds": seconds_between(row.queued_at, row.started_at),
        "run_seconds": seconds_between(row.started_at, row.completed_at),
    }


def _secrets(row: JobRow) -> tuple[str, ...]:
    return () if row.public else (row.repo_full_name,)


def _message(text: str | None, *secrets: str | None) -> str | None:
    return str(without(public_text(text), *secrets)) if text else None


def worker(row: WorkerRow) -> Worker:
    failed = row.status == "failed"
    return {
        "name": row.pod_name,
        "status": row.status,
        "reason": (row.reason or "unknown") if failed else None,
        "message": _message(row.message if failed else None, *row.secrets),
        "entity": row.entity_name,
        "repository": row.repo_full_name if row.job_public else None,
        "labels": labels(row.labels),
        "pool": row.pool,
        "node": row.node,
        "job": _job_of(row),
        "created_at": stamp(row.created_at),
        "running_at": maybe(row.running_at),
        "completed_at": maybe(row.completed_at),
        "start_seconds": seconds_between(row.created_at, row.running_at),
        "run_seconds": seconds_between(row.running_at, row.completed_at),
    }


def _job_of(row: WorkerRow) -> WorkerJob | None:
    if row.job_id is None or row.job_status is None:
        return None
    return {
        "id": row.job_id,
        "name": maybe_clipped(row.job_name) if row.job_public else None,
        "url": outside(row.job_url) if row.job_public else None,
        "status": row.job_status,
        "conclusion": row.job_conclusion,
    }


def run(row: RunRow) -> Run:
    took = (row.completed_at - row.started_at).total_seconds() if row.completed_at else None
    return {
        "id": row.id,
        "status": row.status,
        "started_at": stamp(row.started_at),
        "completed_at": maybe(row.completed_at),
        "seconds": None if took is None else max(0.0, round(took, 1)),
        "error": _message(row.error),
        "phases": [_phase(*phase) for phase in row.phases or ()],
    }


def _phase(
    name: str, success: bool, impact: str | None, error: str | None, seconds: float
) -> Phase:
    return {
        "phase": name,
        "success": success,
        "impact": impact,
        "error": _message(error),
        "seconds": round(float(seconds), 2),
    }


def describer(name: ListName, waits: Waits) -> Callable[[Any], Any]:
    """What makes rows of that list."""
    if name == "jobs":
        return lambda row: job(row, waits)
    return worker if name == "workers" else run


def ordered(name: ListName, newest_first: Iterable[Any]) -> list[Any]:
    """By status, then the newest first; runs have no more than a time."""
    if name == "runs":
        return list(newest_first)
    return sorted(newest_first, key=lambda row: ORDER.get(row["status"], 4))


def list_page(
    name: ListName,
    newest_first: Sequence[Any],
    waits: Waits,
    *,
    page: int,
    pages: int,
    day: str | None = None,
    settled: bool | None = None,
) -> ListPage:
    describe = describer(name, waits)
    return {
        "list_name": name,
        "day": day,
        "settled": settled,
        "page": page,
        "pages": pages,
        "oldest_day": newest_first[-1].place[0].date().isoformat() if newest_first else None,
        "rows": ordered(name, map(describe, newest_first)),
    }
