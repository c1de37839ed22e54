"""What the pods' phases say: running, completed, failed."""

from collections.abc import Callable, Sequence

from ... import store
from ...model import Pod, Status
from ...policy.health import Fate
from ..context import Context
from ..outcome import Outcome
from ..writing import write_all
from .ending import Ending, end
from .fleet import Fleet


def sync(context: Context, fleet: Fleet, outcome: Outcome) -> None:
    started, placed, completed, failed = [], [], [], []
    for worker in fleet.undecided():
        pod = fleet.pod(worker)
        if pod is None:
            continue
        if pod.terminal:
            verdict = fleet.verdict(context, worker)
            if verdict.fate is Fate.COMPLETE:
                completed.append(pod)
            else:
                failed.append(Ending(worker, pod, verdict))
        elif pod.phase == "Running" and worker.status is Status.PENDING:
            started.append(pod)
        elif pod.node is not None and worker.node is None:
            placed.append(pod)
    database, now = context.database, fleet.now

    def write(pods: Sequence[Pod], statement: Callable[[Sequence[Pod]], int]) -> int:
        return write_all(context, pods, statement, lambda pod: pod.name, outcome)

    outcome.did["workers started"] += write(
        started, lambda pods: store.workers.mark_running(database, pods, now)
    )
    write(placed, lambda pods: store.workers.place(database, pods, now))
    outcome.did["workers completed"] += write(
        completed,
        lambda pods: store.workers.complete(database, [(pod.name, pod) for pod in pods], now),
    )
    fleet.decided |= {pod.name for pod in completed}
    end(context, fleet, failed, outcome)
