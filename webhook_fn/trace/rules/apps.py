"""Each kind of account has an App of its own, and only that one can make runners for it."""

from collections.abc import Iterable, Iterator

from ..case import Case
from ..facts import Event, JobEvent
from ..finding import Evidence, Finding, Kind
from ..state import CREATED, Installation, Status
from ..words import told

# What an account is, the App that is made for its kind, and the other one.
WORDS = {
    "Organization": ("an organization", "organizations", "personal accounts"),
    "User": ("a personal account", "personal accounts", "organizations"),
}


def wrong_app(case: Case) -> Iterator[Finding]:
    if case.job is not None or case.refusal is not None:
        return
    it, serving = case.installation, case.serving
    if case.came_wrong:
        if serving is None or _is_newer(serving, case.came_wrong):
            yield _of_a_job(case, serving)
        # Else it is the other App's word that is missing: see whether it came.
    elif case.facts is not None and not case.open:
        return
    elif case.wrong:
        yield _of_an_account(case)
    elif it is not None and serving is not None and case.is_wrong(it) and not _is_gone(it):
        yield _beside(case, it, serving)


def _of_a_job(case: Case, serving: Installation | None) -> Finding:
    events = [each.row for each in case.came_wrong]
    words = WORDS.get(case.kind or "")
    if words is None:
        return Finding(
            Kind.WRONG_APP,
            f"The job came through an App that is not made for an account like {case.name}.",
            f"Install the App that is made for {case.name}, and start the job again.",
            _all(events),
        )
    kind, right, other = words
    summary = (
        f"{case.name} is {kind}, and the job came through the App for {other}, which cannot make "
        "runners for it."
    )
    advice = _install(case, right)
    if serving is not None:
        events.append(serving.since)
        summary += f" The one for {right} is installed since {told(serving.since.at)}."
        advice = "Start the job again: it then comes through that one. Uninstall the other one."
    elif (left := case.installation) is not None and _is_gone(left):
        events.append(left.since)
        summary += f" The one for {right} was uninstalled on {told(left.since.at)}."
    return Finding(Kind.WRONG_APP, summary, advice, _all(events))


def _of_an_account(case: Case) -> Finding:
    kind, right, other = WORDS[case.kind or ""]
    events = [each.since for each in case.wrong]
    summary = (
        f"{case.name} is {kind}, and what is installed there is the App for {other}, which cannot "
        "make runners for it."
    )
    left = case.installation
    if left is not None and _is_gone(left) and not case.is_wrong(left):
        events.append(left.since)
        summary += f" The one for {right} was uninstalled on {told(left.since.at)}."
    return Finding(Kind.WRONG_APP, summary, _install(case, right), _all(events))


def _beside(case: Case, it: Installation, serving: Installation) -> Finding:
    kind, right, other = WORDS[case.kind or ""]
    return Finding(
        Kind.WRONG_APP,
        f"Installation {it.id} is of the App for {other}, which does nothing for {case.name}, "
        f"{kind}. The one for {right} is installed there as well, as {serving.id}.",
        "This one can be uninstalled. Ask about the other one.",
        _all([it.since, serving.since]),
    )


def _install(case: Case, right: str) -> str:
    return (
        f"Install the App for {right} on {case.name}, uninstall the other one, and start the job "
        "again."
    )


def _is_newer(it: Installation, came: tuple[JobEvent, ...]) -> bool:
    return it.since.event == CREATED and it.since.at > came[-1].row.at


def _is_gone(it: Installation) -> bool:
    return it.status is Status.DELETED


def _all(events: Iterable[Event]) -> tuple[Evidence, ...]:
    return tuple(Evidence.of(each) for each in events)
