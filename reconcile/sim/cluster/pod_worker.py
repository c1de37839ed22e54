"""One pod on its node, as the kubelet there deals with it."""

from typing import TYPE_CHECKING

from ..clock import span
from . import quantity
from .conditions import has_ended, with_condition
from .container import Container
from .images import Behaviour
from .node_object import RUNNER_RESOURCE
from .scheduling import requests_of
from .store import Object, timestamp

if TYPE_CHECKING:
    from datetime import datetime

    from ..timeline import Appointment
    from .kubelet import Kubelet

STOP_SECONDS = 1  # from SIGTERM to the end of a process that listens to it
KILL_GRACE_SECONDS = 1  # for what must go though nobody wants to wait for it
DEADLINE_TEXT = "Pod was active on the node longer than the specified deadline"


class PodWorker:
    """Knows the pod's containers as they are, and tells the cluster when it can."""

    def __init__(self, node: "Kubelet", pod: Object) -> None:
        self.node = node
        self.uid: str = pod["metadata"]["uid"]
        self.namespace: str = pod["metadata"]["namespace"]
        self.name: str = pod["metadata"]["name"]
        self.forced = node.images.take_forced()
        self._seen = pod
        self._started = node.now()
        self._deadline: Appointment | None = None
        self._verdict: tuple[str, str] | None = None  # why the node itself ended it
        self._disrupted = False
        self._stopping = False
        self._killed_at: datetime | None = None  # when those that do not listen are killed
        self._address = node.address if pod["spec"].get("hostNetwork") else node.new_address()
        self.containers = [Container(self, spec) for spec in pod["spec"]["containers"]]

    @property
    def runners(self) -> int:
        return requests_of(self._seen["spec"]).get(RUNNER_RESOURCE, 0)

    @property
    def is_rejected(self) -> bool:
        return any(one.behaviour is Behaviour.REJECTED for one in self.containers)

    def fail(self, reason: str, message: str) -> Object | None:
        """It ends before it began, and has no containers to tell of."""
        pod = self.current()
        if pod is None:
            return None
        status = pod["status"] | {"phase": "Failed", "startTime": timestamp(self._started)}
        if reason:
            status |= {"reason": reason, "message": message}
        return self.node.store.pods.replace(pod, pod | {"status": status})

    def begin(self) -> None:
        self.report()
        self.sync()
        for container in self.containers:
            if not self._stopping and not self.over:
                container.pull()

    @property
    def over(self) -> bool:
        return all(container.terminated for container in self.containers)

    def current(self) -> Object | None:
        """The pod in the cluster, if it can be asked for and is still this one."""
        if not self.node.connected:
            return None
        pod = self.node.store.pods.get(self.namespace, self.name)
        return pod if pod is not None and pod["metadata"]["uid"] == self.uid else None

    def secret(self, name: str) -> Object | None:
        return self.node.store.secrets.get(self.namespace, name)

    def say(self, reason: str, message: str, *, warning: bool = False, container: str = "") -> None:
        if self.node.connected:
            self.node.recorder.record(
                self.current() or self._seen,
                "Pod",
                reason,
                message,
                component="kubelet",
                host=self.node.name,
                warning=warning,
                container=container,
            )

    def sync(self) -> None:
        """Do what the cluster wants of this pod now."""
        if not self.node.connected:
            return
        pod = self.current()
        if pod is None:  # Deleted by force: it is given the time it was promised all the same.
            promised = self._seen["spec"]["terminationGracePeriodSeconds"]
            self._stop(self._seen["metadata"].get("deletionGracePeriodSeconds", promised))
            return
        self._seen = pod
        if "deletionTimestamp" in pod["metadata"]:
            self._stop(pod["metadata"]["deletionGracePeriodSeconds"])
        else:
            self._plan_deadline(pod)

    # The deadline.

    def _plan_deadline(self, pod: Object) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        seconds = pod["spec"].get("activeDeadlineSeconds")
        if seconds is not None and not self.over:
            moment = self._started + span(seconds)
            self._deadline = self.node.timeline.at(moment, self._too_late)

    def _too_late(self) -> None:
        # A kubelet that is cut off does nothing; it looks again when it is back.
        if not self.node.connected or self._stopping or self.over:
            return
        self.say("DeadlineExceeded", DEADLINE_TEXT)
        self._verdict = ("DeadlineExceeded", DEADLINE_TEXT)
        self._stop(self._seen["spec"]["terminationGracePeriodSeconds"])

    # The end.

    def evict(self) -> None:
        """It used more of the disk than it may."""
        if self._stopping or self.over:
            return
        limits = [
            container["resources"]["limits"]["ephemeral-storage"]
            for container in self._seen["spec"]["containers"]
            if "ephemeral-storage" in container["resources"].get("limits", {})
        ]
        if limits:
            most = quantity.total(limits)
            text = (
                f"Pod ephemeral local storage usage exceeds the total limit of containers {most}. "
            )
        else:
            text = "The node was low on resource: ephemeral-storage. Threshold quantity: 10%. "
        self.say("Evicted", text, warning=True)
        self._verdict = ("Evicted", text)
        self._disrupted = True
        self._stopping = True
        for container in self.containers:
            container.kill()
        self._stopped()

    def _stop(self, grace: float) -> None:
        if self.over:
            self._stopped()
            return
        grace = max(grace, KILL_GRACE_SECONDS)
        end = self.node.now() + span(grace)
        if self._stopping:
            if self._killed_at is not None and end < self._killed_at:
                self._killed_at = end
                for container in self.containers:
                    container.hasten(grace)
            return
        self._stopping, self._killed_at = True, end
        for container in self.containers:
            if not container.running:
                container.give_up()
        for container in self.containers:
            container.terminate(grace, STOP_SECONDS)
        self._check_over()

    def container_ended(self) -> None:
        if not self._check_over():
            self.report()

    def _check_over(self) -> bool:
        over = self.over
        if over:
            self._stopped()
        return over

    def _stopped(self) -> None:
        """Nothing of it runs any more."""
        for container in self.containers:
            container.give_up()
        if self._deadline is not None:
            self._deadline.cancel()
        self.report()
        pod = self.current()
        if pod is not None and "deletionTimestamp" in pod["metadata"]:
            self.node.deleter.finish(self.node.store.pods, pod)
        # Its logs are kept for as long as the cluster knows it.
        if self.node.connected and self.current() is None:
            self.node.forget(self)

    # A node that is gone for a while.

    def lose_power(self) -> None:
        for container in self.containers:
            container.lose_power()

    def regain_power(self) -> None:
        self._stopping = False  # What was being stopped when the power went is stopped.
        for container in self.containers:
            container.regain_power()

    # What the cluster is told.

    def report(self) -> None:
        pod = self.current()
        if pod is None or has_ended(pod):
            return
        status = pod["status"] | {
            "phase": self._phase(),
            "conditions": self._conditions(pod["status"].get("conditions", [])),
            "hostIP": self.node.address,
            "hostIPs": [{"ip": self.node.address}],
            "startTime": timestamp(self._started),
            "containerStatuses": [container.status() for container in self.containers],
        }
        if self._address == self.node.address or any(
            c.state.get("running") for c in self.containers
        ):
            status |= {"podIP": self._address, "podIPs": [{"ip": self._address}]}
        if self.over and self._verdict is not None:
            status |= {"reason": self._verdict[0], "message": self._verdict[1]}
        self.node.store.pods.replace(pod, pod | {"status": status})

    def _phase(self) -> str:
        if self.over:
            if self._verdict is not None or any(c.exit_code for c in self.containers):
                return "Failed"
            return "Succeeded"
        begun = all(container.running or container.terminated for container in self.containers)
        return "Running" if begun else "Pending"

    def _conditions(self, conditions: list[Object]) -> list[Object]:
        now = timestamp(self.node.now())
        waiting = [c.name for c in self.containers if not c.running]
        reason = message = ""
        if self.over:
            reason = "PodFailed" if self._phase() == "Failed" else "PodCompleted"
        elif waiting:
            reason = "ContainersNotReady"
            message = f"containers with unready status: [{' '.join(waiting)}]"
        completed = reason == "PodCompleted"
        sandboxed = bool(not self.over and any(c.running for c in self.containers))
        for kind, holds in (("PodReadyToStartContainers", sandboxed), ("Initialized", True)):
            why = "PodCompleted" if completed and kind == "Initialized" else ""
            conditions = with_condition(conditions, kind, holds, now, reason=why)
        if self._disrupted:
            conditions = with_condition(
                conditions, "DisruptionTarget", True, now, reason="TerminationByKubelet"
            )
        for kind in ("Ready", "ContainersReady"):
            conditions = with_condition(
                conditions, kind, not waiting, now, reason=reason, message=message
            )
        return conditions
