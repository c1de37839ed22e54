"""When the next run is due: causes, outcomes and moments crossed, and any sequence of them."""

from itertools import product

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from reconcile.controller.schedule import FIRST_PAUSE_SECONDS, STORM_SECONDS, Cause, Schedule
from reconcile.run_outcome import RunOutcome

INTERVAL = 15.0
BEGAN, ENDED = 100.0, 103.0
FAILING = (RunOutcome.FAILED, RunOutcome.UNUSABLE, RunOutcome.KILLED, RunOutcome.CRASHED)
WAKING = (Cause.NOTIFY, Cause.CONNECTED)


def began(cause: Cause = Cause.NOTIFY, at: float = BEGAN, interval: float = INTERVAL) -> Schedule:
    """One whose run is in flight."""
    schedule = Schedule(interval, next_tick=at)
    schedule.began(cause, at)
    return schedule


def comes_next(schedule: Schedule) -> tuple[float, Cause | None]:
    """When, if nothing else happens, and why."""
    at = schedule.next_at
    assert schedule.due(at - 0.001) is None
    return at, schedule.due(at)


def pause_after(cause: Cause, outcome: RunOutcome) -> float:
    """The rule, once more: what failed has one; so has what left the work to somebody else."""
    left = outcome is RunOutcome.SKIPPED and cause is not Cause.TICK
    return 1.0 if left or outcome in FAILING else 0.0


CROSSED = [
    (*axes, pause_after(*axes)) for axes in product(Cause, RunOutcome)
]  # cause, outcome, pause


# What follows a run ------------------------------------------------------------------------------


def test_first_run_waits_for_a_wake_or_the_first_tick() -> None:
    schedule = Schedule(INTERVAL, next_tick=BEGAN)
    assert comes_next(schedule) == (BEGAN, Cause.TICK)
    schedule.wake(Cause.CONNECTED)
    assert schedule.due(0.0) is Cause.CONNECTED


@pytest.mark.parametrize(("cause", "outcome", "pause"), CROSSED)
def test_nothing_woke_it_then_a_retry_where_one_is_due_else_the_tick(
    cause: Cause, outcome: RunOutcome, pause: float
) -> None:
    schedule = began(cause)
    schedule.ended(outcome, ENDED)
    expected = (ENDED + pause, Cause.RETRY) if pause else (BEGAN + INTERVAL, Cause.TICK)
    assert comes_next(schedule) == expected


@pytest.mark.parametrize("wakes", [1, 2, 100])
@pytest.mark.parametrize(("cause", "outcome", "pause"), CROSSED)
def test_woken_during_a_run_then_exactly_one_more_straight_after_it(
    cause: Cause, outcome: RunOutcome, pause: float, wakes: int
) -> None:
    schedule = began(cause)
    for _ in range(wakes):
        schedule.wake(Cause.NOTIFY)
    schedule.ended(outcome, ENDED)
    assert comes_next(schedule) == (ENDED + pause, Cause.NOTIFY)
    schedule.began(Cause.NOTIFY, ENDED + pause)
    schedule.ended(RunOutcome.COMPLETED, ENDED + pause + 1)
    assert comes_next(schedule) == (ENDED + pause + INTERVAL, Cause.TICK)


@pytest.mark.parametrize(("cause", "outcome", "pause"), CROSSED)
def test_woken_after_a_run_then_at_once_but_not_before_its_pause_is_over(
    cause: Cause, outcome: RunOutcome, pause: float
) -> None:
    schedule = began(cause)
    schedule.ended(outcome, ENDED)
    schedule.wake(Cause.NOTIFY)
    now = ENDED + 0.25
    assert schedule.due(now) is (None if pause else Cause.NOTIFY)
    assert schedule.due(max(now, ENDED + pause)) is Cause.NOTIFY


@pytest.mark.parametrize("wake", WAKING)
def test_cause_is_told_as_it_was_given(wake: Cause) -> None:
    schedule = Schedule(INTERVAL, next_tick=BEGAN)
    schedule.wake(wake)
    assert schedule.due(0.0) is wake


def test_jobs_that_come_faster_than_runs_end_do_not_start_runs_by_the_hundred() -> None:
    """A new one every hundredth of a second, for ten seconds; a run takes three of them."""
    schedule = Schedule(INTERVAL, next_tick=BEGAN)
    starts: list[float] = []
    ends = 0.0
    for hundredth in range(1000):
        now = hundredth / 100
        schedule.wake(Cause.NOTIFY)
        if ends == now and starts:
            schedule.ended(RunOutcome.COMPLETED, now)
        if now >= ends and (cause := schedule.due(now)) is not None:
            starts.append(now)
            schedule.began(cause, now)
            ends = (hundredth + 3) / 100
    assert starts[0] == 0, "the first at once"
    assert len(starts) == 10 / STORM_SECONDS


def test_job_that_comes_after_a_short_run_starts_the_next_at_once() -> None:
    schedule = began()
    schedule.ended(RunOutcome.COMPLETED, BEGAN + 0.05)
    schedule.wake(Cause.NOTIFY)
    assert schedule.due(BEGAN + 0.06) is Cause.NOTIFY


# Ticks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("took", [0.0, 3.0, 14.5])
def test_interval_counts_from_the_start_of_a_run(took: float) -> None:
    schedule = began(Cause.TICK)
    schedule.ended(RunOutcome.COMPLETED, BEGAN + took)
    assert comes_next(schedule) == (BEGAN + INTERVAL, Cause.TICK)


def test_run_that_took_longer_than_the_interval_is_followed_at_once() -> None:
    schedule = began(Cause.TICK)
    schedule.ended(RunOutcome.COMPLETED, BEGAN + 2 * INTERVAL)
    assert schedule.due(BEGAN + 2 * INTERVAL) is Cause.TICK


def test_run_that_was_woken_puts_the_tick_off() -> None:
    schedule = Schedule(INTERVAL, next_tick=BEGAN)
    schedule.wake(Cause.NOTIFY)
    schedule.began(Cause.NOTIFY, BEGAN - 1)
    schedule.ended(RunOutcome.COMPLETED, BEGAN)
    assert comes_next(schedule) == (BEGAN - 1 + INTERVAL, Cause.TICK)


def test_tick_that_finds_another_run_at_work_leaves_it_at_that() -> None:
    schedule = began(Cause.TICK)
    schedule.ended(RunOutcome.SKIPPED, ENDED)
    assert comes_next(schedule) == (BEGAN + INTERVAL, Cause.TICK)


# Trouble -----------------------------------------------------------------------------------------


def pauses(schedule: Schedule, outcomes: list[RunOutcome]) -> list[float]:
    """Between each run's end and the next one's start, each run taking no time."""
    now, found = BEGAN, []
    for outcome in outcomes:
        schedule.ended(outcome, now)
        at, cause = comes_next(schedule)
        assert cause is not None
        found.append(at - now)
        now = at
        schedule.began(cause, now)
    return found


@pytest.mark.parametrize("cause", Cause)
@pytest.mark.parametrize("outcome", FAILING)
def test_failing_run_is_repeated_later_each_time_up_to_the_interval(
    cause: Cause, outcome: RunOutcome
) -> None:
    assert pauses(began(cause), [outcome] * 7) == [1, 2, 4, 8, 15, 15, 15]


@pytest.mark.parametrize("outcome", FAILING)
def test_storm_of_wakes_shortens_no_pause(outcome: RunOutcome) -> None:
    schedule, now = began(), BEGAN
    for expected in (1, 2, 4, 8, 15):
        schedule.ended(outcome, now)
        for step in range(4 * expected):
            schedule.wake(Cause.NOTIFY)
            assert schedule.due(now + step / 4) is None
        now += expected
        assert schedule.due(now) is Cause.NOTIFY
        schedule.began(Cause.NOTIFY, now)


@pytest.mark.parametrize("worked", [RunOutcome.COMPLETED, RunOutcome.PARTIAL])
def test_run_that_did_its_work_ends_the_pauses(worked: RunOutcome) -> None:
    crashed = RunOutcome.CRASHED
    assert pauses(began(), [crashed, crashed, worked, crashed]) == [1, 2, INTERVAL, 1]


@pytest.mark.parametrize("cause", [Cause.NOTIFY, Cause.CONNECTED, Cause.RETRY])
def test_skipped_run_that_was_called_for_is_repeated_each_second(cause: Cause) -> None:
    """Whoever has the lock may take minutes; whoever waits for it should not, once it is free."""
    skipped = RunOutcome.SKIPPED
    assert pauses(began(cause), [skipped] * 5) == [1] * 5


@pytest.mark.parametrize("outcome", [RunOutcome.SKIPPED, RunOutcome.CRASHED])
def test_no_pause_is_longer_than_the_interval(outcome: RunOutcome) -> None:
    assert pauses(began(interval=0.25), [outcome] * 3) == [0.25] * 3


# Whatever happens --------------------------------------------------------------------------------


class Controlled(RuleBasedStateMachine):
    """A schedule, and a loop like the controller's around it: after whatever happens, it looks
    whether a run is due. Moments are quarters of a second, which floats know exactly."""

    interval = 4.0

    def __init__(self) -> None:
        super().__init__()
        self.now = self.started = self.ended_at = 0.0
        self.schedule = Schedule(self.interval, next_tick=self.interval)
        self.running: Cause | None = None
        self.unheard = False  # whether a wake is not followed by a run yet
        self.failures = 0  # in a row, up to now
        self.wakes = self.called_for = 0
        self.runs = dict.fromkeys(Cause, 0)

    def look(self) -> None:
        if self.running is None and (cause := self.schedule.due(self.now)) is not None:
            self.begin(cause)

    def begin(self, cause: Cause) -> None:
        assert cause is not Cause.TICK or not self.unheard, "it was woken, and says so"
        if self.failures:
            pause = min(self.interval, FIRST_PAUSE_SECONDS * 2 ** (self.failures - 1))
            assert self.now - self.ended_at >= pause, "what fails is not repeated in a hurry"
        self.runs[cause] += 1
        self.running, self.started, self.unheard = cause, self.now, False
        self.schedule.began(cause, self.now)

    def go_on(self, until: float) -> None:
        """To the next moment at which something is due, and from there to the next."""
        while self.running is None and self.schedule.next_at <= until:
            self.now = max(self.now, self.schedule.next_at)
            self.look()
        self.now = until

    @rule(cause=st.sampled_from(WAKING))
    def wake(self, cause: Cause) -> None:
        self.schedule.wake(cause)
        self.wakes += 1
        self.unheard = True
        self.look()

    @rule(quarters=st.integers(1, 40))
    def time_passes(self, quarters: int) -> None:
        self.go_on(self.now + quarters / 4)

    @precondition(lambda self: self.running is not None)
    @rule(outcome=st.sampled_from(RunOutcome))
    def end(self, outcome: RunOutcome) -> None:
        failing = outcome in FAILING
        self.failures = self.failures + 1 if failing else 0
        self.called_for += failing or outcome is RunOutcome.SKIPPED
        self.running, self.ended_at = None, self.now
        self.schedule.ended(outcome, self.now)
        self.look()

    @invariant()
    def no_wake_waits_longer_than_a_pause(self) -> None:
        if self.unheard and self.running is None:
            assert self.now < self.schedule.next_at <= self.ended_at + self.interval

    @invariant()
    def next_run_is_never_farther_than_the_interval(self) -> None:
        if self.running is None:
            assert self.schedule.next_at <= max(self.started, self.ended_at) + self.interval

    @invariant()
    def every_run_has_its_reason(self) -> None:
        assert self.runs[Cause.NOTIFY] + self.runs[Cause.CONNECTED] <= self.wakes
        assert self.runs[Cause.RETRY] <= self.called_for
        assert self.runs[Cause.TICK] <= self.now / self.interval

    def teardown(self) -> None:
        """Once runs do their work again, whatever woke it has had its run, and then there is
        nothing but ticks."""
        if self.running is not None:
            self.end(RunOutcome.COMPLETED)
        self.go_on(self.now + self.interval)
        assert not self.unheard
        while self.running is not None:
            self.end(RunOutcome.COMPLETED)
        assert comes_next(self.schedule) == (self.started + self.interval, Cause.TICK)


TestControlled = Controlled.TestCase
TestControlled.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
