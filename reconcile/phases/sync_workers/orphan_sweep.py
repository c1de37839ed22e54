"""Rows without a pod, and pods without a row."""

from ... import log, store
from ...model import Pod, Runner, Worker
from ...policy.health import Fate, Stop, is_stray, seconds, way_to_stop
from ..context import Context
from ..outcome import Outcome
from .ending import Ending, end, stop_pods
from .fleet import Fleet


def sweep(context: Context, fleet: Fleet, outcome: Outcome) -> None:
    if fleet.pods is None:
        return
    _rows_without_pod(context, fleet, outcome)
    _pods_without_row(context, fleet, fleet.pods, outcome)


def _rows_without_pod(context: Context, fleet: Fleet, outcome: Outcome) -> None:
    done, vanished = [], []
    for worker in fleet.undecided():
        if fleet.pod(worker) is not None:
            continue
        verdict = fleet.verdict(context, worker)
        if verdict.fate is Fate.COMPLETE:
            done.append(worker)
        elif verdict.fate is Fate.FAIL:
            vanished.append(Ending(worker, None, verdict))
    if done:
        with context.database.transaction():
            ended = [(worker.pod_name, None) for worker in done]
            outcome.did["workers completed"] += store.workers.complete(
                context.database, ended, fleet.now
            )
        fleet.decided |= {worker.pod_name for worker in done}
    end(context, fleet, vanished, outcome)


def _pods_without_row(
    context: Context, fleet: Fleet, pods: dict[str, Pod], outcome: Outcome
) -> None:
    """Of a run that was killed between its row's end and its pod's, or that lost an answer."""
    without = [pod for name, pod in pods.items() if name not in fleet.active and not pod.terminal]
    at_work = _at_work(context, fleet, without)
    strays = [
        (fleet.ended.get(pod.name), pod)
        for pod in without
        if pod.name not in at_work and _is_to_go(context, fleet, pod)
    ]
    going = []
    for (worker, pod), answer in context.at_once(
        lambda each: _guard(context, fleet, *each), strays
    ):
        if isinstance(answer, Exception):
            outcome.problem(f"pod {pod.name} has no active row and could not be ended: {answer}")
        elif answer:
            going.append((pod, _way(fleet, worker, pod)))
            log.emit("stray_pod_ended", pod=pod.name, node=pod.node)
    outcome.did["stray pods ended"] += len(going)
    stop_pods(context, going, outcome)


def _at_work(context: Context, fleet: Fleet, pods: list[Pod]) -> set[str]:
    """Those without any row that a job names as its runner."""
    names = [pod.name for pod in pods if pod.name not in fleet.ended]
    return store.jobs.runners_at_work(context.database, names) if names else set()


def _is_to_go(context: Context, fleet: Fleet, pod: Pod) -> bool:
    worker, stranded = fleet.ended.get(pod.name), fleet.is_stranded(pod)
    if pod.deleting:
        return stranded  # It would wait for its kubelet for ever.
    if pod.stopping and not stranded and not _was_stopped_long_ago(context, fleet, worker):
        return False  # Its kubelet is at it.
    runner = fleet.runner_of_stray(worker, pod)
    return is_stray(worker, pod, runner, now=fleet.now, limits=context.settings.timeouts)


def _was_stopped_long_ago(context: Context, fleet: Fleet, worker: Worker | None) -> bool:
    patience = seconds(context.settings.timeouts.runner_hung)
    ended = worker.completed_at if worker else None
    return ended is not None and fleet.now - ended >= patience


def _way(fleet: Fleet, worker: Worker | None, pod: Pod) -> Stop:
    """One whose kubelet was told, and did not manage, is deleted."""
    if pod.stopping and worker is not None and not fleet.is_stranded(pod):
        return Stop.DELETE
    return way_to_stop(pod, node_unreachable=fleet.is_stranded(pod))


def _guard(context: Context, fleet: Fleet, worker: Worker | None, pod: Pod) -> bool:
    runner = fleet.runner_of_stray(worker, pod)
    if fleet.is_stranded(pod):
        # Of a node that is gone GitHub only knows the past, unless it still hears the runner.
        return not (isinstance(runner, Runner) and runner.busy and runner.online)
    if worker is None or not isinstance(runner, Runner):
        # Without a row there is nobody to ask; it is not listed as busy anywhere.
        return True
    return context.github.delete_runner(worker.scope, runner.id)
