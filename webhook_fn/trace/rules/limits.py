"""GitHub's limits: whether it lets a runner be registered."""

from collections.abc import Iterator
from datetime import datetime

from ..case import Case
from ..facts import JobRow, Limit
from ..finding import Evidence, Finding, Kind
from ..words import told
from .queue import planned

OPEN = (None, "runner")  # what a job waits for that the next run makes a runner for


def github_limit(case: Case) -> Iterator[Finding]:
    queue, job = case.queue, case.job
    if queue is None or job is None or case.covered:
        return
    own, app = _limits(case, job)
    blocked = own is not None and own.blocked_until is not None and own.blocked_until > case.now
    # What the last plan held to be in its way is nearer than a limit that was met since.
    if case.waiting_for != "rate_limited" and not (blocked and case.waiting_for in OPEN):
        return
    said = queue.wait.until if queue.wait is not None else None
    ends = _ends(own, case.now) or _ends(app, case.now) or said
    summary = "GitHub's rate limit leaves no room to register a runner now."
    if ends is not None and ends > case.now:
        summary = f"{summary[:-1]}; there is room again after {told(ends)}."
    elif ends is not None:
        summary = "GitHub's rate limit left no room to register a runner when it was last planned."
        summary += f" That ended on {told(ends)}: the next run tries again."
    yield Finding(
        Kind.GITHUB_LIMIT,
        summary,
        "Wait: it is tried again as soon as GitHub allows. If it happens often, see whether "
        "something else uses the App, and docs/configuration.md, `[github]`.",
        (*_allowance(own, case.now), *_allowance(app, case.now), *planned(queue)),
    )


def _limits(case: Case, job: JobRow) -> tuple[Limit | None, Limit | None]:
    """Those that the job depends on: the installation's, and its App's, which asks for tokens."""
    return case.limit("installation", job.installation_id), case.limit("app", case.right_app)


def _ends(limit: Limit | None, now: datetime) -> datetime | None:
    if limit is None:
        return None
    ends = [limit.blocked_until] if limit.blocked_until is not None else []
    if limit.rate_remaining == 0 and limit.rate_resets_at is not None:
        ends.append(limit.rate_resets_at)
    return max((each for each in ends if each > now), default=None)


def _allowance(limit: Limit | None, now: datetime) -> Iterator[Evidence]:
    """What of it is not over."""
    if limit is None:
        return
    if limit.blocked_until is not None and limit.blocked_until > now:
        yield Evidence(f"{limit.key}: GitHub asked to wait until {told(limit.blocked_until)}")
    if limit.rate_limit is not None and limit.rate_resets_at and limit.rate_resets_at > now:
        yield Evidence(
            f"{limit.key}: {limit.rate_remaining or 0} of {limit.rate_limit} requests left until "
            f"{told(limit.rate_resets_at)}"
        )
