"""How it ended: jobs that have a runner, had one, or need none any more."""

from reconcile.sim.github.model import Status
from tests.simulation import situations as it
from tests.simulation.trace_scenarios.scenario import Question, Scenarios, of, pushed
from tests.system import System
from webhook_fn.trace.finding import Kind

SCENARIOS = Scenarios()
scenario = SCENARIOS.scenario


@scenario(Kind.JOB_CANCELLED, "cancelled", "before a runner took it")
def cancelled_while_it_waited(s: System) -> Question:
    run = pushed(s)
    s.good_run()
    s.world.github.engine.cancel(run)
    s.ticks(2)
    return of(run)


@scenario(Kind.JOB_OVER, "with success", "rise-riscv-runner-")
def done(s: System) -> Question:
    s.boards(1)
    run = s.push(seconds=30)
    s.ticks(12)
    return of(run)


@scenario(Kind.JOB_RUNNING, "The job runs on rise-riscv-runner-")
def at_work(s: System) -> Question:
    s.boards(1)
    return of(it.working(s, seconds=3600))


@scenario(Kind.GIVEN_UP, "did not know the job any more")
def deleted_with_its_workflow_run(s: System) -> Question:
    s.toml = "[run]\npoll_interval = 1\n"
    run = pushed(s)
    s.good_run()
    question = of(run)
    s.world.github.engine.delete(run)
    s.ticks(6)
    return question


@scenario(Kind.GIVEN_UP, "its workflow run is over")
def left_behind_by_its_workflow_run(s: System) -> Question:
    run = s.push()
    s.ticks(1)
    run.attempt.status = Status.COMPLETED
    s.ticks(41)
    return of(run)


@scenario(Kind.JOB_CANCELLED, "It never stood in the queue here", "its log and its `/health`")
def cancelled_without_ever_having_been_heard_of(s: System) -> Question:
    it.lose(s, "queued")
    run = s.push()
    s.ticks(4)
    s.world.github.engine.cancel(run)
    s.ticks(2)
    return of(run)
