"""What a job that waits waits for, as the last plan wrote it down."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from ..case import Case
from ..facts import Boards, FailedWorker, JobRow, Queue, Trouble
from ..finding import Evidence, Finding, Kind
from ..place import Place, place_of, planned_at
from ..words import counted, lasting, told
from .runs import looked_after

BACKING_OFF = ("backing_off", "parked")
IDLE = "runner_idle"
PROVING_AFTER = 2  # failed attempts; from then on one runner must prove itself before the next


def backing_off(case: Case) -> Iterator[Finding]:
    queue, facts = case.queue, case.facts
    if queue is None or facts is None or case.covered:
        return
    trouble, waits = queue.trouble, case.waiting_for in BACKING_OFF
    if trouble is None:
        if waits:
            yield Finding(
                Kind.BACKING_OFF,
                "Runners for these labels failed when it was last planned, and the next was held "
                "back for a while.",
                "Ask again in a minute: the next run looks whether it is tried again.",
                planned(queue),
            )
        return
    seen_at = planned_at(queue)
    unseen = case.waiting_for is None or seen_at is None or trouble.failed_at > seen_at
    if not waits and not (unseen and trouble.retry_at > case.now):
        return  # What is left over of a trouble that the plan did not hold against it.
    message = _message(trouble, facts.failures)
    yield Finding(
        Kind.BACKING_OFF,
        f"Runners for these labels failed {counted(trouble.failures, 'time')} in a row, last with "
        f"{trouble.reason}{message}. {_next(trouble, case)}",
        "Once the cause is mended it is tried by itself; docs/operations.md has what to do for "
        "each reason, and docs/run.md how to have it tried at once.",
        tuple(_failed_before(facts.failures))
        or (Evidence(f"last failure: {trouble.reason}", trouble.failed_at),),
    )


def _failed_before(failures: Iterable[FailedWorker]) -> Iterator[Evidence]:
    for each in failures:
        what = f"{each.pod_name} failed on {each.node or 'no board'}: {each.reason or 'unknown'}"
        yield Evidence(what, each.completed_at)


def _message(trouble: Trouble, failures: tuple[FailedWorker, ...]) -> str:
    """Of the last that failed so: one that lost its board since says nothing of it."""
    of_it = (each for each in failures if each.reason == trouble.reason and each.message)
    last = next(of_it, None)
    return f" ({last.message.strip().rstrip('.')})" if last is not None and last.message else ""


def _next(trouble: Trouble, case: Case) -> str:
    if trouble.retry_at > case.now:
        left = lasting(trouble.retry_at - case.now)
        what = "They are parked: the next" if trouble.parked else "The next"
        return f"{what} is tried after {told(trouble.retry_at)}, in {left}."
    if trouble.failures < PROVING_AFTER:
        return "It is tried again at the next run."
    return "One is tried at a time until one of them works."


def cap_reached(case: Case) -> Iterator[Finding]:
    queue = case.queue
    if queue is None or case.covered or case.waiting_for != "cap_reached":
        return
    cap = queue.wait.max_workers if queue.wait else None
    has = queue.supply.of_entity
    of = f" of the {cap} that it may have at once" if cap is not None else ""
    advice = (
        "Wait, or cancel jobs that are not needed. Whoever runs this system can raise the "
        "account's `max_workers`."
    )
    if cap == 0:
        summary = f"{case.name} may have no runner at all: its `max_workers` is 0."
        advice = "Whoever runs this system can raise the account's `max_workers`."
    elif cap is not None and has < cap:
        summary = (
            f"{case.name} had all of the {counted(cap, 'runner')} that it may have when it was "
            f"last planned, and has {has} now: the next run gives it one more if there is a board."
        )
    else:
        summary = (
            f"{case.name} has {counted(has, 'runner')}{of}, over all pools: the job gets one when "
            "one of the account's own jobs ends."
        )
    yield Finding(Kind.CAP_REACHED, summary, advice, planned(queue))


def runner_coming(case: Case) -> Iterator[Finding]:
    queue = case.queue
    if queue is None:
        return
    if case.covered:
        summary = "A runner for the job is there or on its way: it takes the job once it is online."
    elif case.waiting_for == "runner" and looked_after(case):
        summary = "The next run makes a runner for the job."
    else:
        return
    failures = case.facts.failures if case.facts is not None else ()
    advice = "Wait. If it takes more than ten minutes, the runner failed and is replaced."
    if failures:
        several = counted(len(failures), "runner")
        reason = failures[0].reason or "unknown"
        summary += f" But {several} that could have taken it failed before, last with {reason}."
        advice = (
            "If this one fails as well, it is no accident: docs/operations.md has what to do for "
            "each reason."
        )
        if reason == IDLE:
            advice += (
                " Runners that GitHub gives no job may be in a runner group that is closed to the "
                "job's repository: public ones are left out unless the group says otherwise."
            )
    yield Finding(Kind.RUNNER_COMING, summary, advice, (*planned(queue), *_failed_before(failures)))


def waiting_for_board(case: Case) -> Iterator[Finding]:
    queue, job = case.queue, case.job
    if queue is None or job is None or case.covered or case.waiting_for != "no_board":
        return
    place = place_of(queue, job.entity_id)
    evidence = [*planned(queue)]
    if queue.boards is not None:
        evidence.append(
            Evidence(
                f"{queue.boards.pool}: {counted(queue.boards.slots, 'board')}, "
                f"{queue.boards.usable} usable, {queue.boards.in_use} in use",
                queue.boards.observed_at,
            )
        )
    if queue.supply.seconds_held is not None:
        held = lasting(timedelta(seconds=queue.supply.seconds_held))
        of = queue.supply.sample
        evidence.append(Evidence(f"a board is held for {held} on average (of the last {of})"))
    yield Finding(
        Kind.WAITING_FOR_BOARD,
        f"{_boards(queue.boards, job)} The job is number {place.position} in the queue of "
        f"{job.pool}{_estimate(place, queue.boards)}",
        _advice(queue.boards, job),
        tuple(evidence),
    )


def _boards(boards: Boards | None, job: JobRow) -> str:
    if boards is None or boards.slots == 0:
        return f"There is no board of the pool {job.pool} in the cluster."
    if boards.usable == 0:
        return f"No board of {job.pool} can take a job now: all are cordoned or not ready."
    if boards.usable == 1:
        return f"The only usable board of {job.pool} is busy."
    if boards.free > 0:
        return f"All {boards.usable} usable boards of {job.pool} are busy or promised to others."
    return f"All {boards.usable} usable boards of {job.pool} are busy."


def _estimate(place: Place, boards: Boards | None) -> str:
    if boards is None or boards.usable == 0:
        return "; how long that takes cannot be told."
    if place.seconds is None:
        return "; how long that takes cannot be told: no board was given back of late."
    return f", which takes about {lasting(timedelta(seconds=max(1.0, place.seconds)))}."


def _advice(boards: Boards | None, job: JobRow) -> str:
    if boards is None or boards.usable == 0:
        return (
            f"Look after the boards: `kubectl get nodes -l riseproject.dev/board={job.pool}`, and "
            "docs/operations.md for one that is not ready."
        )
    return "Wait: boards are given in the order of the queue. More boards make it shorter."


def not_planned_yet(case: Case) -> Iterator[Finding]:
    queue, job = case.queue, case.job
    if queue is None or job is None or case.covered or case.waiting_for is not None:
        return
    if not looked_after(case):
        return  # Which says the same, and why.
    seen_at, trouble = planned_at(queue), queue.trouble
    if trouble is not None and trouble.retry_at > case.now:
        return  # Nor will the next run plan for it.
    summary = f"The job has come on {told(job.created_at)}, and no run has planned for it yet."
    if queue.wait is not None and seen_at is not None and job.created_at <= seen_at:
        summary = (
            f"The job had a runner when it was last planned, on {told(seen_at)}. That failed since "
            "or took another job, and no run has planned since then."
        )
    yield Finding(
        Kind.NOT_PLANNED_YET,
        summary,
        "Ask again in a minute: the next run looks at it.",
        tuple(Evidence.of(each.row) for each in case.events),
    )


def planned(queue: Queue) -> tuple[Evidence, ...]:
    """What the last plan saw."""
    wait = queue.wait
    if wait is None:
        return ()
    what = f"plan: {counted(wait.pending, 'job')} of its kind waiting, {wait.covered} with a runner"
    return (Evidence(what, planned_at(queue)),)
