"""What the run knows: rows of the database, and what GitHub and the cluster say. All frozen."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

ORGANIZATION = "Organization"
USER = "User"

T = TypeVar("T")
Json = dict[str, Any]
# Pages of a listing with their ETags, kept between runs: [{"etag": …, "items": […]}, …]
Pages = list[Json]


class Status(StrEnum):
    """status_enum, of jobs and of workers."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def active(self) -> bool:
        return self in (Status.PENDING, Status.RUNNING)


class Reason(StrEnum):
    """Why a worker failed: the same slug in the log, the row, the metric and the page."""

    POD_FAILED = "pod_failed"
    POD_STUCK_PENDING = "pod_stuck_pending"
    RUNNER_NEVER_REGISTERED = "runner_never_registered"
    RUNNER_IDLE = "runner_idle"
    NODE_UNREACHABLE = "node_unreachable"
    POD_VANISHED = "pod_vanished"
    RUNNER_HUNG = "runner_hung"
    PROVISION_FAILED = "provision_failed"
    RATE_LIMITED = "rate_limited"


class JobReason(StrEnum):
    """Why the system gave up on a job, or, while it is pending, why nothing is tried for it."""

    JOB_GONE = "job_gone"
    INSTALLATION_GONE = "installation_gone"
    STUCK_QUEUED = "stuck_queued"
    BANNED = "banned"
    DEMAND_PARKED = "demand_parked"


@dataclass(frozen=True, slots=True)
class Scope:
    """Where runners are registered: an organization, or one repository of a personal account."""

    installation_id: int
    entity_id: int
    entity_name: str
    entity_type: str
    repo_full_name: str | None = None  # None for an organization

    @property
    def is_organization(self) -> bool:
        return self.entity_type == ORGANIZATION

    @property
    def key(self) -> tuple[int, str]:
        """What stays the same when the account is renamed."""
        return self.entity_id, self.repo_full_name or ""


@dataclass(frozen=True, slots=True)
class DemandKey:
    """What supply is matched by: jobs and workers with the same key stand for each other."""

    entity_id: int
    repo_full_name: str  # "" for organizations, whose runners serve all repositories
    labels: tuple[str, ...]


# What GitHub says ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RemoteJob:
    """A job as GitHub describes it now."""

    job_id: int
    status: str  # GitHub's own: queued, waiting, in_progress, completed, …
    conclusion: str | None
    runner_name: str | None
    started_at: str | None  # GitHub's text; only with a runner
    completed_at: str | None
    steps: list[Json] | None = None  # only of an answer that is new


@dataclass(frozen=True, slots=True)
class Runner:
    """A registration at GitHub. Listed, offline, from the moment its configuration is made."""

    id: int
    name: str
    online: bool
    busy: bool


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """Everything there is, all pages of it, and what to show GitHub to be told "unchanged"."""

    items: list[T]
    pages: Pages
    changed: bool = True  # whether any page was sent anew


@dataclass(frozen=True, slots=True)
class JitConfig:
    """A runner's credential. Never printed: its text shows only in `reveal()`."""

    runner_id: int
    _text: str = field(repr=False)

    def reveal(self) -> str:
        return self._text


@dataclass(frozen=True, slots=True)
class Delivery:
    """An entry of an App's webhook log."""

    id: int
    guid: str
    event: str
    action: str | None
    installation_id: int | None
    status_code: int
    delivered_at: datetime

    @property
    def qualified_event(self) -> str:
        """As `installation_events` names what arrived."""
        return f"{self.event}.{self.action}" if self.action else self.event

    @property
    def failed(self) -> bool:
        return not 200 <= self.status_code < 400


# What the cluster says -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pod:
    name: str
    uid: str
    version: str  # resourceVersion: an effect may insist that nothing changed since
    phase: str  # Pending, Running, Succeeded, Failed, Unknown
    pool: str | None  # the board its node selector asks for
    node: str | None
    created_at: datetime
    started_at: datetime | None  # when its container started
    finished_at: datetime | None
    deleting: bool
    stopping: bool  # its deadline was shortened: the kubelet is to end it
    reason: str | None  # the pod's own: Evicted, DeadlineExceeded, UnexpectedAdmissionError, …
    waiting: str | None  # why its container does not start: ImagePullBackOff, …

    @property
    def terminal(self) -> bool:
        return self.phase in ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    pool: str | None
    slots: int  # runners its device plugin offers
    schedulable: bool  # not cordoned, ready, without a taint that keeps runner pods away
    unreachable: bool  # tainted so by the node controller: its kubelet is not heard of


@dataclass(frozen=True, slots=True)
class Boards:
    """What there is of a pool: a row of `boards`."""

    k8s_pool: str
    slots: int
    usable: int
    in_use: int
    free: int


# What the database says ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Worker:
    pod_name: str
    scope: Scope
    labels: tuple[str, ...]
    pool: str
    image: str
    node: str | None
    status: Status
    created_at: datetime
    running_at: datetime | None
    completed_at: datetime | None
    job_status: Status | None = None  # of the job it took, if it took one
    job_started_at: datetime | None = None
    job_completed_at: datetime | None = None

    @property
    def demand(self) -> DemandKey:
        return DemandKey(self.scope.entity_id, self.scope.repo_full_name or "", self.labels)


@dataclass(frozen=True, slots=True)
class Failure:
    """A worker's end, with what it is told by: becomes `failure_info` version 2."""

    worker: Worker
    reason: Reason
    message: str
    details: Json = field(default_factory=dict)
