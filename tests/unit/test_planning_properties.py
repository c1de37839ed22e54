"""What holds for any plan, found by hypothesis."""

import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconcile.demo.planning.engine import Pace, Planned, simulate
from reconcile.demo.planning.load import LoadJob
from reconcile.settings import Scheduling, Settings

BEGINNING = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PACE = Pace()


ENTITIES = st.sampled_from("abc")
REPOSITORIES = st.sampled_from([None, "me/toys", "me/tools"])
LABELS = st.sampled_from([("riscv",), ("big", "riscv")])
MOMENTS = st.integers(0, 900).map(lambda second: BEGINNING + timedelta(seconds=second))


def jobs(**fixed: st.SearchStrategy[Any]) -> st.SearchStrategy[LoadJob]:
    fields = {
        "entity": ENTITIES,
        "repository": REPOSITORIES,
        "labels": LABELS,
        "pool": st.sampled_from("pq"),
        "created_at": MOMENTS,
        "seconds": st.integers(0, 400),
    }
    return st.builds(LoadJob, **{**fields, **fixed})


loads = st.lists(jobs(), max_size=40)
boards = st.fixed_dictionaries({"p": st.integers(1, 4), "q": st.integers(1, 4)})
orders = st.sampled_from(list(Scheduling))
caps = st.integers(1, 5)
paces = st.sampled_from([PACE, Pace(run=4), Pace(interval=60, notice=0, start=0, pull=0, stop=0)])


def most_at_once(spans: Sequence[tuple[float, float]]) -> int:
    """What ends as another begins is not there at the same time."""
    changes = sorted([(end, -1) for _, end in spans] + [(start, 1) for start, _ in spans])
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def running(load: Sequence[LoadJob], planned: Planned) -> list[tuple[LoadJob, float, float]]:
    """Jobs that started, from when to when."""
    found = []
    for job, wait in zip(load, planned.waits, strict=True):
        if wait is not None:
            start = (job.created_at - BEGINNING).total_seconds() + wait
            found.append((job, start, start + job.seconds))
    return found


@given(loads, boards, orders, caps, paces)
def test_neither_boards_nor_caps_are_exceeded(
    load: list[LoadJob], there: dict[str, int], order: Scheduling, cap: int, pace: Pace
) -> None:
    planned = simulate(load, there, Settings(order, cap), pace)
    assert all(0 <= each.busy <= sum(there.values()) for each in planned.series)
    assert all(0 <= use <= 1 + 1e-9 for use in planned.uses.values())
    for entity in "abc":
        spans = [(a, b) for job, a, b in running(load, planned) if job.entity == entity]
        assert most_at_once(spans) <= cap


@given(loads, boards, orders, caps, paces)
def test_every_job_of_a_pool_with_boards_starts_and_all_boards_become_free(
    load: list[LoadJob], there: dict[str, int], order: Scheduling, cap: int, pace: Pace
) -> None:
    planned = simulate(load, there, Settings(order, cap), pace)
    least = pace.notice + pace.run + pace.start
    assert all(wait is not None and wait >= least - 1e-6 for wait in planned.waits)
    if load:
        last = planned.series[-1]
        assert (last.waiting, last.busy) == (0, 0)


@given(loads, boards, orders, caps, st.randoms())
def test_order_in_which_jobs_are_given_does_not_matter(
    load: list[LoadJob], there: dict[str, int], order: Scheduling, cap: int, chance: random.Random
) -> None:
    load = list({job.created_at: job for job in load}.values())  # equals go by their place
    mixed = chance.sample(load, len(load))
    settings = Settings(order, cap)
    once = dict(zip(load, simulate(load, there, settings).waits, strict=True))
    again = dict(zip(mixed, simulate(mixed, there, settings).waits, strict=True))
    assert once == again


of_one_demand = jobs(
    entity=st.just("a"), repository=st.none(), labels=st.just(("riscv",)), pool=st.just("p")
)
alike = st.lists(of_one_demand, min_size=1)


@given(alike, st.integers(1, 4), orders)
def test_jobs_of_one_demand_start_in_their_order(
    load: list[LoadJob], count: int, order: Scheduling
) -> None:
    load = sorted(load, key=lambda job: job.created_at)
    planned = simulate(load, {"p": count}, Settings(order))
    starts = [start for _, start, _ in running(load, planned)]
    assert starts == sorted(starts)


@given(st.lists(jobs(entity=st.just("a"), pool=st.just("p")), max_size=30), boards, caps)
def test_one_account_by_itself_has_the_same_waits_in_either_order(
    load: list[LoadJob], there: dict[str, int], cap: int
) -> None:
    fifo = simulate(load, there, Settings(Scheduling.FIFO, cap))
    assert simulate(load, there, Settings(Scheduling.FAIR, cap)) == fifo


@given(alike, st.integers(1, 4), orders)
def test_no_board_is_free_for_longer_than_a_tick_while_a_job_waits_for_one(
    load: list[LoadJob], count: int, order: Scheduling
) -> None:
    planned = simulate(load, {"p": count}, Settings(order))
    for job, wait in zip(load, planned.waits, strict=True):
        assert wait is not None
        known = job.created_at + timedelta(seconds=PACE.notice)
        on_its_way = job.created_at + timedelta(seconds=wait - PACE.start - PACE.pull)
        free_for = timedelta()
        for now, then in pairwise(planned.series):
            start, end = max(now.at, known), min(then.at, on_its_way)
            if now.busy == count:
                free_for = timedelta()
            elif start < end:
                free_for += end - start
            assert free_for <= timedelta(seconds=PACE.interval)


@pytest.mark.parametrize("order", Scheduling)
def test_a_flood_of_ten_thousand_is_planned_in_seconds(order: Scheduling) -> None:
    chance = random.Random(1)
    flood = [LoadJob("bulk", None, ("riscv",), "p", BEGINNING, 300.0) for _ in range(5000)]
    others = [
        LoadJob(
            f"account-{chance.randrange(30)}",
            None,
            ("riscv",),
            "p",
            BEGINNING + timedelta(seconds=chance.uniform(0, 86_400)),
            chance.expovariate(1 / 300),
        )
        for _ in range(5000)
    ]
    began = time.process_time()
    planned = simulate([*flood, *others], {"p": 40}, Settings(order))
    # It takes about one; the limit is for machines that have other things to do.
    assert time.process_time() - began < 15
    assert planned.never_started == 0
