"""A workflow job, as one delivery describes it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from . import fields
from .payload import Payload
from .routes import normalised_labels


class Status(StrEnum):
    """jobs.status. A delivery never says `failed`: a failed build is a completed job."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


STATUS_AFTER = {
    "queued": Status.PENDING,
    "in_progress": Status.RUNNING,
    "completed": Status.COMPLETED,
}


PROGRESS = tuple(Status)  # in the order a job moves through them


@dataclass(frozen=True, slots=True)
class Entity:
    """The account a delivery is about: the owner of the repository, or of the installation."""

    id: int
    name: str | None  # known of every account that has a job
    type: str | None  # GitHub's word: Organization, User, Enterprise, …


@dataclass(frozen=True, slots=True)
class Job:
    # The same in every delivery of a job.
    job_id: int
    entity: Entity
    repo_full_name: str
    repo_private: bool | None  # None is treated as private
    installation_id: int
    labels: tuple[str, ...]  # normalised
    run_id: int | None
    run_attempt: int | None
    job_name: str | None
    workflow_name: str | None
    html_url: str | None
    queued_at: datetime | None
    sender_id: int | None
    sender_name: str | None
    # What this delivery adds to that.
    status: Status
    runner_name: str | None
    started_at: datetime | None
    completed_at: datetime | None
    conclusion: str | None
    steps: list[dict[str, object]] | None


def read_job(payload: Payload, status: Status, entity: Entity) -> Job:
    """A delivery contributes what its own stage knows and nothing else.

    Only what the job cannot be stored without must be there: demand is not turned away because
    something is missing that a dashboard would show.

    GitHub fills started_at of a job nobody has taken with the time it was queued, and of a job
    cancelled in the queue likewise: a start is a start only with a runner.
    """
    runner_name = None
    if status is not Status.PENDING:
        runner_name = fields.optional_text(payload, "workflow_job", "runner_name")
    started_at = fields.optional_time(payload, "workflow_job", "started_at")
    completed_at = fields.optional_time(payload, "workflow_job", "completed_at")
    conclusion = fields.optional_text(payload, "workflow_job", "conclusion")
    finished = status is Status.COMPLETED
    steps = _steps(payload)
    return Job(
        job_id=fields.identifier(payload, "workflow_job", "id"),
        entity=entity,
        repo_full_name=fields.text(payload, "repository", "full_name"),
        repo_private=fields.optional_flag(payload, "repository", "private"),
        installation_id=fields.identifier(payload, "installation", "id"),
        labels=normalised_labels(fields.items(payload, "workflow_job", "labels", of=str)),
        run_id=fields.optional_identifier(payload, "workflow_job", "run_id"),
        run_attempt=fields.optional_identifier(
            payload, "workflow_job", "run_attempt", largest=fields.LARGEST_INTEGER
        ),
        job_name=fields.optional_text(payload, "workflow_job", "name"),
        workflow_name=fields.optional_text(payload, "workflow_job", "workflow_name"),
        html_url=fields.optional_text(payload, "workflow_job", "html_url"),
        queued_at=fields.optional_time(payload, "workflow_job", "created_at"),
        sender_id=fields.optional_identifier(payload, "sender", "id"),
        sender_name=fields.optional_text(payload, "sender", "login"),
        status=status,
        runner_name=runner_name,
        started_at=started_at if runner_name else None,
        completed_at=completed_at if finished else None,
        conclusion=conclusion if finished else None,
        steps=steps if runner_name else None,
    )


STEP_FIELDS = ("number", "name", "status", "conclusion", "started_at", "completed_at")


def _steps(payload: Payload) -> list[dict[str, object]] | None:
    if fields.optional(payload, "workflow_job", "steps") is None:
        return None
    steps = fields.items(payload, "workflow_job", "steps", of=dict)
    return [{name: step.get(name) for name in STEP_FIELDS} for step in steps] or None
