"""What it waits for: jobs in the queue, and what keeps them there."""

from reconcile.sim import faults
from reconcile.sim.cluster.images import Behaviour
from tests.simulation import situations as it
from tests.simulation.trace_scenarios.scenario import Question, Scenarios, of, pushed
from tests.system import System
from webhook_fn.trace.finding import Kind

SCENARIOS = Scenarios()
scenario = SCENARIOS.scenario


@scenario(Kind.RECONCILER_STALE, "No run was ever started")
def no_run_ever_came(s: System) -> Question:
    return of(pushed(s))


@scenario(Kind.RECONCILER_STALE, "10 minutes ago")
def runs_stopped(s: System) -> Question:
    run = pushed(s)
    s.good_run()
    s.world.time.step(600)
    return of(run)


@scenario(Kind.RECONCILER_FAILING, "Listing the nodes")
def runs_in_vain(s: System) -> Question:
    run = pushed(s)
    s.world.faults.always("k8s.list_nodes", faults.status(500))
    s.ticks(3, good=False)
    return of(run)


@scenario(Kind.GITHUB_LIMIT, "rate limit", "room again after")
def limited_by_github(s: System) -> Question:
    s.boards(1)
    run = pushed(s)
    s.world.faults.next("github.create_jit_config_org", faults.rate_limited(retry_after=600))
    s.ticks(1)
    return of(run)


@scenario(Kind.BACKING_OFF, "failed 1 time in a row", "pod_failed", "tried after")
def runners_that_fail(s: System) -> Question:
    s.toml = "[back_off]\nfirst = 600\n"
    s.boards(1)
    s.world.cluster.next_pod(Behaviour.CRASHES)
    run = pushed(s)
    s.good_run()
    s.world.time.step(60)
    s.good_run()
    return of(run)


@scenario(Kind.BACKING_OFF, "failed 1 time in a row", "pod_failed")
def runners_that_fail_again_and_again(s: System) -> Question:
    s.toml = "[back_off]\nfirst = 600\npark_after = 1\n"
    question = runners_that_fail_here(s)
    assert it.job_reasons(s) == ["demand_parked"]
    return question


def runners_that_fail_here(s: System) -> Question:
    s.boards(1)
    s.world.cluster.next_pod(Behaviour.CRASHES)
    run = pushed(s)
    s.good_run()
    s.world.time.step(60)
    s.good_run()
    return of(run)


@scenario(Kind.CAP_REACHED, "riseproject has 1 runner of the 1")
def as_many_as_it_may_have(s: System) -> Question:
    s.toml = "default_max_workers = 1\n"
    s.boards(3)
    it.working(s, seconds=3600)
    run = pushed(s)
    s.good_run()
    return of(run)


@scenario(Kind.RUNNER_COMING, "on its way")
def runner_on_its_way(s: System) -> Question:
    s.boards(1)
    return of(it.provisioned(s))


@scenario(Kind.WAITING_FOR_BOARD, "The only usable board of scw-em-rv1 is busy", "number 2 in the")
def boards_are_busy(s: System) -> Question:
    s.boards(1)
    s.push(seconds=60)
    s.ticks(12)  # how long a board is held is known now
    it.working(s, seconds=3600)
    pushed(s, repository=s.personal)
    run = pushed(s)
    s.good_run()
    return of(run)


@scenario(Kind.WAITING_FOR_BOARD, "no board of the pool", "cannot be told")
def no_boards_at_all(s: System) -> Question:
    run = pushed(s)
    s.good_run()
    return of(run)


@scenario(Kind.WAITING_FOR_BOARD, "all are cordoned or not ready", "kubectl get nodes")
def boards_that_take_nothing(s: System) -> Question:
    s.boards(1)
    [node] = s.world.cluster.nodes()
    s.world.cluster.cordon(node["metadata"]["name"])
    run = pushed(s)
    s.good_run()
    return of(run)


@scenario(Kind.NOT_PLANNED_YET, "no run has planned for it yet")
def come_a_moment_ago(s: System) -> Question:
    s.good_run()
    return of(pushed(s))


@scenario(Kind.RUNNER_COMING, "1 runner that could have taken it failed before", "pod_failed")
def second_runner_after_one_that_failed(s: System) -> Question:
    s.boards(1)
    s.world.cluster.next_pod(Behaviour.CRASHES)
    run = pushed(s)
    for _ in range(20):
        s.ticks(1)
        if len(s.workers()) == 2:
            break
    assert s.reasons() == ["pod_failed"]
    return of(run)
