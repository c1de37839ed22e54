"""Demand against supply: plan over one snapshot, then provision."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .. import log, store
from ..errors import AccessError
from ..model import DemandKey
from ..policy.back_off import Trouble
from ..policy.plan import PendingJob, Plan, Snapshot, Wait, free_boards, plan
from ..store.demand import Group, Supply
from .context import Context
from .outcome import Outcome
from .provision import provision


def demand_match(context: Context) -> Outcome:
    outcome = Outcome()
    trouble = store.demand.load_trouble(context.database)
    _tell_jobs(context, trouble)
    planned = make_plan(context, trouble)
    made = planned.plan
    if planned.pending:
        told = {f"waiting_{wait}": count for wait, count in planned.waiting().items() if count}
        log.emit("plan", pending=planned.pending, provision=len(made.provision), **told)
    if made.provision:
        provision(context, made.provision, outcome)
    return outcome


@dataclass(frozen=True, slots=True)
class Planned:
    plan: Plan
    pending: int = 0  # jobs in all
    covered: int = 0  # of these, as many as there are workers waiting for them

    def waiting(self) -> Counter[Wait]:
        """What all those wait for that get no runner now. Jobs that could not get a board anyway
        were not even looked at."""
        waiting = Counter(self.plan.waiting.values())
        waiting[Wait.RUNNER] = self.covered
        told = sum(waiting.values()) + len(self.plan.provision)
        waiting[Wait.NO_BOARD] += max(0, self.pending - told)
        return waiting


def make_plan(context: Context, trouble: Mapping[DemandKey, Trouble]) -> Planned:
    """Raises if pods or nodes could not be listed: what is not known is not free."""
    pods, nodes = context.view.pods(), context.view.nodes()
    groups = store.demand.groups(context.database)
    pending = sum(group.pending for group in groups)
    if not pending:
        return Planned(Plan([], {}))
    names = [pod.name for pod in pods]
    supply = store.demand.supply(context.database, names, _at_other_work(context))
    free = free_boards(nodes, pods, _by_pool(supply))
    spare: Counter[DemandKey] = Counter()
    boards: Counter[tuple[str, int]] = Counter()
    for each in supply:
        spare[each.key] += each.spare
        boards[each.pool, each.key.entity_id] += each.workers
    jobs = _candidates(context, groups, spare, free)
    snapshot = Snapshot(
        now=context.now(),
        jobs=jobs,
        spare=spare,
        boards=boards,
        free=free,
        trouble=trouble,
        refused=_refused(context, jobs),
        room={
            job.scope.installation_id: context.github.writes_left(job.scope)
            for job in {each.scope.installation_id: each for each in jobs}.values()
        },
    )
    return Planned(plan(snapshot, context.settings), pending, _covered(groups, spare))


def _at_other_work(context: Context) -> set[str]:
    """Workers that are busy with no job of ours: one that was never stored, say. They were busy
    before this run asked GitHub about all the jobs they might have taken, and those still wait."""
    busy = context.busy_without_job
    if not busy:
        return set()
    unconfirmed = store.demand.unconfirmed(context.database, context.started_at)
    return {name for name, key in busy.items() if key not in unconfirmed}


def _candidates(
    context: Context,
    groups: Sequence[Group],
    spare: Counter[DemandKey],
    free: dict[str, int],
) -> list[PendingJob]:
    """No more of each demand than could get a board: thousands may wait behind them."""
    keys = {group.key for group in groups if free.get(group.pool)}
    # Those that workers are waiting for come first, in whatever pool, and take none of it.
    wanted = {
        (group.key, group.pool): free.get(group.pool, 0) + spare[group.key]
        for group in groups
        if group.key in keys
    }
    return store.demand.oldest_jobs(context.database, wanted) if wanted else []


def _covered(groups: Sequence[Group], spare: Counter[DemandKey]) -> int:
    by_key: Counter[DemandKey] = Counter()
    for group in groups:
        by_key[group.key] += group.pending
    return sum(min(pending, spare[key]) for key, pending in by_key.items())


def _refused(context: Context, jobs: Sequence[PendingJob]) -> dict[int, Wait]:
    refused = {}
    for job in {each.scope.installation_id: each for each in jobs}.values():
        if (why := context.github.refusal(job.scope)) is not None:
            gone = isinstance(why, AccessError)
            refused[job.scope.installation_id] = Wait.NO_ACCESS if gone else Wait.RATE_LIMITED
    return refused


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
