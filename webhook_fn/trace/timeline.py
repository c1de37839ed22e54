"""What happened, in the order in which it did, a line each."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from ..events import Outcome
from ..job import Status
from .facts import Event, JobFacts, JobRow, StateEvent
from .trace import Entry

OUTCOMES: dict[str, str] = {
    Outcome.JOB_STORED: "stored, waits for a runner",
    Outcome.JOB_ALREADY_EXISTS: "known already",
    Outcome.JOB_MARKED_RUNNING: "a runner took it",
    Outcome.JOB_ALREADY_RUNNING: "known already",
    Outcome.JOB_MARKED_COMPLETED: "it is over",
    Outcome.JOB_ALREADY_COMPLETED: "was over already",
    Outcome.JOB_ALREADY_FAILED: "had been given up already",
    Outcome.JOB_NOT_FOUND: "not stored: the job is unknown, and not ours to take",
    Outcome.IGNORED_ACTION: "nothing to do about it",
    Outcome.IGNORED_NO_LABEL: "not taken: no route has exactly its labels",
    Outcome.IGNORED_WRONG_APP: "not taken: it came through the App for the other kind of account",
    Outcome.BANNED_ENTITY: "not taken: the account is banned",
    Outcome.BANNED_SENDER: "not taken: who started it is banned",
    Outcome.PROXIED_TO_STAGING: "handed on to staging",
    Outcome.RECORDED: "",
    Outcome.PONG: "GitHub tries the webhook",
    Outcome.UNHANDLED_EVENT: "an event that nobody asked for",
}
OF_RUNS = {
    "auth_failed": "GitHub gave a run no access",
    "auth_restored": "GitHub gives runs access again",
}
ACTIVE = (Status.PENDING, Status.RUNNING)


def of_log(events: Iterable[Event]) -> tuple[Entry, ...]:
    """Of the log alone; oldest first, whatever order they come in. Each says of which job it is, as
    one that can be asked about."""
    return _ordered(
        _entry(each, f"job {each.job_id}" if each.job_id is not None else "") for each in events
    )


def of_job(
    facts: JobFacts, state: Iterable[StateEvent], until: datetime | None
) -> tuple[Entry, ...]:
    """Of its deliveries, its row, its runners, and what became of the installation meanwhile."""
    entries = [_entry(each.row, _details(each.runner, each.conclusion)) for each in facts.events]
    if facts.job is not None:
        entries += _of_row(facts.job)
        entries += [_entry(each.row) for each in state if _concerns(each, facts.job)]
    entries += [
        Entry(each.completed_at, f"runner {each.pod_name} failed: {each.reason or 'unknown'}")
        for each in facts.failures
        if facts.worker is None or each.pod_name != facts.worker.pod_name
    ]
    entries += _of_worker(facts)
    entries += [
        Entry(each.failed_at, f"GitHub could not deliver {each.event or 'a webhook'} of it")
        for each in facts.deliveries.of_the_job
    ]
    return _ordered(each for each in entries if until is None or each.at <= until)


def _concerns(it: StateEvent, job: JobRow) -> bool:
    """While it waited or ran; of repositories only its own."""
    ended = job.updated_at if job.status == Status.FAILED else job.completed_at or job.updated_at
    if it.row.at < job.created_at or (job.status not in ACTIVE and it.row.at > ended):
        return False
    if not it.row.event.startswith("installation_repositories."):
        return True
    told = [it.said.get("added"), it.said.get("removed")]
    names = {
        str(each.get("full_name")).lower()
        for listed in told
        if isinstance(listed, list)
        for each in listed
        if isinstance(each, dict)
    }
    return job.repository.lower() in names


def _of_row(job: JobRow) -> Iterator[Entry]:
    if job.queued_at is not None:
        yield Entry(job.queued_at, "queued at GitHub")
    if job.started_at is not None:
        yield Entry(job.started_at, f"started on {job.pod or 'a runner'}")
    if job.completed_at is not None:
        yield Entry(job.completed_at, f"ended at GitHub: {job.conclusion or 'no conclusion'}")
    if job.status == "failed":
        yield Entry(job.updated_at, f"given up: {job.failure_reason or 'unknown'}")


def _of_worker(facts: JobFacts) -> Iterator[Entry]:
    worker = facts.worker
    if worker is None:
        return
    yield Entry(worker.created_at, f"runner {worker.pod_name} made")
    if worker.running_at is not None:
        where = f" on {worker.node}" if worker.node else ""
        yield Entry(worker.running_at, f"runner {worker.pod_name} runs{where}")
    if worker.completed_at is not None:
        why = f": {worker.reason}" if worker.reason else ""
        yield Entry(worker.completed_at, f"runner {worker.pod_name} {worker.status}{why}")


def _details(runner: str | None, conclusion: str | None) -> str:
    told = [f"on {runner}" if runner else "", conclusion or ""]
    return ", ".join(each for each in told if each)


def _entry(event: Event, details: str = "") -> Entry:
    words = OUTCOMES.get(event.outcome, event.outcome)
    words = OF_RUNS.get(event.outcome, words)
    told = ": ".join(each for each in (event.event, words) if each)
    return Entry(
        event.at,
        f"{told} ({details})" if details else told,
        event_id=event.id,
        event=event.event,
        outcome=event.outcome,
    )


def _ordered(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """What came at the same moment stays in the log's order."""
    return tuple(sorted(entries, key=lambda each: (each.at, each.event_id or 0)))
