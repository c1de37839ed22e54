"""The snapshot that all steps look at."""

from dataclasses import dataclass, field
from datetime import datetime

from ... import log, store
from ...model import DemandKey, Pod, Worker
from ...policy.health import KEEP, RunnerView, Verdict, classify, needs_runner
from ..context import OUTSIDE_ERRORS, Context
from ..ledger import Ledger
from ..outcome import Outcome
from .runners import Runners


@dataclass(slots=True)
class Fleet:
    now: datetime
    active: dict[str, Worker]  # by pod name
    ended: dict[str, Worker]  # rows at their end whose pods are still there
    pods: dict[str, Pod] | None  # ours, by name; None: could not be listed
    unreachable: frozenset[str]  # nodes; empty also if they could not be listed
    runners: Runners
    ledger: Ledger
    decided: set[str] = field(default_factory=set)  # decided in an earlier step
    _waiting: dict[DemandKey, datetime] | None = None

    def pod(self, worker: Worker) -> Pod | None:
        return None if self.pods is None else self.pods.get(worker.pod_name)

    def is_stranded(self, pod: Pod | None) -> bool:
        return pod is not None and pod.node in self.unreachable

    def undecided(self) -> list[Worker]:
        return [each for each in self.active.values() if each.pod_name not in self.decided]

    def verdict(self, context: Context, worker: Worker) -> Verdict:
        """KEEP for what is decided already, and for all while the pods are unknown."""
        if self.pods is None or worker.pod_name in self.decided:
            return KEEP
        pod = self.pod(worker)
        return classify(
            worker,
            pod,
            self.runners.view(worker.scope, worker.pod_name),
            node_unreachable=self.is_stranded(pod),
            now=self.now,
            limits=context.settings.timeouts,
        )

    def is_wanted(self, context: Context, worker: Worker) -> bool:
        """Whether a job has been waiting for it all the time: then something keeps them apart.
        Otherwise its job was cancelled, or another runner took it."""
        if self._waiting is None:
            self._waiting = store.demand.oldest_pending(context.database)
        since = self._waiting.get(worker.demand)
        return since is not None and since <= worker.created_at

    def runner_of_stray(self, worker: Worker | None, pod: Pod) -> RunnerView:
        """Of a pod without an active row. Without any row its scope is not known, and it is
        absent only if no scope that is known lists it."""
        if worker is not None:
            return self.runners.view(worker.scope, pod.name)
        return self.runners.view_anywhere(pod.name)


def observe(context: Context, outcome: Outcome) -> Fleet:
    now = context.now()
    pods = _ours(context, outcome)
    workers = store.workers.load(context.database, list(pods or ()))
    fleet = Fleet(
        now=now,
        active={each.pod_name: each for each in workers if each.status.active},
        ended={each.pod_name: each for each in workers if not each.status.active},
        pods=pods,
        unreachable=_unreachable(context, outcome),
        runners=Runners.load(context, now),
        ledger=Ledger(store.demand.load_trouble(context.database)),
    )
    fleet.ledger.note_success(fleet.active.values())
    _look_where_it_matters(context, fleet, outcome)
    context.busy_without_job = _busy_without_job(fleet)
    return fleet


def _busy_without_job(fleet: Fleet) -> dict[str, DemandKey]:
    """Those that were busy before this run already, and no job says that it is theirs."""
    return {
        name: worker.demand
        for name in fleet.runners.busy_for_long()
        if (worker := fleet.active.get(name)) is not None and worker.job_status is None
    }


def _look_where_it_matters(context: Context, fleet: Fleet, outcome: Outcome) -> None:
    if fleet.pods is None:
        return
    scopes = {
        worker.scope
        for worker in fleet.active.values()
        if needs_runner(
            worker,
            pod := fleet.pods.get(worker.pod_name),
            node_unreachable=fleet.is_stranded(pod),
            now=fleet.now,
            limits=context.settings.timeouts,
        )
    }
    for name, pod in fleet.pods.items():
        if name not in fleet.active and not pod.terminal:
            known = fleet.ended.get(name)
            scopes |= {known.scope} if known else set(fleet.runners.scopes())
    fleet.runners.look(context, scopes, outcome)


def _ours(context: Context, outcome: Outcome) -> dict[str, Pod] | None:
    try:
        pods = context.view.pods()
    except OUTSIDE_ERRORS as error:
        outcome.problem(f"pods are unknown: {error}")
        log.emit("pods_unknown", error=str(error))
        return None
    return {pod.name: pod for pod in pods if context.identity.owns(pod.name)}


def _unreachable(context: Context, outcome: Outcome) -> frozenset[str]:
    try:
        nodes = context.view.nodes()
    except OUTSIDE_ERRORS as error:
        outcome.problem(f"nodes are unknown: {error}")
        log.emit("nodes_unknown", error=str(error))
        return frozenset()
    return frozenset(node.name for node in nodes if node.unreachable)
