"""Active jobs against GitHub: webhooks get lost, and GitHub is what is true.

One listing for each workflow run, conditional, the longest unconfirmed first, as many as the
polling budget allows.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from .. import log, store
from ..errors import AccessError, DeadlineError, NotFoundError, RateLimitedError
from ..model import JobReason, Pages, RemoteJob
from ..policy.health import seconds
from ..policy.jobs import ActiveJob, Change, is_stuck_if_over, judge
from ..store.jobs import Poll, Target
from .context import Context, OutsideError
from .outcome import Outcome
from .writing import write_all

SHARE_OF_TIME = 0.25  # of the run's: a GitHub that hangs must not keep it from all the rest
KEPT_BACK = 10  # one poll in so many is not for listings
RUN_ASKED_AGAIN = 3  # times the age at which it was first asked whether the run is over

Key = tuple[int, int]  # of a target


@dataclass(frozen=True, slots=True)
class Look:
    """What GitHub said of a target: its jobs, or that it knows no such thing (None)."""

    target: Target
    jobs: dict[int, RemoteJob] | None
    pages: Pages
    changed: bool

    @property
    def may_be_over(self) -> bool:
        """Whether it is a workflow run of which no job is being worked on."""
        jobs = (self.jobs or {}).values()
        return self.target.number > 0 and all(job.status != "in_progress" for job in jobs)


def sync_jobs(context: Context) -> Outcome:
    outcome = Outcome()
    _ban(context, outcome)
    unconfirmed = context.now() - timedelta(seconds=context.settings.run.poll_interval)
    candidates = store.jobs.poll_targets(context.database, unconfirmed)
    targets = _within_budget(context, candidates, outcome)
    if not targets:
        return outcome
    known = store.jobs.load_pages(context.database, targets)
    answers = context.at_once(
        lambda target: _look(context, target, known), targets, share=SHARE_OF_TIME
    )
    looks = _sort_out(context, answers, outcome)
    jobs = store.jobs.jobs_of(context.database, [look.target for look in looks])
    outcome.jobs_checked = len(jobs)
    over = _ask_runs(context, looks, jobs, outcome)
    changes = _judge(context, looks, jobs, over, outcome)
    _apply(context, looks, over, changes, outcome)
    return outcome


def _ban(context: Context, outcome: Outcome) -> None:
    identity = context.identity
    if identity.banned_entities or identity.banned_senders:
        outcome.did["jobs banned"] = banned = store.jobs.ban(
            context.database, identity.banned_entities, identity.banned_senders, context.now()
        )
        outcome.jobs_updated += banned


def _within_budget(context: Context, targets: Sequence[Target], outcome: Outcome) -> list[Target]:
    room: dict[int, int] = {}
    chosen = []
    for target in targets:
        installation = target.scope.installation_id
        if installation not in room:
            left = context.github.polls_left(target.scope)
            room[installation] = left - left // KEPT_BACK  # for the runs that may be over
        if room[installation] > 0:
            room[installation] -= 1
            chosen.append(target)
    if left := len(targets) - len(chosen):
        outcome.did["workflow runs left for later"] = left
    return chosen


def _look(context: Context, target: Target, known: dict[Key, Pages]) -> Look:
    try:
        if target.number < 0:
            job = context.github.job(target.scope, target.repository, -target.number)
            return Look(target, {job.job_id: job}, [], changed=True)
        listing = context.github.jobs_of_run(
            target.scope, target.repository, target.number, known.get(target.key, [])
        )
    except NotFoundError:
        return Look(target, None, [], changed=True)
    jobs = {job.job_id: job for job in listing.items}
    return Look(target, jobs, listing.pages, listing.changed)


def _sort_out(
    context: Context, answers: list[tuple[Target, Look | OutsideError]], outcome: Outcome
) -> list[Look]:
    """The looks that were taken. What could not be looked at stays as it is."""
    looks = []
    gone: dict[int, str] = {}
    troubles: Counter[str] = Counter()
    for target, answer in answers:
        if isinstance(answer, Look):
            looks.append(answer)
        elif isinstance(answer, AccessError):
            if answer.gone:
                gone[target.scope.installation_id] = target.scope.entity_name
            troubles[str(answer)] += not answer.gone
        elif isinstance(answer, RateLimitedError | DeadlineError):
            outcome.did["workflow runs left for later"] += 1
        else:
            troubles[str(answer)] += 1
    for text, times in troubles.items():
        if times:
            outcome.problem(f"{text} ({times} times)" if times > 1 else text)
    if gone:
        _give_up_installations(context, gone, outcome)
    return [look for look in looks if look.target.scope.installation_id not in gone]


def _give_up_installations(context: Context, gone: dict[int, str], outcome: Outcome) -> None:
    failed = store.jobs.fail_of_installations(
        context.database,
        list(gone),
        "The App is not installed any more: GitHub knows no such installation.",
        context.now(),
    )
    outcome.did["jobs failed (installation_gone)"] += failed
    outcome.jobs_updated += failed
    for installation_id, name in gone.items():
        log.emit("installation_gone", installation_id=installation_id, entity=name)


def _ask_runs(
    context: Context, looks: list[Look], jobs: list[ActiveJob], outcome: Outcome
) -> dict[Key, bool]:
    """Whether the runs of jobs that are queued for too long are over: asked now and then."""
    now, limits = context.now(), context.settings.timeouts
    by_key = {look.target.key: look for look in looks}
    wanted = {}
    for job in jobs:
        look = by_key[job.installation_id, job.target]
        remote = (look.jobs or {}).get(job.job_id)
        if look.may_be_over and is_stuck_if_over(job, remote, now, limits):
            asked = look.target.run_checked_at
            if asked is None or now - asked >= seconds(RUN_ASKED_AGAIN * limits.job_stuck_queued):
                wanted[look.target.key] = look.target
    over = {}
    for target, answer in context.at_once(lambda each: _is_over(context, each), wanted.values()):
        if isinstance(answer, bool):
            over[target.key] = answer
        elif not isinstance(answer, RateLimitedError | NotFoundError):
            outcome.problem(str(answer))
    return over


def _is_over(context: Context, target: Target) -> bool:
    return context.github.run_is_completed(target.scope, target.repository, target.number)


@dataclass(slots=True)
class Changes:
    advance: list[RemoteJob]
    by_kind: dict[Change, list[int]]


def _judge(
    context: Context,
    looks: list[Look],
    jobs: list[ActiveJob],
    over: dict[Key, bool],
    outcome: Outcome,
) -> Changes:
    by_key = {look.target.key: look for look in looks}
    seen = {job.job_id: (by_key[job.installation_id, job.target].jobs or {}) for job in jobs}
    doubtful = [
        job
        for job in jobs
        if job.missing_since is not None
        and by_key[job.installation_id, job.target].jobs is not None
        and job.job_id not in seen[job.job_id]
    ]
    second = _second_looks(context, by_key, doubtful, outcome)
    changes = Changes([], defaultdict(list))
    for job in jobs:
        remote = second.get(job.job_id, seen[job.job_id].get(job.job_id))
        if isinstance(remote, Unanswered):
            continue
        change = judge(
            job,
            remote,
            run_completed=over.get((job.installation_id, job.target), False),
            now=context.now(),
            limits=context.settings.timeouts,
        )
        if change is Change.ADVANCE and remote is not None:
            changes.advance.append(remote)
        elif change is not Change.NONE:
            changes.by_kind[change].append(job.job_id)
    return changes


class Unanswered:
    """There was no second look: nothing is decided."""


def _second_looks(
    context: Context, by_key: dict[Key, Look], doubtful: list[ActiveJob], outcome: Outcome
) -> dict[int, RemoteJob | Unanswered | None]:
    """At a job itself that its run does not list, before it is believed to be gone."""

    def look(job: ActiveJob) -> RemoteJob:
        target = by_key[job.installation_id, job.target].target
        return context.github.job(target.scope, target.repository, job.job_id)

    second: dict[int, RemoteJob | Unanswered | None] = {}
    for job, answer in context.at_once(look, doubtful):
        if isinstance(answer, RemoteJob):
            second[job.job_id] = answer
        elif isinstance(answer, NotFoundError):
            second[job.job_id] = None
        else:
            second[job.job_id] = Unanswered()
            if not isinstance(answer, RateLimitedError):
                outcome.problem(str(answer))
    return second


def _apply(
    context: Context,
    looks: list[Look],
    over: dict[Key, bool],
    changes: Changes,
    outcome: Outcome,
) -> None:
    """All of it or nothing: an ETag is kept only with what its answer changed."""
    database, now = context.database, context.now()
    with database.transaction():
        updated = write_all(
            context,
            changes.advance,
            lambda jobs: store.jobs.advance(database, jobs, now),
            lambda job: f"job {job.job_id}",
            outcome,
        )
        outcome.did["jobs advanced"] += updated
        outcome.jobs_updated += updated
        _give_up(context, changes, Change.GIVE_UP_GONE, JobReason.JOB_GONE, outcome)
        _give_up(context, changes, Change.GIVE_UP_STUCK, JobReason.STUCK_QUEUED, outcome)
        if missed := changes.by_kind.get(Change.MISS):
            store.jobs.mark_missing(database, missed, now)
            outcome.did["jobs not found"] += len(missed)
        if found := changes.by_kind.get(Change.FOUND):
            store.jobs.mark_found(database, found)
        _save_polls(context, looks, over, now)


MESSAGES = {
    JobReason.JOB_GONE: "GitHub does not know this job any more (404 at two runs).",
    JobReason.STUCK_QUEUED: "Its workflow run is completed, but the job is still queued.",
}


def _give_up(
    context: Context, changes: Changes, change: Change, reason: JobReason, outcome: Outcome
) -> None:
    if job_ids := changes.by_kind.get(change):
        failed = store.jobs.fail(context.database, job_ids, reason, MESSAGES[reason], context.now())
        outcome.did[f"jobs failed ({reason})"] += failed
        outcome.jobs_updated += failed


def _save_polls(context: Context, looks: list[Look], over: dict[Key, bool], now: datetime) -> None:
    new = [
        Poll(look.target, look.pages, now if look.target.key in over else None)
        for look in looks
        if look.changed or look.target.key in over
    ]
    unchanged = [look.target for look in looks if not look.changed and look.target.key not in over]
    if new:
        store.jobs.save_polls(context.database, new, now)
    if unchanged:
        store.jobs.confirm_polls(context.database, unchanged, now)
