"""The taint manager: pods leave nodes whose NoExecute taints they do not tolerate, or no longer."""

from collections import defaultdict
from typing import TYPE_CHECKING

from ..clock import span
from .conditions import with_condition
from .deletion import Deleter, Options
from .events import Recorder
from .scheduling import taint_of, tolerates, toleration_of
from .store import Object, Store

if TYPE_CHECKING:
    from datetime import datetime

    from ..timeline import Appointment

COMPONENT = "taint-eviction-controller"
FOREVER = -1


class TaintEviction:
    def __init__(self, store: Store, recorder: Recorder) -> None:
        self._store = store
        self._recorder = recorder
        self._deleter = Deleter(store)
        self._tainted: set[str] = set()
        self._planned: dict[str, tuple[datetime, Appointment]] = {}
        self._on_node: defaultdict[str, set[str]] = defaultdict(set)
        store.nodes.watchers.append(self._node_changed)
        store.pods.watchers.append(self._pod_changed)

    def _node_changed(self, old: Object | None, new: Object | None) -> None:
        node = new or old
        if node is None or _banishing(old) == _banishing(new):
            return
        name = node["metadata"]["name"]
        (self._tainted.add if _banishing(new) else self._tainted.discard)(name)
        self._store.timeline.after(0, lambda: self._look_at(name))

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        pod = new or old
        if pod is None:
            return
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        if not node:
            return
        if new is None:
            self._on_node[node].discard(uid)
            self._cancel(uid)
        elif old is None or old["spec"] is not new["spec"]:
            self._on_node[node].add(uid)
            if node in self._tainted:
                self._store.timeline.after(0, lambda: self._look_at(node))

    def _look_at(self, name: str) -> None:
        node = self._store.nodes.get("", name)
        taints = _banishing(node)
        for uid in sorted(self._on_node[name]):
            pod = self._store.uids.get(uid)
            if pod is not None:
                self._plan(pod, taints)

    def _plan(self, pod: Object, taints: list[Object]) -> None:
        uid = pod["metadata"]["uid"]
        seconds = _tolerated_seconds(pod["spec"]["tolerations"], taints)
        if "deletionTimestamp" in pod["metadata"]:
            return
        if seconds == FOREVER:
            if self._cancel(uid):
                metadata = pod["metadata"]
                text = f"Cancelling deletion of Pod {metadata['namespace']}/{metadata['name']}"
                self._recorder.record(pod, "Pod", "TaintManagerEviction", text, component=COMPONENT)
            return
        begun, known = self._planned.get(uid, (self._store.timeline.now(), None))
        if known is not None:
            known.cancel()
        moment = begun + span(seconds)
        self._planned[uid] = (begun, self._store.timeline.at(moment, lambda: self._evict(uid)))

    def _evict(self, uid: str) -> None:
        del self._planned[uid]
        pod = self._store.uids[uid]
        metadata = pod["metadata"]
        text = f"Marking for deletion Pod {metadata['namespace']}/{metadata['name']}"
        self._recorder.record(pod, "Pod", "TaintManagerEviction", text, component=COMPONENT)
        conditions = with_condition(
            pod["status"].get("conditions", []),
            "DisruptionTarget",
            True,
            self._store.stamp(),
            reason="DeletionByTaintManager",
            message="Taint manager: deleting due to NoExecute taint",
        )
        status = pod["status"] | {"conditions": conditions}
        pod = self._store.pods.replace(pod, pod | {"status": status})
        self._deleter.delete(self._store.pods, pod, Options())

    def _cancel(self, uid: str) -> bool:
        planned = self._planned.pop(uid, None)
        if planned is not None:
            planned[1].cancel()
        return planned is not None


def _banishing(node: Object | None) -> list[Object]:
    taints = node["spec"].get("taints", []) if node is not None else []
    return [taint for taint in taints if taint["effect"] == "NoExecute"]


def _tolerated_seconds(tolerations: list[Object], taints: list[Object]) -> int:
    """How long a pod may stay: not at all if one taint is not tolerated."""
    seconds: list[int] = []
    for taint in taints:
        matching = [one for one in tolerations if tolerates(toleration_of(one), taint_of(taint))]
        if not matching:
            return 0
        limited = [one["tolerationSeconds"] for one in matching if "tolerationSeconds" in one]
        seconds += [max(0, one) for one in limited]
    return min(seconds, default=FOREVER)
