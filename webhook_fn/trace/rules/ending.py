"""A job that does not wait: it ended, or it runs."""

from collections.abc import Iterator
from datetime import timedelta

from ...job import Status
from ..case import Case
from ..facts import JobRow
from ..finding import Evidence, Finding, Kind
from ..words import lasting, sentence, told

CANCELLED = "cancelled"
# GitHub's, for jobs of self-hosted runners, less what its clock and ours may differ.
LONGEST_QUEUED = timedelta(hours=23, minutes=55)
LOST = (
    "Look what was the matter with the function when the job was queued: its log and its "
    "`/health`; and under Advanced, in the App's settings at GitHub, at the deliveries of that "
    "time. Start the job again if it is still wanted."
)
GIVEN_UP = {
    "job_gone": (
        "GitHub did not know the job any more when it was asked for it twice.",
        "Its workflow run was probably deleted. If it was not, start the job again.",
    ),
    "stuck_queued": (
        "The job was never started, but its workflow run is over.",
        "Start the job again if it is still wanted.",
    ),
}


def cancelled(case: Case) -> Iterator[Finding]:
    job = case.job
    if job is not None and job.status == Status.COMPLETED and job.conclusion == CANCELLED:
        yield Finding(
            Kind.JOB_CANCELLED,
            f"The job was cancelled{_began(job)}.{_heard_late(case)}",
            LOST if case.heard_at_its_end else _why_cancelled(job),
            (*_deliveries(case), _ended(job)),
        )
    elif job is None:
        ends = [each for each in case.events if each.conclusion == CANCELLED]
        if ends:
            yield Finding(
                Kind.JOB_CANCELLED,
                "The job was cancelled at GitHub.",
                "Nothing more will come of it. If it is still wanted, start it again once what is "
                "told here is settled.",
                tuple(Evidence.of(each.row) for each in ends),
            )


def _heard_late(case: Case) -> str:
    if not case.heard_at_its_end:
        return ""
    return " It never stood in the queue here: the webhook that it was queued did not arrive."


def _began(job: JobRow) -> str:
    if job.started_at is None:
        end, waited = job.completed_at or job.updated_at, lasting(_waited(job))
        return f" on {told(end)} before a runner took it, after it had waited {waited}"
    return f" while it ran on {job.pod or 'a runner'}"


def _why_cancelled(job: JobRow) -> str:
    if job.started_at is None and _waited(job) >= LONGEST_QUEUED:
        return (
            "GitHub ends a job that no runner took for a day. Start it again if it is still "
            "wanted; where its queue stands is told while it waits."
        )
    return (
        "Somebody at GitHub did that, or a rule of its workflow (`concurrency`, `fail-fast`, a "
        "newer push): the page of the workflow run says who or what. Nothing is wrong here."
    )


def _waited(job: JobRow) -> timedelta:
    return (job.completed_at or job.updated_at) - (job.queued_at or job.created_at)


def over(case: Case) -> Iterator[Finding]:
    job = case.job
    if job is None:
        yield from _over_elsewhere(case)
        return
    if job.status != Status.COMPLETED or job.conclusion == CANCELLED:
        return
    worker = case.facts.worker if case.facts else None
    runner = f" on {job.pod}" if job.pod else ""
    summary = f"The job is over: it ended{runner} with {job.conclusion or 'an unknown conclusion'}."
    advice = "It was picked up; what it did stands in its log at GitHub."
    if job.pod is None and job.started_at is None:
        summary += f" No runner took it.{_heard_late(case)}"
        advice = "The page of the workflow run says why it ended so."
    elif job.pod and worker is None:
        advice = (
            f"{job.pod} is not one of our runners, as far as is known: something else took the job."
        )
    elif worker is not None and worker.status == Status.FAILED and worker.reason:
        summary += f" Its runner failed: {worker.reason}."
        message = sentence(worker.message or "Of the runner no more is known")
        advice = f"{message} Start the job again if it is still wanted."
    yield Finding(Kind.JOB_OVER, summary, advice, (*_deliveries(case), _ended(job)))


def _over_elsewhere(case: Case) -> Iterator[Finding]:
    """A job that is not in the books, and more is known of it than that."""
    ends = [each for each in case.events if each.row.event == "workflow_job.completed"]
    if case.was_ours:
        conclusion = next((each.conclusion for each in ends if each.conclusion), None)
        how = f" with {conclusion}" if conclusion else ""
        yield Finding(
            Kind.JOB_OVER,
            f"The job was taken here and is over{how}. All that is left of it is the log of its "
            "webhooks: its row is not kept any more.",
            "How long what is over is kept is a setting: docs/configuration.md, `[retention]`.",
            tuple(_deliveries(case)),
        )
    elif ends and ends[-1].conclusion != CANCELLED:
        last = ends[-1]
        runner = f" on {last.runner}" if last.runner else ""
        yield Finding(
            Kind.JOB_OVER,
            f"The job is over: it ended{runner} with {last.conclusion or 'an unknown conclusion'}. "
            "It was never taken here.",
            "What it did stands in its log at GitHub.",
            tuple(_deliveries(case)),
        )


def given_up(case: Case) -> Iterator[Finding]:
    """For what was not told before: an installation that is gone and bans have rules of their
    own."""
    job = case.job
    if job is None or job.status != Status.FAILED:
        return
    if job.failure_reason in ("installation_gone", "banned"):
        return
    unknown = (
        sentence(job.failure_message or "The system gave the job up"),
        "Start the job again if it is still wanted.",
    )
    summary, advice = GIVEN_UP.get(job.failure_reason or "", unknown)
    if job.conclusion:
        summary += f" Since then GitHub has told that it ended with {job.conclusion}."
    yield Finding(Kind.GIVEN_UP, summary, advice, (_ended(job),))


def running(case: Case) -> Iterator[Finding]:
    job = case.job
    if job is None:
        yield from _running_elsewhere(case)
        return
    if job.status != Status.RUNNING:
        return
    worker = case.facts.worker if case.facts else None
    where = f" on {job.pod}" if job.pod else ""
    since = f" since {told(job.started_at)}" if job.started_at else ""
    summary = f"The job runs{where}{since}."
    advice = "It was picked up: its log is at GitHub."
    if job.pod and worker is None:
        advice = (
            f"{job.pod} is not one of our runners, as far as is known: something else took the job."
        )
    elif worker is not None and worker.status == Status.FAILED and worker.reason:
        summary += f" But its runner was lost: {worker.reason}."
        message = sentence(worker.message or "")
        advice = (
            f"{message} GitHub ends such a job after ten minutes or more; start it again then."
        ).strip()
    elif worker is not None and worker.status == Status.COMPLETED:
        summary += " But its runner has ended: the job is over as well, or will be."
        advice = "Ask again in a few minutes: the next run asks GitHub what became of it."
    yield Finding(Kind.JOB_RUNNING, summary, advice, tuple(_deliveries(case)))


def _running_elsewhere(case: Case) -> Iterator[Finding]:
    begun = [each for each in case.events if each.row.event == "workflow_job.in_progress"]
    ended = any(each.row.event == "workflow_job.completed" for each in case.events)
    if not begun or ended or case.was_ours:
        return
    where = f" on {begun[-1].runner}" if begun[-1].runner else ""
    yield Finding(
        Kind.JOB_RUNNING,
        f"The job runs{where}, as GitHub told. It was never taken here.",
        "Something else took the job: its log is at GitHub.",
        tuple(_deliveries(case)),
    )


def _deliveries(case: Case) -> Iterator[Evidence]:
    for each in case.events:
        yield Evidence.of(each.row)


def _ended(job: JobRow) -> Evidence:
    if job.status == Status.FAILED:
        text = f"job given up: {job.failure_message or job.failure_reason or 'no reason'}"
        return Evidence(text, job.updated_at)
    return Evidence(f"job {job.status}: {job.conclusion or 'no conclusion'}", job.completed_at)
