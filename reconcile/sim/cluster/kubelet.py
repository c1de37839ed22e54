"""The kubelets: one for each node, which starts and stops what is bound to it."""

from collections import defaultdict
from datetime import datetime

from ..broker import Broker
from ..timeline import Timeline
from .conditions import has_ended
from .deletion import Deleter
from .events import Recorder
from .images import Images
from .node_object import RUNNER_RESOURCE
from .pod_worker import PodWorker
from .scheduling import requests_of
from .store import Object, Store

ADMISSION_ERROR = "UnexpectedAdmissionError"
NOTICE_SECONDS = 0.2  # from a change in the cluster to the kubelet's reaction


class Kubelet:
    def __init__(
        self,
        name: str,
        address: str,
        store: Store,
        recorder: Recorder,
        images: Images,
        broker: Broker | None,
        bound: dict[str, None],
    ) -> None:
        self.name = name
        self.address = address
        self.store = store
        self.recorder = recorder
        self.images = images
        self.broker = broker
        self.deleter = Deleter(store)
        self.pulled: set[str] = set()
        self._bound = bound  # the uids of the pods that are bound to its name, in order
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
        third, fourth = self.address.split(".")[2:]
        return f"10.{100 + int(third)}.{fourth}.{self._addresses}"

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
        if has_ended(pod):
            return
        worker = PodWorker(self, pod)
        if "deletionTimestamp" in pod["metadata"]:  # before it was ever seen here
            pod = worker.fail("", "") or pod
            self.deleter.finish(self.store.pods, pod)
            return
        if (lacking := self._lacking(pod, worker)) is not None:
            worker.say(ADMISSION_ERROR, lacking, warning=True)
            worker.fail(ADMISSION_ERROR, lacking)
            return
        self.workers[uid] = worker
        worker.begin()

    def _lacking(self, pod: Object, arriving: PodWorker) -> str | None:
        """Why there is no device for it, though the scheduler thought so: what was deleted by
        force may still be running here."""
        node = self.store.nodes.get("", self.name)
        there = int(node["status"]["allocatable"].get(RUNNER_RESOURCE, 0)) if node else 0
        asked = requests_of(pod["spec"]).get(RUNNER_RESOURCE, 0)
        taken = sum(worker.runners for worker in self.workers.values() if not worker.over)
        if not arriving.is_rejected and (asked == 0 or taken + asked <= there):
            return None
        return (
            "Pod was rejected: Allocate failed due to requested number of devices unavailable for "
            f"{RUNNER_RESOURCE}. Requested: {asked}, Available: {max(0, there - taken)}, which is "
            "unexpected"
        )

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
        self.look_around()

    def look_around(self) -> None:
        """See to pods that are bound to this node and not known to it."""
        for uid in list(self._bound):
            if uid not in self.workers:
                self.sync(uid)

    def _each_container_line(self, *, up: bool) -> None:
        for worker in list(self.workers.values()):
            for container in worker.containers:
                if up:
                    container.regain_line()
                else:
                    container.lose_line()

    def worker(self, uid: str) -> PodWorker | None:
        return self.workers.get(uid)


class Kubelets:
    """All of them, told of what concerns them a moment later."""

    def __init__(
        self, store: Store, recorder: Recorder, images: Images, broker: Broker | None
    ) -> None:
        self._store = store
        self._recorder = recorder
        self._images = images
        self._broker = broker
        self._nodes: dict[str, Kubelet] = {}
        self._bound: defaultdict[str, dict[str, None]] = defaultdict(dict)
        store.pods.watchers.append(self._pod_changed)

    def add(self, name: str, address: str) -> None:
        self._nodes[name] = kubelet = Kubelet(
            name,
            address,
            self._store,
            self._recorder,
            self._images,
            self._broker,
            self._bound[name],
        )
        # Pods may be bound to its name already: to a node that was there before, or by their maker.
        self._store.timeline.after(NOTICE_SECONDS, kubelet.look_around)

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
            if new is None:
                self._bound[node].pop(uid, None)
            else:
                self._bound[node][uid] = None
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
