"""Both simulators as one world: a job from its push to its pod's end, by hand."""

import base64
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import yaml
from kubernetes import client as k8s
from kubernetes import config as k8s_config

from reconcile.sim import faults
from reconcile.sim.cluster import Behaviour
from reconcile.sim.faults import Faults
from reconcile.sim.github import workflow
from reconcile.sim.github.deliveries import Mishap, MishapRule
from reconcile.sim.github.model import Conclusion, Run
from reconcile.sim.server import Server
from reconcile.sim.timeline import SteppedTime
from reconcile.sim.world import World
from tests.published import api_problems
from tests.receiver import Receiver
from tests.simulated import LABEL, SECRET, Client, app_jwt, public_key, runner_pod

BOARD = "scw-em-rv1"
BUILD = workflow.uniform((LABEL,), seconds=300)


@dataclass
class Hands:
    """What a reconciler does, done by hand: plain requests and the official client."""

    world: World[SteppedTime]
    github: Client
    core: k8s.CoreV1Api
    receiver: Receiver

    def push(self) -> Run:
        repository = next(iter(self.world.github.accounts.repositories.values()))
        return self.world.github.engine.push(repository, BUILD)

    def provision(self, name: str) -> None:
        path = "/orgs/riseproject/actions/runners/generate-jitconfig"
        body = {"name": name, "runner_group_id": 1, "labels": [LABEL]}
        answer = self.github.post(path, body)
        assert answer.status_code == 201, answer.text
        jit = answer.json()["encoded_jit_config"].encode()
        self.core.create_namespaced_secret(
            "default",
            {"metadata": {"name": name}, "data": {"jit": base64.b64encode(jit).decode()}},
        )
        source = {"valueFrom": {"secretKeyRef": {"name": name, "key": "jit"}}}
        pod = self.core.create_namespaced_pod("default", runner_pod(name, source))
        owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": pod.metadata.uid}
        self.core.patch_namespaced_secret(
            name, "default", {"metadata": {"ownerReferences": [owner]}}
        )

    def phase(self, name: str) -> str:
        return str(self.core.read_namespaced_pod(name, "default").status.phase)


@contextlib.contextmanager
def hands(seed: int = 0) -> Iterator[Hands]:
    receiver = Receiver()
    with World(SteppedTime(), seed=seed) as world:
        hooks = Server(receiver, world.time.timeline, Faults())
        problems: list[str] = []
        world.github_server.observers.append(lambda *both: problems.extend(api_problems(*both)))
        with hooks, contextlib.ExitStack() as stack:
            accounts = world.github.accounts
            app = accounts.add_app(public_key(), webhook_url=hooks.url + "/", webhook_secret=SECRET)
            organization = accounts.add_organization("riseproject")
            accounts.add_repository(organization, "firmware", private=True)
            installation = accounts.install(app, organization)
            as_app = Client(world.github_url, app_jwt(app.id, world.time.clock.now()))
            token = as_app.post(f"/app/installations/{installation.id}/access_tokens").json()
            github = Client(world.github_url, token["token"])
            stack.callback(as_app.session.close)
            stack.callback(github.session.close)
            api = k8s_config.new_client_from_config_dict(yaml.safe_load(world.kubeconfig))
            stack.enter_context(api)
            yield Hands(world, github, k8s.CoreV1Api(api), receiver)
    assert not problems, problems
    assert not receiver.problems, receiver.problems


@pytest.fixture
def made() -> Iterator[Hands]:
    with hands() as made:
        yield made


def test_job_runs_on_a_board_and_nothing_is_left_but_its_pod(made: Hands) -> None:
    made.world.cluster.add_node("rv1-01", BOARD)
    run = made.push()
    made.provision("runner-1")
    made.world.time.step(120)
    assert made.phase("runner-1") == "Running"
    assert [job.runner and job.runner.name for job in run.jobs] == ["runner-1"]
    made.world.time.step(600)
    assert run.conclusion is Conclusion.SUCCESS
    assert made.phase("runner-1") == "Succeeded"
    assert made.world.github.runners.all() == []
    assert made.receiver.names()[-3:] == [
        "workflow_job.queued",
        "workflow_job.in_progress",
        "workflow_job.completed",
    ]
    made.core.delete_namespaced_pod("runner-1", "default")
    made.world.time.step(60)
    assert made.world.cluster.pods() == []
    assert made.world.cluster.secrets() == [], "owned by the pod, and gone with it"


def test_one_board_runs_one_runner_at_a_time(made: Hands) -> None:
    made.world.cluster.add_node("rv1-01", BOARD)
    runs = [made.push(), made.push()]
    made.provision("runner-1")
    made.provision("runner-2")
    made.world.time.step(120)
    assert [made.phase("runner-1"), made.phase("runner-2")] == ["Running", "Pending"]
    made.world.time.step(900)
    assert [run.conclusion for run in runs] == ["success", "success"]


def test_board_that_dies_loses_its_job_after_the_lease(made: Hands) -> None:
    made.world.cluster.add_node("rv1-01", BOARD)
    run = made.push()
    made.provision("runner-1")
    made.world.time.step(60)
    made.world.cluster.silence("rv1-01")
    made.world.time.step(120)
    node = made.core.read_node("rv1-01")
    assert "node.kubernetes.io/unreachable" in {taint.key for taint in node.spec.taints}
    assert not run.conclusion
    made.world.time.step(600)
    assert run.conclusion is Conclusion.FAILURE
    assert made.core.read_namespaced_pod("runner-1", "default").metadata.deletion_timestamp


def test_pod_that_is_stopped_fails_its_job(made: Hands) -> None:
    made.world.cluster.add_node("rv1-01", BOARD)
    run = made.push()
    made.provision("runner-1")
    made.world.time.step(60)
    made.core.patch_namespaced_pod("runner-1", "default", {"spec": {"activeDeadlineSeconds": 1}})
    made.world.time.step(60)
    pod = made.core.read_namespaced_pod("runner-1", "default")
    assert (pod.status.phase, pod.status.reason) == ("Failed", "DeadlineExceeded")
    assert run.conclusion is Conclusion.FAILURE


def test_runner_deleted_at_github_ends_its_pod(made: Hands) -> None:
    made.world.cluster.add_node("rv1-01", BOARD)
    made.provision("runner-1")
    made.world.time.step(60)
    [runner] = made.github.get("/orgs/riseproject/actions/runners").json()["runners"]
    made.github.delete(f"/orgs/riseproject/actions/runners/{runner['id']}")
    made.world.time.step(60)
    assert made.phase("runner-1") == "Failed"


def test_runner_that_hangs_holds_its_board_after_its_job(made: Hands) -> None:
    made.world.cluster.add_node("rv1-01", BOARD)
    made.world.cluster.next_pod(Behaviour.HANGS)
    run = made.push()
    made.provision("runner-1")
    made.world.time.step(3600)
    assert run.conclusion is Conclusion.SUCCESS
    assert made.phase("runner-1") == "Running"
    assert made.world.github.runners.all() == []


def history(seed: int) -> tuple[object, ...]:
    """A day with faults, mishaps and a dead board, and all that can be seen of it."""
    with hands(seed) as made:
        world = made.world
        for number in range(3):
            world.cluster.add_node(f"rv1-{number}", BOARD)
        world.github.deliveries.misbehave(MishapRule(Mishap.DUPLICATE, probability=0.2))
        world.github.deliveries.misbehave(MishapRule(Mishap.REORDER, probability=0.2))
        world.faults.sometimes("k8s.read_pod", 0.3, faults.status(503))
        seen: list[object] = []
        for number in range(5):
            made.push()
            made.provision(f"runner-{number}")
            world.time.step(100)
            with contextlib.suppress(k8s.ApiException):
                seen.append(made.phase(f"runner-{number}"))
        world.cluster.silence("rv1-1")
        world.time.step(86400)
        statuses = [(call.endpoint, call.status) for call in world.cluster_server.calls]
        bodies = [received.body for received in made.receiver.received]
        return seen, statuses, bodies, world.cluster.pods(), world.cluster.events()


def test_seed_replays_exactly() -> None:
    first, second, other = history(1), history(1), history(2)
    assert first == second
    assert first != other
