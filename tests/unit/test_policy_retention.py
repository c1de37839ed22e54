"""From when on what is over is kept: whole days, and never less than was asked for."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconcile.policy.retention import CutOffs, cut_offs
from reconcile.settings import Retention

NOW = datetime(2026, 11, 18, 12, 0, 7, tzinfo=UTC)


def test_each_has_its_own_age() -> None:
    kept = Retention(events_days=7, history_days=30, runs_days=365)
    assert cut_offs(NOW, kept) == CutOffs(
        events=datetime(2026, 11, 11, tzinfo=UTC),
        history=datetime(2026, 10, 19, tzinfo=UTC),
        runs=datetime(2025, 11, 18, tzinfo=UTC),
    )


def test_zero_is_for_ever() -> None:
    assert cut_offs(NOW, Retention(0, 0, 0)) == CutOffs(None, None, None)


def test_a_day_goes_at_midnight_and_not_before() -> None:
    midnight = datetime(2026, 11, 19, tzinfo=UTC)
    before, after = (
        cut_offs(moment, Retention(events_days=7)).events
        for moment in (midnight - timedelta(microseconds=1), midnight)
    )
    assert (before, after) == (
        datetime(2026, 11, 11, tzinfo=UTC),
        datetime(2026, 11, 12, tzinfo=UTC),
    )


@pytest.mark.parametrize("hours", [-11, 0, 14])
def test_days_are_of_utc_wherever_the_clock_is(hours: int) -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=hours)))
    assert cut_offs(elsewhere, Retention()) == cut_offs(NOW, Retention())


@given(st.integers(0, 2**31), st.integers(7, 36_500))
def test_no_less_is_kept_than_was_asked_for_and_at_most_a_day_more(seconds: int, days: int) -> None:
    now = NOW + timedelta(seconds=seconds)
    first_kept = cut_offs(now, Retention(history_days=days)).history
    assert first_kept is not None
    assert timedelta(days=days) <= now - first_kept < timedelta(days=days + 1)
