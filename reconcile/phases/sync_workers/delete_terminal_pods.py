"""Pods that ended a while ago: their rows stay, with what there was to see."""

from datetime import datetime

from ...model import Pod
from ...policy.health import seconds
from ..context import Context
from ..outcome import Outcome
from .fleet import Fleet


def delete(context: Context, fleet: Fleet, outcome: Outcome) -> None:
    grace = seconds(context.settings.timeouts.pod_delete_grace)
    old = [
        pod
        for pod in (fleet.pods or {}).values()
        if pod.terminal
        and not pod.deleting
        and pod.name not in fleet.active  # Its row comes to its end first.
        and fleet.now - _ended_at(fleet, pod) >= grace
    ]
    for pod, result in context.at_once(lambda each: context.cluster.delete_pod(each), old):
        if isinstance(result, Exception):
            outcome.problem(f"pod {pod.name} could not be deleted: {result}")
        elif result:
            outcome.did["pods deleted"] += 1


def _ended_at(fleet: Fleet, pod: Pod) -> datetime:
    worker = fleet.ended.get(pod.name)
    if worker is not None and worker.completed_at is not None:
        return worker.completed_at
    return pod.finished_at or pod.created_at
