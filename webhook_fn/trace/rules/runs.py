"""Whether anybody looks after the queue."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from ..case import Case
from ..facts import Run
from ..finding import Evidence, Finding, Kind
from ..place import planned_at
from ..words import lasting, sentence, told

# The controller starts a run every 15 seconds, the backstop every minute, and one may take a few.
STALE_AFTER = timedelta(minutes=5)
IN_A_ROW = 3  # runs that failed, before it is more than a hiccup
NEEDED = ("sync_workers", "demand_match")  # for a job to get a runner


def stale(case: Case) -> Iterator[Finding]:
    if not case.pending or case.facts is None or not _is_stale(case):
        return
    runs = case.facts.runs
    if case.past and not runs:
        return  # They are not kept for as long as jobs are.
    last = max((_seen(run, case.now) for run in runs), default=None)
    since = "No run was ever started"
    if last is not None:
        since = f"The last run was at {told(last)}, {lasting(case.now - last)} ago"
    yield Finding(
        Kind.RECONCILER_STALE,
        f"{since}: nobody looks after the queue, and no job gets a runner.",
        "See whether the controller and its backstop, the CronJob, are there and can start: "
        "docs/operations.md, «First look». `reconcile check` says what a run lacks, `reconcile "
        "run` does one by hand.",
        tuple(_evidence(run, case.now) for run in runs[:1]),
    )


def failing(case: Case) -> Iterator[Finding]:
    """Runs come, but what the job needs of them does not get done."""
    ended = _in_vain(case)
    if not ended:
        return
    why = next((error for run in ended for _, error in _needed(run)), ended[0].error)
    yield Finding(
        Kind.RECONCILER_FAILING,
        f"The last {IN_A_ROW} runs could not do their work: "
        + sentence(why or "their log says why"),
        "`reconcile check` says which of database, cluster and GitHub cannot be used, and what to "
        "do. Until then nothing that is there is ended, and nothing new is made.",
        tuple(_evidence(run, case.now) for run in ended),
    )


def looked_after(case: Case) -> bool:
    """Whether the next run will do what the last ones would have."""
    return not _is_stale(case) and not _in_vain(case)


def _is_stale(case: Case) -> bool:
    runs = case.facts.runs if case.facts is not None else ()
    last = max((_seen(run, case.now) for run in runs), default=None)
    return last is None or case.now - last > STALE_AFTER


def _seen(run: Run, now: datetime) -> datetime:
    """The last sign of it. One that was killed is closed by the next."""
    return run.completed_at if _has_ended(run, now) and run.completed_at else run.started_at


def _has_ended(run: Run, now: datetime) -> bool:
    return run.completed_at is not None and run.completed_at <= now


def _in_vain(case: Case) -> list[Run]:
    """The last ones, if none of them could plan."""
    if not case.pending or case.facts is None:
        return []
    ended = [run for run in case.facts.runs if _has_ended(run, case.now)][:IN_A_ROW]
    if len(ended) < IN_A_ROW:
        return []
    queue = case.facts.queue
    if queue is None:  # What was planned then is not kept.
        return ended if all(_did_nothing(run) for run in ended) else []
    planned = planned_at(queue)
    # A run that could not do something for somebody else has a problem, and a plan.
    if planned is not None and planned >= ended[-1].started_at:
        return []
    return ended if all(_had_trouble(run) for run in ended) else []


def _had_trouble(run: Run) -> bool:
    return run.status == "failed" or any(phase == "demand_match" for phase, _ in run.problems)


def _did_nothing(run: Run) -> bool:
    return run.status == "failed" or {phase for phase, _ in run.problems}.issuperset(NEEDED)


def _needed(run: Run) -> list[tuple[str, str]]:
    return [each for each in run.problems if each[0] in NEEDED and each[1]]


def _evidence(run: Run, now: datetime) -> Evidence:
    if not _has_ended(run, now):
        return Evidence(f"run {run.id} started", run.started_at)
    said = "; ".join(f"{phase}: {error}" for phase, error in _needed(run)) or run.error
    return Evidence(f"run {run.id} {run.status}" + (f": {said}" if said else ""), run.completed_at)
