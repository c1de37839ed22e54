"""Demand against supply: plan over one snapshot, provision, then tell what the others wait for."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .. import log, store
from ..errors import RateLimitedError, StoreError
from ..model import DemandKey, Scope
from ..policy.back_off import Trouble
from ..policy.plan import PendingJob, Plan, Snapshot, Wait, free_boards, plan
from ..policy.plan import boards as boards_of
from ..policy.waiting import (
    DemandWait,
    Group,
    Obstacle,
    Place,
    Result,
    covered_by_spare,
    demand_waits,
)
from ..store.demand import Supply
from .context import Context
from .ledger import Ledger
from .outcome import Outcome
from .provision import Account, provision


def demand_match(context: Context) -> Outcome:
    account = Account(Outcome(), Ledger(store.demand.load_trouble(context.database)))
    trouble = account.ledger.trouble
    _tell_jobs(context, trouble)
    planned = make_plan(context, trouble)
    made = planned.plan
    if planned.pending:
        told = {f"waiting_{wait}": count for wait, count in planned.waiting().items() if count}
        log.emit("plan", pending=planned.pending, provision=len(made.provision), **told)
    if made.provision:
        provision(context, made.provision, account)
    _write_plan(context, planned, account)
    return account.outcome


@dataclass(frozen=True, slots=True)
class Planned:
    plan: Plan
    snapshot: Snapshot | None = None  # None if nothing waits
    groups: Sequence[Group] = ()  # all that wait
    covered: Mapping[Place, int] = field(default_factory=dict)  # by workers that wait for them

    @property
    def pending(self) -> int:
        return sum(group.pending for group in self.groups)

    def waiting(self) -> Counter[Wait]:
        """What all those wait for that get no runner now. Jobs that could not get a board anyway
        were not even looked at."""
        waiting = Counter(self.plan.waiting.values())
        waiting[Wait.RUNNER] = sum(self.covered.values())
        told = sum(waiting.values()) + len(self.plan.provision)
        waiting[Wait.NO_BOARD] += max(0, self.pending - told)
        return waiting


def make_plan(context: Context, trouble: Mapping[DemandKey, Trouble]) -> Planned:
    """Raises if pods or nodes could not be listed: what is not known is not free."""
    pods, nodes = context.view.pods(), context.view.nodes()
    groups = store.demand.groups(context.database)
    if not groups:
        return Planned(Plan([], {}))
    names = [pod.name for pod in pods]
    supply = store.demand.supply(context.database, names, _at_other_work(context))
    free = free_boards(nodes, pods, _by_pool(supply))
    spare: Counter[DemandKey] = Counter()
    boards: Counter[tuple[str, int]] = Counter()
    for each in supply:
        spare[each.key] += each.spare
        boards[each.pool, each.key.entity_id] += each.workers
    candidates = {group.key for group in groups if free.get(group.pool)}
    oldest = _oldest(context, groups, spare, free, candidates)
    jobs = [job for job in oldest if job.key in candidates]
    scopes = {job.scope.installation_id: job.scope for job in jobs}
    snapshot = Snapshot(
        now=context.now(),
        jobs=jobs,
        spare=spare,
        boards=boards,
        free=free,
        trouble=trouble,
        refused={id_: why.wait for id_, why in _refused(context, scopes.values()).items()},
        room={id_: context.github.writes_left(scope) for id_, scope in scopes.items()},
    )
    covered = covered_by_spare(groups, spare, oldest)
    return Planned(plan(snapshot, context.settings), snapshot, groups, covered)


def _at_other_work(context: Context) -> set[str]:
    """Workers that are busy with no job of ours: one that was never stored, say. They were busy
    before this run asked GitHub about all the jobs they might have taken, and those still wait."""
    busy = context.busy_without_job
    if not busy:
        return set()
    unconfirmed = store.demand.unconfirmed(context.database, context.started_at)
    return {name for name, key in busy.items() if key not in unconfirmed}


def _oldest(
    context: Context,
    groups: Sequence[Group],
    spare: Counter[DemandKey],
    free: Mapping[str, int],
    candidates: set[DemandKey],
) -> list[PendingJob]:
    """No more of each demand than could get a board: thousands may wait behind them."""
    pools = Counter(group.key for group in groups)
    # Those that workers are waiting for come first, in whatever pool, and take none of it. Which
    # these are must be known also where no board is free, if the demand is in several pools.
    wanted = {
        group.place: free.get(group.pool, 0) + spare[group.key]
        for group in groups
        if group.key in candidates or (pools[group.key] > 1 and spare[group.key])
    }
    return store.demand.oldest_jobs(context.database, wanted) if wanted else []


def _refused(context: Context, scopes: Iterable[Scope]) -> dict[int, Obstacle]:
    """By installation, as far as is known without asking."""
    refused = {}
    for scope in scopes:
        why = context.github.refusal(scope)
        if isinstance(why, RateLimitedError):
            refused[scope.installation_id] = Obstacle(Wait.RATE_LIMITED, why.until)
        elif why is not None:
            refused[scope.installation_id] = Obstacle(Wait.NO_ACCESS)
    return refused


def _write_plan(context: Context, planned: Planned, account: Account) -> None:
    """What it was made of and what came of it, for who looks from outside. After provisioning: what
    failed is not on its way any more, and has its reasons. Before the site is published."""
    pods, nodes = context.view.pods(), context.view.nodes()
    now = context.now()
    waits: list[DemandWait] = []
    if planned.snapshot is not None:
        now = planned.snapshot.now
        scopes = {group.scope.installation_id: group.scope for group in planned.groups}
        waits = demand_waits(
            planned.groups,
            planned.covered,
            planned.snapshot,
            planned.plan,
            Result(
                account.on_their_way, account.ledger.trouble, _refused(context, scopes.values())
            ),
            context.settings,
        )
    try:
        store.demand.save_plan(
            context.database, waits, boards_of(nodes, pods), context.settings.scheduling, now
        )
    except StoreError as error:  # What was provisioned is told all the same.
        account.outcome.problem(f"what jobs wait for could not be written down: {error}")


def _tell_jobs(context: Context, trouble: Mapping[DemandKey, Trouble]) -> None:
    now = context.now()
    if parked := {
        key: each for key, each in trouble.items() if each.parked and each.retry_at > now
    }:
        store.demand.tell_jobs_parked(context.database, parked, context.now())
    store.demand.tell_jobs_unparked(context.database, context.now())


def _by_pool(supply: Sequence[Supply]) -> Counter[str]:
    unseen: Counter[str] = Counter()
    for each in supply:
        unseen[each.pool] += each.unseen
    return unseen
