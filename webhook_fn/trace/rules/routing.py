"""Whether there is a route for the job, or it was handed on."""

from collections.abc import Iterator

from ...events import Outcome
from ...routes import Route
from ..case import BEGUN, Case
from ..facts import JobEvent
from ..finding import Evidence, Finding, Kind
from ..state import Rename
from ..words import listed, told


def renamed(case: Case) -> Iterator[Finding]:
    """A route, named after the account or its repository, that fitted until the name changed."""
    refused = _unrouted(case)
    if refused is None or case.routes is None or case.account is None:
        return
    if _route_of(case, refused) is not None:
        return
    for rename in reversed(case.account.renames):
        if rename.event.at <= refused.row.at and _fits_name(case, refused, rename):
            yield Finding(
                Kind.RENAMED,
                f"{rename.name} is called {case.name} since {told(rename.event.at)}, and the route "
                f"for {listed(refused.labels)} is limited to the old name.",
                "In the routes, write the new name or, better, the account's number, which stays "
                f"({refused.row.entity_id}). Deploy them and start the job again.",
                (Evidence.of(rename.event), Evidence.of(refused.row)),
            )
            return


def _fits_name(case: Case, refused: JobEvent, rename: Rename) -> bool:
    if case.routes is None or refused.row.entity_id is None:
        return False
    short = (refused.repository or "").partition("/")[2]
    repository = f"{rename.name}/{short}"
    found = case.routes.find(refused.labels, refused.row.entity_id, rename.name, repository)
    return found is not None


def on_staging(case: Case) -> Iterator[Finding]:
    refused = case.refusal
    if refused is not None and refused.row.outcome == Outcome.PROXIED_TO_STAGING:
        yield Finding(
            Kind.ON_STAGING,
            f"The jobs of {case.name} are staging's: this one was handed on to it.",
            "Ask staging's trace.",
            (Evidence.of(refused.row),),
        )


def no_route(case: Case) -> Iterator[Finding]:
    refused = _unrouted(case)
    if refused is None:
        return
    wanted = listed(refused.labels) or "none at all"
    why = f"No route is for exactly the labels of this job ({wanted})"
    if _has_limited(case, refused):
        why = f"The routes for the labels of this job ({wanted}) are not for {case.name}"
    after = "GitHub leaves it queued until something else runs it"
    if any(each.row.event in BEGUN for each in case.events):
        after = "what became of it was not this system's doing"
    yield Finding(
        Kind.NO_ROUTE,
        f"{why}, so it was not taken: {after}.",
        _how_to_be_routed(case, refused),
        (Evidence.of(refused.row),),
    )


def _how_to_be_routed(case: Case, refused: JobEvent) -> str:
    advice = (
        "`runs-on` must name exactly the labels of one route, no more and no fewer; the order and "
        "upper or lower case do not matter."
    )
    if case.routes is None:
        return advice
    if _route_of(case, refused) is not None:
        return "There is a route for it by now: start the job again."
    if _has_limited(case, refused):
        return (
            "There is a route for these labels, but only for some accounts or repositories. "
            "Whoever runs this system can add this one."
        )
    if near := _near(case, refused):
        advice += " Near it: " + "; ".join(f"[{listed(labels)}]" for labels in near) + "."
    return advice


def _has_limited(case: Case, refused: JobEvent) -> bool:
    """Whether there is a route for these labels, and none for this job."""
    if case.routes is None or _route_of(case, refused) is not None:
        return False
    return any(route.labels == refused.labels for route in case.routes.routes)


def _unrouted(case: Case) -> JobEvent | None:
    """The delivery that no route was found for; or that could only have gone on with a job, which
    was not there, if none is for it now."""
    refused = case.refusal
    if refused is not None:
        return refused if refused.row.outcome == Outcome.IGNORED_NO_LABEL else None
    late = case.late
    if late is None or case.routes is None or _route_of(case, late) is not None:
        return None
    return late


def _route_of(case: Case, event: JobEvent) -> Route | None:
    if case.routes is None:
        return None
    number, name = event.row.entity_id or 0, event.row.entity_name
    return case.routes.find(event.labels, number, name, event.repository or "")


def _near(case: Case, refused: JobEvent) -> list[tuple[str, ...]]:
    """Labels of routes that share most with those that were wanted, of routes for everybody."""
    if case.routes is None:
        return []
    wanted = set(refused.labels)
    open_to_all = {each.labels for each in case.routes.routes if not each.is_limited}
    sharing = [labels for labels in open_to_all if wanted & set(labels)]
    return sorted(sharing, key=lambda labels: (len(wanted ^ set(labels)), labels))[:3]
