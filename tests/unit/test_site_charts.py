"""The geometry of charts: whatever the numbers are, shapes stay in the plot and add up."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from static_site import charts

counts = st.integers(0, 100_000)
rows = st.lists(st.tuples(counts, counts, counts), min_size=1, max_size=24)
waits = st.lists(st.none() | st.integers(0, 500_000), min_size=1, max_size=24)


@given(st.integers(0, 10_000_000))
@pytest.mark.parametrize("scale", [charts.count_scale, charts.duration_scale])
def test_scale_begins_at_nothing_and_ends_just_above_the_most(scale: object, most: int) -> None:
    assert callable(scale)
    found = scale(most)
    steps = {after - before for before, after in pairwise(found)}
    assert found[0] == 0
    assert found[-1] >= most
    assert len(steps) == 1
    assert found[-2] < max(most, 1)
    assert 2 <= len(found) <= 5


@pytest.mark.parametrize(
    ("most", "labels"),
    [(0, ["0", "1s"]), (200, ["0", "1m", "2m", "3m", "4m"]), (9000, ["0", "1h", "2h", "3h"])],
)
def test_durations_have_ticks_that_clocks_have(most: int, labels: list[str]) -> None:
    found = charts.ticks(charts.duration_scale(most), durations=True)
    assert [tick.label for tick in found] == labels


def test_ticks_go_from_the_bottom_to_the_top() -> None:
    found = charts.ticks([0, 20, 40])
    assert [(tick.y, tick.label) for tick in found] == [
        (charts.HEIGHT, "0"),
        (charts.HEIGHT / 2, "20"),
        (0, "40"),
    ]


@given(rows)
def test_blocks_of_a_bar_stand_on_each_other_and_fit(values: list[tuple[int, int, int]]) -> None:
    top = charts.count_scale(max(map(sum, values)))[-1]
    bars = charts.stacked(values, top)
    assert len(bars) == len(values)
    for bar, row in zip(bars, values, strict=True):
        assert 0 <= bar.x <= bar.x + bar.width <= 100
        assert [block.kind for block in bar.blocks] == [k for k, n in enumerate(row) if n]
        below = float(charts.HEIGHT)
        for block in bar.blocks:
            assert block.y + block.height == pytest.approx(below, abs=0.05)
            below = block.y
        assert below >= -0.05
        assert charts.HEIGHT - below == pytest.approx(charts.height_of(sum(row), top), abs=0.05)


@given(rows)
def test_bars_do_not_overlap(values: list[tuple[int, int, int]]) -> None:
    bars = charts.stacked(values, 1_000_000)
    for left, right in pairwise(bars):
        assert left.x + left.width < right.x


@given(st.tuples(*[st.integers(0, 200)] * 3), st.integers(0, 600))
def test_shares_are_in_order_without_gaps(values: tuple[int, int, int], most: int) -> None:
    segments = charts.shares(values, most)
    x = 0.0
    for segment in segments:
        assert segment.x == pytest.approx(x, abs=0.02)
        x = segment.x + segment.width
    assert x <= 100.5
    assert [each.kind for each in segments] == sorted(each.kind for each in segments)


def test_few_boards_are_drawn_one_by_one_and_many_are_not() -> None:
    assert [each.kind for each in charts.shares((2, 1, 1), 8)] == [0, 0, 1, 2]
    assert [each.width for each in charts.shares((2, 1, 1), 8)] == [12.5] * 4
    assert [each.kind for each in charts.shares((200, 0, 100), 300)] == [0, 2]


def points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.e-]+) ([\d.e-]+)", path)]


@given(waits)
def test_line_and_dots_have_every_known_value_once(values: list[int | None]) -> None:
    known = [value for value in values if value is not None]
    top = charts.duration_scale(max(known, default=0))[-1]
    drawn = points(charts.line(values, top)) + points(charts.dots(values, top))
    assert len(drawn) == len(known)
    assert all(0 <= x <= 100 and 0 <= y <= charts.HEIGHT for x, y in drawn)


def test_line_is_interrupted_where_nothing_is_known() -> None:
    values = [None, 1, 2, None, 3, None]
    assert charts.line(values, 4).count("M") == 1
    assert charts.dots(values, 4).count("M") == 1
    assert charts.line([None, None], 4) == charts.dots([None], 4) == ""


def test_band_is_between_both_lines() -> None:
    assert charts.band([0, 0], [4, 4], 4) == "M25 0L75 0L75 150L25 150Z"
    assert charts.band([None, 0], [4, None], 4) == ""


@given(st.integers(0, 200_000), st.integers(0, 200_000))
def test_longer_waits_are_never_cooler(one: int, other: int) -> None:
    cooler, hotter = (charts.wait_level(wait) for wait in sorted((one, other)))
    assert cooler is not None
    assert hotter is not None
    assert 0 <= cooler <= hotter < charts.LEVELS


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_failures_are_hot_only_where_there_are_some(failed_of: tuple[int, int]) -> None:
    level = charts.failure_level(*failed_of)
    assert level is not None
    assert 0 <= level < charts.LEVELS
    assert (level == 0) == (failed_of[0] == 0)
    if failed_of[1] < charts.ENOUGH:
        assert level < charts.LEVELS - 1


def test_what_did_not_happen_has_no_heat() -> None:
    assert charts.wait_level(None) is None
    assert charts.failure_level(0, 0) is None
