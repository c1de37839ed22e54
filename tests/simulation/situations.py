"""Situations that several lessons begin with, and hands to bring them about."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import requests

from reconcile.run import RunReport
from reconcile.sim.cluster.access import ADMIN_TOKEN
from reconcile.sim.faults import Fault
from reconcile.sim.github.deliveries import Mishap, MishapRule
from reconcile.sim.github.model import Repository, Run, Runner, RunnerGroup
from reconcile.sim.github.runners import jit_config
from reconcile.sim.http import Request, Response
from reconcile.sim.server import Server
from reconcile.store.runs import PhaseRecord
from tests.database import Row
from tests.simulated import GROUP, LABEL, Process, runner_pod
from tests.system import PREFIX, System

# A silent peer costs the tests real time.
IMPATIENT = "[run]\nrequest_timeout = 0.2\n"


# Jobs and runners ------------------------------------------------------------------------------


def provisioned(s: System, repository: Repository | None = None, **push: Any) -> Run:
    """Pushed, and given as many runners as there are boards; none of them is online yet."""
    run = s.push(repository, **push)
    s.world.time.step(2)
    s.good_run()
    return run


def working(s: System, repository: Repository | None = None, **push: Any) -> Run:
    """And each runner that could be made runs a job."""
    run = provisioned(s, repository, **push)
    s.world.time.step(60)
    s.good_run()
    return run


def idle(s: System) -> str:
    """A runner that is online and whose job was cancelled before it came. Its pod is called so."""
    s.world.github.engine.cancel(provisioned(s))
    s.world.time.step(60)
    s.good_run()
    [worker] = [each for each in s.workers() if each["status"] == "running"]
    return str(worker["pod_name"])


def registered(s: System, name: str, scope: Any = None) -> Runner:
    """A registration that no run made, next to those that runs make."""
    where = scope or s.organization
    group = None if isinstance(where, Repository) else group_of(s)
    with s.world.time.timeline.lock:
        return s.world.github.runners.register(where, group, name, [LABEL])


def online(s: System, name: str, scope: Any = None) -> Runner:
    """The same, and connected: it takes the next job that suits it."""
    runner = registered(s, name, scope)
    with s.world.time.timeline.lock:
        s.world.github.connect(jit_config(runner), Process())
    return runner


def group_of(s: System) -> RunnerGroup:
    """The organization's group of the runs' name, made if it is not there yet."""
    runners = s.world.github.runners
    found = [each for each in runners.groups_of(s.organization) if each.name == GROUP]
    return found[0] if found else runners.add_group(RunnerGroup(0, s.organization, GROUP))


def busy_names(s: System) -> list[str]:
    return sorted(each.name for each in s.world.github.runners.all() if each.busy)


def lose(s: System, *events: str) -> None:
    """Webhooks of these actions are never sent."""
    for event in events:
        s.world.github.deliveries.misbehave(MishapRule(Mishap.DROP, f"workflow_job.{event}"))


def conclusions(run: Run) -> set[str]:
    return {str(job.conclusion) for job in run.jobs}


# What is seen ----------------------------------------------------------------------------------


def phase(report: RunReport, name: str) -> PhaseRecord:
    [found] = [each for each in report.phases if each.phase == name]
    return found


def problems(report: RunReport) -> str:
    """What the run says went wrong."""
    return "; ".join(each.error for each in report.phases if each.error)


def job_reasons(s: System) -> list[str | None]:
    return [(row["failure_info"] or {}).get("reason") for row in s.jobs()]


def trouble(s: System) -> list[Row]:
    return s.database.rows("SELECT * FROM demand_back_off ORDER BY failed_at")


def writes(s: System) -> list[str]:
    """Every request that changed or tried to change something, but for tokens."""
    calls = [*s.world.github_server.calls, *s.world.cluster_server.calls]
    return [
        call.endpoint
        for call in calls
        if call.method not in ("GET", "HEAD") and call.endpoint != "github.create_token"
    ]


def kills(s: System) -> list[str]:
    ending = ("delete_pod", "patch_pod", "delete_org_runner", "delete_repo_runner")
    return [each for each in writes(s) if each.endswith(ending)]


# The cluster, by hand --------------------------------------------------------------------------


def kube(s: System, method: str, path: str, body: Any = None) -> None:
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    response = requests.request(
        method,
        f"{s.world.cluster_server.url}/api/v1/namespaces/default/{path}",
        json=body,
        headers={"Authorization": f"Bearer {ADMIN_TOKEN}", "Content-Type": kind},
        timeout=30,
    )
    assert response.ok, response.text


def make_pod(s: System, name: str, slots: int = 1) -> None:
    """Somebody else's runner pod in the same namespace, staging's say."""
    pod = runner_pod(name, {"value": "none"})
    pod["spec"]["containers"][0]["resources"]["limits"] = {"riseproject.com/runner": str(slots)}
    kube(s, "POST", "pods", pod)


def remove_pod(s: System, name: str) -> None:
    kube(s, "DELETE", f"pods/{name}", {"gracePeriodSeconds": 0})


# In the middle of a run ------------------------------------------------------------------------

Exchange = Callable[[Request, str], tuple[Response | None, Fault | None]]


@contextlib.contextmanager
def watched(server: Server, watch: Callable[[Request], None]) -> Iterator[None]:
    """`watch` sees each request before the server does, and may let the world go on meanwhile."""
    original: Exchange = server.exchange

    def exchange(request: Request, target: str) -> tuple[Response | None, Fault | None]:
        watch(request)
        return original(request, target)

    vars(server)["exchange"] = exchange
    try:
        yield
    finally:
        del vars(server)["exchange"]


def staging_name(number: int = 1) -> str:
    return f"{PREFIX}staging-{number}"
