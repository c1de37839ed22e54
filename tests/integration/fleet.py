"""Rows as the webhook function and runs leave them, written by their own statements and roles."""

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from reconcile import store
from reconcile.github.state import Credential
from reconcile.model import ORGANIZATION, Boards, DemandKey, Failure, Reason, Scope, Status, Worker
from reconcile.policy.back_off import Trouble
from reconcile.settings import RunLimits, Scheduling
from reconcile.store import figures, listening
from reconcile.store.figures import Figures
from reconcile.store.runs import Totals
from tests.database import Database
from webhook_fn import job as delivered
from webhook_fn.routes import Route
from webhook_fn.store import Store

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
UBUNTU, LARGE = ("ubuntu-24.04-riscv",), ("large", "ubuntu-24.04-riscv")
TENANT = "riseproject"
POOL = "scw-em-rv1"


def ago(seconds: float = 0, *, hours: float = 0) -> datetime:
    return NOW - timedelta(seconds=seconds, hours=hours)


class Fleet:
    def __init__(self, function: Store, run: store.Database) -> None:
        self._function, self._run = function, run
        self._number = itertools.count(1)

    # What webhooks tell --------------------------------------------------------------------------

    def job(
        self,
        *,
        tenant: str = TENANT,
        labels: Sequence[str] = UBUNTU,
        pool: str = POOL,
        created: datetime = NOW,
        queued: datetime | None = None,
        started: datetime | None = None,
        completed: datetime | None = None,
        conclusion: str | None = "success",
    ) -> int:
        """As it stands after the deliveries that tell this; its number. Without a start it was
        cancelled in the queue, if it ended."""
        number = next(self._number)
        stages = [(delivered.Status.PENDING, created)]
        if started is not None:
            stages.append((delivered.Status.RUNNING, started))
        if completed is not None:
            stages.append((delivered.Status.COMPLETED, completed))
        for status, at in stages:
            finished = status is delivered.Status.COMPLETED
            taken = started is not None and status is not delivered.Status.PENDING
            job = delivered.Job(
                job_id=number,
                entity=delivered.Entity(1, tenant, ORGANIZATION),
                repo_full_name=f"{tenant}/firmware",
                repo_private=False,
                installation_id=11,
                labels=tuple(labels),
                run_id=number,
                run_attempt=1,
                job_name="build",
                workflow_name="ci",
                html_url=None,
                queued_at=queued,
                sender_id=None,
                sender_name=None,
                status=status,
                runner_name=f"runner-{number}" if taken else None,
                started_at=started if taken else None,
                completed_at=completed if finished else None,
                conclusion=conclusion if finished else None,
                steps=None,
            )
            if status is delivered.Status.PENDING:
                assert self._function.insert_job(job, Route(tuple(labels), pool, "image"), at)
            else:
                self._function.advance_job(job, at)
        return number

    # What runs do --------------------------------------------------------------------------------

    def give_up(self, job: int) -> None:
        """On a job that GitHub knows nothing of."""
        self._run.execute(
            "fail_jobs",
            {
                "job_ids": [job],
                "expected": ["pending", "running"],
                "failure_info": store.database.as_json({"version": 2, "reason": "job_gone"}),
                "now": NOW,
            },
        )

    def worker(
        self,
        *,
        pool: str = POOL,
        created: datetime = NOW,
        running: datetime | None = None,
        completed: datetime | None = None,
        failed: datetime | None = None,
        reason: Reason = Reason.POD_FAILED,
    ) -> str:
        """Its name."""
        name = f"runner-{next(self._number)}"
        scope = Scope(11, 1, TENANT, ORGANIZATION)
        worker = Worker(
            name, scope, UBUNTU, pool, "image", None, Status.PENDING, created, None, None
        )
        assert store.workers.reserve(self._run, [worker], created) == {name}
        if running is not None:
            rows = [{"pod_name": name, "node": "n1", "running_at": running}]
            self._run.execute(
                "mark_workers_running",
                {"workers": store.database.as_json(rows), "now": running},
            )
        if completed is not None:
            store.workers.complete(self._run, [(name, None)], completed)
        if failed is not None:
            store.workers.fail(self._run, Failure(worker, reason, "It failed."), None, failed)
        return name

    def run(
        self,
        status: str,
        started: datetime,
        completed: datetime,
        boards: Sequence[Boards] | None = None,
    ) -> None:
        number = store.runs.start(self._run, started)
        totals = Totals(0, 0, 0, 0, 0, 0)
        store.runs.finish(self._run, number, status, None, [], totals, completed)
        if boards is not None:
            store.demand.save_plan(self._run, [], boards, Scheduling.FIFO, completed)

    def begin_run(self, started: datetime) -> None:
        store.runs.start(self._run, started)

    def trouble(
        self, entity: int, failures: int, retry_at: datetime, *, parked: bool = False
    ) -> None:
        trouble = Trouble(failures, Reason.POD_FAILED, ago(60), retry_at, parked)
        store.demand.save_trouble(self._run, {DemandKey(entity, "", UBUNTU): trouble})

    def credential(self, credential: Credential) -> None:
        store.github.save_credentials(self._run, [credential], [], NOW)


@contextlib.contextmanager
def fleet(database: Database, schema: str = "prod") -> Iterator[Fleet]:
    function = Store(database.role_url(f"{schema}_webhook_fn"), schema, 3)
    try:
        with store.connect(database.role_url(f"{schema}_reconcile"), schema, RunLimits()) as run:
            yield Fleet(function, run)
    finally:
        function.close()


class Read(Protocol):
    def __call__(self, now: datetime = ..., since: datetime | None = ...) -> Figures: ...


@contextlib.contextmanager
def reading(database: Database) -> Iterator[Read]:
    """In a session that listens: it can change nothing, and has the run's role."""
    with listening.listen(database.role_url("prod_reconcile"), "prod") as session:

        def read(now: datetime = NOW, since: datetime | None = None) -> Figures:
            return figures.read(session.database, now, since)

        yield read
