"""Figures folded from what the statements counted: rows made up here, sums done by hand."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from static_site.pages import figures, overview
from static_site.rows import (
    Ended,
    FigureRows,
    HourWaits,
    Live,
    LiveCount,
    ReasonCount,
    SpanWaits,
    TenantEnds,
    TenantRow,
    TenantWait,
)

AT = datetime(2026, 11, 18, 12, 40, tzinfo=UTC)
HOUR = AT.replace(minute=0)
SMALL, LARGE = '["ubuntu-24.04-riscv"]', '["large", "ubuntu-24.04-riscv"]'
NOTHING = FigureRows([], [], [], [], [], [], [], [])


def ago(**span: float) -> datetime:
    return HOUR - timedelta(**span)


def ended(
    hour: datetime, conclusion: str, jobs: int, in_day: int = 0, pool: str = "p", seconds: float = 0
) -> Ended:
    return Ended(hour, pool, conclusion, jobs, in_day, seconds, jobs if seconds else 0)


def test_nothing_counted_is_nothing_told() -> None:
    told = figures.figures(NOTHING, AT)
    assert told["at"] == "2026-11-18T12:40:00Z"
    assert len(told["hours"]) == 24
    assert len(told["days"]) == 7
    for span in (told["day"], told["week"]):
        assert span["completed"] == span["started"] == span["given_up"] == 0
        assert span["wait_p50"] is span["wait_p95"] is None
        assert not any((span["by_labels"], span["job_reasons"], span["worker_reasons"]))
    assert (told["tenants"], told["more_tenants"]) == ([], 0)


def test_day_and_week_are_told_apart() -> None:
    rows = NOTHING._replace(
        waits=[
            SpanWaits(None, 3, [10.4, 20.6], 9, [30.5, 40.0]),
            SpanWaits(SMALL, 3, [10.0, 20.0], 5, [30.0, 40.0]),
            SpanWaits(LARGE, 0, None, 4, [50.0, 60.0]),
        ],
        ended=[
            ended(ago(hours=1), "success", 5, 5),
            ended(ago(hours=30), "success", 7),
            ended(ago(hours=24), "failure", 4, 1),
            ended(ago(hours=2), "cancelled", 2, 2),
        ],
        given_up=[ReasonCount("job_gone", 1, 3), ReasonCount("banned", 0, 3)],
        failed_workers=[ReasonCount("pod_failed", 2, 2), ReasonCount("of_tomorrow", 4, 4)],
    )
    told = figures.figures(rows, AT)
    day, week = told["day"], told["week"]
    assert (day["started"], day["wait_p50"], day["wait_p95"]) == (3, 10, 21)
    assert (week["started"], week["wait_p50"], week["wait_p95"]) == (9, 30, 40)
    assert [each["labels"] for each in day["by_labels"]] == [["ubuntu-24.04-riscv"]]
    assert [each["started"] for each in week["by_labels"]] == [5, 4]
    ends = [(span["succeeded"], span["failed"], span["cancelled"]) for span in (day, week)]
    assert ends == [(5, 1, 2), (12, 4, 2)]
    assert (day["completed"], week["completed"]) == (8, 18)
    assert (day["given_up"], week["given_up"]) == (1, 6)
    assert [each["reason"] for each in day["job_reasons"]] == ["job_gone"]
    assert [each["reason"] for each in week["job_reasons"]] == ["banned", "job_gone"]
    assert [(each["reason"], each["count"]) for each in day["worker_reasons"]] == [
        ("of_tomorrow", 4),
        ("pod_failed", 2),
    ]
    assert day["job_reasons"][0]["words"] == "GitHub does not know the job any more."
    assert day["worker_reasons"][0]["words"].startswith("The reason is not known")


def test_hours_are_the_last_24_oldest_first() -> None:
    rows = NOTHING._replace(
        hours=[HourWaits(HOUR, 2, [5.0, 9.0]), HourWaits(ago(hours=23), 1, [7.0, 7.0])],
        ended=[
            ended(HOUR, "success", 3, pool="a"),
            ended(HOUR, "neutral", 1, pool="b"),
            ended(HOUR, "timed_out", 2),
            ended(ago(hours=23), "skipped", 4),
            ended(ago(hours=24), "success", 99),
        ],
    )
    hours = figures.figures(rows, AT)["hours"]
    assert [hours[0]["at"], hours[-1]["at"]] == ["2026-11-17T13:00:00Z", "2026-11-18T12:00:00Z"]
    assert hours[-1] == {
        "at": "2026-11-18T12:00:00Z",
        "succeeded": 4,
        "failed": 2,
        "cancelled": 0,
        "started": 2,
        "wait_p50": 5,
        "wait_p95": 9,
    }
    assert (hours[0]["cancelled"], hours[0]["wait_p50"]) == (4, 7)
    assert sum(hour["succeeded"] for hour in hours) == 4
    assert hours[5]["wait_p50"] is None


def test_days_are_the_last_seven_oldest_first() -> None:
    rows = NOTHING._replace(
        ended=[
            ended(HOUR, "success", 1),
            ended(ago(hours=12), "success", 2),
            ended(ago(hours=13), "failure", 3),
            ended(ago(days=6), "cancelled", 4),
            ended(ago(days=7) + timedelta(hours=1), "success", 99),
        ]
    )
    days = figures.figures(rows, AT)["days"]
    assert [each["day"][-2:] for each in days] == ["12", "13", "14", "15", "16", "17", "18"]
    assert days[-1] == {"day": "2026-11-18", "succeeded": 3, "failed": 0, "cancelled": 0}
    assert days[-2]["failed"] == 3
    assert days[0]["cancelled"] == 4


def test_tenants_are_the_worst_first_and_the_rest_is_counted() -> None:
    def ends(entity: int, ended: int, failed: int) -> TenantEnds:
        return TenantEnds(entity, HOUR, ended, failed)

    rows = NOTHING._replace(
        tenants=[TenantRow(number, name, 9, 25) for number, name in enumerate("abcde")],
        tenant_ends=[ends(0, 100, 90), ends(1, 1, 1), ends(2, 50, 0), ends(3, 50, 0)],
        tenant_waits=[
            TenantWait(2, None, 70.0),
            TenantWait(2, HOUR, 70.0),
            TenantWait(3, None, 80.4),
            TenantWait(3, ago(hours=2), 80.4),
        ],
    )
    told = figures.figures(rows, AT)
    assert [tenant["entity"] for tenant in told["tenants"]] == ["a", "b", "d", "c", "e"]
    assert told["more_tenants"] == 20
    worst, waited = told["tenants"][0], told["tenants"][2]
    assert (worst["ended"], worst["failed"], worst["wait_p95"]) == (100, 90, None)
    assert waited["wait_p95"] == 80
    assert [cell["wait_p95"] for cell in waited["hours"]] == [None] * 21 + [80, None, None]
    assert all(len(tenant["hours"]) == 24 for tenant in told["tenants"])


@pytest.mark.parametrize(
    ("conclusion", "expected"),
    [
        ("success", "succeeded"),
        ("neutral", "succeeded"),
        ("failure", "failed"),
        ("timed_out", "failed"),
        ("startup_failure", "failed"),
        ("action_required", "failed"),
        ("cancelled", "cancelled"),
        ("skipped", "cancelled"),
        ("stale", "cancelled"),
        ("unknown", "cancelled"),
    ],
)
def test_every_conclusion_of_github_counts_somewhere(conclusion: str, expected: str) -> None:
    assert figures.outcome(conclusion) == expected


def test_usual_time_of_a_pool_is_the_mean_of_those_that_ran() -> None:
    rows = [
        ended(HOUR, "success", 2, pool="a", seconds=100),
        ended(HOUR, "failure", 1, pool="a", seconds=50),
        ended(HOUR, "cancelled", 9, pool="a"),
        ended(HOUR, "cancelled", 9, pool="b"),
    ]
    assert figures.usual_seconds(rows) == {"a": 50.0}


@given(st.integers(0, 4_000_000_000))
def test_figures_are_of_every_fifth_minute(seconds: int) -> None:
    now = datetime.fromtimestamp(seconds, UTC)
    at = figures.moment_of(now)
    assert timedelta(0) <= now - at < figures.EVERY
    assert at.minute % 5 == at.second == at.microsecond == 0
    assert figures.moment_of(at) == at


@pytest.mark.parametrize(
    ("pending", "waiting", "boards", "usual", "expected"),
    [
        (0, 40, 2, 600.0, (0, "nothing waits")),
        (3, 40, 0, 600.0, (None, "no board can take a job")),
        (3, 40, 0, None, (None, "no board can take a job")),
        (
            *(3, 40, 2, None),
            (None, "not known yet: no job of this pool ended within a week"),
        ),
        (3, 4, 2, 600.0, (1200, "about 20 min")),
        (3, 40, 2, 600.0, (12_000, "about 3 h")),
        (1, 1, 100, 60.0, (1, "about a minute")),
    ],
)
def test_queue_drains_as_fast_as_boards_and_jobs_allow(
    pending: int, waiting: int, boards: int, usual: float | None, expected: tuple[int | None, str]
) -> None:
    assert overview.drain(pending, waiting, boards, usual) == expected


@given(st.permutations(range(6)))
def test_queue_is_in_the_same_order_whatever_order_rows_come_in(order: list[int]) -> None:
    """Else a page would be published again and again for nothing."""
    counts = [
        LiveCount(number % 2, "tenant", SMALL, f"pool-{number % 3}", 2, 1, AT)
        for number in range(6)
    ]
    live = Live(
        [], [counts[number] for number in order], [], [], [], [], frozenset(), 0, None, None
    )
    assert [each["pool"] for each in overview.queues(live, {})] == ["pool-0", "pool-1", "pool-2"]
