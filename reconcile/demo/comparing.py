"""What the order is worth: the same jobs by the planner, in another order and without the flood."""

import statistics
from dataclasses import replace

from ..settings import Scheduling, Settings
from . import fleet
from .figures import Comparison, Waits
from .planning.engine import simulate
from .planning.load import LoadJob
from .planning.waits import waits_of
from .reading import PlanningJob, Reading
from .stage import Options

# An account with a matrix of its own waits for itself, flood or not.
SMALL = {tenant.login for tenant in fleet.TENANTS if tenant.small}


def compare(reading: Reading, options: Options) -> Comparison | None:
    """None if there is nothing to compare: no job of a small account was started."""
    measured = reading.waits(beside=[each.login for each in fleet.TENANTS if not each.small])
    if measured is None:
        return None
    jobs = _with_lengths(reading.jobs_for_planning())
    without = [job for job in jobs if job.entity != fleet.FLOODING]
    planned = {
        "fair, planned": _planned(jobs, Scheduling.FAIR),
        "fifo, planned": _planned(jobs, Scheduling.FIFO),
        f"without {fleet.FLOODING}, planned": _planned(without, Scheduling(options.order)),
    }
    return Comparison(
        of=f"{len(SMALL)} small accounts",
        measured=measured,
        planned={name: waits for name, waits in planned.items() if waits is not None},
    )


def _planned(jobs: list[LoadJob], scheduling: Scheduling) -> Waits | None:
    """Of the jobs of small accounts."""
    most = max(pool.boards for pool in fleet.POOLS)
    settings = replace(Settings(), scheduling=scheduling, default_max_workers=most)
    boards = {pool.name: pool.boards for pool in fleet.POOLS}
    planned = simulate(jobs, boards, settings)
    return waits_of(
        wait for job, wait in zip(jobs, planned.waits, strict=True) if job.entity in SMALL
    )


def _with_lengths(jobs: list[PlanningJob]) -> list[LoadJob]:
    """A job that was cancelled before it began would have taken as long as others usually do."""
    known = [job.seconds for job in jobs if job.seconds is not None]
    usual = statistics.median(known) if known else 0.0
    return [
        LoadJob(
            job.entity,
            job.repository,
            job.labels,
            job.pool,
            job.created_at,
            usual if job.seconds is None else job.seconds,
        )
        for job in jobs
    ]
