"""The scheduler: first come, first served, and never more work than what changed.

Pending pods are grouped by shape. A group whose first pod fits nowhere is blocked as a whole, and
stays so until a node changes; then only that node is tried. Placing a pod only ever makes nodes
fuller, so within one round a node that was too full for a shape is not looked at again.
"""

import heapq
from collections import Counter, OrderedDict
from datetime import datetime

from .conditions import has_ended, with_condition
from .events import Recorder
from .scheduling import NodeInfo, Shape, explanation, info_of, requests_of, shape_of
from .store import Object, Store

ROUND_SECONDS = 0.1  # from a change to the round it leads to
COMPONENT = "default-scheduler"

# In the queue: by the moment of creation, and within one by name, whoever's request was served
# first: a seed replays also where clients create in parallel.
Place = tuple[datetime, str]


class Group:
    """The pending pods of one shape, by uid, in the order of their creation."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.pods: OrderedDict[str, Place] = OrderedDict()
        self.untold: list[str] = []  # pods that were not told yet why they wait
        self.in_order = True
        self.blocked = False
        self.message = ""
        self.message_of = -1  # the state of the nodes that the message describes

    def add(self, uid: str, place: Place) -> None:
        # One that changed its shape keeps its place, and so does one that came in parallel.
        self.in_order = self.in_order and (
            not self.pods or next(reversed(self.pods.values())) <= place
        )
        self.pods[uid] = place
        self.untold.append(uid)

    def first(self) -> tuple[Place, str]:
        if not self.in_order:
            self.pods = OrderedDict(sorted(self.pods.items(), key=lambda item: item[1]))
            self.in_order = True
        uid, place = next(iter(self.pods.items()))
        return place, uid


class Scheduler:
    def __init__(self, store: Store, recorder: Recorder) -> None:
        self._store = store
        self._recorder = recorder
        self._groups: dict[Shape, Group] = {}
        self._shapes: dict[str, Shape] = {}  # of each pending pod
        self._nodes: dict[str, NodeInfo] = {}
        self._placed: dict[str, tuple[str, dict[str, int]]] = {}  # where, and how much of it
        self._places: dict[str, Place] = {}
        self._state = 0  # counts the changes to nodes that can change an explanation
        self._changed: set[str] = set()  # nodes that may have room they did not have
        self._waiting = False
        store.pods.watchers.append(self._pod_changed)
        store.nodes.watchers.append(self._node_changed)

    # What happens elsewhere.

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        pod = new if new is not None else old
        if pod is None:
            return
        uid = pod["metadata"]["uid"]
        if old is None:
            self._places[uid] = (self._store.timeline.now(), self._store.pods.key(pod))
        elif new is not None and _same_to_scheduler(old, new):
            return
        alive = new is not None and not has_ended(new)
        node = pod["spec"].get("nodeName", "") if alive else ""
        self._account(uid, pod, node)
        self._queue(uid, pod if alive and not node else None)
        if new is None:
            del self._places[uid]

    def _account(self, uid: str, pod: Object, node: str) -> None:
        """A pod counts against its node from its binding to its end."""
        if node and uid not in self._placed:
            requests = requests_of(pod["spec"])
            self._placed[uid] = (node, requests)
            if (info := self._nodes.get(node)) is not None:
                info.used.update(requests)
        elif not node and uid in self._placed:
            name, requests = self._placed.pop(uid)
            if (info := self._nodes.get(name)) is not None:
                info.used.subtract(requests)
                self._changed.add(name)
                self._wake()

    def _queue(self, uid: str, pod: Object | None) -> None:
        deleting = pod is not None and "deletionTimestamp" in pod["metadata"]
        foreign = pod is not None and pod["spec"]["schedulerName"] != COMPONENT
        shape = shape_of(pod["spec"]) if pod is not None and not deleting and not foreign else None
        before = self._shapes.get(uid)
        if shape == before:
            return
        if before is not None:
            del self._shapes[uid]
            group = self._groups[before]
            group.pods.pop(uid)
            if not group.pods:
                del self._groups[before]
        if shape is not None:
            self._shapes[uid] = shape
            self._groups.setdefault(shape, Group(shape)).add(uid, self._places[uid])
            self._wake()

    def _node_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None:
            if old is not None:
                del self._nodes[old["metadata"]["name"]]
        else:
            name = new["metadata"]["name"]
            if old is not None and _alike(old, new):
                return
            used = self._nodes[name].used if name in self._nodes else self._usage(name)
            self._nodes[name] = info_of(new, used)
            self._changed.add(name)
        self._state += 1
        self._wake()

    def _usage(self, name: str) -> Counter[str]:
        used: Counter[str] = Counter()
        for node, requests in self._placed.values():
            if node == name:
                used.update(requests)
        return used

    # A round.

    def _wake(self) -> None:
        if not self._waiting:
            self._waiting = True
            self._store.timeline.after(ROUND_SECONDS, self._round)

    def _round(self) -> None:
        self._waiting = False
        changed, self._changed = self._changed, set()
        queue: list[tuple[Place, str, Shape]] = []
        candidates: dict[Shape, list[tuple[int, str]]] = {}
        for shape, group in self._groups.items():
            nodes = self._candidates(shape, changed if group.blocked else None)
            if nodes or not group.blocked:
                candidates[shape] = nodes
                queue.append((*group.first(), shape))
        heapq.heapify(queue)
        while queue:
            _, uid, shape = heapq.heappop(queue)
            group = self._groups[shape]
            node = self._best(shape, candidates[shape])
            if node is None:
                group.blocked = True
                continue
            group.blocked = False
            self._bind(uid, node)
            if shape in self._groups:
                heapq.heappush(queue, (*group.first(), shape))
        for group in list(self._groups.values()):
            self._explain(group)

    def _candidates(self, shape: Shape, names: set[str] | None) -> list[tuple[int, str]]:
        """A heap of the nodes such a pod may run on, the emptiest first."""
        nodes = self._nodes.values() if names is None else map(self._nodes.get, names)
        heap = [
            (node.used["pods"], node.name)
            for node in nodes
            if node is not None and not node.lacks(shape) and not node.objection(shape)
        ]
        heapq.heapify(heap)
        return heap

    def _best(self, shape: Shape, heap: list[tuple[int, str]]) -> NodeInfo | None:
        while heap:
            count, name = heap[0]
            node = self._nodes[name]
            if node.lacks(shape):
                heapq.heappop(heap)
            elif count != node.used["pods"]:  # other pods went there meanwhile
                heapq.heapreplace(heap, (node.used["pods"], name))
            else:
                return node
        return None

    def _bind(self, uid: str, node: NodeInfo) -> None:
        pod = self._store.uids[uid]
        conditions = with_condition(
            pod["status"].get("conditions", []), "PodScheduled", True, self._store.stamp()
        )
        self._store.pods.replace(
            pod,
            pod
            | {
                "spec": pod["spec"] | {"nodeName": node.name},
                "status": pod["status"] | {"conditions": conditions},
            },
        )
        metadata = pod["metadata"]
        text = f"Successfully assigned {metadata['namespace']}/{metadata['name']} to {node.name}"
        self._recorder.record(pod, "Pod", "Scheduled", text, component=COMPONENT, action="Binding")

    def _explain(self, group: Group) -> None:
        """Tell the pods of a blocked group why: the new ones, or all if the reason changed."""
        if not group.blocked:
            return
        told: list[str] = group.untold
        if group.message_of != self._state:
            group.message_of = self._state
            message = explanation(group.shape, list(self._nodes.values()))
            if message != group.message:
                group.message, told = message, list(group.pods)
        group.untold = []
        for uid in told:
            if uid in group.pods:
                self._refuse(self._store.uids[uid], group.message)

    def _refuse(self, pod: Object, message: str) -> None:
        conditions = with_condition(
            pod["status"].get("conditions", []),
            "PodScheduled",
            False,
            self._store.stamp(),
            reason="Unschedulable",
            message=message,
        )
        status = pod["status"] | {"conditions": conditions}
        pod = self._store.pods.replace(pod, pod | {"status": status})
        self._recorder.record(
            pod,
            "Pod",
            "FailedScheduling",
            message,
            component=COMPONENT,
            warning=True,
            action="Scheduling",
        )


def _same_to_scheduler(old: Object, new: Object) -> bool:
    """Most changes to pods are to their status, and only its end matters here."""
    return bool(
        old["spec"] is new["spec"]
        and old["status"]["phase"] == new["status"]["phase"]
        and ("deletionTimestamp" in old["metadata"]) == ("deletionTimestamp" in new["metadata"])
    )


def _alike(old: Object, new: Object) -> bool:
    """Whether the change is one that the scheduler has no interest in."""
    return bool(
        old["spec"] == new["spec"]
        and old["metadata"].get("labels") == new["metadata"].get("labels")
        and old["status"]["allocatable"] == new["status"]["allocatable"]
    )
