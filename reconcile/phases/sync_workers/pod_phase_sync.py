"""What the pods' phases say: running, completed, failed."""

from collections.abc import Callable, Sequence

from ... import log, store
from ...errors import StoreError
from ...model import Pod, Status, Worker
from ...policy.health import Fate
from ..context import Context
from ..outcome import Outcome
from .ending import Ending, end
from .fleet import Fleet

Pair = tuple[Worker, Pod]


def sync(context: Context, fleet: Fleet, outcome: Outcome) -> None:
    started, placed, completed, failed = [], [], [], []
    for worker in fleet.undecided():
        pod = fleet.pod(worker)
        if pod is None:
            continue
        if pod.terminal:
            verdict = fleet.verdict(context, worker)
            if verdict.fate is Fate.COMPLETE:
                completed.append((worker, pod))
            else:
                failed.append(Ending(worker, pod, verdict))
        elif pod.phase == "Running" and worker.status is Status.PENDING:
            started.append((worker, pod))
        elif pod.node is not None and worker.node is None:
            placed.append((worker, pod))
    database, now = context.database, fleet.now
    outcome.did["workers started"] += _write(
        context, started, lambda pairs: store.workers.mark_running(database, _pods(pairs), now),
        outcome,
    )  # fmt: skip
    _write(context, placed, lambda pairs: store.workers.place(database, _pods(pairs), now), outcome)
    outcome.did["workers completed"] += _write(
        context,
        completed,
        lambda pairs: store.workers.complete(database, [(p.name, p) for p in _pods(pairs)], now),
        outcome,
    )
    fleet.left_alone |= {worker.pod_name for worker, _ in completed}
    end(context, fleet, failed, outcome)


def _pods(pairs: Sequence[Pair]) -> list[Pod]:
    return [pod for _, pod in pairs]


def _write(
    context: Context,
    pairs: Sequence[Pair],
    statement: Callable[[Sequence[Pair]], int],
    outcome: Outcome,
) -> int:
    """All in one statement; should that fail, each in its own savepoint, so that one row that
    cannot be written takes no other with it."""
    if not pairs:
        return 0
    try:
        with context.database.transaction():
            return statement(pairs)
    except StoreError as error:
        if context.database.broken:
            raise
        if len(pairs) == 1:
            name = pairs[0][0].pod_name
            outcome.problem(f"{name} could not be written: {error}")
            return 0
        log.emit("rows_written_one_by_one", count=len(pairs), error=str(error))
    return sum(_write(context, [pair], statement, outcome) for pair in pairs)
