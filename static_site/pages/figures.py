"""Figures of the last day and week, folded from what the statements counted."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from .. import words
from ..model import Cell, Day, Figures, Hour, LabelWaits, Reasons, Span, Tenant
from ..rows import Ended, FigureRows, HourWaits, ReasonCount, SpanWaits, TenantEnds
from .lists import labels

EVERY = timedelta(minutes=5)
HOURS = 24
DAYS = 7
LABEL_SETS = 20
TENANTS = 20
SUCCESSES = frozenset({"success", "neutral"})
FAILURES = ("failure", "timed_out", "startup_failure", "action_required")


def moment_of(now: datetime) -> datetime:
    """Figures are of every fifth minute: between two of them nothing changes."""
    seconds = int(now.timestamp()) // int(EVERY.total_seconds()) * int(EVERY.total_seconds())
    return datetime.fromtimestamp(seconds, UTC)


def first_hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS - 1)


def figures(rows: FigureRows, at: datetime) -> Figures:
    hours = [first_hour(at) + timedelta(hours=number) for number in range(HOURS)]
    tenants = _tenants(rows, hours)
    return {
        "at": words.stamp(at),
        "day": _span(rows, day=True),
        "week": _span(rows, day=False),
        "hours": _hours(hours, rows.hours, rows.ended),
        "days": _days(at, rows.ended),
        "tenants": tenants,
        "more_tenants": max(0, rows.tenants[0].tenants - len(tenants)) if rows.tenants else 0,
    }


def usual_seconds(ended: Iterable[Ended]) -> dict[str, float]:
    """What a job of each pool takes."""
    seconds: defaultdict[str, float] = defaultdict(float)
    timed: Counter[str] = Counter()
    for row in ended:
        seconds[row.pool] += row.seconds
        timed[row.pool] += row.timed
    return {pool: round(seconds[pool] / count, 1) for pool, count in timed.items() if count}


def outcome(conclusion: str) -> str:
    if conclusion in SUCCESSES:
        return "succeeded"
    return "failed" if conclusion in FAILURES else "cancelled"


# Spans -----------------------------------------------------------------------------------------


def _span(rows: FigureRows, *, day: bool) -> Span:
    ended: Counter[str] = Counter()
    for row in rows.ended:
        ended[outcome(row.conclusion)] += row.in_day if day else row.jobs
    waited = [_waits(row, day=day) for row in rows.waits]
    of_all = next(
        (each for row, each in zip(rows.waits, waited, strict=True) if row.labels is None), None
    )
    return {
        "started": of_all["started"] if of_all else 0,
        "wait_p50": of_all["wait_p50"] if of_all else None,
        "wait_p95": of_all["wait_p95"] if of_all else None,
        "by_labels": [
            each
            for row, each in zip(rows.waits, waited, strict=True)
            if row.labels is not None and each["started"]
        ],
        "completed": ended.total(),
        "succeeded": ended["succeeded"],
        "failed": ended["failed"],
        "cancelled": ended["cancelled"],
        "given_up": sum(row.in_day if day else row.in_week for row in rows.given_up),
        "job_reasons": _reasons(rows.given_up, day=day, of_jobs=True),
        "worker_reasons": _reasons(rows.failed_workers, day=day, of_jobs=False),
    }


def _waits(row: SpanWaits, *, day: bool) -> LabelWaits:
    quantiles = row.day_quantiles if day else row.week_quantiles
    p50, p95 = (round(each) for each in quantiles) if quantiles else (None, None)
    return {
        "labels": labels(row.labels) if row.labels else [],
        "started": row.day_started if day else row.week_started,
        "wait_p50": p50,
        "wait_p95": p95,
    }


def _reasons(rows: Sequence[ReasonCount], *, day: bool, of_jobs: bool) -> list[Reasons]:
    found: list[Reasons] = [
        {
            "reason": row.reason,
            "words": (
                words.job_reason(row.reason)
                if of_jobs
                else words.worker_reason(row.reason)["words"]
            ),
            "count": row.in_day if day else row.in_week,
        }
        for row in rows
    ]
    return sorted(
        (each for each in found if each["count"]),
        key=lambda each: (-each["count"], each["reason"]),
    )


# Hours, days, tenants --------------------------------------------------------------------------


def _hours(
    hours: Sequence[datetime], waits: Iterable[HourWaits], ended: Iterable[Ended]
) -> list[Hour]:
    by_hour = {row.hour: row for row in waits}
    ends: defaultdict[datetime, Counter[str]] = defaultdict(Counter)
    for row in ended:
        ends[row.hour][outcome(row.conclusion)] += row.jobs
    return [_hour(hour, by_hour.get(hour), ends[hour]) for hour in hours]


def _hour(hour: datetime, waited: HourWaits | None, ended: Counter[str]) -> Hour:
    return {
        "at": words.stamp(hour),
        "succeeded": ended["succeeded"],
        "failed": ended["failed"],
        "cancelled": ended["cancelled"],
        "started": waited.started if waited else 0,
        "wait_p50": round(waited.quantiles[0]) if waited else None,
        "wait_p95": round(waited.quantiles[1]) if waited else None,
    }


def _days(at: datetime, ended: Iterable[Ended]) -> list[Day]:
    ends: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in ended:
        ends[row.hour.date().isoformat()][outcome(row.conclusion)] += row.jobs
    days = [(at.date() - timedelta(days=before)).isoformat() for before in reversed(range(DAYS))]
    return [
        {
            "day": day,
            "succeeded": ends[day]["succeeded"],
            "failed": ends[day]["failed"],
            "cancelled": ends[day]["cancelled"],
        }
        for day in days
    ]


def _tenants(rows: FigureRows, hours: Sequence[datetime]) -> list[Tenant]:
    waits = {(row.entity_id, row.hour): round(row.seconds) for row in rows.tenant_waits}
    ends = {(row.entity_id, row.hour): row for row in rows.tenant_ends}
    found: list[Tenant] = []
    for row in rows.tenants:
        cells = [
            _cell(waits.get((row.entity_id, hour)), ends.get((row.entity_id, hour)))
            for hour in hours
        ]
        found.append(
            {
                "entity": row.entity_name,
                "ended": sum(cell["ended"] for cell in cells),
                "failed": sum(cell["failed"] for cell in cells),
                "wait_p95": waits.get((row.entity_id, None)),
                "hours": cells,
            }
        )
    return sorted(found, key=_worst_first)


def _cell(wait: int | None, ends: TenantEnds | None) -> Cell:
    return {
        "ended": ends.ended if ends else 0,
        "failed": ends.failed if ends else 0,
        "wait_p95": wait,
    }


def _worst_first(tenant: Tenant) -> tuple[float, int, str]:
    """One failed job of one is not worse than ninety of a hundred."""
    rate = tenant["failed"] / (tenant["ended"] + 5)
    return -rate, -(tenant["wait_p95"] or 0), tenant["entity"].casefold()
