"""The simulated GitHub: workflow runs, jobs, and which runner gets which."""

from collections.abc import Iterator

import pytest

from reconcile.sim.github import workflow
from reconcile.sim.github.model import Conclusion, Run, Status
from tests.simulated import LABEL, Process, Simulated

BUILD = workflow.uniform((LABEL,), seconds=60)

PIPELINE = workflow.parse(
    """
    name: Pipeline
    jobs:
      lint: {runs-on: ubuntu-24.04-riscv, steps: [{run: sleep 10}]}
      test:
        needs: lint
        runs-on: ubuntu-24.04-riscv
        strategy: {matrix: {cc: [gcc, clang]}}
        steps: [{run: sleep 30}]
      deploy: {needs: test, runs-on: ubuntu-24.04-riscv, steps: [{run: sleep 5}]}
    """
)


@pytest.fixture
def world() -> Iterator[Simulated]:
    with Simulated().started() as world:
        yield world


def outcomes(run: Run) -> dict[str, str | None]:
    return {job.spec.name: job.conclusion or job.status for job in run.jobs_of(run.attempt)}


def status(run: Run) -> Status:
    return run.jobs[0].status


def test_job_goes_through_its_life_with_steps(world: Simulated) -> None:
    run = world.github.engine.push(world.public, BUILD)
    path = f"/repos/{world.public.full_name}/actions/jobs/{run.jobs[0].id}"
    client = world.as_installation()
    queued = client.get(path).json()
    assert (queued["status"], queued["steps"], queued["runner_name"]) == ("queued", [], None)
    assert queued["started_at"] == queued["created_at"]
    world.online("runner-1")
    world.time.step(31)
    running = client.get(path).json()
    assert (running["status"], running["runner_name"]) == ("in_progress", "runner-1")
    assert [step["status"] for step in running["steps"]] == ["completed", "in_progress"]
    world.time.step(60)
    done = client.get(path).json()
    assert (done["status"], done["conclusion"]) == ("completed", "success")
    assert [step["conclusion"] for step in done["steps"]] == ["success"] * 3
    assert (run.status, run.conclusion) == (Status.COMPLETED, Conclusion.SUCCESS)


def test_first_queued_is_first_served(world: Simulated) -> None:
    runs = []
    for _ in range(3):
        runs.append(world.github.engine.push(world.public, BUILD))
        world.time.step(1)
    for number in range(2):
        world.online(f"runner-{number}")
    world.time.step(5)
    assert [status(run) for run in runs] == ["in_progress", "in_progress", "queued"]


def test_runner_takes_any_job_that_its_labels_cover(world: Simulated) -> None:
    """Lesson 15: a runner of another label set may take the job."""
    world.github.engine.push(world.public, workflow.uniform(("GPU",)))
    narrow = world.online("narrow", ("cpu",))
    wide = world.online("wide", ("gpu", "cpu", LABEL))
    world.time.step(5)
    assert (narrow.told, wide.told) == ([], ["started build"])


def test_job_nobody_can_run_does_not_hold_up_those_behind_it(world: Simulated) -> None:
    world.github.engine.push(world.public, workflow.uniform(("mainframe",)))
    run = world.github.engine.push(world.public, BUILD)
    world.online()
    world.time.step(5)
    assert status(run) is Status.IN_PROGRESS


def test_jobs_wait_for_what_they_need(world: Simulated) -> None:
    run = world.github.engine.push(world.public, PIPELINE)
    assert outcomes(run) == {"lint": "queued"}
    for number in range(4):
        world.online(f"runner-{number}")
    world.time.step(20)
    assert outcomes(run) == {
        "lint": "success",
        "test (gcc)": "in_progress",
        "test (clang)": "in_progress",
    }
    world.time.step(100)
    assert set(outcomes(run).values()) == {"success"}
    assert run.conclusion is Conclusion.SUCCESS


FAILING = workflow.parse(
    """
    jobs:
      test:
        runs-on: ubuntu-24.04-riscv
        strategy: {matrix: {cc: [gcc, clang, tcc]}}
        steps: [{run: "sleep ${{ matrix.cc }}0; exit 1"}]
      deploy: {needs: test, runs-on: ubuntu-24.04-riscv, steps: [{run: sleep 5}]}
      mourn: {needs: test, if: failure(), runs-on: ubuntu-24.04-riscv, steps: [{run: sleep 5}]}
      clean: {needs: deploy, if: always(), runs-on: ubuntu-24.04-riscv, steps: [{run: sleep 5}]}
    """
)


def test_failure_cancels_its_matrix_and_skips_what_needed_it(world: Simulated) -> None:
    run = world.github.engine.push(world.public, FAILING)
    for number in range(4):
        world.online(f"runner-{number}")
    world.time.step(120)
    result = outcomes(run)
    assert sorted(str(result[f"test ({cc})"]) for cc in ("gcc", "clang", "tcc")).count("failure")
    assert result["deploy"] == "skipped"
    assert (result["mourn"], result["clean"]) == ("success", "queued")
    world.online("runner-5")
    world.time.step(60)
    assert run.conclusion is Conclusion.FAILURE


def test_fail_fast_cancels_the_rest_of_the_matrix(world: Simulated) -> None:
    run = world.github.engine.push(world.public, FAILING)
    world.online()
    world.time.step(60)
    assert sorted(str(job.conclusion) for job in run.jobs if job.spec.key == "test") == [
        "cancelled",
        "cancelled",
        "failure",
    ]


def test_max_parallel_is_kept(world: Simulated) -> None:
    text = """
    jobs:
      test:
        runs-on: ubuntu-24.04-riscv
        strategy: {max-parallel: 2, matrix: {n: [1, 2, 3, 4, 5]}}
        steps: [{run: sleep 10}]
    """
    run = world.github.engine.push(world.public, workflow.parse(text))
    for number in range(5):
        world.online(f"runner-{number}")
    most = 0
    for _ in range(60):
        world.time.step(1)
        most = max(most, sum(job.status is not Status.COMPLETED for job in run.jobs))
    assert most == 2
    assert len(run.jobs) == 5
    assert run.conclusion is Conclusion.SUCCESS


def test_cancelled_run_ends_in_the_queue_at_once_and_on_its_runner_soon(world: Simulated) -> None:
    run = world.github.engine.push(world.public, workflow.uniform((LABEL,), 600, count=2))
    process = world.online()
    world.time.step(5)
    client = world.as_installation()
    path = f"/repos/{world.public.full_name}/actions/runs/{run.id}/cancel"
    assert client.post(path).status_code == 403, "the App may only read"
    world.github.engine.cancel(run)
    assert sorted(outcomes(run).values(), key=str) == ["cancelled", "in_progress"]
    world.time.step(10)
    assert process.told == ["started build (1)", "finished build (1): cancelled"]
    assert run.conclusion is Conclusion.CANCELLED


def test_rerun_is_a_new_attempt_with_new_jobs(world: Simulated) -> None:
    run = world.github.engine.push(world.public, BUILD)
    world.online()
    world.time.step(90)
    world.github.engine.rerun(run)
    client = world.as_installation()
    base = f"/repos/{world.public.full_name}/actions/runs/{run.id}"
    assert client.get(base).json()["run_attempt"] == 2
    first, second = (client.get(f"{base}/attempts/{n}/jobs").json()["jobs"] for n in (1, 2))
    assert first[0]["id"] != second[0]["id"]
    assert (first[0]["status"], second[0]["status"]) == ("completed", "queued")
    assert client.get(f"{base}/jobs").json()["total_count"] == 1
    assert client.get(f"{base}/jobs", params={"filter": "all"}).json()["total_count"] == 2
    assert client.get(f"{base}/attempts/1").json()["conclusion"] == "success"
    assert client.get(f"{base}/attempts/3").status_code == 404


def test_runs_and_jobs_are_not_found_elsewhere(world: Simulated) -> None:
    run = world.github.engine.push(world.public, BUILD)
    client = world.as_installation()
    here, there = f"/repos/{world.public.full_name}", f"/repos/{world.private.full_name}"
    job = run.jobs[0].id
    for path in (f"/actions/jobs/{job}", f"/actions/runs/{run.id}", f"/actions/runs/{run.id}/jobs"):
        assert client.get(here + path).status_code == 200
        assert client.get(there + path).status_code == 404
    assert client.get(f"{here}/actions/jobs/1").status_code == 404
    assert client.get(f"{here}/actions/jobs/one").status_code == 404


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
    assert world.github.runners.runners == {}


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


def test_job_that_nobody_took_in_a_day_is_cancelled(world: Simulated) -> None:
    run = world.github.engine.push(world.public, BUILD)
    world.time.step(24 * 3600)
    assert run.jobs[0].conclusion is Conclusion.CANCELLED
