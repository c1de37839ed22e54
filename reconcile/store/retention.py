"""What is over and old: found without looking at what is not, and removed a part at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..policy.retention import CutOffs
from .database import Database, joined


@dataclass(frozen=True, slots=True)
class OldRows:
    """Of each table those that are to go, by their keys."""

    events: Sequence[int]
    jobs: Sequence[int]
    workers: Sequence[str]
    runs: Sequence[int]

    def __bool__(self) -> bool:
        return any((self.events, self.jobs, self.workers, self.runs))

    def counts(self) -> dict[str, int]:
        return {
            "events": len(self.events),
            "jobs": len(self.jobs),
            "workers": len(self.workers),
            "runs": len(self.runs),
        }


def find(
    database: Database, first_kept: CutOffs, *, pods: Sequence[str], workers: bool, batch: int
) -> OldRows:
    """Changes nothing. `pods` are those whose workers stay, if workers are looked at at all."""
    parameters: dict[str, Any] = {
        "events": first_kept.events,
        "history": first_kept.history,
        "workers": first_kept.history if workers else None,
        "runs": first_kept.runs,
        "pods": joined(pods),
        "batch": batch,
    }
    [found] = database.fetch("old_rows", parameters, OldRows)
    return found


def remove(database: Database, old: OldRows, first_kept: CutOffs) -> dict[str, int]:
    """How many of each went. Those that somebody changes or holds at this moment stay."""
    parameters: dict[str, Any] = {
        "events": list(old.events),
        "jobs": list(old.jobs),
        "workers": joined(old.workers),
        "runs": list(old.runs),
        "history": first_kept.history,
    }
    [removed] = database.fetch("remove_old_rows", parameters, _counts)
    return removed


def _counts(events: int, jobs: int, workers: int, runs: int) -> dict[str, int]:
    return {"events": events, "jobs": jobs, "workers": workers, "runs": runs}
