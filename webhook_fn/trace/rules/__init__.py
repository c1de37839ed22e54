"""Why: each rule looks at the case and gives the findings it can prove, in plain words.

Pure. What explains the others comes before them: where an App was uninstalled it does not matter
that the queue was long, and where no run comes it does not matter what the last one planned.
"""

from collections.abc import Callable, Iterable, Iterator

from ..case import Case
from ..facts import JobRow
from ..finding import Evidence, Finding, Kind
from ..state import Installation
from . import access, apps, arrival, bans, ending, limits, queue, routing, runs

Rule = Callable[[Case], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
    access.uninstalled,
    access.suspended,
    access.repository,
    routing.renamed,
    apps.wrong_app,
    bans.banned,
    routing.on_staging,
    routing.no_route,
    ending.cancelled,
    ending.over,
    ending.given_up,
    ending.running,
    arrival.failed,
    arrival.not_queued_yet,
    access.no_access,
    arrival.never_arrived,
    runs.stale,
    runs.failing,
    limits.github_limit,
    queue.backing_off,
    queue.cap_reached,
    queue.runner_coming,
    queue.waiting_for_board,
    queue.not_planned_yet,
    access.renamed,
)


def diagnose(case: Case) -> tuple[Finding, ...]:
    """The first is the answer; the others are true as well."""
    found = tuple(_once(finding for rule in RULES for finding in rule(case)))
    return found or (_nothing(case),)


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    seen = set()
    for each in findings:
        if each.kind not in seen:
            seen.add(each.kind)
            yield each


def _nothing(case: Case) -> Finding:
    if case.job is not None:
        return _nothing_of_a_job(case, case.job)
    it = case.installation
    if it is None:
        return Finding(
            Kind.NOTHING_KNOWN,
            f"The log has no event that tells what is installed on {case.name}.",
            "It may begin later than the installation, or the App may never have been installed: "
            "the account's list of installed GitHub Apps tells.",
        )
    return Finding(
        Kind.NOTHING_WRONG,
        f"Nothing is wrong with the App's installation on {case.name}, as far as the log tells: "
        f"{_what_it_covers(case, it)}.",
        "Ask about one job by its number: what it waits for is told there.",
    )


def _what_it_covers(case: Case, it: Installation) -> str:
    if not case.repository:
        return f"{it.id} is {it.status}"
    covers = it.repositories.covers(case.repository)
    if covers is None:
        return f"{it.id} is {it.status}; whether it covers {case.repository} is not known"
    return f"{it.id} is {it.status} and covers {case.repository}"


def _nothing_of_a_job(case: Case, job: JobRow) -> Finding:
    """Of one that waits, or of a state that nobody knows."""
    summary = f"The job is {job.status}, and nothing is known that keeps it so."
    if case.waiting_for is not None:
        summary = f"The job waits. The last plan says for what: {case.waiting_for}."
    elif case.past:
        summary = (
            "The job waited for a runner. Of what is known of that time nothing was in its way; "
            "where it stood in the queue is not kept."
        )
    return Finding(
        Kind.NOTHING_WRONG,
        summary,
        "Ask without a time for how it is now."
        if case.past
        else "Ask again in a minute: the next run looks at it.",
        tuple(Evidence.of(each.row) for each in case.events),
    )
