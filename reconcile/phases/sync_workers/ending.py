"""How a worker ends before its time: asked of GitHub first, looked at, written down, stopped.

The order is what makes it safe. GitHub refuses to remove a runner that is busy, and then nothing
happens to it. Once the row says failed, a pod that was not stopped is a stray of the next run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ... import log, store
from ...errors import DeadlineError, RateLimitedError, StoreError
from ...model import Failure, Json, Pod, Reason, Worker
from ...policy.health import Stop, Verdict
from ..context import Context
from ..outcome import Outcome
from .fleet import Fleet

SHARE_OF_TIME = 0.5  # of what is left of the run's: something must be left for what comes next


@dataclass(frozen=True, slots=True)
class Ending:
    worker: Worker
    pod: Pod | None
    verdict: Verdict

    @property
    def guarded(self) -> bool:
        """Whether GitHub has to agree: for a pod that may be running a job. A pod that no node
        took runs nothing, and on a node that is gone GitHub only knows the past."""
        return self.verdict.stop is Stop.DEADLINE


def end(context: Context, fleet: Fleet, endings: Sequence[Ending], outcome: Outcome) -> None:
    prepared = context.at_once(
        lambda each: _prepare(context, fleet, each), endings, share=SHARE_OF_TIME
    )
    failed: list[Ending] = []
    for ending, details in prepared:
        fleet.decided.add(ending.worker.pod_name)
        if isinstance(details, RateLimitedError | DeadlineError):
            outcome.did["workers left for the next run"] += 1
            continue  # It is judged anew when there is time, and GitHub may be asked.
        if isinstance(details, Exception):
            outcome.problem(f"{ending.worker.pod_name} could not be ended: {details}")
        elif details is None:
            log.emit("worker_left_alone", worker=ending.worker.pod_name, why="its runner is busy")
        elif _write_down(context, fleet, ending, details, outcome):
            failed.append(ending)
    stop_pods(
        context,
        [(each.pod, each.verdict.stop) for each in failed if each.pod is not None],
        outcome,
    )


def _prepare(context: Context, fleet: Fleet, ending: Ending) -> Json | None:
    """What is left to see of it; None if it is busy after all."""
    worker = ending.worker
    if ending.guarded:
        runner = fleet.runners.look_again(context, worker.scope, worker.pod_name)
        if runner is not None and not context.github.delete_runner(worker.scope, runner.id):
            return None
        fleet.runners.removed(worker.scope, worker.pod_name)
    if ending.pod is None:
        return {}
    details = context.cluster.diagnose(ending.pod)
    context.deadline.limit(0)  # What was cut short by the run's end is no diagnosis.
    return details


def _write_down(
    context: Context, fleet: Fleet, ending: Ending, details: Json, outcome: Outcome
) -> bool:
    """In a savepoint: one row that cannot be written takes no other with it."""
    worker, reason = ending.worker, ending.verdict.reason or Reason.POD_FAILED
    failure = Failure(worker, reason, ending.verdict.message, details)
    node = ending.pod.node if ending.pod else None
    try:
        with context.database.transaction():
            store.workers.fail(context.database, failure, node, fleet.now)
    except StoreError as error:
        if context.database.broken:
            raise
        outcome.problem(f"{worker.pod_name} could not be written: {error}")
        return False
    if reason is not Reason.RUNNER_IDLE or fleet.is_wanted(context, worker):
        fleet.ledger.note_failure(context, worker, reason, fleet.now)
    outcome.workers_failed += 1
    outcome.did[f"workers failed ({reason})"] += 1
    log.emit(
        "worker_failed",
        worker=worker.pod_name,
        reason=reason,
        message=failure.message,
        entity=worker.scope.entity_name,
        node=node,
    )
    return True


def stop_pods(context: Context, pods: Iterable[tuple[Pod, Stop]], outcome: Outcome) -> None:
    """What cannot be stopped now is a pod without an active row, and goes with the strays."""
    wanted = [(pod, how) for pod, how in pods if how is not Stop.NONE]
    for (pod, _), result in context.at_once(lambda each: _stop(context, *each), wanted):
        if isinstance(result, Exception):
            outcome.problem(f"pod {pod.name} could not be stopped: {result}")


def _stop(context: Context, pod: Pod, how: Stop) -> None:
    if how is Stop.DEADLINE:
        context.cluster.stop_pod(pod.name)
    else:
        # One that a node took after all since it was listed is left; it goes with the strays.
        context.cluster.delete_pod(pod, force=how is Stop.FORCE, unchanged=how is Stop.DELETE)
