"""What becomes of a worker, seen from its row, its pod, its node and its registration at GitHub.

    row ── pod ──────────── runner ─────────── verdict
    any    none, too long   any                completed if its job is, else pod_vanished
    any    Succeeded        any                completed
    any    Failed           any                pod_failed
    any    on a dead node   not known busy     node_unreachable
    any    Pending          not busy           provision_failed, pod_stuck_pending
    any    Running          not busy           runner_hung, runner_never_registered, runner_idle

A runner that is busy outranks every timeout, and a runner that could not be looked at might be
busy: unknown is not absent.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum

from ..model import Pod, Reason, Runner, Status, Worker
from ..settings import Timeouts


class Unseen(Enum):
    """What is known of a runner that is not there to be looked at."""

    ABSENT = "absent"  # GitHub listed its scope, and it is not in it
    UNKNOWN = "unknown"  # the listing failed, or was not asked for


RunnerView = Runner | Unseen


class Fate(StrEnum):
    KEEP = "keep"
    COMPLETE = "complete"
    FAIL = "fail"


class Stop(StrEnum):
    """How the pod of a failed worker is ended."""

    NONE = "none"
    DEADLINE = "deadline"  # by its kubelet, so that it stays to be looked at
    DELETE = "delete"  # no kubelet has it: only deleting it gives its place back
    FORCE = "force"  # its kubelet is not there any more


@dataclass(frozen=True, slots=True)
class Verdict:
    fate: Fate
    reason: Reason | None = None
    message: str = ""
    stop: Stop = Stop.NONE


KEEP = Verdict(Fate.KEEP)
COMPLETE = Verdict(Fate.COMPLETE)
NEVER_STARTED = 3  # times the limit for pending pods
VIEWS: tuple[RunnerView, ...] = (
    Unseen.UNKNOWN,
    Unseen.ABSENT,
    Runner(0, "", online=False, busy=False),
    Runner(0, "", online=True, busy=False),
)
# The kubelet's word for a pod whose configuration was never handed over.
NO_CONFIGURATION = "CreateContainerConfigError"


def classify(
    worker: Worker,
    pod: Pod | None,
    runner: RunnerView,
    *,
    node_unreachable: bool,
    now: datetime,
    limits: Timeouts,
) -> Verdict:
    """One worker's fate."""
    if pod is None:
        return _without_pod(worker, now, limits)
    if pod.phase == "Succeeded":
        return COMPLETE
    if pod.phase == "Failed":
        why = f" ({pod.reason})" if pod.reason else ""
        return Verdict(Fate.FAIL, Reason.POD_FAILED, f"The pod failed{why}.")
    if node_unreachable:
        return _stranded(pod, runner)
    if isinstance(runner, Runner) and runner.busy:
        return KEEP
    if pod.deleting:
        return KEEP  # Somebody ends it; it is judged when it is gone.
    if pod.phase == "Pending":
        return _pending(pod, runner, now, limits)
    return _running(worker, pod, runner, now, limits)


def needs_runner(
    worker: Worker, pod: Pod | None, *, node_unreachable: bool, now: datetime, limits: Timeouts
) -> bool:
    """Whether what GitHub says of the runner could change the verdict: else it is not asked."""
    if pod is None or pod.terminal:
        return False
    if not node_unreachable:  # The cheap cases first: this is asked of every worker, every run.
        if worker.job_status is Status.RUNNING and pod.phase != "Pending":
            return False
        young = now - pod.created_at < seconds(
            min(
                limits.pod_visible,
                limits.pod_pending,
                limits.runner_registration,
                limits.runner_pending,
            )
        )
        if young and worker.job_completed_at is None:
            return False
    first, *others = (
        classify(worker, pod, view, node_unreachable=node_unreachable, now=now, limits=limits)
        for view in VIEWS
    )
    return any(other != first for other in others)


def is_stray(
    worker: Worker | None, pod: Pod, runner: RunnerView, *, now: datetime, limits: Timeouts
) -> bool:
    """Whether a pod of ours without an active row is to go. Its row ended before it did (the run
    that made it lost the answer, or the run that failed it was killed), or there is none."""
    if pod.terminal or pod.deleting or now - pod.created_at < seconds(limits.pod_visible):
        return False
    if worker is not None and worker.job_status is Status.RUNNING:
        return False
    return runner is Unseen.ABSENT or (isinstance(runner, Runner) and not runner.busy)


def way_to_stop(pod: Pod, *, node_unreachable: bool) -> Stop:
    if node_unreachable:
        return Stop.FORCE
    return Stop.DELETE if pod.node is None else Stop.DEADLINE


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def _without_pod(worker: Worker, now: datetime, limits: Timeouts) -> Verdict:
    if now - worker.created_at < seconds(limits.pod_visible):
        return KEEP
    if worker.job_status is Status.COMPLETED:
        return COMPLETE
    return Verdict(Fate.FAIL, Reason.POD_VANISHED, "There is no pod of this name any more.")


def _stranded(pod: Pod, runner: RunnerView) -> Verdict:
    if runner is Unseen.UNKNOWN:
        return KEEP
    if isinstance(runner, Runner) and runner.busy and runner.online:
        return KEEP  # Only the cluster lost the node: the job goes on, and GitHub hears it.
    message = f"The node {pod.node} is unreachable."
    return Verdict(Fate.FAIL, Reason.NODE_UNREACHABLE, message, Stop.FORCE)


def _pending(pod: Pod, runner: RunnerView, now: datetime, limits: Timeouts) -> Verdict:
    age = now - pod.created_at
    stop = way_to_stop(pod, node_unreachable=False)
    if pod.waiting == NO_CONFIGURATION and age >= seconds(limits.pod_visible):
        if runner is Unseen.UNKNOWN:
            return KEEP  # It may have been handed over since it was listed.
        message = "The pod was made, but its configuration was never handed over."
        return Verdict(Fate.FAIL, Reason.PROVISION_FAILED, message, stop)
    if age < seconds(limits.pod_pending):
        return KEEP
    if pod.node is None:
        message = "No node took the pod in time."
    elif runner is Unseen.UNKNOWN:
        if age < NEVER_STARTED * seconds(limits.pod_pending) or pod.started_at is not None:
            return KEEP  # It may have started since it was listed.
        # GitHub cannot be asked, for whatever reason; what never started runs nothing, and is
        # deleted only if it still has not.
        stop, message = Stop.DELETE, "The pod never started, and GitHub cannot be asked about it."
    else:
        why = f" ({pod.waiting})" if pod.waiting else ""
        message = f"The pod did not start in time{why}."
    return Verdict(Fate.FAIL, Reason.POD_STUCK_PENDING, message, stop)


def _running(
    worker: Worker, pod: Pod, runner: RunnerView, now: datetime, limits: Timeouts
) -> Verdict:
    if runner is Unseen.UNKNOWN or worker.job_status is Status.RUNNING:
        return KEEP
    if worker.job_completed_at is not None:
        if now - worker.job_completed_at < seconds(limits.runner_hung):
            return KEEP
        return _stop(Reason.RUNNER_HUNG, "Its job is over, but the pod goes on.")
    up = now - (pod.started_at or worker.running_at or pod.created_at)
    if isinstance(runner, Runner) and runner.online:
        if up < seconds(limits.runner_pending):
            return KEEP
        return _stop(Reason.RUNNER_IDLE, "The runner is online, but GitHub gave it no job.")
    if up < seconds(limits.runner_registration):
        return KEEP
    return _stop(Reason.RUNNER_NEVER_REGISTERED, "The runner did not come online.")


def _stop(reason: Reason, message: str) -> Verdict:
    return Verdict(Fate.FAIL, reason, message, Stop.DEADLINE)
