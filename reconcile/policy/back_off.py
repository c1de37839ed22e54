"""When a demand whose workers fail is tried again: later each time, and not without end."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..model import Reason, Worker
from ..settings import BackOff

# Failures that would befall the next worker of the same demand, too. A board that died, a runner
# that hung after its job and GitHub's limit say nothing against the demand.
COUNTED = frozenset(
    {
        Reason.POD_FAILED,
        Reason.POD_STUCK_PENDING,
        Reason.POD_VANISHED,
        Reason.PROVISION_FAILED,
        Reason.RUNNER_IDLE,
        Reason.RUNNER_NEVER_REGISTERED,
    }
)

Roll = Callable[[], float]  # a number from -1 to 1, by chance


@dataclass(frozen=True, slots=True)
class Trouble:
    """A demand's failed attempts in a row."""

    failures: int
    reason: Reason
    failed_at: datetime
    retry_at: datetime
    parked: bool


def counts(worker: Worker, reason: Reason, before: Trouble | None) -> bool:
    """Whether this failure is one more attempt. Workers made before the last one failed are of
    the same attempt: twenty pods with the same bad image are one failure, not twenty."""
    if reason not in COUNTED or worker.job_status is not None:
        return False
    return before is None or worker.created_at > before.failed_at


def after_failure(
    before: Trouble | None,
    reason: Reason,
    now: datetime,
    settings: BackOff,
    roll: Roll,
    *,
    outage: bool = False,
) -> Trouble:
    """An outage of GitHub or the cluster befalls all demands alike: it backs them off, but does
    not park them, or an hour would be lost to some minutes."""
    failures = (before.failures if before else 0) + 1
    if outage:
        failures = max(1, min(failures, settings.park_after - 1))
    parked = failures >= settings.park_after and not outage
    # Capped before it is computed: 2 to the power of a large number is no float.
    doublings = min(failures - 1, 32)
    wait = settings.longest if parked else min(settings.longest, settings.first * 2**doublings)
    wait *= 1 + settings.jitter * roll()
    retry_at = now + timedelta(seconds=min(wait, settings.longest))
    return Trouble(failures, reason, now, retry_at, parked)
