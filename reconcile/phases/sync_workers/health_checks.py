"""Pods that do not start, runners that do not come, do not work or do not end."""

from ...policy.health import Fate
from ..context import Context
from ..outcome import Outcome
from .ending import Ending, end
from .fleet import Fleet


def check(context: Context, fleet: Fleet, outcome: Outcome) -> None:
    endings = []
    for worker in fleet.undecided():
        pod = fleet.pod(worker)
        if pod is not None and not pod.terminal and not fleet.is_stranded(pod):
            verdict = fleet.verdict(context, worker)
            if verdict.fate is Fate.FAIL:
                endings.append(Ending(worker, pod, verdict))
    end(context, fleet, endings, outcome)
