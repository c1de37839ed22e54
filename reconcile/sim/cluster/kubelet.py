"""The kubelets: one for each node, which starts and stops what is bound to it."""

from datetime import datetime

from ..broker import Broker
from ..timeline import Timeline
from .deletion import Deleter
from .events import Recorder
from .images import Images
from .pod_worker import PodWorker
from .store import Object, Store

NOTICE_SECONDS = 0.2  # from a change in the cluster to the kubelet's reaction


class Kubelet:
    def __init__(
        self,
        name: str,
        address: str,
        store: Store,
        recorder: Recorder,
        registry: Images,
        broker: Broker | None,
    ) -> None:
        self.name = name
        self.address = address
        self.store = store
        self.recorder = recorder
        self.registry = registry
        self.broker = broker
        self.deleter = Deleter(store)
        self.images: set[str] = set()
        self.connected = True
        self.powered = True
        self.offline = False  # its runners cannot be heard by GitHub
        self._addresses = 0
        self.workers: dict[str, PodWorker] = {}

    @property
    def timeline(self) -> Timeline:
        return self.store.timeline

    def now(self) -> datetime:
        return self.store.timeline.now()

    def new_id(self) -> str:
        return f"{self.store.random.getrandbits(256):064x}"

    def new_address(self) -> str:
        self._addresses = self._addresses % 250 + 1
        second, third = self.address.split(".")[2:]
        return f"10.{100 + int(second)}.{third}.{self._addresses}"

    def sync(self, uid: str) -> None:
        """Look at a pod that is, or was, bound to this node."""
        if not self.connected:
            return
        worker = self.workers.get(uid)
        if worker is not None:
            worker.sync()
            return
        pod = self.store.uids.get(uid)
        if pod is None:
            return
        if pod["status"]["phase"] in ("Succeeded", "Failed"):
            return
        if "deletionTimestamp" in pod["metadata"]:  # before it was ever seen here
            self.deleter.finish(self.store.pods, pod)
            return
        worker = self.workers[uid] = PodWorker(self, pod)
        worker.begin()

    def forget(self, worker: PodWorker) -> None:
        self.workers.pop(worker.uid, None)

    def lose_contact(self, *, power: bool, online: bool) -> None:
        self.connected = False
        if power and self.powered:
            self.powered = False
            for worker in self.workers.values():
                worker.lose_power()
        elif self.powered and not online and not self.offline:
            self.offline = True
            self._each_container_line(up=False)

    def regain_contact(self) -> None:
        self.connected = True
        if self.offline:
            self.offline = False
            self._each_container_line(up=True)
        if not self.powered:
            self.powered = True
            for worker in list(self.workers.values()):
                worker.regain_power()
        for worker in list(self.workers.values()):
            worker.report()
            worker.sync()
        for pod in self._bound():
            self.sync(pod["metadata"]["uid"])

    def _each_container_line(self, *, up: bool) -> None:
        for worker in list(self.workers.values()):
            for container in worker.containers:
                if up:
                    container.regain_line()
                else:
                    container.lose_line()

    def _bound(self) -> list[Object]:
        return [
            pod
            for pod in self.store.pods
            if pod["spec"].get("nodeName") == self.name
            and pod["metadata"]["uid"] not in self.workers
        ]

    def worker(self, uid: str) -> PodWorker | None:
        return self.workers.get(uid)


class Kubelets:
    """All of them, told of what concerns them a moment later."""

    def __init__(
        self, store: Store, recorder: Recorder, registry: Images, broker: Broker | None
    ) -> None:
        self._store = store
        self._recorder = recorder
        self._registry = registry
        self._broker = broker
        self._nodes: dict[str, Kubelet] = {}
        store.pods.watchers.append(self._pod_changed)

    def add(self, name: str, address: str) -> None:
        self._nodes[name] = Kubelet(
            name, address, self._store, self._recorder, self._registry, self._broker
        )

    def remove(self, name: str) -> None:
        self._nodes.pop(name).lose_contact(power=True, online=False)

    def get(self, name: str) -> Kubelet | None:
        return self._nodes.get(name)

    def report(self, name: str) -> None:
        """Have the kubelet say again how its pods are."""
        for worker in list(self._nodes[name].workers.values()):
            worker.report()

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        pod = new or old
        if pod is None or not _concerns_kubelet(old, new):
            return
        node, uid = pod["spec"].get("nodeName"), pod["metadata"]["uid"]
        if node:
            self._store.timeline.after(NOTICE_SECONDS, lambda: self._sync(node, uid))

    def _sync(self, node: str, uid: str) -> None:
        if (kubelet := self._nodes.get(node)) is not None:
            kubelet.sync(uid)


def _concerns_kubelet(old: Object | None, new: Object | None) -> bool:
    """What it reported itself is no news to it."""
    if old is None or new is None:
        return True
    if old["spec"] is not new["spec"] and old["spec"] != new["spec"]:
        return True
    field = "deletionGracePeriodSeconds"
    return bool(old["metadata"].get(field) != new["metadata"].get(field))
