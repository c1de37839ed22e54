"""The record that each run leaves."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from .database import Database, as_json


@dataclass(frozen=True, slots=True)
class PhaseRecord:
    phase: str
    success: bool
    message: str
    impact: str | None
    error: str | None
    elapsed_seconds: float


@dataclass(frozen=True, slots=True)
class Totals:
    jobs_checked: int
    jobs_updated: int
    workers_checked: int
    workers_failed: int
    workers_provisioned: int
    objects_published: int


def start(database: Database, now: datetime) -> int:
    [run_id] = database.fetch("start_run", {"now": now}, int)
    return run_id


def forget(database: Database, now: datetime) -> None:
    """What was kept for later runs and is of no use to them any more."""
    database.execute("forget", {"now": now})


def finish(
    database: Database,
    run_id: int,
    status: str,
    error: str | None,
    phases: Sequence[PhaseRecord],
    totals: Totals,
    now: datetime,
) -> None:
    database.execute(
        "finish_run",
        {
            "run_id": run_id,
            "status": status,
            "error": error,
            "phases": as_json([asdict(phase) for phase in phases]),
            "now": now,
            **asdict(totals),
        },
    )
