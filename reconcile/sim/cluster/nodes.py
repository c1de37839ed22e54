"""The life of nodes: they join, go silent, come back and leave, and the controllers react."""

from typing import TYPE_CHECKING

from .conditions import condition, has_ended, with_condition
from .deletion import Deleter
from .events import Recorder
from .kubelet import Kubelets
from .node_object import RUNNER_RESOURCE, Machine, conditions, node_object, updated
from .pod_defaults import NOT_READY, UNREACHABLE
from .store import Object, Store

if TYPE_CHECKING:
    from ..timeline import Appointment

MONITOR_GRACE_SECONDS = 50  # a node that is silent for so long is unreachable
CONTROLLER_SECONDS = 0.1  # from a change to a node to what follows from it
POD_COLLECTION_SECONDS = 40  # until the pods of a node that is gone are removed
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
CONTROLLER = "node-controller"


class Nodes:
    def __init__(self, store: Store, recorder: Recorder, kubelets: Kubelets) -> None:
        self._store = store
        self._recorder = recorder
        self._kubelets = kubelets
        self._deleter = Deleter(store)
        self._made = 0
        self._monitors: dict[str, Appointment] = {}
        store.nodes.watchers.append(self._node_changed)
        store.pods.watchers.append(self._pod_changed)

    def new_address(self) -> str:
        self._made += 1
        return f"10.0.{self._made // 250}.{self._made % 250 + 1}"

    def add(self, machine: Machine) -> None:
        if self._store.nodes.get("", machine.name) is not None:
            raise ValueError(f"There is a node {machine.name} already.")
        metadata = self._store.new_metadata({"name": machine.name})
        now, identity = self._store.stamp(), self._store.new_uid()
        self._kubelets.add(machine.name, machine.address)
        self._store.nodes.add(node_object(machine, metadata, now, identity))

    def remove(self, name: str) -> None:
        node = self._find(name)
        self._forget_monitor(name)
        self._kubelets.remove(name)
        self._store.nodes.remove(node)
        self._plan_collection(name)

    def set_runners(self, name: str, runners: int) -> None:
        """What the device plugin offers: nothing, if it is down."""
        node = self._find(name)
        allocatable = node["status"]["allocatable"] | {RUNNER_RESOURCE: str(runners)}
        status = node["status"] | {"allocatable": allocatable}
        self._store.nodes.replace(node, node | {"status": status})

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None or (old is not None and "nodeName" in old["spec"]):
            return
        name = new["spec"].get("nodeName", "")
        if name and self._store.nodes.get("", name) is None:
            self._plan_collection(name)

    def _plan_collection(self, name: str) -> None:
        self._store.timeline.after(POD_COLLECTION_SECONDS, lambda: self._collect_pods(name))

    def _collect_pods(self, name: str) -> None:
        """Pods of a node that does not exist are nobody's."""
        if self._store.nodes.get("", name) is None:
            for pod in self._pods_on(name):
                self._deleter.finish(self._store.pods, self._ended(pod))

    def _ended(self, pod: Object) -> Object:
        if has_ended(pod):
            return pod
        status = pod["status"]
        told = with_condition(
            status.get("conditions", []),
            "DisruptionTarget",
            True,
            self._store.stamp(),
            reason="DeletionByPodGC",
            message="PodGC: node no longer exists",
        )
        ended = status | {"phase": "Failed", "conditions": told}
        return self._store.pods.replace(pod, pod | {"status": ended})

    # By hand.

    def cordon(self, name: str, *, on: bool) -> None:
        node = self._find(name)
        spec = {key: value for key, value in node["spec"].items() if key != "unschedulable"}
        if on:
            spec["unschedulable"] = True
        self._store.nodes.replace(node, node | {"spec": spec})

    def taint(self, name: str, key: str, value: str, effect: str) -> None:
        taint = {"key": key, "effect": effect} | ({"value": value} if value else {})
        if effect == "NoExecute":
            taint["timeAdded"] = self._store.stamp()
        node = self._find(name)
        rest = [
            one
            for one in node["spec"].get("taints", [])
            if (one["key"], one["effect"]) != (key, effect)
        ]
        self._set_taints(node, [*rest, taint])

    def untaint(self, name: str, key: str) -> None:
        node = self._find(name)
        self._set_taints(node, [one for one in node["spec"].get("taints", []) if one["key"] != key])

    # Silence.

    def silence(self, name: str, *, power: bool, online: bool) -> None:
        self._find(name)
        kubelet = self._kubelets.get(name)
        if kubelet is None:
            return
        was_connected = kubelet.connected
        kubelet.lose_contact(power=power, online=online)
        if was_connected:
            self._forget_monitor(name)
            self._monitors[name] = self._store.timeline.after(
                MONITOR_GRACE_SECONDS, lambda: self._unreachable(name)
            )

    def revive(self, name: str) -> None:
        node = self._find(name)
        kubelet = self._kubelets.get(name)
        if kubelet is None or kubelet.connected:
            return
        self._forget_monitor(name)
        rebooted = not kubelet.powered
        if rebooted:
            identity = self._store.new_uid()
            info = node["status"]["nodeInfo"] | {"bootID": identity}
            status = node["status"] | {"nodeInfo": info}
            node = self._store.nodes.replace(node, node | {"status": status})
            text = f"Node {name} has been rebooted, boot id: {identity}"
            self._say(node, "Rebooted", text, component="kubelet", warning=True)
        self._healthy(name)
        kubelet.regain_contact()

    def _unreachable(self, name: str) -> None:
        node = self._find(name)
        self._set_conditions(node, silent=True)
        self.taint(name, UNREACHABLE, "", "NoSchedule")
        self.taint(name, UNREACHABLE, "", "NoExecute")
        self.untaint(name, NOT_READY)  # What it said of itself last is not known any more.
        self._unready(name)

    def not_ready(self, name: str) -> None:
        if not self._is_heard(name):
            return
        self._set_conditions(self._find(name), ready=False)
        self.taint(name, NOT_READY, "", "NoSchedule")
        self.taint(name, NOT_READY, "", "NoExecute")
        self._unready(name)

    def ready(self, name: str) -> None:
        if self._is_heard(name):
            self._healthy(name)
            self._kubelets.report(name)

    def _is_heard(self, name: str) -> bool:
        """A kubelet that is cut off can say neither that it is well nor that it is not."""
        kubelet = self._kubelets.get(self._find(name)["metadata"]["name"])
        return kubelet is not None and kubelet.connected

    def _healthy(self, name: str) -> None:
        node = self._find(name)
        ready = condition(node["status"]["conditions"], "Ready")
        was_ready = ready is not None and ready["status"] == "True"
        self._set_conditions(node)
        self.untaint(name, UNREACHABLE)
        self.untaint(name, NOT_READY)
        if not was_ready:
            text = f"Node {name} status is now: NodeReady"
            self._say(self._find(name), "NodeReady", text, component="kubelet")

    def _unready(self, name: str) -> None:
        node = self._find(name)
        self._say(node, "NodeNotReady", f"Node {name} status is now: NodeNotReady")
        for pod in self._pods_on(name):
            known = pod["status"].get("conditions", [])
            ready = condition(known, "Ready")
            if ready is None or ready["status"] != "True":
                continue
            changed = with_condition(known, "Ready", False, self._store.stamp())
            status = pod["status"] | {"conditions": changed}
            pod = self._store.pods.replace(pod, pod | {"status": status})
            self._recorder.record(
                pod, "Pod", "NodeNotReady", "Node is not ready", component=CONTROLLER, warning=True
            )

    # What the controllers do by themselves.

    def _node_changed(self, old: Object | None, new: Object | None) -> None:
        if new is not None and (old is None or old["spec"] != new["spec"]):
            name = new["metadata"]["name"]
            self._store.timeline.after(CONTROLLER_SECONDS, lambda: self._match_cordon(name))

    def _match_cordon(self, name: str) -> None:
        """A cordoned node is tainted, and only a cordoned one."""
        node = self._store.nodes.get("", name)
        if node is None:
            return
        tainted = any(one["key"] == UNSCHEDULABLE for one in node["spec"].get("taints", []))
        if node["spec"].get("unschedulable", False) and not tainted:
            self.taint(name, UNSCHEDULABLE, "", "NoSchedule")
        elif tainted and not node["spec"].get("unschedulable", False):
            self.untaint(name, UNSCHEDULABLE)

    def _set_conditions(self, node: Object, *, silent: bool = False, ready: bool = True) -> None:
        new = conditions(self._store.stamp(), silent=silent, ready=ready)
        status = node["status"]
        kept = updated(status["conditions"], new, heard=not silent)
        self._store.nodes.replace(node, node | {"status": status | {"conditions": kept}})

    def _set_taints(self, node: Object, taints: list[Object]) -> None:
        spec = {key: value for key, value in node["spec"].items() if key != "taints"}
        self._store.nodes.replace(
            node, node | {"spec": spec | ({"taints": taints} if taints else {})}
        )

    def _say(
        self,
        node: Object,
        reason: str,
        message: str,
        *,
        component: str = CONTROLLER,
        warning: bool = False,
    ) -> None:
        self._recorder.record(node, "Node", reason, message, component=component, warning=warning)

    def _pods_on(self, name: str) -> list[Object]:
        return [pod for pod in self._store.pods if pod["spec"].get("nodeName") == name]

    def _find(self, name: str) -> Object:
        node = self._store.nodes.get("", name)
        if node is None:
            raise KeyError(f"There is no node {name}.")
        return node

    def _forget_monitor(self, name: str) -> None:
        if (monitor := self._monitors.pop(name, None)) is not None:
            monitor.cancel()
