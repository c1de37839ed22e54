"""Live pages: every row on exactly one of them, and none moved without need."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from static_site import cuts
from static_site.rows import Place

START = datetime(2026, 11, 18, tzinfo=UTC)


class Row(NamedTuple):
    at: datetime
    id: int

    @property
    def place(self) -> Place:
        return self.at, self.id


class Table:
    """A list as it grows, read and cut as a publisher does it."""

    def __init__(self, seed: int = 0) -> None:
        self.rows: list[Row] = []
        self.cuts: list[Place] | None = None
        self._cut_anew = False
        self._random = Random(seed)
        self._numbers = iter(range(1, 1_000_000))

    def add(self, count: int, *, late: float = 0, together: int = 1) -> None:
        """New rows, so many of them at the same moment, some with a time long past."""
        newest = self.rows[0].at if self.rows else START
        for number in range(count):
            newest += timedelta(seconds=number % together == 0)
            at = newest
            if self._random.random() < late:
                at = START + (newest - START) * self._random.random()
            self.rows.append(Row(at, next(self._numbers)))
        self.rows.sort(reverse=True)

    def publish(self, *, steps: int = 0) -> list[list[Row]]:
        """With room for so many pages to pass rows on."""
        known = self.cuts or []
        newest = self.rows[: cuts.MOST_ROWS]
        if len(known) == cuts.PAGES:
            newest = [row for row in newest if row.place > known[-1]] or newest
        self._cut_anew = cuts.are_due(newest, self.cuts)
        if self._cut_anew or self.cuts is None:
            self.cuts = cuts.fresh(newest)
        for _ in range(steps):
            self.cuts = cuts.passed_on(newest, self.cuts) or self.cuts
        return cuts.cut(newest, self.cuts)

    def passes_on(self) -> bool:
        """One step, if there is one to take."""
        before = self.cuts
        self.publish(steps=1)
        return self.cuts != before

    def cut_anew(self) -> bool:
        """Whether the last publishing did."""
        return self._cut_anew

    def live(self) -> list[Row]:
        """What the pages have to show, of all there is."""
        assert self.cuts is not None
        end = self.cuts[-1] if len(self.cuts) == cuts.PAGES else None
        return [row for row in self.rows if end is None or row.place > end]


def together(pages: Sequence[Sequence[Row]]) -> list[Row]:
    return [row for page in pages for row in page]


batches = st.tuples(
    st.integers(0, 250),
    st.sampled_from([0.0, 0.0, 0.1, 1.0]),  # how many of them come late
    st.sampled_from([1, 7, 1000]),  # how many at the same moment
    st.integers(0, 4),  # how many pages may pass rows on
)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1300), st.lists(batches, max_size=6), st.integers(0, 1000))
@example(1100, [(60, 1.0, 1, 0)] * 6, 1)
def test_every_row_is_on_exactly_one_page_and_in_order(
    first: int, later: list[tuple[int, float, int, int]], seed: int
) -> None:
    table = Table(seed)
    table.add(first, together=3)
    table.publish()
    for count, late, at_once, steps in later:
        table.add(count, late=late, together=at_once)
        pages = table.publish(steps=steps)
        assert together(pages) == table.live()
        assert len(table.live()) >= min(len(table.rows), cuts.PAGE * cuts.PAGES)
        assert 1 <= len(pages) <= cuts.PAGES
        assert max(map(len, pages)) < cuts.LONGEST
        assert pages[0] or not table.rows


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1300), st.lists(st.integers(0, 40), max_size=8), st.sampled_from([1, 50]))
def test_new_rows_change_the_first_page_alone_until_it_is_too_long(
    first: int, counts: list[int], at_once: int
) -> None:
    table = Table()
    table.add(first)
    before = table.publish()
    for count in counts:
        table.add(count, together=at_once)
        after = table.publish()
        if not table.cut_anew():
            assert after[1:] == before[1:]
            assert after[0][-len(before[0]) or count :] == before[0]
        before = after


def test_first_publishing_fills_every_page() -> None:
    table = Table()
    table.add(1100)
    assert [len(page) for page in table.publish()] == [cuts.PAGE] * cuts.PAGES


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 999, 1000, 1001])
def test_pages_are_as_many_as_the_rows_need(count: int) -> None:
    table = Table()
    table.add(count)
    pages = table.publish()
    assert len(pages) == min(cuts.PAGES, max(1, -(-count // cuts.PAGE)))
    assert sum(map(len, pages)) == min(count, 1000)


def test_first_page_grows_to_the_longest_and_is_then_cut() -> None:
    table = Table()
    table.add(500)
    table.publish()
    for _ in range(cuts.LONGEST - cuts.PAGE - 1):
        table.add(1)
        assert len(table.publish()[1]) == cuts.PAGE
        assert not table.cut_anew()
    table.add(1)
    assert len(table.publish()[0]) == cuts.PAGE
    assert table.cut_anew()


def test_long_page_passes_its_older_rows_on_page_by_page() -> None:
    table = Table()
    table.add(1001)
    table.publish()
    table.add(cuts.LONG - cuts.PAGE - 1)
    before = table.publish(steps=1)
    assert [len(page) for page in before] == [199, *[100] * 9], "not long enough yet"
    table.add(1)
    after = before
    for number in range(cuts.PAGES):
        before, after = table.publish(), table.publish(steps=1)
        changed = [page for page in range(cuts.PAGES) if before[page] != after[page]]
        assert changed == [number, number + 1][: cuts.PAGES - number]
        assert not table.cut_anew()
    assert [len(page) for page in after] == [cuts.PAGE] * cuts.PAGES
    assert table.publish(steps=1) == after


def test_two_steps_a_publishing_are_enough_for_three_lists_of_a_busy_fleet() -> None:
    """Seven new rows of two lists and one of the third between any two publishings."""
    tables = [Table(), Table(), Table()]
    for table in tables:
        table.add(1001)
        table.publish()
    for _ in range(300):
        left = 2
        for table, count in zip(tables, (7, 7, 1), strict=True):
            table.add(count)
            table.publish()
            assert not table.cut_anew()
            while left and table.passes_on():
                left -= 1


def test_late_row_stands_where_its_time_says() -> None:
    table = Table()
    table.add(300)
    before = table.publish()
    late = Row(before[1][40].at - timedelta(milliseconds=1), 7_000_000)
    table.rows = sorted([*table.rows, late], reverse=True)
    after = table.publish()
    assert after[1] == [*before[1][:41], late, *before[1][41:]]
    assert [after[0], after[2]] == [before[0], before[2]]


def test_rows_of_one_moment_stay_on_the_pages_they_are_on() -> None:
    """A page may end between two of them."""
    table = Table()
    table.add(450, together=1000)
    before = table.publish()
    table.add(10, together=1000)
    assert table.publish()[1:] == before[1:]


def test_many_late_rows_all_over_push_none_out_unseen() -> None:
    """More rows than are ever read may be above the last cut without any page being too long."""
    table = Table()
    table.add(1001)
    pages = table.publish()
    for page in pages[1:]:
        for number, row in enumerate(page[:90]):
            table.rows.append(Row(row.at - timedelta(milliseconds=1), 8_000_000 + number))
    table.rows.sort(reverse=True)
    assert together(table.publish()) == table.live()


@pytest.mark.parametrize("gone", [30, 100, 250, 1000])
def test_database_that_lost_its_newest_rows_leaves_no_first_page_empty(gone: int) -> None:
    """It was restored from a backup."""
    table = Table()
    table.add(1050)
    table.publish()
    table.rows = table.rows[gone:]
    assert table.publish()[0]
    assert together(table.publish()) == table.live()


@pytest.mark.parametrize("left", [999, 750, 100, 1])
def test_list_that_lost_its_oldest_rows_has_no_empty_page(left: int) -> None:
    """They were too old to be kept."""
    table = Table()
    table.add(1000)
    table.publish()
    table.rows = table.rows[:left]
    assert all(table.publish())
    assert together(table.publish()) == table.rows


def test_list_that_became_empty_has_one_empty_page() -> None:
    table = Table()
    table.add(150)
    table.publish()
    table.rows.clear()
    assert table.publish() == [[]]
