"""Whether the App may do anything for the account."""

from collections.abc import Iterator

from ..case import GONE, Case
from ..finding import Evidence, Finding, Kind
from ..place import planned_at
from ..state import Installation, Status
from ..words import sentence, told

GONE_NOW = "404"  # as it is kept while it lasts
APPS_PAGE = "the account's settings, GitHub Apps (Installed GitHub Apps)"


def uninstalled(case: Case) -> Iterator[Finding]:
    it = case.installation
    if case.job is not None and case.job.failure_reason == "installation_gone":
        yield _gone_with_its_job(case, it)
    elif it is None or not case.open or (case.job is None and (case.wrong or case.came_wrong)):
        return  # Who uninstalled the right App has installed the wrong one since: see there.
    elif it.status is Status.DELETED:
        if case.successor is None:
            yield Finding(
                Kind.UNINSTALLED,
                f"The App was uninstalled from {case.name} on {told(it.since.at)}.",
                f"An owner of {case.name} can install it again; jobs must be started anew then.",
                (Evidence.of(it.since),),
            )
        elif case.job is not None or case.of_installation is not None:
            yield _installed_anew(case, it, case.successor)
    elif evidence := list(_unknown_to_github(case, it)):
        since = evidence[0].at
        yield Finding(
            Kind.UNINSTALLED,
            f"GitHub knows no installation {it.id} of the App any more, as a run was told"
            + (f" on {told(since)}" if since else "")
            + ". The webhook that tells so is not in the log.",
            f"An owner of {case.name} can install the App again; jobs must be started anew then.",
            tuple(evidence),
        )


def _unknown_to_github(case: Case, it: Installation) -> Iterator[Evidence]:
    failure, limit = case.auth_failure, case.limit("installation", it.id)
    if failure is not None and failure.row.event == GONE:
        yield Evidence.of(failure.row)
    elif it.auth_failure is None and limit is not None and limit.auth_failure == GONE_NOW:
        yield Evidence(f"{limit.key}: not known when it was last asked for", limit.auth_failed_at)


def _gone_with_its_job(case: Case, it: Installation | None) -> Finding:
    evidence = []
    if it is not None and it.status is Status.DELETED:
        evidence.append(Evidence.of(it.since))
    if it is not None and it.auth_failure is not None:
        evidence.append(Evidence.of(it.auth_failure.row))
    if case.job is not None:
        text = f"job given up: {case.job.failure_message or 'installation_gone'}"
        evidence.append(Evidence(text, case.job.updated_at))
    successor = case.successor
    if successor is not None and (it is None or successor.id != it.id):
        evidence.append(Evidence.of(successor.since))
        return Finding(
            Kind.UNINSTALLED,
            f"The App was uninstalled from {case.name} while the job waited or ran, and the job "
            f"was given up for that. It is installed again since, as installation {successor.id}.",
            "Start the job again: it then belongs to the new installation.",
            tuple(evidence),
        )
    return Finding(
        Kind.UNINSTALLED,
        f"The App is not installed on {case.name} any more: the job was given up for that.",
        f"An owner of {case.name} can install it again. The job has to be started again then.",
        tuple(evidence),
    )


def _installed_anew(case: Case, it: Installation, successor: Installation) -> Finding:
    what, advice = "is over", "Ask about the new installation."
    if case.job is not None:
        what = "which the job came through, is over"
        advice = "Start the job again: it then belongs to the new installation."
    return Finding(
        Kind.UNINSTALLED,
        f"The App was uninstalled from {case.name} on {told(it.since.at)} and installed again "
        f"since, as installation {successor.id}. This one, {it.id}, {what}.",
        advice,
        (Evidence.of(it.since), Evidence.of(successor.since)),
    )


def suspended(case: Case) -> Iterator[Finding]:
    it = case.installation
    if it is not None and case.open and it.status is Status.SUSPENDED:
        after = "jobs that wait are then served by themselves"
        if case.job is None:
            after = "jobs that were started meanwhile must be started again then"
        yield Finding(
            Kind.SUSPENDED,
            f"The App's installation on {case.name} is suspended since {told(it.since.at)}: until "
            "that ends, GitHub sends no jobs of it and gives no access.",
            f"An owner of {case.name} can end it on the App's page in {APPS_PAGE}; {after}.",
            (Evidence.of(it.since),),
        )


def repository(case: Case) -> Iterator[Finding]:
    """Of one that the installation does not cover. A job that came was covered when it came."""
    it, job = case.installation, case.job
    if it is None or it.status is not Status.INSTALLED or not case.open or not case.repository:
        return
    if it.repositories.covers(case.repository) is not False:
        return
    removed = it.repositories.removal_of(case.repository)
    if job is not None and (removed is None or removed.at < job.created_at):
        return
    advice = (
        f"An owner of {case.name} can add it on the App's page in {APPS_PAGE}, under repository "
        "access. "
    )
    advice += (
        "Then the job can be served; if it is not, start it again."
        if job is not None
        else "Jobs that GitHub did not tell of have to be started again."
    )
    if removed is not None:
        yield Finding(
            Kind.REPOSITORY_REMOVED,
            f"{case.repository} was taken out of the App's installation on {told(removed.at)}.",
            advice,
            (Evidence.of(removed),),
        )
    else:
        yield Finding(
            Kind.REPOSITORY_NOT_SELECTED,
            f"The App is installed on selected repositories of {case.name}, and "
            f"{case.repository} is not one of them.",
            advice + " One that was renamed since may be there under its old name.",
            tuple(Evidence.of(event) for event in it.repositories.events())
            or (Evidence.of(it.since),),
        )


def no_access(case: Case) -> Iterator[Finding]:
    """GitHub gives no token, and no event says why. What waits for its runner has one already."""
    it = case.installation
    if not case.open or (it is not None and it.status is not Status.INSTALLED):
        return
    if it is not None and any(_unknown_to_github(case, it)):
        return
    if case.covered:
        return
    waiting = case.waiting_for == "no_access"
    number = case.job.installation_id if case.job is not None else it.id if it is not None else None
    limit = case.limit("installation", number)
    failure = case.auth_failure
    refused = limit is not None and limit.auth_failure is not None
    if failure is None and not refused and not waiting:
        return
    evidence = [Evidence.of(failure.row)] if failure is not None else []
    if limit is not None and limit.auth_failure is not None:
        text = f"{limit.key}: {limit.auth_failure} when it was last asked"
        evidence.append(Evidence(text, limit.auth_failed_at))
    if waiting and case.queue is not None:
        evidence.append(Evidence("plan: waits for access", planned_at(case.queue)))
    message = failure.said.get("message") if failure is not None else None
    message = message if isinstance(message, str) else ""
    yield Finding(
        Kind.NO_ACCESS,
        sentence(
            f"GitHub gives the App no access to {case.name}" + (f": {message}" if message else "")
        ),
        _how_to_get_access(case, message),
        tuple(evidence),
    )


def _how_to_get_access(case: Case, message: str) -> str:
    if "suspended" in message.lower():
        return (
            f"An owner of {case.name} can end the suspension on the App's page in {APPS_PAGE}. The "
            "webhook that tells of it is not in the log."
        )
    return (
        "Run `reconcile check`: it says whether the App's number and private key fit. If they do, "
        f"an owner of {case.name} finds what is the matter on the App's page in {APPS_PAGE}."
    )


def renamed(case: Case) -> Iterator[Finding]:
    """Nothing that keeps a job from being run, by itself; but whoever asks may not know it."""
    if case.facts is not None or case.account is None:
        return
    before = [each for each in case.account.renames if each.name != case.name]
    if not before:
        return
    last = before[-1]
    yield Finding(
        Kind.RENAMED,
        f"{last.name} is called {case.name} since {told(last.event.at)}. It is the same account, "
        "and its jobs are served as before.",
        "Routes, bans and caps that name the account, or a repository of it, must say the new name "
        "or, better, its number.",
        tuple(Evidence.of(each.event) for each in reversed(case.account.renames)),
    )
