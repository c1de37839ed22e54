"""Rows of jobs, workers and runs.

They are made by the thousand, and by the million when all is built anew. What would be slow in a
template is done here, once for each row.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

from ..formats import duration, moment, outside, precise_duration, worker_address
from ..model import Job, Phase, Run, Worker
from . import status

FOLDED = 200  # letters of an error that are shown; longer ones unfold
_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]{1,253}").fullmatch


class Wait(NamedTuple):
    words: str
    slug: str
    until: str | None
    until_moment: str


class JobRow(NamedTuple):
    id: int
    pill: status.Pill
    account: str
    pool: str
    url: str | None
    name: str
    about: str  # repository, workflow, attempt
    wait: Wait | None  # of a pending one
    message: str | None  # of one that was given up
    reason: str | None
    labels: Sequence[str]
    worker: str | None
    worker_page: str | None
    queued_at: str
    queued: str
    started_at: str | None
    waited: str
    ran: str


class WorkerRow(NamedTuple):
    id: str
    pill: status.Pill
    account: str
    pool: str
    name: str
    page: str | None
    about: str
    message: str | None
    reason: str | None
    labels: Sequence[str]
    node: str | None
    job: str | None
    job_url: str | None
    job_pill: status.Pill | None
    created_at: str
    created: str
    running_at: str | None
    started: str
    ran: str


class RunRow(NamedTuple):
    id: int
    pill: status.Pill
    started_at: str
    started: str
    took: str
    error: str | None
    folded: str | None  # the beginning of an error that is too long
    told: list["PhaseRow"]  # those that did something, or failed
    silent: str  # the others


class PhaseRow(NamedTuple):
    id: str
    name: str
    success: bool
    impact: str | None
    words: str  # both, if they are short
    error: str | None
    folded: str | None
    took: str


@lru_cache(maxsize=4096)
def _about(account: str, repository: str | None, workflow: str | None, attempt: int | None) -> str:
    """The same few come again and again."""
    parts = [repository or f"{account}, private repository", workflow or ""]
    if attempt is not None and attempt > 1:
        parts.append(f"attempt {attempt}")
    return " · ".join(part for part in parts if part)


def job_row(job: Job) -> JobRow:
    wait = job["waiting"]
    reason = job["reason"]
    queued_at = job["queued_at"]
    worker = job["worker"]
    url = job["url"]
    return JobRow(
        job["id"],
        status.of_job(job["status"], job["conclusion"]),
        job["entity"],
        job["pool"],
        outside(url),
        job["name"] or ("Private job" if job["private"] else f"Job {job['id']}"),
        _about(job["entity"], job["repository"], job["workflow"], job["attempt"]),
        wait and Wait(wait["words"], wait["reason"], wait["until"], moment(wait["until"])),
        job["message"] or reason,
        reason,
        job["labels"],
        worker,
        worker_address(worker) if worker and job["worker_failed"] else None,
        queued_at,
        moment(queued_at),
        job["started_at"],
        duration(job["wait_seconds"]),
        duration(job["run_seconds"]),
    )


def worker_row(worker: Worker) -> WorkerRow:
    name = worker["name"]
    job = worker["job"]
    created_at = worker["created_at"]
    return WorkerRow(
        f"w-{name}" if _PLAIN_ID(name) else f"w-{digest(name)}",
        status.of_worker(worker["status"]),
        worker["entity"],
        worker["pool"],
        name,
        worker_address(name) if worker["reason"] else None,
        worker["repository"] or worker["entity"],
        worker["message"] or worker["reason"],
        worker["reason"],
        worker["labels"],
        worker["node"],
        (job["name"] or f"Job {job['id']}") if job else None,
        outside(job["url"]) if job else None,
        status.of_job(job["status"], job["conclusion"]) if job else None,
        created_at,
        moment(created_at),
        worker["running_at"],
        duration(worker["start_seconds"]),
        duration(worker["run_seconds"]),
    )


def run_row(run: Run) -> RunRow:
    told, silent = [], []
    for number, phase in enumerate(run["phases"]):
        if phase["success"] and not phase["impact"]:
            silent.append(f"{phase['phase']} {precise_duration(phase['seconds'])}")
        else:
            told.append(_phase_row(phase, f"r{run['id']}-{number}"))
    return RunRow(
        run["id"],
        status.of_run(run["status"]),
        run["started_at"],
        moment(run["started_at"]),
        precise_duration(run["seconds"]),
        run["error"],
        _folded(run["error"]),
        told,
        ", ".join(silent),
    )


def _phase_row(phase: Phase, name: str) -> PhaseRow:
    error, impact = phase["error"], phase["impact"]
    failed = None if phase["success"] else "failed"
    return PhaseRow(
        name,
        phase["phase"],
        phase["success"],
        impact,
        ", ".join(part for part in (impact, error or failed) if part),
        error,
        _folded(error),
        precise_duration(phase["seconds"]),
    )


def _folded(error: str | None) -> str | None:
    if error is None or (len(error) <= FOLDED and "\n" not in error):
        return None
    return error[:FOLDED].partition("\n")[0].rstrip()


def digest(text: str) -> str:
    """For an id, of what may hold any letters."""
    return sha256(text.encode(errors="replace")).hexdigest()[:12]


OF_LISTS: dict[str, Callable[[Any], JobRow | WorkerRow | RunRow]] = {
    "jobs": job_row,
    "workers": worker_row,
    "runs": run_row,
}
