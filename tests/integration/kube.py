"""The cluster client on a simulated cluster, over HTTP, in stepped time."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from reconcile.clock import Deadline
from reconcile.errors import PermanentError
from reconcile.kube import ClusterClient, connect
from reconcile.model import JitConfig, Pod
from reconcile.settings import EphemeralStorage
from reconcile.sim.cluster import Behaviour
from reconcile.sim.timeline import SteppedTime
from reconcile.sim.world import World

BOARD = "scw-em-rv1"
IMAGE = "registry.example/ubuntu-24.04:prod"
NAMESPACE = "default"
STORAGE = EphemeralStorage()
DEADLINE = 525_600
JIT = JitConfig(1, "c2VjcmV0IGNvbmZpZ3VyYXRpb24=" * 20)


@dataclass
class Kube:
    world: World[SteppedTime]
    client: ClusterClient
    waits: list[float] = field(default_factory=list)  # what it would have slept

    def create(self, name: str = "runner-1", board: str = BOARD) -> Pod:
        uid = self.client.create_pod(name, board, IMAGE, STORAGE, DEADLINE)
        self.client.hand_over(name, uid, JIT)
        return self.find(name)

    def find(self, name: str = "runner-1") -> Pod:
        found = self.client.find_pod(name)
        assert found is not None
        return found

    def running(self, name: str = "runner-1") -> Pod:
        """Its runner talks to a GitHub that does not know it, so it does not run for long."""
        self.create(name)
        self.world.time.step_until(lambda: self.find(name).phase == "Running")
        return self.find(name)

    def calls(self, endpoint: str) -> int:
        return self.world.cluster_server.counts[f"k8s.{endpoint}"]


@contextlib.contextmanager
def started(
    *,
    token: str | None = None,
    boards: int = 1,
    request_timeout: float = 10,
    seconds: float = 60,
    namespace: str = NAMESPACE,
    page_size: int = 500,
) -> Iterator[Kube]:
    with World(SteppedTime()) as world:
        for number in range(boards):
            world.cluster.add_node(f"rv1-{number}", BOARD)
        with joined(
            world,
            token=token,
            request_timeout=request_timeout,
            seconds=seconds,
            namespace=namespace,
            page_size=page_size,
        ) as kube:
            yield kube


@contextlib.contextmanager
def joined(
    world: World[SteppedTime],
    *,
    token: str | None = None,
    request_timeout: float = 10,
    seconds: float = 60,
    namespace: str = NAMESPACE,
    page_size: int = 500,
) -> Iterator[Kube]:
    """One more client of a world that there is already."""
    url = world.cluster_server.url
    config = world.cluster.kubeconfig(url, token) if token else world.kubeconfig
    waits: list[float] = []
    with connect(
        config,
        None,
        namespace,
        deadline=Deadline(seconds),
        request_timeout=request_timeout,
        parallel=4,
        sleep=waits.append,
        page_size=page_size,
    ) as client:
        yield Kube(world, client, waits)


def connected(
    text: str | None = None, path: str | None = None, request_timeout: float = 1
) -> ClusterClient:
    """A client of whatever the kubeconfig says, which does not sleep."""
    return connect(
        text,
        path,
        NAMESPACE,
        deadline=Deadline(30),
        request_timeout=request_timeout,
        parallel=2,
        sleep=lambda _: None,
    )


def do_everything(kube: Kube) -> None:
    """Every method, each on its way through all calls it can make."""
    kube.world.cluster.next_pod(Behaviour.CRASHES)
    pod = kube.create()
    kube.world.time.step(120)
    assert kube.client.pods() == [kube.find()]
    assert len(kube.client.nodes()) == 1
    kube.client.stop_pod(pod.name)
    told = kube.client.diagnose(pod)
    if told["errors"]:
        raise PermanentError(told["errors"][0])
    assert kube.client.delete_pod(kube.find(), force=True)
