"""The simulated world at size: 500 nodes, 2,000 pods, 10,000 jobs, through the real clients."""

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from kubernetes import client as k8s
from kubernetes import config as k8s_config

from reconcile.sim.github import Limits, workflow
from reconcile.sim.timeline import SteppedTime
from reconcile.sim.world import World
from tests.bench.figures import Figure, interleaved, milliseconds
from tests.simulated import LABEL, Client, app_jwt, public_key, runner_pod

NODES = 500
PODS = 2_000
RUNS = 1_000
JOBS_A_RUN = 10
ROUNDS = 9
LIST_SECONDS = 1.0
BOARD = "scw-em-rv1"
UNLIMITED = Limits(requests_an_hour=None, points_a_minute=None, at_once=None)


@dataclass
class Fleet:
    world: World[SteppedTime]
    core: k8s.CoreV1Api
    github: Client
    runs: list[int]


def run() -> Iterator[Figure]:
    started = time.perf_counter()
    with fleet() as made:
        took = time.perf_counter() - started
        yield Figure("build 500 nodes, 2,000 pods, 10,000 jobs", f"{took:.1f} s")
        raw, models, pages, nodes = interleaved(
            ROUNDS,
            lambda: milliseconds(lambda: raw_list(made.core.list_namespaced_pod, "default")),
            lambda: milliseconds(lambda: made.core.list_namespaced_pod("default")),
            lambda: milliseconds(lambda: paged_list(made.core)),
            lambda: milliseconds(lambda: raw_list(made.core.list_node)),
        )
        yield under("list 2,000 pods, raw", raw)
        yield Figure("list 2,000 pods, as the client's models", f"{models:.0f} ms")
        yield under("list 2,000 pods, 500 a page", pages)
        yield Figure("list 500 nodes, raw", f"{nodes:.0f} ms")
        fresh, unchanged = interleaved(ROUNDS, *job_listings(made))
        yield Figure("list the jobs of a run", f"{fresh:.1f} ms")
        yield Figure("the same, unchanged (304)", f"{unchanged:.1f} ms")
        yield from stepping(made)


def stepping(made: Fleet) -> Iterator[Figure]:
    """From a full queue: each minute jobs end, boards free up, and pods move in."""
    minutes = [milliseconds(lambda: made.world.time.step(60)) for _ in range(30)]
    yield under("step a busy minute, the slowest of 30", max(minutes))
    hours = milliseconds(lambda: made.world.time.step(6 * 3600))
    yield Figure("step six idle hours", f"{hours:.0f} ms")
    phases = [pod["status"]["phase"] for pod in made.world.cluster.pods()]
    ended = phases.count("Succeeded")
    yield Figure("pods that ran to their end", f"{ended}", f"of {PODS}", ended == PODS)


def under(name: str, value: float) -> Figure:
    return Figure(name, f"{value:.0f} ms", f"under {LIST_SECONDS:g} s", value < LIST_SECONDS * 1000)


@contextlib.contextmanager
def fleet() -> Iterator[Fleet]:
    with World(SteppedTime(), limits=UNLIMITED) as world:
        for number in range(NODES):
            world.cluster.add_node(f"rv1-{number:03}", BOARD)
        accounts = world.github.accounts
        organization = accounts.add_organization("riseproject")
        repository = accounts.add_repository(organization, "firmware", private=True)
        app = accounts.add_app(public_key())
        installation = accounts.install(app, organization)
        plan = workflow.uniform((LABEL,), seconds=300, count=JOBS_A_RUN)
        runs = [world.github.engine.push(repository, plan).id for _ in range(RUNS)]
        credential = app_jwt(app.id, world.time.clock.now())
        path = f"/app/installations/{installation.id}/access_tokens"
        with contextlib.closing(Client(world.github_url, credential).session) as session:
            as_app = Client(world.github_url, credential, session)
            github = Client(world.github_url, as_app.post(path).json()["token"], session)
            api = k8s_config.new_client_from_config_dict(yaml.safe_load(world.kubeconfig))
            with api:
                core = k8s.CoreV1Api(api)
                for number in range(PODS):
                    core.create_namespaced_pod("default", pod(f"runner-{number}", github))
                world.time.step(120)
                yield Fleet(world, core, github, runs)


def pod(name: str, github: Client) -> dict[str, Any]:
    body = {"name": name, "runner_group_id": 1, "labels": [LABEL]}
    answer = github.post("/orgs/riseproject/actions/runners/generate-jitconfig", body)
    return runner_pod(name, {"value": answer.json()["encoded_jit_config"]})


def raw_list(method: Callable[..., Any], *arguments: str) -> None:
    response = method(*arguments, _preload_content=False)
    assert json.loads(response.data)["items"]


def paged_list(core: k8s.CoreV1Api) -> None:
    listed, token = 0, None
    while listed == 0 or token:
        response = core.list_namespaced_pod(
            "default", limit=500, _continue=token, _preload_content=False
        )
        page = json.loads(response.data)
        listed += len(page["items"])
        token = page["metadata"].get("continue")
    assert listed == PODS


def job_listings(made: Fleet) -> tuple[Callable[[], float], Callable[[], float]]:
    path = f"/repos/riseproject/firmware/actions/runs/{made.runs[-1]}/jobs"
    tag = made.github.get(path).headers["ETag"]

    def ask(status: int, headers: dict[str, str]) -> float:
        def once() -> None:
            assert made.github.get(path, headers=headers).status_code == status

        return milliseconds(once, 20)

    return lambda: ask(200, {}), lambda: ask(304, {"If-None-Match": tag})
