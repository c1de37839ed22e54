"""The simulated world's time."""

import threading
from datetime import timedelta

import pytest

from reconcile.sim.clock import BEGINNING, LiveClock, SteppedClock
from reconcile.sim.timeline import LiveTime, SteppedTime


def test_stepped_time_stands_still_and_never_goes_back() -> None:
    clock = SteppedClock()
    assert clock.now() == clock.now() == BEGINNING
    clock.move_to(BEGINNING + timedelta(seconds=1))
    with pytest.raises(ValueError, match="cannot go back"):
        clock.move_to(BEGINNING)


def test_appointments_are_kept_in_order_each_at_its_own_time() -> None:
    time = SteppedTime()
    kept: list[tuple[str, float]] = []

    def note(name: str) -> None:
        kept.append((name, (time.clock.now() - BEGINNING).total_seconds()))

    time.timeline.after(20, lambda: note("late"))
    time.timeline.after(10, lambda: note("early"))
    time.timeline.after(10, lambda: note("just after"))
    time.timeline.after(30, lambda: note("too late"))
    time.step(25)
    assert kept == [("early", 10), ("just after", 10), ("late", 20)]
    assert time.clock.now() == BEGINNING + timedelta(seconds=25)


def test_what_is_appointed_on_the_way_happens_on_the_way() -> None:
    time = SteppedTime()
    ticks: list[float] = []

    def tick() -> None:
        ticks.append((time.clock.now() - BEGINNING).total_seconds())
        time.timeline.after(10, tick)

    time.timeline.after(10, tick)
    time.step(35)
    assert ticks == [10, 20, 30]


def test_cancelled_appointment_is_not_kept() -> None:
    time = SteppedTime()
    kept: list[str] = []
    time.timeline.after(1, lambda: kept.append("kept"))
    time.timeline.after(1, lambda: kept.append("cancelled")).cancel()
    time.step(2)
    assert kept == ["kept"]


def test_effect_runs_without_the_lock() -> None:
    time = SteppedTime()
    free: list[bool] = []

    def look() -> None:
        free.append(time.timeline.lock.acquire(timeout=5))
        time.timeline.lock.release()

    def effect() -> None:
        other = threading.Thread(target=look)
        other.start()
        other.join()

    time.timeline.after(1, lambda: effect)
    time.step(1)
    assert free == [True]


def test_step_until_ends_as_soon_as_it_holds() -> None:
    time = SteppedTime()
    done: list[int] = []
    time.timeline.after(40, lambda: done.append(1))
    time.timeline.after(50, lambda: done.append(2))
    time.step_until(lambda: bool(done))
    assert time.clock.now() == BEGINNING + timedelta(seconds=40)
    with pytest.raises(TimeoutError, match="within 5 s"):
        time.step_until(lambda: len(done) > 1, limit=5)


def test_live_time_runs_by_itself_at_its_speed() -> None:
    kept = threading.Event()
    later = threading.Event()
    with LiveTime(LiveClock(speed=3600)) as time:
        began = time.clock.now()
        time.timeline.after(60, lambda: kept.set)
        time.timeline.after(10 * 365 * 86400, lambda: later.set)
        assert kept.wait(10)
        assert time.clock.now() - began >= timedelta(seconds=60)
    assert not later.is_set()


def test_speed_must_be_above_zero() -> None:
    with pytest.raises(ValueError, match="above zero"):
        LiveClock(speed=0)
