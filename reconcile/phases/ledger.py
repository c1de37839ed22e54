"""The books of failing demand: which attempts failed, which worked, what to try again when."""

from collections.abc import Iterable
from datetime import datetime

from .. import store
from ..model import DemandKey, Reason, Scope, Status, Worker
from ..policy.back_off import Trouble, after_failure, counts
from .context import Context


class Ledger:
    def __init__(self, trouble: dict[DemandKey, Trouble]) -> None:
        self._trouble = trouble
        self._changed: set[DemandKey] = set()
        self._over: set[DemandKey] = set()
        self._scopes: set[Scope] = set()

    def note_success(self, workers: Iterable[Worker]) -> None:
        """A worker that took a job after the last failure ends the row of failures."""
        for worker in workers:
            trouble = self._trouble.get(worker.demand)
            if (
                trouble is not None
                and worker.job_status in (Status.RUNNING, Status.COMPLETED)
                and worker.job_started_at is not None
                and worker.job_started_at > trouble.failed_at
            ):
                self._over.add(worker.demand)
                del self._trouble[worker.demand]

    def note_failure(
        self,
        context: Context,
        worker: Worker,
        reason: Reason,
        now: datetime,
        *,
        outage: bool = False,
    ) -> None:
        """`outage`: it was the outside that failed, for everybody."""
        self._scopes.add(worker.scope)
        before = self._trouble.get(worker.demand)
        if counts(worker, reason, before):
            self._trouble[worker.demand] = after_failure(
                before, reason, now, context.settings.back_off, context.roll, outage=outage
            )
            self._changed.add(worker.demand)
            self._over.discard(worker.demand)

    def save(self, context: Context) -> None:
        """Inside the transaction that fails the workers. Their registrations may be left over."""
        database = context.database
        if self._changed:
            store.demand.save_trouble(database, {key: self._trouble[key] for key in self._changed})
        if self._over:
            store.demand.forget_trouble(database, self._over)
        if self._scopes:
            store.github.make_sweep_due(database, self._scopes)
        self._changed, self._over, self._scopes = set(), set(), set()

    @property
    def trouble(self) -> dict[DemandKey, Trouble]:
        return dict(self._trouble)

    @property
    def scopes_of_failures(self) -> set[Scope]:
        return set(self._scopes)
