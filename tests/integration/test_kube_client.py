"""The cluster client on the simulated cluster: every method, where nothing goes wrong between."""

import base64
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from reconcile.errors import NameTakenError, NotFoundError, PermanentError, TransientError
from reconcile.sim.cluster import Behaviour
from reconcile.sim.github import workflow
from reconcile.sim.http import Request, Response
from tests.integration.kube import BOARD, DEADLINE, IMAGE, JIT, NAMESPACE, STORAGE, Kube, started
from tests.simulated import LABEL, Client, app_jwt, public_key


@pytest.fixture
def kube() -> Iterator[Kube]:
    with started() as made:
        yield made


def test_pod_runs_a_job_with_the_configuration_it_is_handed(kube: Kube) -> None:
    accounts = kube.world.github.accounts
    organization = accounts.add_organization("riseproject")
    repository = accounts.add_repository(organization, "firmware", private=True)
    app = accounts.add_app(public_key())
    installation = accounts.install(app, organization)
    kube.world.github.engine.push(repository, workflow.uniform((LABEL,), seconds=60))
    github = Client(kube.world.github_url, app_jwt(app.id, kube.world.time.clock.now()))
    with github.session:
        path = f"/app/installations/{installation.id}/access_tokens"
        github.credential = github.post(path).json()["token"]
        body = {"name": "runner-1", "runner_group_id": 1, "labels": [LABEL]}
        answer = github.post("/orgs/riseproject/actions/runners/generate-jitconfig", body).json()
    uid = kube.client.create_pod("runner-1", BOARD, IMAGE, STORAGE, DEADLINE)
    kube.world.time.step(60)
    assert kube.find().waiting == "CreateContainerConfigError", "its secret is not there yet"
    jit = replace(JIT, _text=answer["encoded_jit_config"])
    kube.client.hand_over("runner-1", uid, jit)
    kube.world.time.step(600)
    ended = kube.find()
    assert ended.phase == "Succeeded"
    assert ended.started_at is not None
    assert ended.finished_at is not None
    assert ended.finished_at > ended.started_at
    log = kube.client.diagnose(ended)["logs"]["runner"]
    assert "completed with result: Succeeded" in log


def test_pod_and_its_secret_are_as_the_cluster_keeps_them(kube: Kube) -> None:
    pod = kube.create()
    raw = kube.world.cluster.pod("runner-1")
    assert raw["metadata"]["uid"] == pod.uid
    limits = raw["spec"]["containers"][0]["resources"]["limits"]
    assert limits == {"riseproject.com/runner": "1", "ephemeral-storage": "90Gi"}
    [secret] = kube.world.cluster.secrets(NAMESPACE)
    assert base64.b64decode(secret["data"]["jitconfig"]).decode() == JIT.reveal()
    assert JIT.reveal() not in json.dumps(raw)


def test_secret_goes_with_its_pod(kube: Kube) -> None:
    assert kube.client.delete_pod(kube.create(), force=True)
    kube.world.time.step(60)
    assert kube.world.cluster.secrets(NAMESPACE) == []


def test_names_are_taken_once(kube: Kube) -> None:
    pod = kube.create()
    with pytest.raises(NameTakenError, match="runner-1"):
        kube.client.create_pod("runner-1", BOARD, IMAGE, None, DEADLINE)
    with pytest.raises(NameTakenError, match="runner-1"):
        kube.client.hand_over("runner-1", pod.uid, JIT)


def test_refusal_is_told_in_the_servers_words_and_cut(kube: Kube) -> None:
    with pytest.raises(PermanentError, match="Creating pod Not_Good: 422 ") as refusal:
        kube.client.create_pod("Not_Good", BOARD, "x" * 400, None, -1)
    assert "is invalid" in str(refusal.value)
    assert len(str(refusal.value)) < 350
    assert refusal.value.__cause__ is not None


def test_namespace_that_is_not_there_is_not_found() -> None:
    with started(namespace="nowhere") as kube, pytest.raises(NotFoundError, match="nowhere"):
        kube.client.create_pod("runner-1", BOARD, IMAGE, None, DEADLINE)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 6, 7])
def test_every_page_is_followed(size: int) -> None:
    names = [f"runner-{number}" for number in range(size)]
    with started(boards=7, page_size=3) as kube:
        for name in names:
            kube.client.create_pod(name, BOARD, IMAGE, None, DEADLINE)
        assert [pod.name for pod in kube.client.pods()] == names
        assert kube.calls("list_pods") == max(1, -(-size // 3))
        assert len(kube.client.nodes()) == 7
        assert kube.calls("list_nodes") == 3


def test_only_runner_pods_and_boards_are_listed(kube: Kube) -> None:
    kube.create()
    server = kube.world.cluster_server
    assert len(kube.client.pods()) == len(kube.client.nodes()) == 1
    listed = [call.target for call in server.calls if call.endpoint.startswith("k8s.list_")]
    assert "labelSelector=app%3Drise-riscv-runner" in listed[0]
    assert "labelSelector=riseproject.dev%2Fboard" in listed[1]


@pytest.mark.parametrize("times", [1, 2])
def test_expired_list_is_begun_anew_once(times: int) -> None:
    """The second page is asked for too late, in the first attempt or in both."""
    with started(page_size=2) as kube:
        for number in range(3):
            kube.client.create_pod(f"runner-{number}", BOARD, IMAGE, None, DEADLINE)
        late = iter([True, False, True][: 2 * times - 1])

        def dawdle(request: Request, response: Response) -> None:
            if next(late, False):
                kube.world.time.step(3600)

        kube.world.cluster_server.observers.append(dawdle)
        if times == 1:
            assert len(kube.client.pods()) == 3
        else:
            with pytest.raises(TransientError, match="410"):
                kube.client.pods()
        assert kube.calls("list_pods") == 4


def test_pod_that_is_not_there_is_none(kube: Kube) -> None:
    assert kube.client.find_pod("nobody") is None


def test_stopped_pod_ends_and_stays_to_be_looked_at(kube: Kube) -> None:
    kube.world.cluster.next_pod(Behaviour.NEVER_REGISTERS)
    kube.running()
    kube.client.stop_pod("runner-1")
    assert kube.find().stopping
    kube.world.time.step(60)
    pod = kube.find()
    assert (pod.phase, pod.reason) == ("Failed", "DeadlineExceeded")
    kube.client.stop_pod("runner-1")
    kube.client.stop_pod("nobody")


def test_deleted_pod_is_gone_or_going(kube: Kube) -> None:
    kube.world.cluster.next_pod(Behaviour.NEVER_REGISTERS)
    pod = kube.running()
    assert kube.client.delete_pod(pod)
    assert kube.find().deleting
    kube.world.time.step(60)
    assert kube.client.find_pod("runner-1") is None
    assert kube.client.delete_pod(pod), "it was gone before"


def test_pod_that_changed_is_not_deleted_if_it_must_not_have(kube: Kube) -> None:
    kube.world.cluster.next_pod(Behaviour.NEVER_REGISTERS)
    seen = kube.create()
    kube.world.time.step(60)
    assert not kube.client.delete_pod(seen, unchanged=True)
    assert not kube.find().deleting
    assert kube.client.delete_pod(kube.find(), unchanged=True)
    assert kube.client.delete_pod(seen, unchanged=True), "it is going"


def test_another_pod_of_the_name_is_not_deleted(kube: Kube) -> None:
    first = kube.create()
    kube.client.delete_pod(first, force=True)
    kube.world.time.step(60)
    second = kube.create()
    assert kube.client.delete_pod(first, force=True), "the one that is meant is gone"
    assert kube.find().uid == second.uid


def test_pod_on_an_unreachable_node_goes_only_by_force(kube: Kube) -> None:
    kube.world.cluster.next_pod(Behaviour.NEVER_REGISTERS)
    kube.running()
    kube.world.cluster.silence("rv1-0")
    kube.world.time.step(120)
    [node] = kube.client.nodes()
    assert (node.unreachable, node.schedulable) == (True, False)
    assert kube.client.delete_pod(kube.find())
    kube.world.time.step(3600)
    assert kube.find().deleting
    assert kube.client.delete_pod(kube.find(), force=True)
    assert kube.client.find_pod("runner-1") is None


def test_capacity_is_what_boards_can_take_now(kube: Kube) -> None:
    cluster = kube.world.cluster
    for number in range(1, 5):
        cluster.add_node(f"rv1-{number}", BOARD)
    cluster.cordon("rv1-1")
    cluster.not_ready("rv1-2")
    cluster.taint("rv1-3", "maintenance")
    cluster.set_runners("rv1-4", 0)
    kube.world.time.step(60)
    free = {node.name: node.slots for node in kube.client.nodes() if node.schedulable}
    assert free == {"rv1-0": 1, "rv1-4": 0}


# Diagnoses.


def test_leaked_configuration_is_not_in_the_diagnosis(kube: Kube) -> None:
    kube.world.cluster.next_pod(Behaviour.LEAKS)
    kube.running()
    kube.world.time.step(60)
    told = kube.client.diagnose(kube.find())
    assert "RUNNER_JITCONFIG=[scrubbed]" in told["logs"]["runner"]
    assert JIT.reveal() not in json.dumps(told)


def test_crash_is_told_with_states_events_and_log(kube: Kube) -> None:
    kube.world.cluster.next_pod(Behaviour.CRASHES)
    kube.create()
    kube.world.time.step(120)
    told = kube.client.diagnose(kube.find())
    assert (told["pod"]["phase"], told["pod"]["node"]) == ("Failed", "rv1-0")
    assert told["containers"][0]["state"]["terminated"]["exit_code"] == 1
    reasons = [event["reason"] for event in told["events"]]
    assert reasons == ["Scheduled", "Pulling", "Pulled", "Created", "Started"]
    assert "Unhandled exception" in told["logs"]["runner"]
    assert told["errors"] == []


def test_unscheduled_pod_says_why_and_has_no_log(kube: Kube) -> None:
    kube.client.create_pod("runner-1", "no-such-board", IMAGE, None, DEADLINE)
    kube.world.time.step(60)
    told = kube.client.diagnose(kube.find())
    [event] = told["events"]
    assert (event["type"], event["reason"]) == ("Warning", "FailedScheduling")
    assert told["pod"]["conditions"][0]["reason"] == "Unschedulable"
    assert told["errors"] == ["The pod was never on a node: it has no log."]


def test_pod_that_never_started_says_so(kube: Kube) -> None:
    kube.world.cluster.next_pod(Behaviour.MISSING)
    kube.create()
    kube.world.time.step(300)
    pod = kube.find()
    assert pod.waiting in ("ErrImagePull", "ImagePullBackOff")
    told = kube.client.diagnose(pod)
    [error] = told["errors"]
    assert error.startswith("Reading the log of container runner: 400 ")
    assert "waiting to start" in error
    assert kube.calls("read_pod_log") == 1
    assert any(event["count"] > 1 for event in told["events"])


def test_node_that_is_not_there_is_asked_for_its_log_once(kube: Kube) -> None:
    kube.world.cluster.next_pod(Behaviour.NEVER_REGISTERS)
    kube.running()
    kube.world.cluster.silence("rv1-0")
    kube.world.time.step(120)
    told = kube.client.diagnose(kube.find())
    [error] = told["errors"]
    assert "500" in error
    assert "i/o timeout" in error
    assert kube.calls("read_pod_log") == 1
    assert told["containers"][0]["state"]["running"]


def test_diagnosis_of_a_pod_that_is_gone_tells_what_was_seen(kube: Kube) -> None:
    pod = kube.running()
    kube.client.delete_pod(pod, force=True)
    told = kube.client.diagnose(pod)
    assert told["pod"]["phase"] == "Running"
    assert told["errors"] == ["The pod is gone: only what was seen of it before is told."]
    assert [event["reason"] for event in told["events"]][:1] == ["Scheduled"]


def test_events_of_another_pod_of_the_name_are_not_told(kube: Kube) -> None:
    first = kube.running()
    kube.client.delete_pod(first, force=True)
    kube.world.time.step(60)
    second = kube.create()
    assert kube.client.diagnose(second)["events"] == []


def test_calls_can_be_made_from_several_threads() -> None:
    with started(boards=20) as kube, ThreadPoolExecutor(8) as threads:
        names = [f"runner-{number:02}" for number in range(20)]
        list(threads.map(kube.create, names))
        kube.world.time.step(60)
        list(threads.map(kube.client.diagnose, kube.client.pods()))
        assert [pod.name for pod in kube.client.pods()] == names
