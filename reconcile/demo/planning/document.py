"""What `--json` prints."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ...settings import Scheduling
from ..figures import Waits
from .comparison import Comparison
from .files import Loaded

STEPS = 200

Json = dict[str, Any]


def document(comparison: Comparison, loaded: Loaded) -> Json:
    """Times are ISO 8601 in UTC, durations seconds, uses parts of one."""
    return {
        "status": "completed",
        "jobs": len(comparison.jobs),
        "left_out": dict(loaded.left_out),
        "supposed": loaded.supposed,
        "boards": dict(comparison.boards),
        "start": comparison.start.isoformat(),
        "end": comparison.end.isoformat(),
        "orders": {str(order): _order(comparison, order) for order in comparison.planned},
        "accounts": [
            {"name": each.name, "jobs": each.jobs, "waits": _by_order(each.waits)}
            for each in comparison.accounts()
        ],
    }


def _order(comparison: Comparison, order: Scheduling) -> Json:
    planned = comparison.planned[order]
    return {
        "waits": _waits(comparison.waits(order)),
        "never_started": planned.never_started,
        "uses": {pool: round(use, 4) for pool, use in planned.uses.items()},
        "over_time": [
            {
                "at": each.at.isoformat(timespec="seconds"),
                "waiting": each.waiting,
                "busy": each.busy,
            }
            for each in comparison.steps(order, STEPS)
        ],
    }


def _by_order(waits: Mapping[Scheduling, Waits | None]) -> Json:
    return {str(order): _waits(each) for order, each in waits.items()}


def _waits(waits: Waits | None) -> Json | None:
    if waits is None:
        return None
    return {
        name: round(value, 3) if isinstance(value, float) else value
        for name, value in asdict(waits).items()
    }
