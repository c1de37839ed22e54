"""A job that nothing was heard of: did GitHub try to tell?"""

from collections.abc import Iterator
from datetime import datetime

from ...events import Outcome
from ..case import Case
from ..facts import DeliveryLog, FailedDelivery, JobEvent
from ..finding import Evidence, Finding, Kind
from ..state import Status
from ..words import counted, told

JOB_NUMBER = "a job's number is the last one in the address of its page at GitHub"
SETTINGS = (
    "in the App's settings at GitHub, that it is subscribed to Workflow job and that the webhook's "
    "address is the function's: under Advanced, its recent deliveries"
)


def not_queued_yet(case: Case) -> Iterator[Finding]:
    """GitHub tells of a job that waits before it is queued; nothing is done about that."""
    waiting = [each for each in case.events if _is_held_back(each)]
    if waiting and case.unheard:
        yield Finding(
            Kind.NOT_QUEUED_YET,
            "The job waits at GitHub for an approval, or for another rule of its environment. It "
            "is not queued yet, and gets no runner before it is.",
            "Somebody who may can approve it on the page of its workflow run.",
            tuple(Evidence.of(each.row) for each in waiting),
        )


def _is_held_back(event: JobEvent) -> bool:
    row = event.row
    return row.event == "workflow_job.waiting" and row.outcome == Outcome.IGNORED_ACTION


def failed(case: Case) -> Iterator[Finding]:
    """GitHub's own log has it: it tried, and did not get through."""
    facts = case.facts
    if facts is None or not case.unheard or not facts.deliveries.of_the_job:
        return
    last = facts.deliveries.of_the_job[0]
    answer = f"was answered {last.status_code}" if last.status_code else "got no answer"
    yield Finding(
        Kind.WEBHOOK_FAILED,
        f"GitHub's webhook about the job did not arrive: on {told(last.failed_at)} it {answer}."
        # How often it was asked for until then nobody keeps.
        + ("" if case.past else f" {_asked_again(last, case.now)}"),
        "Look what was the matter with the function at that time: its log and its `/health`, or "
        "the status of whatever is in front of it. GitHub keeps a delivery for three days; after "
        "that the job has to be started again.",
        tuple(_evidence(each) for each in facts.deliveries.of_the_job),
    )


def _asked_again(last: FailedDelivery, now: datetime) -> str:
    if last.next_at is not None and last.next_at <= now:
        return "The next run asks GitHub to send it again."
    if last.next_at is not None:
        return f"GitHub is asked to send it again after {told(last.next_at)}."
    if last.attempts:
        return (
            f"GitHub was asked {counted(last.attempts, 'time')} to send it again; whether it "
            "came through is seen at the next look into its log."
        )
    return "It is not asked for again."


def never_arrived(case: Case) -> Iterator[Finding]:
    facts = case.facts
    if facts is None or not case.unheard or facts.deliveries.of_the_job:
        return
    if case.came_wrong and case.serving is None:
        return  # It came, through the only App that there is.
    if any(_is_held_back(each) for each in case.events):
        return
    job = f"job {facts.job_id}"
    evidence = [Evidence.of(each.row) for each in case.events]
    evidence += [
        Evidence(f"delivery log of App {app_id} was read", at)
        for app_id, at in sorted(facts.deliveries.read_at.items())
    ]
    evidence += [_evidence(each) for each in facts.deliveries.of_the_installation]
    said = [f"No webhook about {job} has arrived."]
    advice = _where_to_look(case)
    if case.comes_at is not None:
        said = [f"No webhook about {job} had arrived by then: it came on {told(case.comes_at)}."]
        advice = "Ask about a later time, or without one."
    elif case.came_wrong:
        said = [
            f"About {job} a webhook came through the App for the other kind of account alone.",
            f"That one cannot make runners for {case.name}.",
            "The right one is installed as well, but told nothing of it.",
            _delivery_log(case, facts.deliveries),
        ]
    else:
        said += [*_covering(case), _delivery_log(case, facts.deliveries)]
    yield Finding(Kind.WEBHOOK_NEVER_ARRIVED, " ".join(said), advice, tuple(evidence))


def _covering(case: Case) -> Iterator[str]:
    """Whether GitHub had a reason to tell."""
    it = case.installation
    if not case.repository:
        return
    if case.account is None:
        yield (
            f"Nor is anything known of an installation on {case.name}: the App was perhaps never "
            "installed there."
        )
    elif it is None or it.status is not Status.INSTALLED:
        return
    elif it.repositories.covers(case.repository):
        yield f"The App is installed on {case.name} and covers {case.repository}."


def _where_to_look(case: Case) -> str:
    check = f"Check the number ({JOB_NUMBER})"
    if case.account is None and case.repository:
        return (
            f"An owner of {case.name} finds on the account's list of installed GitHub Apps whether "
            f"it is there. If it is: {check[0].lower()}{check[1:]}, and, {SETTINGS}."
        )
    if case.repository:
        return f"{check}. Then, {SETTINGS}."
    return (
        f"{check}. Then check that the App is installed on the account and covers the repository: "
        f"ask again with `--repository OWNER/NAME`. Then, {SETTINGS}."
    )


def _delivery_log(case: Case, log: DeliveryLog) -> str:
    if case.past:
        return "What GitHub's log of deliveries had then is not kept."
    if not log.read_at:
        return "GitHub's log of deliveries was not read yet, so that nobody knows if it was sent."
    read = told(min(log.read_at.values()))
    if log.unseen:
        several = counted(log.unseen, "failed delivery", "failed deliveries")
        return (
            f"GitHub's log of deliveries, read until {read}, has {several} of jobs that nobody has "
            "looked into yet: it may be among them."
        )
    return (
        f"Nor is a failed one in GitHub's log of deliveries of the last three days, read until "
        f"{read}; what failed since then is seen at the next look, some minutes later."
    )


def _evidence(it: FailedDelivery) -> Evidence:
    what = f"{it.event or 'delivery'} {it.guid} to App {it.app_id}: {it.status_code or 'no answer'}"
    return Evidence(what, it.failed_at)
