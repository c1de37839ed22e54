"""The rows that the statements give, in the order of their columns."""

from datetime import datetime
from typing import NamedTuple


class JobRow(NamedTuple):
    job_id: int
    status: str
    conclusion: str | None
    reason: str | None
    message: str | None
    entity_id: int
    entity_name: str
    entity_type: str
    repo_full_name: str
    public: bool
    workflow_name: str | None
    job_name: str | None
    run_attempt: int | None
    html_url: str | None
    labels: str  # the JSON text
    pool: str
    pod: str | None
    worker_failed: bool
    created_at: datetime
    queued_at: datetime
    started_at: datetime | None
    completed_at: datetime | None

    @property
    def place(self) -> "Place":
        return self.created_at, self.job_id


class WorkerRow(NamedTuple):
    pod_name: str
    status: str
    reason: str | None
    message: str | None
    entity_id: int
    entity_name: str
    repo_full_name: str | None
    labels: str
    pool: str
    node: str | None
    created_at: datetime
    running_at: datetime | None
    completed_at: datetime | None
    job_id: int | None
    job_name: str | None
    job_url: str | None
    job_status: str | None
    job_conclusion: str | None
    job_public: bool  # whether it took one, and none that is not
    job_repository: str | None

    @property
    def place(self) -> "Place":
        return self.created_at, self.pod_name

    @property
    def secrets(self) -> tuple[str | None, ...]:
        """Names that nobody may see."""
        return () if self.job_public else (self.repo_full_name, self.job_repository)


class FailedWorkerRow(NamedTuple):
    """A WorkerRow and more: a named tuple cannot inherit fields."""

    worker: WorkerRow
    image: str
    failure_info: str | None  # the JSON text


class RunRow(NamedTuple):
    id: int
    status: str
    started_at: datetime
    completed_at: datetime | None
    error: str | None
    phases: list[tuple[str, bool, str | None, str | None, float]] | None

    @property
    def place(self) -> "Place":
        return self.started_at, self.id


# Where a row stands in its list: when it came, and which it is among those of the same moment.
Place = tuple[datetime, int | str]


class LiveCount(NamedTuple):
    entity_id: int
    entity_name: str
    labels: str
    pool: str
    pending: int
    running: int
    oldest_queued_at: datetime | None


class WorkerCount(NamedTuple):
    entity_id: int
    entity_name: str
    labels: str
    pending: int
    running: int


class BoardsRow(NamedTuple):
    pool: str
    slots: int
    usable: int
    in_use: int
    free: int
    observed_at: datetime


class WaitRow(NamedTuple):
    entity_id: int
    repo_full_name: str
    labels: str
    pool: str
    pending: int
    covered: int  # of these, the oldest so many have a runner
    waiting_for: str | None
    wait_until: datetime | None
    failures: int | None
    reason: str | None


class LastRunRow(NamedTuple):
    id: int
    status: str
    started_at: datetime
    completed_at: datetime | None


class Failure(NamedTuple):
    pod_name: str
    updated_at: datetime
    state: str  # another one as soon as its page would say something else
    job_is_live: bool  # then it will


# Figures ---------------------------------------------------------------------------------------


class SpanWaits(NamedTuple):
    labels: str | None  # None: of all
    day_started: int
    day_quantiles: list[float] | None
    week_started: int
    week_quantiles: list[float] | None


class HourWaits(NamedTuple):
    hour: datetime
    started: int
    quantiles: list[float]


class Ended(NamedTuple):
    hour: datetime
    pool: str
    conclusion: str
    jobs: int
    in_day: int
    seconds: float
    timed: int


class ReasonCount(NamedTuple):
    reason: str
    in_day: int
    in_week: int


class TenantRow(NamedTuple):
    entity_id: int
    entity_name: str
    jobs: int
    tenants: int


class TenantWait(NamedTuple):
    entity_id: int
    hour: datetime | None  # None: over all of them
    seconds: float


class TenantEnds(NamedTuple):
    entity_id: int
    hour: datetime
    ended: int
    failed: int


# Together --------------------------------------------------------------------------------------


class Live(NamedTuple):
    """What is going on, at one moment."""

    jobs: list[JobRow]
    job_counts: list[LiveCount]
    workers: list[WorkerRow]
    worker_counts: list[WorkerCount]
    boards: list[BoardsRow]
    waits: list[WaitRow]
    covered: frozenset[int]  # jobs for which a runner is on its way
    backing_off: int
    last_run: LastRunRow | None
    last_worked_at: datetime | None


class FigureRows(NamedTuple):
    waits: list[SpanWaits]
    hours: list[HourWaits]
    ended: list[Ended]
    given_up: list[ReasonCount]
    failed_workers: list[ReasonCount]
    tenants: list[TenantRow]
    tenant_waits: list[TenantWait]
    tenant_ends: list[TenantEnds]
