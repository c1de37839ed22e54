"""What becomes of an active job, seen from its row and from what GitHub says of it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ..model import RemoteJob, Status
from ..settings import Timeouts
from .health import seconds


@dataclass(frozen=True, slots=True)
class ActiveJob:
    job_id: int
    installation_id: int
    target: int
    status: Status
    created_at: datetime
    k8s_pod: str | None
    missing_since: datetime | None


class Change(StrEnum):
    NONE = "none"
    ADVANCE = "advance"  # GitHub is further than the row
    MISS = "miss"  # not found, for the first time
    GIVE_UP_GONE = "give_up_gone"  # not found, again
    GIVE_UP_STUCK = "give_up_stuck"  # queued for ever, in a run that is over
    FOUND = "found"  # it was missing and is there again


REMOTE_STATUS = {"in_progress": Status.RUNNING, "completed": Status.COMPLETED}


def judge(
    job: ActiveJob,
    remote: RemoteJob | None,
    *,
    run_completed: bool,
    now: datetime,
    limits: Timeouts,
) -> Change:
    """`remote` is None if GitHub, asked for all there is, does not know the job."""
    if remote is None:
        if job.missing_since is None:
            return Change.MISS
        waited = now - job.missing_since >= seconds(limits.job_gone)
        return Change.GIVE_UP_GONE if waited else Change.NONE
    status = REMOTE_STATUS.get(remote.status)
    if status is Status.COMPLETED or (status is Status.RUNNING and job.status is Status.PENDING):
        return Change.ADVANCE
    if status is Status.RUNNING and job.k8s_pod is None and remote.runner_name:
        return Change.ADVANCE
    if run_completed and is_stuck_if_over(job, remote, now, limits):
        return Change.GIVE_UP_STUCK
    return Change.NONE if job.missing_since is None else Change.FOUND


def is_stuck_if_over(
    job: ActiveJob, remote: RemoteJob | None, now: datetime, limits: Timeouts
) -> bool:
    """Whether a completed run would mean that this job is never taken."""
    return (
        remote is not None
        and remote.status not in REMOTE_STATUS
        and job.status is Status.PENDING
        and now - job.created_at >= seconds(limits.job_stuck_queued)
    )
