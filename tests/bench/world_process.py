"""A simulated world in a process of its own, so that what it costs is not the measured run's.

The parent says on standard input what to build and then, line by line, what to do; each line is
answered by one on standard output, all of it JSON. The world ends when its input does.
"""

import contextlib
import dataclasses
import functools
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from reconcile import kube
from reconcile.clock import Deadline
from reconcile.model import JitConfig
from reconcile.settings import EphemeralStorage
from reconcile.sim import faults
from reconcile.sim.github import Limits, workflow
from reconcile.sim.http import Request, Response, Router
from reconcile.sim.timeline import SteppedTime
from reconcile.sim.world import World
from tests.bench.at_once import AtOnce
from tests.simulated import GROUP, LABEL, Client, app_jwt, private_key, public_key
from tests.system import BOARD, PREFIX

UNLIMITED = Limits(requests_an_hour=None, points_a_minute=None, at_once=None)
IMAGE = "registry.example/ubuntu-24.04:prod"
A_DAY = 86400


@dataclass(frozen=True)
class Spec:
    """What the world holds: boards, workflow runs of equal jobs, and pods that took them."""

    nodes: int
    runs: int
    jobs_a_run: int = 10
    pods: int = 0
    job_seconds: int = A_DAY // 6
    queued_seconds: int = 0  # how long the jobs have been there when the pods are made
    settle_seconds: int = 60  # how long the pods have been there when the measurement begins
    github_at_once: bool = False  # see `at_once`


@dataclass(frozen=True)
class Job:
    job_id: int
    run_id: int
    name: str
    created_at: str


@dataclass
class RunningWorld:
    """The parent's side."""

    process: subprocess.Popen[str]
    spec: Spec
    github_url: str = ""
    kubeconfig: str = ""
    private_key: str = ""  # of both Apps
    app_ids: tuple[int, int] = (0, 0)
    organization_id: int = 0
    installation_id: int = 0
    group_id: int = 0
    now: str = ""
    pods: list[str] = field(default_factory=list)
    pods_created_at: str = ""
    jobs: list[Job] = field(default_factory=list)

    def step(self, seconds: float) -> None:
        self.now = self.ask(step=seconds)["now"]

    def limit(self, limits: Limits) -> None:
        self.ask(limits=dataclasses.asdict(limits))

    def delay(self, endpoints: str, seconds: float) -> None:
        self.ask(endpoints=endpoints, latency=seconds)

    def counts(self) -> Counter[str]:
        """Requests since the last time, by endpoint, status, and whether they were conditional."""
        return Counter(self.ask(counts=True)["counts"])

    def pods_created(self) -> list[float]:
        """When each request to create a pod had been taken, by the machine's monotonic clock."""
        moments: list[float] = self.ask(created=True)["created"]
        return moments

    def ask(self, **command: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def settings(self, conninfo: str, toml: str = "") -> dict[str, str]:
        """The environment of a run in this world, now."""
        return {
            "POSTGRES_URL": conninfo,
            "RUNNERS_ENV": "prod",
            "GITHUB_API_URL": self.github_url,
            "GHAPP_ORG_ID": str(self.app_ids[0]),
            "GHAPP_ORG_PRIVATE_KEY": self.private_key,
            "GHAPP_PERSONAL_ID": str(self.app_ids[1]),
            "GHAPP_PERSONAL_PRIVATE_KEY": self.private_key,
            "K8S_KUBECONFIG": self.kubeconfig,
            "RUNNERS_CLOCK": self.now,
            **({"RUNNERS_CONFIG": "\n" + toml} if toml else {}),
        }


@contextlib.contextmanager
def world_process(spec: Spec) -> Iterator[RunningWorld]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.world_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        world = RunningWorld(process, spec)
        built = world.ask(**dataclasses.asdict(spec))
        world.jobs = [Job(*each) for each in built.pop("jobs")]
        for name, value in built.items():
            setattr(world, name, value)
        yield world
    finally:
        process.communicate()
        assert process.returncode == 0, "the world failed; see above"


# The child's side -------------------------------------------------------------------------------


class Builder:
    def __init__(self, world: World[SteppedTime], spec: Spec) -> None:
        self.world, self.spec = world, spec
        accounts = world.github.accounts
        self.app, personal = (accounts.add_app(public_key()) for _ in range(2))
        self.organization = accounts.add_organization("riseproject")
        self.repository = accounts.add_repository(self.organization, "firmware", private=True)
        self.installation = accounts.install(self.app, self.organization)
        self.app_ids = self.app.id, personal.id
        self.group_id = 0

    def build(self) -> dict[str, Any]:
        world, spec = self.world, self.spec
        for number in range(spec.nodes):
            world.cluster.add_node(f"rv1-{number:03}", BOARD)
        plan = workflow.uniform((LABEL,), seconds=spec.job_seconds, count=spec.jobs_a_run)
        runs = [world.github.engine.push(self.repository, plan) for _ in range(spec.runs)]
        world.time.step(spec.queued_seconds)
        made_at = world.time.clock.now().isoformat()
        names = [f"{PREFIX}{number:010x}" for number in range(spec.pods)]
        if names:
            self._make_pods(names)
        world.time.step(spec.settle_seconds)
        return {
            "github_url": world.github_url,
            "kubeconfig": world.kubeconfig,
            "private_key": private_key(),
            "app_ids": self.app_ids,
            "organization_id": self.organization.id,
            "installation_id": self.installation.id,
            "group_id": self.group_id,
            "now": world.time.clock.now().isoformat(),
            "pods": names,
            "pods_created_at": made_at,
            "jobs": [
                (job.id, run.id, job.spec.name, job.created_at.isoformat())
                for run in runs
                for job in run.jobs
            ],
        }

    def _make_pods(self, names: list[str]) -> None:
        """As a run makes them: registered, created, and handed their configuration."""
        jwt = app_jwt(self.app.id, self.world.time.clock.now())
        base = "/orgs/riseproject/actions"
        client = Client(self.world.github_url, jwt)
        cluster = kube.connect(
            self.world.kubeconfig,
            None,
            "default",
            deadline=Deadline(A_DAY),
            request_timeout=60,
            parallel=1,
            sleep=lambda _: None,
        )
        with contextlib.closing(client.session), cluster:
            token = client.post(f"/app/installations/{self.installation.id}/access_tokens")
            client.credential = token.json()["token"]
            self.group_id = client.post(f"{base}/runner-groups", {"name": GROUP}).json()["id"]
            for name in names:
                body = {"name": name, "runner_group_id": self.group_id, "labels": [LABEL]}
                made = client.post(f"{base}/runners/generate-jitconfig", body).json()
                uid = cluster.create_pod(name, BOARD, IMAGE, EphemeralStorage(), 525_600)
                jit = JitConfig(made["runner"]["id"], made["encoded_jit_config"])
                cluster.hand_over(name, uid, jit)


class Observer:
    """What was asked and answered since it was last looked at."""

    def __init__(self, world: World[SteppedTime]) -> None:
        self._world = world
        self._counts: Counter[str] = Counter()
        self.created: list[float] = []
        for server in (world.github_server, world.cluster_server):
            name, router = server.service.name, server.service.router
            server.observers.append(functools.partial(self._note, name, router))

    def _note(self, name: str, router: Router, request: Request, response: Response) -> None:
        matched = router.match(request.method, request.path)
        endpoint = matched[0].name if matched else "no_such_path"
        if endpoint == "create_pod" and response.status == 201:
            self.created.append(time.monotonic())
        conditional = " conditional" if "if-none-match" in request.headers else ""
        self._counts[f"{name}.{endpoint} {response.status}{conditional}"] += 1

    def take(self) -> Counter[str]:
        with self._world.time.timeline.lock:
            taken, self._counts = self._counts, Counter()
            return taken


def obey(
    world: World[SteppedTime], observer: Observer, front: AtOnce, command: dict[str, Any]
) -> dict[str, Any]:
    if "step" in command:
        world.time.step(command["step"])
    if "limits" in command:
        world.github.limiter.limits = Limits(**command["limits"])
    if "latency" in command:
        world.faults.always(command["endpoints"], faults.latency(command["latency"]))
    now = world.time.clock.now()
    counts = Counter[str]()
    if "counts" in command:
        counts = observer.take() + front.counts
        front.counts.clear()
    created = observer.created if "created" in command else []
    return {"now": now.isoformat(), "counts": counts, "created": created}


def main() -> None:
    spec = Spec(**json.loads(sys.stdin.readline()))
    with World(SteppedTime(), limits=UNLIMITED) as world:
        built = Builder(world, spec).build()
        observer = Observer(world)
        with AtOnce(world.github_url, world.github.router) as front:
            if spec.github_at_once:
                built["github_url"] = front.url
            print(json.dumps(built), flush=True)
            for line in sys.stdin:
                print(json.dumps(obey(world, observer, front, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
