"""What a diagnosis says: a cause, in plain words, with what shows it and what to do about it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from .facts import Event


class Kind(StrEnum):
    """What a finding is about, one slug each."""

    UNINSTALLED = "uninstalled"
    SUSPENDED = "suspended"
    REPOSITORY_REMOVED = "repository_removed"
    REPOSITORY_NOT_SELECTED = "repository_not_selected"
    RENAMED = "renamed"
    WRONG_APP = "wrong_app"
    BANNED = "banned"
    NO_ROUTE = "no_route"
    ON_STAGING = "on_staging"
    JOB_CANCELLED = "job_cancelled"
    JOB_OVER = "job_over"
    JOB_RUNNING = "job_running"
    NO_ACCESS = "no_access"
    NOT_QUEUED_YET = "not_queued_yet"
    WEBHOOK_FAILED = "webhook_failed"
    WEBHOOK_NEVER_ARRIVED = "webhook_never_arrived"
    RECONCILER_STALE = "reconciler_stale"
    RECONCILER_FAILING = "reconciler_failing"
    GITHUB_LIMIT = "github_limit"
    BACKING_OFF = "backing_off"
    CAP_REACHED = "cap_reached"
    WAITING_FOR_BOARD = "waiting_for_board"
    RUNNER_COMING = "runner_coming"
    NOT_PLANNED_YET = "not_planned_yet"
    GIVEN_UP = "given_up"
    NOTHING_WRONG = "nothing_wrong"
    NOTHING_KNOWN = "nothing_known"


@dataclass(frozen=True, slots=True)
class Evidence:
    what: str
    at: datetime | None = None
    event_id: int | None = None  # of the event log: `reconcile trace --payload` shows it

    @classmethod
    def of(cls, event: Event) -> "Evidence":
        return cls(f"{event.event} ({event.outcome})", event.at, event.id)


@dataclass(frozen=True, slots=True)
class Finding:
    kind: Kind
    summary: str  # one sentence or two
    advice: str  # what to do, and who can
    evidence: tuple[Evidence, ...] = ()
