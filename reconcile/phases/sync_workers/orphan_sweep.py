"""Rows without a pod, and pods without a row."""

from ... import log, store
from ...model import Pod, Runner, Worker
from ...policy.health import Fate, is_stray, way_to_stop
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
        fleet.left_alone |= {worker.pod_name for worker in done}
    end(context, fleet, vanished, outcome)


def _pods_without_row(
    context: Context, fleet: Fleet, pods: dict[str, Pod], outcome: Outcome
) -> None:
    """Of a run that was killed between its row's end and its pod's, or that lost an answer."""
    strays = []
    for name, pod in pods.items():
        if name in fleet.active:
            continue
        worker = fleet.ended.get(name)
        stranded = fleet.is_stranded(pod)
        if pod.deleting and stranded:
            strays.append((worker, pod))  # It would wait for its kubelet for ever.
        elif not pod.stopping or stranded:
            runner = fleet.runner_of_stray(worker, pod)
            limits = context.settings.timeouts
            if is_stray(worker, pod, runner, now=fleet.now, limits=limits):
                strays.append((worker, pod))
    allowed = context.at_once(lambda each: _guard(context, fleet, *each), strays)
    going = []
    for (_, pod), answer in allowed:
        if isinstance(answer, Exception):
            outcome.problem(f"pod {pod.name} has no active row and could not be ended: {answer}")
        elif answer:
            going.append((pod, way_to_stop(pod, node_unreachable=fleet.is_stranded(pod))))
            log.emit("stray_pod_ended", pod=pod.name, node=pod.node)
    outcome.did["stray pods ended"] += len(going)
    stop_pods(context, going, outcome)


def _guard(context: Context, fleet: Fleet, worker: Worker | None, pod: Pod) -> bool:
    runner = fleet.runner_of_stray(worker, pod)
    if fleet.is_stranded(pod):
        # Of a node that is gone GitHub only knows the past, unless it still hears the runner.
        return not (isinstance(runner, Runner) and runner.busy and runner.online)
    if worker is None or not isinstance(runner, Runner):
        # Without a row there is nobody to ask; it is not listed as busy anywhere.
        return True
    return context.github.delete_runner(worker.scope, runner.id)
