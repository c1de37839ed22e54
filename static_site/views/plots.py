"""The charts of the overview: their shapes, and the same in words."""

from collections.abc import Sequence
from typing import Any

from .. import charts
from ..formats import clock, duration
from ..model import Day, Hour

ENDS = ("succeeded", "failed", "cancelled")  # the kinds of a stacked bar, from the bottom


def hour_marks(labels: Sequence[str], every: int) -> list[tuple[float, str]]:
    """Labels under the axis. Not all fit on a phone."""
    marked = enumerate(labels)
    return [(charts.centre(i, len(labels)), text) for i, text in marked if i % every == 0]


def wait_chart(hours: Sequence[Hour]) -> dict[str, Any] | None:
    p50 = [hour["wait_p50"] for hour in hours]
    p95 = [hour["wait_p95"] for hour in hours]
    known = [value for value in (*p50, *p95) if value is not None]
    if not known:
        return None
    scale = charts.duration_scale(max(known))
    top = scale[-1]
    labels = [clock(hour["at"])[:5] for hour in hours]
    longest = max(range(len(hours)), key=lambda index: p95[index] or 0)
    return {
        "ticks": charts.ticks(scale, durations=True),
        "marks": hour_marks(labels, 4),
        "p50": charts.line(p50, top),
        "p95": charts.line(p95, top),
        "dots": charts.dots(p95, top) + charts.dots(p50, top),
        "band": charts.band(p50, p95, top),
        "words": f"In the hour from {labels[longest]} the 95th percentile was at its highest, "
        f"{duration(p95[longest])}.",
        "points": [
            {
                "label": label,
                "x": round(100 * index / len(hours), 2),
                "width": round(100 / len(hours), 2),
                "p50": duration(hour["wait_p50"]),
                "p95": duration(hour["wait_p95"]),
                "started": hour["started"],
            }
            for index, (label, hour) in enumerate(zip(labels, hours, strict=True))
        ],
    }


def throughput_chart(periods: Sequence[tuple[str, Hour | Day]]) -> dict[str, Any] | None:
    values = [(each["succeeded"], each["failed"], each["cancelled"]) for _, each in periods]
    totals = [sum(row) for row in values]
    if not any(totals):
        return None
    scale = charts.count_scale(max(totals))
    labels = [label for label, _ in periods]
    sums = [sum(row[kind] for row in values) for kind in range(len(ENDS))]
    told = zip(sums, ENDS, strict=True)
    return {
        "ticks": charts.ticks(scale),
        "marks": hour_marks(labels, 4 if len(labels) > 12 else 1),
        "words": ", ".join(f"{total:,} {kind}" for total, kind in told) + ".",
        "bars": [
            {"label": label, "shape": shape, "values": row}
            for label, shape, row in zip(
                labels, charts.stacked(values, scale[-1]), values, strict=True
            )
        ],
    }
