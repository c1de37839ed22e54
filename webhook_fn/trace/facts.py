"""What a trace is made of: rows, as they were read. All frozen, and nothing here decides."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """A row of the event log, without its payload."""

    id: int
    at: datetime  # when it was written
    source: str
    event: str
    outcome: str
    installation_id: int | None
    app_id: int | None
    entity_id: int | None
    entity_name: str | None
    entity_type: str | None
    job_id: int | None


@dataclass(frozen=True, slots=True)
class StateEvent:
    """One that an installation's state is made of, with what it says of it."""

    row: Event
    # Of the payload, as GitHub wrote it, and so of any type or absent: `delivery`, `updated_at`,
    # `suspended_at`, `selection`, `permissions`, `repositories`, `added`, `removed`,
    # `renamed_from`, `status`, `message`.
    said: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobEvent:
    """A delivery of one job, with what it says of it."""

    row: Event
    labels: tuple[str, ...]  # normalised
    repository: str | None
    sender_id: int | None
    sender_name: str | None
    runner: str | None
    conclusion: str | None


@dataclass(frozen=True, slots=True)
class JobRow:
    job_id: int
    status: str
    conclusion: str | None
    failure_reason: str | None
    failure_message: str | None
    entity_id: int
    entity_name: str
    entity_type: str
    repository: str
    installation_id: int
    labels: tuple[str, ...]
    pool: str
    image: str
    pod: str | None
    html_url: str | None
    job_name: str | None
    workflow_name: str | None
    sender_id: int | None
    sender_name: str | None
    created_at: datetime
    queued_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Wait:
    """What the last plan wrote down of the job's demand."""

    pending: int
    covered: int
    waiting_for: str | None
    until: datetime | None
    max_workers: int | None
    planned_at: datetime


@dataclass(frozen=True, slots=True)
class Trouble:
    failures: int
    reason: str
    failed_at: datetime
    retry_at: datetime
    parked: bool


@dataclass(frozen=True, slots=True)
class Boards:
    pool: str
    slots: int
    usable: int
    in_use: int
    free: int
    scheduling: str | None
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class QueuedDemand:
    """Pending jobs of one demand in the job's pool, and how many of them came before it."""

    entity_id: int
    own: bool  # it is the job's own demand
    pending: int
    older: int
    covered: int  # the oldest of them: a runner is there or on its way
    waiting_for: str | None


@dataclass(frozen=True, slots=True)
class Supply:
    """Runners at present, and how long a board is held."""

    of_entity: int  # the account's, over all pools
    in_pool: dict[int, int]  # by account
    seconds_held: float | None  # on average of late; None if none has ended
    sample: int


@dataclass(frozen=True, slots=True)
class FailedWorker:
    pod_name: str
    reason: str | None
    message: str | None
    node: str | None
    created_at: datetime
    completed_at: datetime


@dataclass(frozen=True, slots=True)
class JobWorker:
    """The runner that took the job."""

    pod_name: str
    status: str
    reason: str | None
    message: str | None
    node: str | None
    created_at: datetime
    running_at: datetime | None
    completed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Limit:
    """What GitHub allows an installation, or the App it is of, as a run last heard."""

    key: str
    auth_failure: str | None
    auth_failed_at: datetime | None
    rate_limit: int | None
    rate_remaining: int | None
    rate_resets_at: datetime | None
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class Run:
    id: int
    started_at: datetime
    completed_at: datetime | None
    status: str
    error: str | None
    problems: tuple[tuple[str, str], ...]  # phase and error, of those that failed


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """Of GitHub's own log of an App's webhooks, as the runs read it."""

    app_id: int
    guid: str
    event: str | None
    installation_id: int | None
    job_id: int | None
    status_code: int | None
    failed_at: datetime
    attempts: int  # how often it was asked for again
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class DeliveryLog:
    """How far that log was read, and what in it is not known by job yet."""

    read_at: dict[int, datetime]  # by App
    of_the_job: tuple[FailedDelivery, ...] = ()
    of_the_installation: tuple[FailedDelivery, ...] = ()
    unseen: int = 0  # failed deliveries of jobs that nobody has looked into yet


@dataclass(frozen=True, slots=True)
class Queue:
    """What only the present knows: nobody keeps how a queue once was."""

    wait: Wait | None
    trouble: Trouble | None
    boards: Boards | None
    demands: tuple[QueuedDemand, ...]
    supply: Supply
    limits: tuple[Limit, ...]


@dataclass(frozen=True, slots=True)
class JobFacts:
    """Everything that is known of one job."""

    job_id: int
    job: JobRow | None
    events: tuple[JobEvent, ...]  # oldest first
    queue: Queue | None  # None of a job that does not wait, or of the past
    failures: tuple[FailedWorker, ...]  # of its demand while it waited, the latest first
    worker: JobWorker | None
    runs: tuple[Run, ...]  # the latest first
    deliveries: DeliveryLog
