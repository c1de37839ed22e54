"""What is live: jobs and workers by account and labels, and what the waiting ones wait for."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..model import Group, Usage, WaitCount
from ..rows import JobRow, Live, LiveCount, WaitRow, WorkerCount, WorkerRow
from .lists import job, labels, worker
from .waits import A_RUNNER, NOT_PLANNED, Waits, wait_of

# What a page has room for. The rest is told by its number.
GROUPS = 100
JOBS_OF_GROUP = 25
WORKERS_OF_GROUP = 50
WORKERS = 2_000

Key = tuple[int, str]  # entity and labels


@dataclass(slots=True)
class _Gathered:
    counts: list[LiveCount] = field(default_factory=list)
    workers: WorkerCount | None = None
    jobs: list[JobRow] = field(default_factory=list)
    worker_rows: list[WorkerRow] = field(default_factory=list)
    waits: list[WaitRow] = field(default_factory=list)

    @property
    def pending(self) -> int:
        return sum(each.pending for each in self.counts)

    @property
    def running(self) -> int:
        return sum(each.running for each in self.counts)

    @property
    def worker_count(self) -> int:
        return self.workers.pending + self.workers.running if self.workers else 0

    @property
    def entity(self) -> str:
        """Of one that was renamed the same each time: rows come in no order."""
        names = [each.entity_name for each in (*self.counts, self.workers) if each is not None]
        return max(names)


def usage(live: Live, waits: Waits) -> Usage:
    gathered: defaultdict[Key, _Gathered] = defaultdict(_Gathered)
    for count in live.job_counts:
        gathered[count.entity_id, count.labels].counts.append(count)
    for workers in live.worker_counts:
        gathered[workers.entity_id, workers.labels].workers = workers
    for row in live.jobs:
        gathered[row.entity_id, row.labels].jobs.append(row)
    for worker_row in live.workers:
        gathered[worker_row.entity_id, worker_row.labels].worker_rows.append(worker_row)
    for wait in live.waits:
        if (wait.entity_id, wait.labels) in gathered:
            gathered[wait.entity_id, wait.labels].waits.append(wait)
    groups = [
        (key, each) for key, each in gathered.items() if each.counts or each.workers is not None
    ]
    groups.sort(key=_busiest_first)
    return {
        "pending": sum(each.pending for each in live.job_counts),
        "running": sum(each.running for each in live.job_counts),
        "workers": sum(each.pending + each.running for each in live.worker_counts),
        "groups": [_group(key, each, waits) for key, each in groups[:GROUPS]],
        "more_groups": max(0, len(groups) - GROUPS),
    }


def _busiest_first(group: tuple[Key, _Gathered]) -> tuple[int, int, str, Key]:
    key, each = group
    return -(each.pending + each.running), -each.worker_count, each.entity.casefold(), key


def _group(key: Key, gathered: _Gathered, waits: Waits) -> Group:
    entity_id, label_text = key
    shown = gathered.worker_rows[:WORKERS_OF_GROUP]
    pools = {each.pool for each in gathered.counts} | {each.pool for each in gathered.worker_rows}
    return {
        "entity": gathered.entity,
        "labels": labels(label_text),
        "pools": sorted(pools),
        "pending": gathered.pending,
        "running": gathered.running,
        "workers_pending": gathered.workers.pending if gathered.workers else 0,
        "workers_running": gathered.workers.running if gathered.workers else 0,
        "waits": wait_counts(entity_id, gathered.entity, gathered.counts, gathered.waits, waits),
        "jobs": [job(row, waits) for row in gathered.jobs],
        "more_jobs": max(0, gathered.pending + gathered.running - len(gathered.jobs)),
        "workers": [worker(row) for row in shown],
        "more_workers": max(0, gathered.worker_count - len(shown)),
    }


def wait_counts(
    entity_id: int,
    entity: str,
    counts: Sequence[LiveCount],
    planned: Iterable[WaitRow],
    waits: Waits,
) -> list[WaitCount]:
    """How many of the group wait for what: as planned, corrected by what came and went since. Those
    with a runner on its way are the likeliest to have begun."""
    left = {each.pool: each.pending for each in counts}
    found: list[WaitCount] = []
    for row in sorted(planned, key=lambda row: (row.pool, row.repo_full_name)):
        others = min(left.get(row.pool, 0), max(0, row.pending - row.covered))
        covered = min(left.get(row.pool, 0) - others, row.covered)
        for count, wait in ((covered, A_RUNNER), (others, wait_of(row))):
            if count > 0:
                told = waits.told(wait, entity_id, entity, row.pool)
                found.append({"count": count, "waiting": told})
                left[row.pool] -= count
    for pool, count in sorted(left.items()):
        if count > 0:
            told = waits.told(NOT_PLANNED, entity_id, entity, pool)
            found.append({"count": count, "waiting": told})
    return _merged(found)


def _merged(counts: Iterable[WaitCount]) -> list[WaitCount]:
    """A personal account has a demand for each repository: what reads the same is told once."""
    merged: dict[tuple[str, str, str | None], WaitCount] = {}
    for each in counts:
        waiting = each["waiting"]
        key = waiting["reason"], waiting["words"], waiting["until"]
        if key in merged:
            merged[key]["count"] += each["count"]
        else:
            merged[key] = {"count": each["count"], "waiting": waiting}
    return sorted(merged.values(), key=lambda each: -each["count"])
