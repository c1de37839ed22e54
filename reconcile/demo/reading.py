"""What the demo's database says: of the fleet now, of what happened, and of all of it at the end.

Every method raises AwayError if the database is away, and the next one connects anew.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from . import system_lines
from .database_link import AwayError, DatabaseLink
from .figures import Fleet, Happening, PoolNow, PoolUse, RunNow, RunTimes, Summary, TenantNow, Waits
from .system_lines import FailedWorker, GivenUpJob, HeldDemand, Streaks, TroubledRun

__all__ = ["AwayError", "Marker", "PlanningJob", "Reading"]

R = TypeVar("R")
HAPPENINGS_AT_ONCE = 20
ROWS_AT_ONCE = 2000  # If more happened since the last look, nobody could read it.
NEW = "new"  # waits for the next run, which has yet to look at it


@dataclass(frozen=True, slots=True)
class Marker:
    """How far it was told what happened."""

    transaction: int = 0  # Whatever was written by an older one was seen.
    told: frozenset[tuple[object, ...]] = frozenset()
    streaks: Streaks = field(default_factory=dict)
    redeliveries: int = 0


class PlanningJob(NamedTuple):
    """A job as the capacity planner needs it."""

    entity: str
    repository: str | None  # of a personal account only
    labels: tuple[str, ...]
    pool: str
    created_at: datetime
    seconds: float | None  # None if it was not started, or is not over


class Reading:
    """Not for more than one thread."""

    def __init__(self, link: DatabaseLink) -> None:
        self._link = link

    @classmethod
    def connect(cls, url: str, schema: str = "prod") -> Self:
        """Nothing is asked yet: the database may be away."""
        return cls(DatabaseLink(url, schema))

    def close(self) -> None:
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # While it runs -----------------------------------------------------------------------------

    def fleet(self, now: datetime) -> Fleet:
        runs = self._rows("last_run", RunNow)
        [(count,)] = self._link.rows("count_runs")
        return Fleet(
            pools=self._rows("boards", PoolNow),
            tenants=self._tenants(now),
            run=runs[0] if runs else None,
            runs=count,
        )

    def oldest_waiting(self) -> int | None:
        """The job that waits longest."""
        return next((job_id for (job_id,) in self._link.rows("oldest_waiting")), None)

    def _tenants(self, now: datetime) -> list[TenantNow]:
        held_up_by: dict[int, str] = dict(self._link.rows("demand_waits"))
        ended = {key: (name, count) for key, name, count in self._link.rows("ended_jobs")}
        tenants = []
        for key, name, waiting, running, oldest in self._link.rows("live_jobs", now=now):
            _, over = ended.pop(key, (name, 0))
            if waiting:
                waits_for = held_up_by.get(key, NEW)
                tenants.append(TenantNow(name, waiting, running, over, oldest, waits_for))
            else:
                tenants.append(TenantNow(name, waiting, running, over, None, None))
        tenants += [TenantNow(name, 0, 0, over, None, None) for name, over in ended.values()]
        return sorted(tenants, key=lambda t: (-t.waiting - t.running, -t.ended, t.name))

    def happenings_since(self, marker: Marker | None) -> tuple[list[Happening], Marker]:
        """What the system met, and did about it, since the marker was given; None: since the
        beginning. The newest last, and if there is too much of it, without the oldest."""
        before = marker or Marker()
        [(transaction,)] = self._link.rows("oldest_open_transaction")
        look = _Look(self._link, before)
        workers = look.rows("failed_workers", FailedWorker, lambda row: row.pod)
        jobs = look.rows("given_up_jobs", GivenUpJob, lambda row: row.job_id)
        runs = look.rows("troubled_runs", TroubledRun, lambda row: row.number)
        held = look.rows("held_demand", HeldDemand, lambda row: row.key)
        [(asked, asked_at)] = self._link.rows("redeliveries")
        of_runs, streaks = system_lines.of_runs(runs, before.streaks)
        happenings = [
            *system_lines.of_workers(workers),
            *system_lines.of_jobs(jobs),
            *system_lines.of_demand(held),
            *system_lines.of_redeliveries(asked - before.redeliveries, asked_at),
            *of_runs,
        ]
        happenings.sort(key=lambda each: each.at)
        told = before.told | look.found if look.found else before.told
        return happenings[-HAPPENINGS_AT_ONCE:], Marker(transaction, told, streaks, asked)

    # At the end --------------------------------------------------------------------------------

    def summary(
        self, scenario: str, seed: int, order: str, begin: datetime, end: datetime, speed: float
    ) -> Summary:
        """As far as the database knows it."""
        return Summary(
            scenario=scenario,
            seed=seed,
            order=order,
            seconds=(end - begin).total_seconds(),
            jobs=self.jobs(),
            workers=self.workers(),
            waits=self.waits(),
            tenants=self.tenant_waits(),
            pools=self.pool_use(begin, end),
            runs=self.run_times(speed),
            webhooks=self.webhooks(),
        )

    def jobs(self) -> dict[str, int]:
        """By conclusion, and those without one by status; `failed` ones were given up."""
        return dict(self._link.rows("job_outcomes"))

    def workers(self) -> dict[str, int]:
        return dict(self._link.rows("worker_outcomes"))

    def waits(self, beside: Iterable[str] = ()) -> Waits | None:
        """Of all accounts beside those; None if no job of them was started."""
        return self._waits(beside).get(None)

    def tenant_waits(self) -> dict[str, Waits]:
        """The most jobs first."""
        return {name: waits for name, waits in self._waits(()).items() if name is not None}

    def _waits(self, beside: Iterable[str]) -> dict[str | None, Waits]:
        rows = self._link.rows("waits", beside=list(beside))
        return {name: Waits(jobs, *seconds) for name, jobs, seconds in rows}

    def pool_use(self, begin: datetime, end: datetime) -> list[PoolUse]:
        span = (end - begin).total_seconds()
        return [
            PoolUse(pool, slots, min(1.0, used / (slots * span)) if slots and span > 0 else 0.0)
            for pool, slots, used in self._link.rows("pool_use", begin=begin, end=end)
        ]

    def run_times(self, speed: float) -> RunTimes | None:
        """The world's clock runs so many times as fast as ours. None if no run has ended."""
        rows = self._link.rows("run_times")
        if not rows:
            return None
        (_, _, (p50, p95)), *by_status = rows
        counts = {status: count for status, count, _ in by_status}
        return RunTimes(counts, p50 / speed, p95 / speed)

    def webhooks(self) -> int:
        [(count,)] = self._link.rows("count_webhooks")
        return int(count)

    def jobs_for_planning(self) -> list[PlanningJob]:
        """The oldest first."""
        return [
            PlanningJob(entity, repository, tuple(labels), pool, created_at, seconds)
            for entity, repository, labels, pool, created_at, seconds in self._link.rows(
                "jobs_for_planning"
            )
        ]

    def worker_states(self) -> dict[str, str]:
        """Of all there ever were, by their pod."""
        return dict(self._link.rows("worker_states"))

    def job_states(self) -> dict[int, tuple[str, str | None]]:
        """Status and conclusion of all there ever were."""
        return {
            job_id: (status, conclusion)
            for job_id, status, conclusion in self._link.rows("job_states")
        }

    def export(self, directory: Path) -> list[Path]:
        """Every table as a CSV file, all of one moment, without tokens. Raises OSError if it
        cannot be written."""
        directory.mkdir(parents=True, exist_ok=True)
        written = []
        with self._link.one_moment():
            for table, columns, keys in self._link.rows("tables", schema=self._link.schema):
                path = directory / f"{table}.csv"
                with path.open("wb") as file:
                    file.writelines(self._link.copy(table, columns, keys))
                written.append(path)
        return written

    def _rows(self, query: str, make: Callable[..., R]) -> list[R]:
        return [make(*row) for row in self._link.rows(query)]


class _Look:
    """At the rows that were written since the last one, but for those that were told."""

    def __init__(self, link: DatabaseLink, before: Marker) -> None:
        self._link = link
        self._before = before
        self.found: set[tuple[object, ...]] = set()

    def rows(self, query: str, make: Callable[..., R], key: Callable[[R], object]) -> list[R]:
        rows: list[R] = []
        for columns in self._link.rows(query, since=self._before.transaction, limit=ROWS_AT_ONCE):
            row = make(*columns)
            name = (query, key(row))
            if name not in self._before.told:
                self.found.add(name)
                rows.append(row)
        return rows
