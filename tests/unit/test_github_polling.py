"""What part of GitHub's limits polling may use, and what is left of them."""

from datetime import timedelta

import pytest

from reconcile.settings import GitHubBudget
from tests.unit.limiter import KEY, START, Bench


def test_polling_leaves_points_to_everything_else() -> None:
    bench = Bench()
    for _ in range(315):
        bench.poll(costs=False)
    assert bench.refused_until(polling=True) == 61
    assert bench.limiter.polls_left(KEY) == 0
    for _ in range(99):
        bench.write()
    assert bench.refused_until(write=True) == 61


def test_polls_that_cost_are_a_fifth_of_the_hourly_share_at_once() -> None:
    bench = Bench()
    for _ in range(150):
        assert bench.limiter.polls_left(KEY)
        bench.poll()
    assert bench.limiter.polls_left(KEY) == 0
    assert bench.refused_until(polling=True) == pytest.approx(4.8), "750 an hour, one in 4.8 s"
    bench.read()
    bench.clock.move(4.8)
    bench.poll()
    assert bench.limiter.polls_left(KEY) == 0


def test_polls_that_cost_nothing_are_not_charged() -> None:
    bench = Bench()
    for _ in range(20):
        for _ in range(300):
            bench.poll(costs=False)
        bench.clock.move(61)
    assert bench.limiter.polls_left(KEY)


def test_polls_in_flight_count_as_if_they_cost() -> None:
    bench = Bench()
    for _ in range(150):
        bench.limiter.admit(KEY, write=False, polling=True)
    assert bench.limiter.polls_left(KEY) == 0
    bench.limiter.settle(KEY, costs=False)
    assert bench.limiter.polls_left(KEY)
    bench.limiter.settle(KEY, costs=True)
    bench.poll(costs=False)


def test_hour_of_runs_polls_within_its_share_and_the_burst() -> None:
    """Also if every run starts from what the one before it left behind."""
    bench = Bench()
    polls = 0
    for _ in range(240):
        while bench.limiter.polls_left(KEY):
            bench.poll()
            polls += 1
        now = bench.clock.time + timedelta(seconds=15)
        bench = Bench(credential=bench.credential)
        bench.clock.time = now
    assert 850 <= polls <= 900


def test_polling_share_follows_the_limit_that_github_tells() -> None:
    bench = Bench(GitHubBudget(points_per_minute=0))
    bench.told(14_999, limit=15_000)
    polls = 0
    while bench.limiter.polls_left(KEY):
        bench.poll()
        polls += 1
    assert polls == 450


def test_smallest_limit_lets_one_poll_through() -> None:
    bench = Bench()
    bench.told(20, limit=20)
    bench.poll()
    assert bench.refused_until(polling=True) == pytest.approx(1200)
    bench.clock.move(1200.1)
    bench.poll()


def test_no_share_is_no_polling() -> None:
    bench = Bench(GitHubBudget(polling_requests_share=0))
    assert bench.refused_until(polling=True) == 3600
    bench.write()


def test_reserve_is_not_for_polling_until_the_hour_is_over() -> None:
    bench = Bench()
    bench.told(1000)
    assert bench.limiter.polls_left(KEY)
    bench.told(999)
    assert bench.refused_until(polling=True) == 3600
    bench.write()
    bench.clock.move(3600)
    bench.poll()


def test_polls_and_writes_left_are_what_is_let_through() -> None:
    bench = Bench(GitHubBudget(points_per_minute=100, polling_points_share=0.4))
    quarter = 10  # of the minute's 40 polls: those of one run
    assert (bench.limiter.polls_left(KEY), bench.limiter.writes_left(KEY)) == (quarter, 18)
    for _ in range(4):
        bench.write()
    assert (bench.limiter.polls_left(KEY), bench.limiter.writes_left(KEY)) == (quarter, 14)
    for _ in range(35):
        bench.poll(costs=False)
    assert bench.limiter.polls_left(KEY) == 5
    for _ in range(5):
        bench.poll(costs=False)
    assert (bench.limiter.polls_left(KEY), bench.limiter.writes_left(KEY)) == (0, 6)
    assert bench.limiter.refusal(KEY) is None
    for _ in range(6):
        bench.write()
    assert bench.limiter.writes_left(KEY) == 0
    refusal = bench.limiter.refusal(KEY)
    assert refusal is not None
    assert refusal.until == START + timedelta(seconds=61)
    bench.refused_until(write=True)


def test_writes_left_are_no_more_than_the_hour_has() -> None:
    bench = Bench()
    bench.told(7)
    assert (bench.limiter.polls_left(KEY), bench.limiter.writes_left(KEY)) == (0, 7)
    bench.told(0)
    assert bench.limiter.writes_left(KEY) == 0
    assert bench.limiter.refusal(KEY) is not None


def test_without_a_points_limit_very_many_are_left() -> None:
    bench = Bench(GitHubBudget(points_per_minute=0))
    assert min(bench.limiter.polls_left(KEY), bench.limiter.writes_left(KEY)) > 10_000
