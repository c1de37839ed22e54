"""When failing demand is tried again."""

from datetime import UTC, datetime, timedelta

import pytest

from reconcile.model import ORGANIZATION, Reason, Scope, Status, Worker
from reconcile.policy.back_off import COUNTED, Trouble, after_failure, counts
from reconcile.settings import BackOff

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SCOPE = Scope(7, 1, "riseproject", ORGANIZATION)
SETTINGS = BackOff()


def trouble(failures: int, *, ago: float = 0) -> Trouble:
    at = NOW - timedelta(seconds=ago)
    return Trouble(failures, Reason.POD_FAILED, at, at, parked=False)


def worker(*, age: float = 100, job: Status | None = None) -> Worker:
    made = NOW - timedelta(seconds=age)
    return Worker("it", SCOPE, ("a",), "rv1", "image", None, Status.RUNNING, made, None, None, job)


def wait(failures_before: int, roll: float, settings: BackOff = SETTINGS) -> float:
    before = trouble(failures_before) if failures_before else None
    after = after_failure(before, Reason.POD_FAILED, NOW, settings, lambda: roll)
    assert (after.failures, after.failed_at) == (failures_before + 1, NOW)
    return (after.retry_at - NOW).total_seconds()


@pytest.mark.parametrize(
    ("failures_before", "seconds"), [(0, 30), (1, 60), (2, 120), (3, 240), (4, 3600), (5, 3600)]
)
def test_each_wait_is_twice_the_one_before_until_it_is_parked(
    failures_before: int, seconds: float
) -> None:
    assert wait(failures_before, roll=0) == seconds


@pytest.mark.parametrize("roll", [-1, -0.5, 0.5, 1])
def test_chance_makes_it_longer_or_shorter_by_a_fifth_at_most(roll: float) -> None:
    assert wait(2, roll) == pytest.approx(120 * (1 + 0.2 * roll))


@pytest.mark.parametrize("failures_before", [0, 3, 7, 40, 100_000])
@pytest.mark.parametrize("roll", [-1, 0, 1])
def test_no_wait_is_longer_than_the_longest(failures_before: int, roll: float) -> None:
    never_parked = BackOff(park_after=1_000_000)
    assert 0 < wait(failures_before, roll, never_parked) <= never_parked.longest


@pytest.mark.parametrize(
    ("failures_before", "parked"), [(0, False), (3, False), (4, True), (9, True)]
)
def test_it_is_parked_after_five_failures_in_a_row(failures_before: int, parked: bool) -> None:
    before = trouble(failures_before) if failures_before else None
    after = after_failure(before, Reason.POD_FAILED, NOW, SETTINGS, lambda: 0)
    assert after.parked is parked


@pytest.mark.parametrize(
    ("failures_before", "failures", "seconds"),
    [(0, 1, 30), (1, 2, 60), (2, 3, 120), (3, 4, 240), (4, 4, 240), (50, 4, 240)],
)
def test_an_outage_backs_off_and_never_parks(
    failures_before: int, failures: int, seconds: float
) -> None:
    before = trouble(failures_before) if failures_before else None
    after = after_failure(before, Reason.PROVISION_FAILED, NOW, SETTINGS, lambda: 0, outage=True)
    assert (after.failures, after.parked) == (failures, False)
    assert (after.retry_at - NOW).total_seconds() == seconds


@pytest.mark.parametrize("park_after", [1, 2])
def test_an_outage_parks_nobody_however_soon_others_are(park_after: int) -> None:
    soon = BackOff(park_after=park_after)
    for before in (None, trouble(1), trouble(park_after)):
        after = after_failure(before, Reason.PROVISION_FAILED, NOW, soon, lambda: 1, outage=True)
        assert (after.failures, after.parked) == (1, False)
        assert (after.retry_at - NOW).total_seconds() == soon.first * (1 + soon.jitter)


def test_the_first_failure_after_an_outage_that_is_the_demands_own_may_park_it() -> None:
    before: Trouble | None = None
    for _ in range(10):
        before = after_failure(
            before, Reason.PROVISION_FAILED, NOW, SETTINGS, lambda: 0, outage=True
        )
    after = after_failure(before, Reason.POD_FAILED, NOW, SETTINGS, lambda: 0)
    assert (after.failures, after.parked) == (5, True)


def test_the_last_reason_is_told() -> None:
    after = after_failure(trouble(1), Reason.RUNNER_IDLE, NOW, SETTINGS, lambda: 0)
    assert after.reason is Reason.RUNNER_IDLE


@pytest.mark.parametrize("reason", Reason)
def test_only_what_would_befall_the_next_worker_too_counts(reason: Reason) -> None:
    says_nothing = {Reason.NODE_UNREACHABLE, Reason.RUNNER_HUNG, Reason.RATE_LIMITED}
    assert (reason in COUNTED) == (reason not in says_nothing)
    assert counts(worker(), reason, None) == (reason in COUNTED)


@pytest.mark.parametrize("job", Status)
def test_a_worker_that_took_a_job_says_nothing_against_its_demand(job: Status) -> None:
    assert not counts(worker(job=job), Reason.POD_FAILED, None)


@pytest.mark.parametrize(("age", "counted"), [(9, True), (10, False), (11, False)])
def test_workers_made_before_the_last_failure_are_of_the_same_attempt(
    age: float, counted: bool
) -> None:
    assert counts(worker(age=age), Reason.POD_FAILED, trouble(1, ago=10)) is counted
