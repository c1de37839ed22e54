"""The simulated GitHub: a runner's line, and what becomes of its job when that is cut."""

import gc
import weakref

import pytest

from reconcile.sim.broker import RefusedError
from reconcile.sim.github import workflow
from reconcile.sim.github.model import Conclusion, Run, Status
from tests.simulated import LABEL, Process, Simulated

BUILD = workflow.uniform((LABEL,), seconds=60)


def status(run: Run) -> Status:
    return run.jobs[0].status


def test_runner_that_vanishes_loses_its_job_after_the_lease(world: Simulated) -> None:
    run = world.github.engine.push(world.public, workflow.uniform((LABEL,), seconds=60))
    _, jit = world.runner()
    session = world.github.connect(jit, Process())
    world.time.step(10)
    session.vanish()
    world.time.step(599)
    assert status(run) is Status.IN_PROGRESS
    world.time.step(1)
    assert run.jobs[0].conclusion is Conclusion.FAILURE
    [runner] = world.github.runners.all()
    assert (runner.online, runner.busy) == (False, False), "its registration stays behind"
    world.time.step(24 * 3600)
    assert world.github.runners.all() == []


def test_runner_whose_line_comes_back_in_time_finishes_its_job(world: Simulated) -> None:
    run = world.github.engine.push(world.public, workflow.uniform((LABEL,), seconds=60))
    _, jit = world.runner()
    process = Process()
    session = world.github.connect(jit, process)
    world.time.step(10)
    session.lose()
    world.time.step(300)
    assert status(run) is Status.IN_PROGRESS
    session.resume()
    world.time.step(0)
    assert process.told == ["started build", "finished build: success"]


def test_runner_whose_line_comes_back_too_late_is_told_so(world: Simulated) -> None:
    world.github.engine.push(world.public, workflow.uniform((LABEL,), seconds=60))
    _, jit = world.runner()
    process = Process()
    session = world.github.connect(jit, process)
    world.time.step(10)
    session.lose()
    world.time.step(700)
    session.resume()
    assert process.told == ["started build", "deregistered"]


def test_runner_that_is_stopped_fails_its_job_at_once(world: Simulated) -> None:
    run = world.github.engine.push(world.public, BUILD)
    _, jit = world.runner()
    session = world.github.connect(jit, Process())
    world.time.step(10)
    session.stop()
    assert run.jobs[0].conclusion is Conclusion.FAILURE


def test_cancelled_job_of_a_silent_runner_ends_with_the_lease(world: Simulated) -> None:
    run = world.github.engine.push(world.public, BUILD)
    _, jit = world.runner()
    session = world.github.connect(jit, Process())
    world.time.step(10)
    session.lose()
    world.github.engine.cancel(run)
    world.time.step(590)
    assert status(run) is Status.IN_PROGRESS
    world.time.step(10)
    assert run.jobs[0].conclusion is Conclusion.CANCELLED


def test_silent_idle_runner_is_seen_offline_and_gets_nothing(world: Simulated) -> None:
    runner, jit = world.runner()
    session = world.github.connect(jit, Process())
    session.lose()
    run = world.github.engine.push(world.public, BUILD)
    world.time.step(60)
    assert not runner.online
    assert status(run) is Status.QUEUED
    session.resume()
    world.time.step(5)
    assert status(run) is Status.IN_PROGRESS


def test_second_process_with_the_same_configuration_is_refused(world: Simulated) -> None:
    _, jit = world.runner()
    session = world.github.connect(jit, Process())
    with pytest.raises(RefusedError, match="already exists"):
        world.github.connect(jit, Process())
    world.github.engine.push(world.public, BUILD)
    world.time.step(5)
    session.vanish()
    with pytest.raises(RefusedError, match="already exists"):
        world.github.connect(jit, Process())


def test_idle_runner_may_come_back_as_another_process(world: Simulated) -> None:
    _, jit = world.runner()
    old = world.github.connect(jit, Process())
    old.vanish()
    process = Process()
    world.github.connect(jit, process)
    old.vanish()
    old.stop()
    old.resume()
    run = world.github.engine.push(world.public, BUILD)
    world.time.step(5)
    assert process.told == ["started build"], "the old process has no say in it"
    assert status(run) is Status.IN_PROGRESS


def test_lease_runs_from_the_first_silence(world: Simulated) -> None:
    run = world.github.engine.push(world.public, BUILD)
    _, jit = world.runner()
    session = world.github.connect(jit, Process())
    world.time.step(5)
    session.lose()
    world.time.step(500)
    session.vanish()
    session.stop()
    world.time.step(99)
    assert status(run) is Status.IN_PROGRESS
    world.time.step(1)
    assert run.jobs[0].conclusion is Conclusion.FAILURE


def test_silent_busy_runner_is_offline_and_still_busy(world: Simulated) -> None:
    world.github.engine.push(world.public, BUILD)
    runner, jit = world.runner()
    session = world.github.connect(jit, Process())
    world.time.step(5)
    session.lose()
    world.time.step(60)
    assert (runner.online, runner.busy) == (False, True)
    session.resume()
    assert runner.online


def test_each_silence_is_timed_by_itself(world: Simulated) -> None:
    runner, jit = world.runner()
    session = world.github.connect(jit, Process())
    world.time.step(23 * 3600)
    session.lose()
    world.time.step(50)
    session.resume()
    session.lose()
    world.time.step(50)
    assert runner.online, "50 s of silence are not 60, whatever was before"
    world.time.step(2 * 3600)
    assert world.github.runners.all() == [runner], "nor are two hours a day"


def test_runner_removed_while_it_was_away_gets_no_job_when_it_is_back(world: Simulated) -> None:
    _, jit = world.runner()
    process = Process()
    session = world.github.connect(jit, process)
    session.lose()
    world.time.step(25 * 3600)
    run = world.github.engine.push(world.public, BUILD)
    session.resume()
    world.time.step(5)
    assert process.told == ["deregistered"]
    assert status(run) is Status.QUEUED


def test_cancelling_again_and_again_does_not_put_off_the_end(world: Simulated) -> None:
    run = world.github.engine.push(world.public, BUILD)
    world.online()
    world.time.step(5)
    for _ in range(5):
        world.github.engine.cancel(run)
        world.time.step(1)
    assert run.jobs[0].conclusion is Conclusion.CANCELLED


def test_cancelled_job_whose_runner_is_stopped_is_cancelled(world: Simulated) -> None:
    run = world.github.engine.push(world.public, BUILD)
    _, jit = world.runner()
    session = world.github.connect(jit, Process())
    world.time.step(5)
    world.github.engine.cancel(run)
    session.stop()
    assert run.jobs[0].conclusion is Conclusion.CANCELLED


def test_lost_runner_is_forgotten_with_its_registration(world: Simulated) -> None:
    runner, jit = world.runner()
    session = world.github.connect(jit, Process())
    session.vanish()
    world.time.step(25 * 3600)
    kept = weakref.ref(runner)
    del runner, session
    gc.collect()
    assert kept() is None, "a world that runs for weeks loses many"
