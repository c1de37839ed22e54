"""Who is banned in the routes: nothing new of theirs is taken, and what waits is given up."""

from collections.abc import Iterator

from ...events import Outcome
from ..case import Case
from ..finding import Evidence, Finding, Kind

CAME = (Outcome.JOB_STORED, Outcome.JOB_ALREADY_EXISTS)


def banned(case: Case) -> Iterator[Finding]:
    refused, job, late = case.refusal, case.job, case.late
    advice = _unban(case)
    if refused is not None and refused.row.outcome in (
        Outcome.BANNED_ENTITY,
        Outcome.BANNED_SENDER,
    ):
        of_sender = refused.row.outcome == Outcome.BANNED_SENDER
        said = _sender(refused.sender_name) if of_sender else case.name
        said = f"The job was not taken: {said} is banned."
        yield Finding(Kind.BANNED, said, advice, (Evidence.of(refused.row),))
    elif job is not None and job.failure_reason == "banned":
        said = f"The job was given up: {case.name}, or who started it, was banned while it waited."
        given_up = Evidence(f"job given up: {job.failure_message or 'banned'}", job.updated_at)
        yield Finding(Kind.BANNED, said, advice, (given_up, *_came(case)))
    elif case.past or (who := _banned_now(case)) is None:
        return  # Who was banned then nobody keeps.
    elif case.pending:
        said = f"{who} is banned in the routes: the next run gives the job up."
        yield Finding(Kind.BANNED, said, advice, tuple(_came(case)))
    elif late is not None:
        said = f"The job was not taken: {who} is banned in the routes."
        yield Finding(Kind.BANNED, said, advice, (Evidence.of(late.row),))
    elif case.open:
        yield Finding(Kind.BANNED, f"{who} is banned in the routes: no job is taken.", advice)


def _banned_now(case: Case) -> str | None:
    """Who of them is, as far as is known."""
    job, routes = case.job, case.routes
    if routes is None:
        return None
    numbers = [job.entity_id] if job is not None else []
    numbers += [each.row.entity_id for each in case.events if each.row.entity_id is not None]
    numbers += [case.account.id] if case.account is not None else []
    if routes.banned_entities.include(next(iter(numbers), None), case.name):
        return case.name
    senders = [(job.sender_id, job.sender_name)] if job is not None else []
    senders += [(each.sender_id, each.sender_name) for each in case.events[:1]]
    for sender_id, name in senders:
        if routes.banned_senders.include(sender_id, name):
            return _sender(name)
    return None


def _sender(name: str | None) -> str:
    return f"{name}, who started it," if name else "who started it"


def _unban(case: Case) -> str:
    if case.facts is not None and case.routes is not None and _banned_now(case) is None:
        return "The routes that are known here have no such ban any more: start the job again."
    return (
        "Whoever runs this system can take the ban out of the routes (`banned_entities`, "
        "`banned_senders`)."
        + (" The job has to be started again then." if case.facts is not None else "")
    )


def _came(case: Case) -> Iterator[Evidence]:
    for each in case.events:
        if each.row.outcome in CAME:
            yield Evidence.of(each.row)
