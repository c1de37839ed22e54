"""The simulated GitHub: workflow runs, jobs, and which runner gets which."""

from reconcile.sim.github import workflow
from reconcile.sim.github.model import Conclusion, Run, Status
from tests.simulated import LABEL, Simulated

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


def outcomes(run: Run) -> dict[str, str | None]:
    return {job.spec.name: job.conclusion or job.status for job in run.attempt.jobs}


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
        strategy: {matrix: {n: [1, 5, 9]}}
        steps: [{run: "sleep ${{ matrix.n }}0; exit 1"}]
      deploy: {needs: test, runs-on: ubuntu-24.04-riscv, steps: [{run: sleep 5}]}
      mourn: {needs: test, if: failure(), runs-on: ubuntu-24.04-riscv, steps: [{run: sleep 5}]}
      clean: {needs: deploy, if: always(), runs-on: ubuntu-24.04-riscv, steps: [{run: sleep 5}]}
    """
)


def test_failure_cancels_its_matrix_and_skips_what_needed_it(world: Simulated) -> None:
    run = world.github.engine.push(world.public, FAILING)
    running = [world.online(f"runner-{number}") for number in range(2)]
    world.time.step(30)
    assert outcomes(run) == {
        "test (1)": "failure",
        "test (5)": "cancelled",
        "test (9)": "cancelled",
        "deploy": "skipped",
        "mourn": "queued",
        "clean": "queued",
    }
    assert running[1].told == ["started test (5)", "finished test (5): cancelled"]
    for number in range(2, 4):
        world.online(f"runner-{number}")
    world.time.step(60)
    assert run.conclusion is Conclusion.FAILURE


def test_failure_that_may_be_is_not_fatal_to_its_matrix(world: Simulated) -> None:
    text = """
    jobs:
      test:
        runs-on: ubuntu-24.04-riscv
        continue-on-error: ${{ matrix.experimental }}
        strategy: {matrix: {include: [{n: 1, experimental: true}, {n: 5, experimental: false}]}}
        steps: [{run: "sleep ${{ matrix.n }}0; exit ${{ matrix.n }}"}]
    """
    run = world.github.engine.push(world.public, workflow.parse(text))
    world.online("runner-1")
    world.online("runner-2")
    world.time.step(30)
    assert outcomes(run) == {"test (1, True)": "failure", "test (5, False)": "in_progress"}


def test_job_for_failures_is_skipped_where_parents_were_only_cancelled(world: Simulated) -> None:
    text = """
    jobs:
      test: {runs-on: ubuntu-24.04-riscv, steps: [{run: sleep 10}]}
      mourn: {needs: test, if: failure(), runs-on: ubuntu-24.04-riscv, steps: [{run: sleep 5}]}
    """
    run = world.github.engine.push(world.public, workflow.parse(text))
    world.time.step(24 * 3600)
    assert outcomes(run) == {"test": "cancelled", "mourn": "skipped"}


def test_job_past_its_time_limit_is_cancelled(world: Simulated) -> None:
    text = "jobs: {a: {runs-on: ubuntu-24.04-riscv, timeout-minutes: 5, steps: [{run: sleep 1h}]}}"
    run = world.github.engine.push(world.public, workflow.parse(text))
    world.online()
    world.time.step(310)
    assert outcomes(run) == {"a": "cancelled"}


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
    path = f"/repos/{world.public.full_name}/actions/runs/{run.id}/cancel"
    assert world.as_installation().post(path).status_code == 403, "the App may only read"
    world.github.accounts.accept_permissions(world.installation, actions="write")
    client = world.as_installation()
    assert client.post(path).status_code == 202
    assert sorted(outcomes(run).values(), key=str) == ["cancelled", "in_progress"]
    world.time.step(10)
    assert process.told == ["started build (1)", "finished build (1): cancelled"]
    assert run.conclusion is Conclusion.CANCELLED
    assert client.post(path).status_code == 409


def test_run_can_be_repeated_and_deleted_once_it_is_over(world: Simulated) -> None:
    world.github.accounts.accept_permissions(world.installation, actions="write")
    run = world.github.engine.push(world.public, BUILD)
    client = world.as_installation()
    path = f"/repos/{world.public.full_name}/actions/runs/{run.id}"
    assert client.post(f"{path}/rerun").status_code == 403
    assert client.delete(path).status_code == 403
    world.online()
    world.time.step(90)
    assert client.post(f"{path}/rerun").status_code == 201
    assert client.get(path).json()["run_attempt"] == 2
    world.github.engine.cancel(run)
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


def test_rerun_is_a_new_attempt_with_new_jobs(world: Simulated) -> None:
    run = world.github.engine.push(world.public, FAILING)
    world.online()
    world.time.step(90)
    world.github.engine.cancel(run)
    world.time.step(10)
    world.github.engine.rerun(run)
    client = world.as_installation()
    base = f"/repos/{world.public.full_name}/actions/runs/{run.id}"
    latest, past = client.get(base).json(), client.get(f"{base}/attempts/1").json()
    assert (latest["run_attempt"], latest["status"]) == (2, "queued")
    assert latest["previous_attempt_url"].endswith("/attempts/1")
    assert (past["status"], past["conclusion"]) == ("completed", "failure")
    assert past["previous_attempt_url"] is None
    assert past["run_started_at"] < latest["run_started_at"]
    first, second = (client.get(f"{base}/attempts/{n}/jobs").json()["jobs"] for n in (1, 2))
    assert {job["status"] for job in first} == {"completed"}
    assert {job["status"] for job in second} == {"queued"}
    assert not {job["id"] for job in first} & {job["id"] for job in second}
    assert client.get(f"{base}/jobs").json()["total_count"] == len(second)
    every = client.get(f"{base}/jobs", params={"filter": "all"}).json()["total_count"]
    assert every == len(first) + len(second)
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


def test_job_that_nobody_took_in_a_day_is_cancelled(world: Simulated) -> None:
    run = world.github.engine.push(world.public, BUILD)
    world.time.step(24 * 3600)
    assert run.jobs[0].conclusion is Conclusion.CANCELLED
    path = f"/repos/{world.public.full_name}/actions/jobs/{run.jobs[0].id}"
    job = world.as_installation().get(path).json()
    assert job["started_at"] == job["completed_at"], "as GitHub tells of a job that never started"
