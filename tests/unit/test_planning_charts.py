"""How a plan is written: durations, times, charts of letters."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconcile.demo.planning import text_chart, wording
from reconcile.demo.planning.text_chart import BLOCKS, PLAIN, Letters

EVENING = datetime(2026, 11, 18, 19, 5, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0, "0 s"),
        (27.3, "27 s"),
        (59.6, "1 min"),
        (250, "4 min 10 s"),
        (3600, "1 h"),
        (3899, "1 h 4 min"),
        (2 * 86_400 + 3 * 3600 + 59, "2 d 3 h"),
    ],
)
def test_durations_are_written_in_two_units(seconds: float | None, text: str) -> None:
    assert wording.duration(seconds) == text


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(minutes=2), "19:05:09"),
        (timedelta(hours=20), "19:05"),
        (timedelta(days=3), "18 Nov 19:05"),
    ],
)
def test_moments_are_written_as_exactly_as_the_span_needs(span: timedelta, text: str) -> None:
    assert wording.moment(EVENING, span) == text


def test_counts_are_of_one_or_of_many() -> None:
    assert wording.counted(1, "job") == "1 job"
    assert wording.counted(1234, "job") == "1,234 jobs"
    assert wording.share(0.834) == "83 %"


def test_columns_are_as_high_as_their_values() -> None:
    assert text_chart.chart([0, 1, 6, 12], 12, ["a", "b"], PLAIN) == [
        "12 |   #",
        "   |   #",
        "   |   #",
        "   |  ##",
        "   |  ##",
        "   | .##",
        " 0 +----",
        "    a  b",
    ]


def test_blocks_tell_eighths_of_a_line() -> None:
    top, *_, last, _, _ = text_chart.chart([1, 24, 47, 48], 48, ["a"], BLOCKS)
    assert top == "48 │  ▇█"
    assert last == "   │▁███"


@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=77),
    st.sampled_from([BLOCKS, PLAIN]),
)
def test_charts_fit_and_show_whatever_waits(values: list[int], letters: Letters) -> None:
    top = max(1, *values)
    values = values[: text_chart.columns(top)]
    lines = text_chart.chart(values, top, ["08:00", "12:00", "16:00"], letters)
    assert len(lines) == text_chart.HEIGHT + 2
    assert max(map(len, lines[:-1])) < 80
    ground = lines[text_chart.HEIGHT - 1][len(f"{top:,}") + 2 :].ljust(len(values))
    assert [letter != " " for letter in ground] == [value > 0 for value in values]


def test_times_stand_at_the_edges_and_in_the_middle() -> None:
    marks = text_chart.chart([0] * 40, 1, ["08:00", "12:00", "16:00"], PLAIN)[-1]
    assert marks == "   08:00             12:00            16:00"
    assert len(marks) == 3 + 40


def test_times_that_do_not_fit_are_left_out() -> None:
    assert text_chart.chart([1, 1], 1, ["08:00", "12:00"], PLAIN)[-1].strip() == "08:00"
