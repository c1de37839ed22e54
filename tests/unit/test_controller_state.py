"""Health and readiness: each problem alone, and none."""

import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from reconcile.controller.state import (
    SILENCE_SECONDS,
    STALE_INTERVALS,
    Observed,
    State,
    health_problems,
    ready_problems,
)
from reconcile.run_outcome import RunOutcome
from tests.unit.exposition import NOTHING

NOW = 10_000.0
INTERVAL = 15.0
LIMIT = STALE_INTERVALS * INTERVAL
# All is well, and nothing is in flight.
WELL = Observed(heard_at=NOW, listened_at=NOW, worked_at=NOW, listening=True, trouble="")

SILENT: dict[str, Any] = {"heard_at": NOW - SILENCE_SECONDS - 1}
DEAF: dict[str, Any] = {"listened_at": NOW - 2 * SILENCE_SECONDS - 1}
CUT_OFF: dict[str, Any] = {"listening": False, "trouble": "connection refused"}
NEW: dict[str, Any] = {"worked_at": None}
STALE: dict[str, Any] = {"worked_at": NOW - LIMIT - 1}
UNHEALTHY = [
    (SILENT, "The controller is silent for 31 s."),
    (DEAF, "The listener is silent for 61 s."),
]
UNREADY = [
    *UNHEALTHY,
    (CUT_OFF, "The database: connection refused"),
    (NEW, "No run has done its work yet."),
    (STALE, "No run has done its work for 61 s (more than 60)."),
]


def healthy(observed: Observed) -> list[str]:
    return health_problems(observed, NOW)


def ready(observed: Observed, interval: float = INTERVAL) -> list[str]:
    return ready_problems(observed, NOW, interval)


def test_nothing_is_wrong() -> None:
    assert healthy(WELL) == []
    assert ready(WELL) == []


@pytest.mark.parametrize(("wrong", "problem"), UNHEALTHY)
def test_silent_process_is_neither_healthy_nor_ready(wrong: dict[str, Any], problem: str) -> None:
    assert healthy(replace(WELL, **wrong)) == [problem]
    assert ready(replace(WELL, **wrong)) == [problem]


@pytest.mark.parametrize("wrong", [CUT_OFF, NEW, STALE])
def test_what_a_restart_would_not_mend_is_healthy(wrong: dict[str, Any]) -> None:
    assert healthy(replace(WELL, **wrong)) == []


@pytest.mark.parametrize(("wrong", "problem"), UNREADY)
def test_each_problem_alone_is_told_and_no_other(wrong: dict[str, Any], problem: str) -> None:
    assert ready(replace(WELL, **wrong)) == [problem]


@pytest.mark.parametrize(
    ("one", "other"), [pair for pair in combinations(UNREADY, 2) if pair[0][0] is not NEW]
)
def test_two_problems_are_both_told(
    one: tuple[dict[str, Any], str], other: tuple[dict[str, Any], str]
) -> None:
    assert ready(replace(WELL, **one[0], **other[0])) == [one[1], other[1]]


def test_moment_of_silence_is_none() -> None:
    """What is said every few seconds may come late: a slow machine is not a dead one."""
    assert ready(replace(WELL, heard_at=NOW - SILENCE_SECONDS)) == []
    assert ready(replace(WELL, listened_at=NOW - 2 * SILENCE_SECONDS)) == []


# Staleness ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("interval", [0.5, 15.0, 600.0])
def test_stale_is_a_few_intervals_without_a_run_that_worked(interval: float) -> None:
    limit = STALE_INTERVALS * interval
    assert STALE_INTERVALS >= 3, "a run or two may fail"
    assert ready(replace(WELL, worked_at=NOW - limit), interval) == []
    assert len(ready(replace(WELL, worked_at=NOW - limit - 0.1), interval)) == 1


def test_long_run_in_flight_is_not_stale() -> None:
    """What counts is how long nothing had been done when it began."""
    began = NOW - 10 * LIMIT
    assert ready(replace(WELL, run_started_at=began, worked_at=began - LIMIT)) == []


def test_run_in_flight_does_not_hide_that_those_before_it_did_nothing() -> None:
    began = NOW - 1
    [problem] = ready(replace(WELL, run_started_at=began, worked_at=began - LIMIT - 1))
    assert problem == "No run has done its work for 62 s (more than 60)."


def test_first_run_in_flight_has_done_nothing_yet() -> None:
    assert ready(replace(WELL, run_started_at=NOW - 1, worked_at=None)) == [
        "No run has done its work yet."
    ]


# As it changes -----------------------------------------------------------------------------------


def test_new_state_is_healthy_and_says_what_it_waits_for() -> None:
    observed = State().observed()
    assert health_problems(observed, observed.heard_at) == []
    assert ready_problems(observed, observed.heard_at, INTERVAL) == [
        "The database: no connection yet",
        "No run has done its work yet.",
    ]


WORKED = {RunOutcome.COMPLETED, RunOutcome.PARTIAL, RunOutcome.SKIPPED}


@pytest.mark.parametrize("outcome", RunOutcome)
def test_run_that_ends_has_done_its_work_or_not(outcome: RunOutcome) -> None:
    state = State()
    state.run_began()
    began = state.observed().run_started_at
    assert began is not None
    assert state.observed().worked_at is None
    state.run_ended(outcome)
    ended = state.observed()
    assert ended.run_started_at is None
    if outcome in WORKED:
        assert ended.worked_at is not None
        assert ended.worked_at >= began
    else:
        assert ended.worked_at is None


class Watched:
    """A lock that looks at the state whenever it is let go: what others see, moment by moment."""

    def __init__(self) -> None:
        self.state: State | None = None
        self.seen: list[Observed] = []
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        assert self.state is not None
        self.seen.append(self.state.observed())
        self._lock.release()


def test_end_of_a_long_run_is_never_seen_without_its_work() -> None:
    lock = Watched()
    long_ago = replace(WELL, run_started_at=NOW - 10 * LIMIT, worked_at=NOW - 10 * LIMIT)
    state = lock.state = State(long_ago, lock)  # type: ignore[arg-type]
    state.run_ended(RunOutcome.COMPLETED)
    assert [one.worked_at != long_ago.worked_at for one in lock.seen] == [True]


def test_connection_comes_and_goes() -> None:
    state = State()
    state.connected()
    assert (state.observed().listening, state.observed().trouble) == (True, "")
    state.lost("terminated")
    assert (state.observed().listening, state.observed().trouble) == (False, "terminated")


def test_signs_of_life_and_figures_have_their_moment() -> None:
    state = State(Observed(heard_at=-1.0, listened_at=-1.0))
    state.heard()
    state.listened()
    state.learned(NOTHING)
    observed = state.observed()
    assert observed.heard_at > 0
    assert observed.listened_at >= observed.heard_at
    assert observed.figures is NOTHING
    assert observed.figures_at >= observed.listened_at


@pytest.fixture
def impatient_threads() -> Iterator[None]:
    """They take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("impatient_threads")
def test_changes_of_several_threads_are_all_kept() -> None:
    """Each changes another field: one that copied what the other had replaced would undo it."""
    state = State()
    barrier = threading.Barrier(2)
    undone: list[int] = []

    def connect_and_lose() -> None:
        barrier.wait()
        for number in range(3000):
            state.lost(str(number))
            if state.observed().trouble != str(number):
                undone.append(number)

    def begin_and_end() -> None:
        barrier.wait()
        for number in range(3000):
            state.run_began()
            if state.observed().run_started_at is None:
                undone.append(number)
            state.run_ended(RunOutcome.COMPLETED)

    threads = [threading.Thread(target=work) for work in (connect_and_lose, begin_and_end)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert undone == []


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("worked_at", [None, 7.5])
def test_new_observer_knows_what_was_before_it(worked_at: float | None, running: bool) -> None:
    state = State()
    state.resumed(worked_at=worked_at, running=running)
    observed = state.observed()
    assert observed.worked_at == worked_at
    assert (observed.run_started_at is not None) == running
