"""What may be sent to GitHub now, and if not, when."""

import math
import random
import threading
from datetime import timedelta

import pytest

from reconcile.errors import RateLimitedError
from reconcile.github.state import Credential
from reconcile.settings import GitHubBudget
from tests.unit.limiter import KEY, START, Bench

# Points a minute -----------------------------------------------------------------------------


def test_write_costs_five_points_and_a_read_one() -> None:
    bench = Bench(GitHubBudget(points_per_minute=20, points_share=1))
    for _ in range(3):
        bench.write()
    for _ in range(5):
        bench.read()
    assert bench.refused_until() == 61


def test_only_the_share_of_the_points_is_used() -> None:
    bench = Bench()
    for _ in range(162):
        bench.write()  # 810 of 900
    assert bench.refused_until() == 61


def test_refusal_names_the_time_at_which_enough_has_left_the_minute() -> None:
    bench = Bench(GitHubBudget(points_per_minute=10, points_share=1))
    for _ in range(5):
        bench.read()
        bench.clock.move(2)
    bench.write()  # at 10 s
    assert bench.refused_until() == 61
    assert bench.refused_until(write=True) == 69, "five reads have left then"
    bench.clock.move(51)
    bench.read()
    bench.clock.move(59)
    bench.write()


def test_refused_request_is_not_counted() -> None:
    bench = Bench(GitHubBudget(points_per_minute=5, points_share=1))
    bench.write()
    for _ in range(100):
        bench.refused_until()
    bench.clock.move(61)
    bench.write()


def test_no_points_limit_is_none() -> None:
    bench = Bench(GitHubBudget(points_per_minute=0))
    for _ in range(2000):
        bench.write()


def test_share_that_holds_not_one_request_refuses_instead_of_failing() -> None:
    bench = Bench(GitHubBudget(points_per_minute=4, points_share=1))
    assert bench.refused_until(write=True) == 61
    bench.read()


def test_installations_do_not_share_their_points() -> None:
    bench = Bench(GitHubBudget(points_per_minute=5, points_share=1))
    bench.write()
    bench.limiter.admit("installation:8", write=True)


@pytest.mark.parametrize("seed", range(20))
def test_points_of_any_minute_stay_within_the_share(seed: int) -> None:
    chance = random.Random(seed)
    bench = Bench(GitHubBudget(points_per_minute=100, points_share=0.9, polling_points_share=0.4))
    sent: list[tuple[float, int, bool]] = []
    for _ in range(1000):
        bench.clock.move(chance.choice((0, 0, 0, 0.01, 0.3, 1, 7)))
        write, polling = chance.random() < 0.3, chance.random() < 0.5
        polling = polling and not write
        try:
            bench.limiter.admit(KEY, write=write, polling=polling)
        except RateLimitedError:
            continue
        if polling:
            bench.limiter.settle(KEY, costs=False)
        sent.append((bench.clock.time.timestamp(), 5 if write else 1, polling))
    for number, (last, _, _) in enumerate(sent):
        minute = [each for each in sent[: number + 1] if each[0] > last - 60]
        assert sum(points for _, points, _ in minute) <= 90
        assert sum(points for _, points, polling in minute if polling) <= 40
    assert sum(points for _, points, _ in sent) > 0.8 * 90 * (sent[-1][0] - sent[0][0]) / 61


@pytest.mark.parametrize("seed", range(20))
def test_what_was_refused_fits_at_the_time_that_was_named(seed: int) -> None:
    chance = random.Random(seed)
    bench = Bench(GitHubBudget(points_per_minute=60))
    bench.told(4999)
    for _ in range(500):
        bench.clock.move(chance.random() * 2)
        write = chance.random() < 0.3
        polling = not write and chance.random() < 0.6
        try:
            bench.limiter.admit(KEY, write=write, polling=polling)
        except RateLimitedError as error:
            bench.clock.time = error.until + timedelta(milliseconds=1)
            bench.limiter.admit(KEY, write=write, polling=polling)
        if polling:
            bench.limiter.settle(KEY, costs=chance.random() < 0.5)


# What GitHub says ----------------------------------------------------------------------------


def test_nothing_is_sent_when_nothing_is_left_of_the_hour() -> None:
    bench = Bench()
    bench.told(0)
    assert bench.refused_until(write=True) == 3600
    bench.clock.move(3600)
    bench.write()


def test_answers_that_overtake_each_other_leave_the_least() -> None:
    bench = Bench()
    for remaining in (4000, 3998, 3999):
        bench.told(remaining, reset=3600 + remaining % 2)
    assert bench.credential.rate_remaining == 3998
    bench.told(4990, reset=7200)
    assert bench.credential.rate_remaining == 4990
    bench.told(3000, reset=3600)
    assert bench.credential.rate_remaining == 4990, "of the hour before, come late"
    bench.told(12_000, limit=12_500, reset=7200)
    assert (bench.credential.rate_limit, bench.credential.rate_remaining) == (12_500, 12_000)


def test_limits_of_another_resource_are_not_taken_for_the_hourly_one() -> None:
    bench = Bench()
    other = bench.headers(0, limit=100) | {"X-RateLimit-Resource": "actions_runner_registration"}
    assert bench.limiter.learn(KEY, 201, other) is None
    assert bench.credential.rate_limit is None
    bench.write()


@pytest.mark.parametrize(
    ("status", "headers", "message", "seconds"),
    [
        (403, {"Retry-After": "17"}, "", 17),
        (429, {"Retry-After": "17"}, "", 17),
        (429, {"Retry-After": "99999"}, "", 3600),
        (429, {"Retry-After": "Mon, 02 Mar 2026 09:05:00 GMT"}, "", 60),
        (429, {}, "", 60),
        (403, {}, "You have exceeded a secondary rate limit. Please wait.", 60),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1772443800"}, "", 1800),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1772441000"}, "", 1),
        (403, {"X-RateLimit-Remaining": "12", "X-RateLimit-Reset": "1772443800"}, "", None),
        (403, {}, "Resource not accessible by integration", None),
        (404, {"Retry-After": "17"}, "", None),
        (200, {"X-RateLimit-Remaining": "0"}, "", None),
    ],
)
def test_refusal_blocks_until_the_time_it_names(
    status: int, headers: dict[str, str], message: str, seconds: float | None
) -> None:
    bench = Bench()
    until = bench.limiter.learn(KEY, status, headers, message)
    if seconds is None:
        assert until is None
        bench.write()
        return
    assert until == START + timedelta(seconds=seconds)
    assert bench.refused_until() == seconds
    bench.limiter.admit("app:1", write=True)
    bench.clock.move(seconds)
    bench.write()


def test_shorter_block_does_not_end_a_longer_one() -> None:
    bench = Bench()
    bench.limiter.learn(KEY, 403, {"Retry-After": "600"})
    bench.limiter.learn(KEY, 429, {"Retry-After": "5"})
    assert bench.refused_until() == 600


@pytest.mark.parametrize("nonsense", ["", "-1", "soon", "1e3", "٣", "9" * 40])
def test_nonsense_in_headers_is_passed_over(nonsense: str) -> None:
    bench = Bench()
    names = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
    assert bench.limiter.learn(KEY, 200, dict.fromkeys(names, nonsense)) is None
    assert bench.credential.rate_limit is None
    assert bench.limiter.learn(KEY, 429, {"Retry-After": nonsense}) == START + timedelta(minutes=1)


# Across runs ---------------------------------------------------------------------------------


def test_everything_is_remembered_by_the_next_run() -> None:
    first = Bench()
    for _ in range(150):
        first.poll()
    for _ in range(100):
        first.write()
    first.told(4000)
    [saved] = first.credentials.take_changed()
    assert first.credentials.take_changed() == []
    second = Bench(credential=saved)
    assert second.limiter.polls_left(KEY) == 0
    for _ in range(32):
        second.write()
    assert second.refused_until(write=True) == 61
    assert second.credential.rate_remaining == 4000
    assert saved.recent[0][1] == 650, "what is saved is a copy"


def test_what_is_kept_stays_small() -> None:
    bench = Bench()
    for _ in range(4000):
        bench.clock.move(1.1)
        bench.read()
        if bench.limiter.polls_left(KEY):
            bench.poll()
        assert len(bench.credential.recent) <= 62


def test_what_a_wrong_clock_wrote_blocks_nothing() -> None:
    ahead = (START + timedelta(days=300)).timestamp()
    bench = Bench(credential=Credential(KEY, recent=[[ahead, 900.0, 900.0, 900.0]]))
    bench.poll()
    assert [math.floor(entry[0]) for entry in bench.credential.recent] == [START.timestamp()]


def test_many_threads_together_stay_within_the_share() -> None:
    bench = Bench()
    admitted: list[int] = []

    def send() -> None:
        for _ in range(50):
            try:
                bench.write()
            except RateLimitedError:
                continue
            admitted.append(1)

    threads = [threading.Thread(target=send) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == 162
