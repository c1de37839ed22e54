"""Whatever goes wrong between the client and the cluster, on every call: listings are whole or an
error, what bears repeating is repeated, and what does not is never done twice."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from reconcile.errors import DeadlineError, PermanentError, TransientError, UncertainError
from reconcile.kube.calls import ATTEMPTS, LONGEST_WAIT_SECONDS
from reconcile.sim import faults
from reconcile.sim.cluster import Behaviour
from reconcile.sim.faults import Fault
from tests.integration.kube import (
    BOARD,
    DEADLINE,
    IMAGE,
    JIT,
    NAMESPACE,
    Kube,
    connected,
    started,
)

TIMEOUT = 0.3  # real seconds


@pytest.fixture(scope="module")
def _kube() -> Iterator[Kube]:
    with started(boards=2, request_timeout=TIMEOUT, seconds=3600) as made:
        yield made


@pytest.fixture
def kube(_kube: Kube) -> Iterator[Kube]:
    """With a pod `runner-1` that runs, and a pod `waiting` without its secret."""
    _kube.world.cluster.next_pod(Behaviour.NEVER_REGISTERS)
    _kube.create()
    _kube.world.time.step(60)
    _kube.client.create_pod("waiting", BOARD, IMAGE, None, DEADLINE)
    _kube.world.cluster_server.counts.clear()
    _kube.waits.clear()
    yield _kube
    _kube.world.faults.clear()
    for pod in _kube.client.pods():
        _kube.client.delete_pod(pod, force=True)
    _kube.world.time.step(60)


# No answer that says what happened. Each before anything was done, and after.
LOST = {
    f"{name}{' after its effect' if fault.after_effect else ''}": fault
    for after in (False, True)
    for name, fault in {
        "timeout": faults.timeout(after_effect=after),
        "reset": faults.reset(after_effect=after),
        "500": faults.status(500, after_effect=after),
        "502": faults.status(502, after_effect=after),
        "503": faults.status(503, after_effect=after),
        "504": faults.status(504, after_effect=after),
    }.items()
} | {"half a body": faults.half_body(), "wrong JSON": faults.wrong_json()}
REFUSED = {"401": faults.expired_token(), "403": faults.status(403), "404": faults.status(404)}


@dataclass(frozen=True)
class Read:
    endpoint: str
    call: Callable[[Kube], object]


@dataclass(frozen=True)
class Write:
    endpoint: str
    call: Callable[[Kube], object]
    happened: Callable[[Kube], bool]


def stopped(kube: Kube) -> bool:
    return kube.find().stopping


def deleting(kube: Kube) -> bool:
    found = kube.client.find_pod("runner-1")
    return found is None or found.deleting


READS = [
    Read("list_pods", lambda kube: [pod.name for pod in kube.client.pods()]),
    Read("list_nodes", lambda kube: [node.name for node in kube.client.nodes()]),
    Read("read_pod", lambda kube: kube.find().uid),
    Read(
        "create_self_subject_access_review",
        lambda kube: kube.client.may("list", "pods", "", namespaced=True),
    ),
]
REPEATED = [
    Write("patch_pod", lambda kube: kube.client.stop_pod("runner-1"), stopped),
    Write("delete_pod", lambda kube: kube.client.delete_pod(kube.find()), deleting),
    Write(
        "delete_pod",
        lambda kube: kube.client.delete_pod(kube.find(), unchanged=True),
        deleting,
    ),
    Write(
        "delete_pod",
        lambda kube: kube.client.delete_pod(kube.find(), force=True),
        deleting,
    ),
]
ONCE = [
    Write(
        "create_pod",
        lambda kube: kube.client.create_pod("runner-2", BOARD, IMAGE, None, DEADLINE),
        lambda kube: kube.client.find_pod("runner-2") is not None,
    ),
    Write(
        "create_secret",
        lambda kube: kube.client.hand_over("waiting", kube.find("waiting").uid, JIT),
        lambda kube: len(kube.world.cluster.secrets(NAMESPACE)) == 2,
    ),
]


def each(*groups: list[Read] | list[Write]) -> pytest.MarkDecorator:
    calls = [call for group in groups for call in group]
    ids = [f"{call.endpoint}-{number}" for number, call in enumerate(calls)]
    return pytest.mark.parametrize("call", calls, ids=ids)


def every(table: dict[str, Fault]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("fault", table.values(), ids=table.keys())


def fail(kube: Kube, endpoint: str, fault: Fault, times: int = 1) -> None:
    kube.world.faults.next(f"k8s.{endpoint}", fault, times)


@every(LOST)
@each(READS)
def test_read_that_fails_twice_is_repeated(kube: Kube, call: Read, fault: Fault) -> None:
    expected = call.call(kube)
    before = kube.calls(call.endpoint)
    fail(kube, call.endpoint, fault, ATTEMPTS - 1)
    assert call.call(kube) == expected
    assert kube.calls(call.endpoint) == before + ATTEMPTS
    assert len(kube.waits) == ATTEMPTS - 1
    assert all(0 < wait < 1 for wait in kube.waits)


@every(LOST)
@each(READS)
def test_listing_that_keeps_failing_is_an_error_never_empty(
    kube: Kube, call: Read, fault: Fault
) -> None:
    fail(kube, call.endpoint, fault, ATTEMPTS)
    with pytest.raises(TransientError) as failure:
        call.call(kube)
    assert not isinstance(failure.value, UncertainError)
    assert failure.value.__cause__ is not None
    assert kube.calls(call.endpoint) == ATTEMPTS


@every(LOST)
@each(REPEATED)
def test_write_that_comes_to_the_same_is_repeated(kube: Kube, call: Write, fault: Fault) -> None:
    fail(kube, call.endpoint, fault, ATTEMPTS - 1)
    assert call.call(kube) in (True, None)
    assert call.happened(kube)


@every(LOST)
@each(REPEATED)
def test_write_that_keeps_failing_may_have_happened(kube: Kube, call: Write, fault: Fault) -> None:
    fail(kube, call.endpoint, fault, ATTEMPTS)
    with pytest.raises(UncertainError):
        call.call(kube)
    assert call.happened(kube) is fault.after_effect
    assert kube.calls(call.endpoint) == ATTEMPTS


@every(LOST)
@each(ONCE)
def test_lost_answer_to_a_creation_is_uncertain_and_not_repeated(
    kube: Kube, call: Write, fault: Fault
) -> None:
    fail(kube, call.endpoint, fault)
    with pytest.raises(UncertainError) as failure:
        call.call(kube)
    assert JIT.reveal() not in str(failure.value)
    assert kube.calls(call.endpoint) == 1
    assert call.happened(kube) is fault.after_effect


@each(ONCE)
def test_creation_that_is_refused_for_now_did_not_happen(kube: Kube, call: Write) -> None:
    fail(kube, call.endpoint, faults.rate_limited(1))
    with pytest.raises(TransientError, match="429") as failure:
        call.call(kube)
    assert not isinstance(failure.value, UncertainError)
    assert not call.happened(kube)
    assert kube.calls(call.endpoint) == 1


@each(READS, REPEATED)
def test_server_says_how_long_to_wait(kube: Kube, call: Read | Write) -> None:
    fail(kube, call.endpoint, faults.rate_limited(3))
    fail(kube, call.endpoint, faults.rate_limited(3600))
    call.call(kube)
    assert kube.waits == [3, LONGEST_WAIT_SECONDS]


@every(REFUSED)
@each(READS, REPEATED, ONCE)
def test_refusal_is_for_good(kube: Kube, call: Read | Write, fault: Fault) -> None:
    """Also a 404 that does not say that the pod is not there: it proves nothing."""
    fail(kube, call.endpoint, fault)
    with pytest.raises(PermanentError, match=r"40[134]"):
        call.call(kube)
    assert kube.calls(call.endpoint) == 1
    assert kube.waits == []


@each(READS, REPEATED, ONCE)
def test_slow_answer_is_waited_for(kube: Kube, call: Read | Write) -> None:
    fail(kube, call.endpoint, faults.latency(TIMEOUT / 3))
    call.call(kube)
    assert kube.calls(call.endpoint) >= 1
    assert kube.waits == []


def diagnosing(table: dict[str, Fault], besides: Callable[[Fault], bool]) -> pytest.MarkDecorator:
    """Each call of a diagnosis with each fault, besides some of the log's."""
    return pytest.mark.parametrize(
        ("endpoint", "fault"),
        [
            pytest.param(endpoint, fault, id=f"{endpoint}-{name}")
            for endpoint in ("read_pod", "list_events", "read_pod_log")
            for name, fault in table.items()
            if endpoint != "read_pod_log" or not besides(fault)
        ],
    )


def is_a_log(fault: Fault) -> bool:
    return fault == faults.wrong_json()  # It is any text.


def is_a_dead_node(fault: Fault) -> bool:
    return fault.kind is faults.Kind.TIMEOUT or fault.status == 500


@diagnosing(LOST | REFUSED, besides=is_a_log)
def test_diagnosis_tells_what_it_could_not_get(kube: Kube, endpoint: str, fault: Fault) -> None:
    pod = kube.find()
    kube.world.faults.always(f"k8s.{endpoint}", fault)
    told = kube.client.diagnose(pod)
    assert len(told["errors"]) == 1
    assert bool(told["events"]) is (endpoint != "list_events")
    assert bool(told["logs"]) is (endpoint != "read_pod_log")
    assert told["pod"]["phase"] == "Running"


@diagnosing(LOST, besides=lambda fault: is_a_log(fault) or is_a_dead_node(fault))
def test_diagnosis_gets_over_a_single_fault(kube: Kube, endpoint: str, fault: Fault) -> None:
    fail(kube, endpoint, fault)
    assert kube.client.diagnose(kube.find())["errors"] == []


@pytest.mark.parametrize("fault", [faults.timeout(), faults.status(500)], ids=["timeout", "500"])
def test_node_that_does_not_answer_is_not_asked_again(kube: Kube, fault: Fault) -> None:
    kube.world.faults.always("k8s.read_pod_log", fault)
    kube.client.diagnose(kube.find())
    assert kube.calls("read_pod_log") == 1


def test_cluster_that_cannot_be_reached_got_nothing() -> None:
    with started() as kube:
        config = kube.world.kubeconfig
    with connected(config) as client:
        for call in (client.pods, lambda: client.create_pod("a", BOARD, IMAGE, None, DEADLINE)):
            with pytest.raises(TransientError, match="cannot be reached") as failure:
                call()
            assert not isinstance(failure.value, UncertainError)


def test_no_call_is_begun_after_the_runs_time() -> None:
    with started(seconds=0) as kube:
        with pytest.raises(DeadlineError):
            kube.client.pods()
        assert kube.calls("list_pods") == 0


def test_no_call_is_repeated_beyond_the_runs_time() -> None:
    with started(seconds=2) as kube:
        kube.world.faults.always("k8s.list_pods", faults.rate_limited(30))
        with pytest.raises(TransientError, match="429"):
            kube.client.pods()
        assert kube.waits == []
