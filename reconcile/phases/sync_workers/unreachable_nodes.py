"""Workers whose pods are on a node that the cluster lost."""

from ...policy.health import Fate
from ..context import Context
from ..outcome import Outcome
from .ending import Ending, end
from .fleet import Fleet


def check(context: Context, fleet: Fleet, outcome: Outcome) -> None:
    if not fleet.unreachable:
        return
    endings = []
    for worker in fleet.undecided():
        pod = fleet.pod(worker)
        if pod is not None and not pod.terminal and fleet.is_stranded(pod):
            verdict = fleet.verdict(context, worker)
            if verdict.fate is Fate.FAIL:
                endings.append(Ending(worker, pod, verdict))
    end(context, fleet, endings, outcome)
