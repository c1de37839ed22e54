"""Registrations that nobody will use: their worker is at its end, or there is none."""

from dataclasses import dataclass

from ... import store
from ...errors import RateLimitedError
from ...model import Runner, Scope
from ...policy.health import seconds
from ..context import Context
from ..outcome import Outcome
from .fleet import Fleet


@dataclass(frozen=True, slots=True)
class LeftOver:
    scope: Scope
    runner: Runner


def clean(context: Context, fleet: Fleet, outcome: Outcome) -> None:
    """In scopes where a worker failed at once, in all others that were used of late now and then:
    also where no worker is active any more."""
    interval = seconds(context.settings.run.sweep_interval)
    known = {scope.key: scope for scope in fleet.runners.scopes()}
    due = {scope.key: scope for scope in fleet.runners.due(fleet.now, interval)}
    due |= {
        scope.key: known[scope.key]
        for scope in fleet.ledger.scopes_of_failures
        if scope.key in known
    }
    fleet.runners.look(context, due.values(), outcome)
    unclean = _remove(context, fleet, _left_over(context, fleet, list(due.values())), outcome)
    for scope in due.values():
        if fleet.runners.listed(scope) is not None and scope.key not in unclean:
            fleet.runners.swept(scope, fleet.now)


def _left_over(context: Context, fleet: Fleet, scopes: list[Scope]) -> list[LeftOver]:
    ours = [
        LeftOver(scope, runner)
        for scope in scopes
        for runner in fleet.runners.listed(scope) or ()
        if context.identity.owns(runner.name)
    ]
    statuses = store.workers.known(
        context.database, [each.runner.name for each in ours]
    ) if ours else {}  # fmt: skip
    return [
        each
        for each in ours
        if not ((status := statuses.get(each.runner.name)) and status.active)
        # A busy one goes by itself after its job, and GitHub would refuse.
        and not each.runner.busy
    ]


def _remove(
    context: Context, fleet: Fleet, left_over: list[LeftOver], outcome: Outcome
) -> set[tuple[int, str]]:
    """The scopes where something is left all the same."""
    unclean = set()
    results = context.at_once(
        lambda each: context.github.delete_runner(each.scope, each.runner.id), left_over
    )
    for each, removed in results:
        if removed is True:
            fleet.runners.removed(each.scope, each.runner.name)
            outcome.did["registrations removed"] += 1
            continue
        unclean.add(each.scope.key)
        if isinstance(removed, Exception) and not isinstance(removed, RateLimitedError):
            outcome.problem(f"runner {each.runner.name} could not be removed: {removed}")
    return unclean
