"""The heat map: accounts and hours. A cell tells both how long jobs waited and how many failed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import charts
from ..formats import clock, day, duration, percent, search_address, short_duration
from ..model import Cell, Hour, Span, Tenant


class Spot(NamedTuple):
    """A cell of the heat map: its upper half tells waits, its lower half failures."""

    wait: str
    wait_level: int | None
    failures: str
    failure_level: int | None
    words: str


def spot(when: str, cell: Cell) -> Spot:
    ended, failed, wait = cell["ended"], cell["failed"], cell["wait_p95"]
    waited = "nothing began" if wait is None else f"wait p95 {duration(wait)}"
    failures = f"{failed} of {ended} failed" if ended else "nothing ended"
    return Spot(
        short_duration(wait),
        charts.wait_level(wait),
        percent(failed, ended),
        charts.failure_level(failed, ended),
        f"{when}: {waited}, {failures}",
    )


def cell_of(whole: Tenant) -> Cell:
    return {"ended": whole["ended"], "failed": whole["failed"], "wait_p95": whole["wait_p95"]}


def heat_map(
    hours: Sequence[Hour], whole: Span, tenants: Sequence[Tenant]
) -> dict[str, Any] | None:
    if not tenants:
        return None
    times = [clock(hour["at"])[:5] for hour in hours]
    everybody: list[Cell] = [
        {
            "ended": hour["succeeded"] + hour["failed"] + hour["cancelled"],
            "failed": hour["failed"],
            "wait_p95": hour["wait_p95"],
        }
        for hour in hours
    ]
    return {
        "columns": [
            {"hour": time[:2], "time": time, "day": day(hour["at"])}
            for time, hour in zip(times, hours, strict=True)
        ],
        "everybody": [spot(time, cell) for time, cell in zip(times, everybody, strict=True)],
        "everybody_whole": spot(
            "the last day",
            {
                "ended": whole["completed"],
                "failed": whole["failed"],
                "wait_p95": whole["wait_p95"],
            },
        ),
        "rows": [
            {
                "entity": tenant["entity"],
                "address": search_address("jobs", entity=tenant["entity"]),
                "whole": spot("the last day", cell_of(tenant)),
                "spots": [spot(t, c) for t, c in zip(times, tenant["hours"], strict=True)],
            }
            for tenant in tenants
        ],
    }


def legend() -> dict[str, list[str]]:
    """What each level means, from the same limits that cells are judged by."""
    waits = [short_duration(limit) for limit in charts.WAIT_LEVELS]
    shares = [f"{limit}%" for limit in charts.FAILURE_LEVELS]
    return {
        "wait": [*(f"< {limit}" for limit in waits), f"≥ {waits[-1]}"],
        "failures": ["none", *(f"< {limit}" for limit in shares), f"≥ {shares[-1]}"],
    }
