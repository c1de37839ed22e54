"""Jobs as the run reads and moves them on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg.types.json import Jsonb

from ..model import JobReason, Json, Pages, RemoteJob, Scope, Status
from ..policy.jobs import REMOTE_STATUS, ActiveJob
from .database import Database, as_json, joined


@dataclass(frozen=True, slots=True)
class Target:
    """What one look at GitHub is about: a workflow run, or a job whose run is not known."""

    number: int  # the run's id, or minus the job's
    scope: Scope
    repository: str
    run_checked_at: datetime | None

    @property
    def key(self) -> tuple[int, int]:
        return self.scope.installation_id, self.number


@dataclass(frozen=True, slots=True)
class Poll:
    """What a look at GitHub brought: to be kept for the next one."""

    target: Target
    pages: Pages
    run_checked_at: datetime | None


def poll_targets(database: Database, confirmed_before: datetime) -> list[Target]:
    """Those with active jobs that were not confirmed since then, the longest unconfirmed first."""
    return database.fetch("poll_targets", {"confirmed_before": confirmed_before}, _target)


def load_pages(database: Database, targets: Sequence[Target]) -> dict[tuple[int, int], Pages]:
    def entry(installation_id: int, target: int, pages: Pages) -> tuple[tuple[int, int], Pages]:
        return (installation_id, target), pages

    return dict(database.fetch("load_polls", _keys(targets), entry))


def jobs_of(database: Database, targets: Sequence[Target]) -> list[ActiveJob]:
    return database.fetch("jobs_of_targets", _keys(targets), _active_job)


def save_polls(database: Database, polls: Iterable[Poll], now: datetime) -> None:
    rows = [
        {
            "installation_id": poll.target.scope.installation_id,
            "target": poll.target.number,
            "run_checked_at": poll.run_checked_at,
            "pages": poll.pages,
        }
        for poll in polls
    ]
    database.execute("save_polls", {"polls": as_json(rows), "now": now})


def confirm_polls(database: Database, targets: Sequence[Target], now: datetime) -> None:
    database.execute("confirm_polls", {**_keys(targets), "now": now})


def advance(database: Database, jobs: Iterable[RemoteJob], now: datetime) -> int:
    rows = [
        {
            "job_id": job.job_id,
            "status": REMOTE_STATUS[job.status],
            "runner_name": job.runner_name,
            "conclusion": job.conclusion,
            "started_at": job.started_at,
            "completed_at": job.completed_at,
            "steps": job.steps,
        }
        for job in jobs
    ]
    return database.execute("advance_jobs", {"jobs": as_json(rows), "now": now})


def mark_missing(database: Database, job_ids: Sequence[int], now: datetime) -> None:
    database.execute("mark_missing", {"job_ids": list(job_ids), "now": now})


def mark_found(database: Database, job_ids: Sequence[int]) -> None:
    database.execute("mark_found", {"job_ids": list(job_ids)})


def fail(
    database: Database, job_ids: Sequence[int], reason: JobReason, message: str, now: datetime
) -> int:
    """One that is stuck in the queue is not one that was taken meanwhile."""
    stuck = reason is JobReason.STUCK_QUEUED
    return database.execute(
        "fail_jobs",
        {
            "job_ids": list(job_ids),
            "expected": ["pending"] if stuck else ["pending", "running"],
            "failure_info": failure_info(reason, message, now),
            "now": now,
        },
    )


def fail_of_installations(
    database: Database, installations: Sequence[int], message: str, now: datetime
) -> int:
    info = failure_info(JobReason.INSTALLATION_GONE, message, now)
    return database.execute(
        "fail_jobs_of_installation",
        {"installations": list(installations), "failure_info": info, "now": now},
    )


def ban(
    database: Database,
    entities: Iterable[int | str],
    senders: Iterable[int | str],
    now: datetime,
) -> int:
    entities, senders = list(entities), list(senders)
    message = "Its account or sender was banned while it was queued."
    return database.execute(
        "ban_jobs",
        {
            "entity_ids": [each for each in entities if isinstance(each, int)],
            "entity_names": [each for each in entities if isinstance(each, str)],
            "sender_ids": [each for each in senders if isinstance(each, int)],
            "sender_names": [each for each in senders if isinstance(each, str)],
            "failure_info": failure_info(JobReason.BANNED, message, now),
            "now": now,
        },
    )


def runners_at_work(database: Database, names: Sequence[str]) -> set[str]:
    return set(database.fetch("runners_at_work", {"names": joined(names)}, str))


def failure_info(reason: JobReason, message: str, now: datetime) -> Jsonb:
    details: Json = {
        "version": 2,
        "reason": reason,
        "message": message,
        "at": now.isoformat(timespec="seconds"),
    }
    return as_json(details)


def _keys(targets: Sequence[Target]) -> Mapping[str, list[int]]:
    return {
        "installations": [target.scope.installation_id for target in targets],
        "targets": [target.number for target in targets],
    }


def _target(
    installation_id: int,
    number: int,
    entity_id: int,
    entity_name: str,
    entity_type: str,
    repository: str,
    run_checked_at: datetime | None,
) -> Target:
    scope = Scope(installation_id, entity_id, entity_name, entity_type)
    return Target(number, scope, repository, run_checked_at)


def _active_job(
    job_id: int,
    installation_id: int,
    target: int,
    status: str,
    created_at: datetime,
    k8s_pod: str | None,
    missing_since: datetime | None,
) -> ActiveJob:
    return ActiveJob(
        job_id, installation_id, target, Status(status), created_at, k8s_pod, missing_since
    )
