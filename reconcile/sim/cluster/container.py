"""A container on a node: its image is pulled, it is configured, it runs, it ends."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from .environment import MissingError, resolve
from .images import Behaviour, Image
from .runner import Runner
from .store import Object, timestamp

if TYPE_CHECKING:
    from ..timeline import Appointment
    from .pod_worker import PodWorker

CREATE_SECONDS = 0.5  # from an image and a configuration to a running container
PRESENT_PULL_SECONDS = 1  # to learn that the registry has nothing newer
FAILED_PULL_SECONDS = 2
BACK_OFF_FIRST_SECONDS = 10
BACK_OFF_LIMIT_SECONDS = 300
CONFIGURE_AGAIN_SECONDS = 5
FILL_SECONDS = 20
IMAGE_BYTES = 1_400_000_000


@dataclass(frozen=True)
class Line:
    moment: datetime
    text: str


class Container:
    """Its state is the kubelet's knowledge of it; the cluster learns it by the pod's status."""

    def __init__(self, pod: "PodWorker", spec: Object) -> None:
        self._pod = pod
        self._spec = spec
        self.name: str = spec["name"]
        self.lines: list[Line] = []
        self.state: Object = {"waiting": {"reason": "ContainerCreating"}}
        self._id = ""
        self._process: Runner | None = None
        self._appointments: list[Appointment] = []
        self._failures = 0

    @property
    def running(self) -> bool:
        return "running" in self.state

    @property
    def terminated(self) -> bool:
        return "terminated" in self.state

    @property
    def exit_code(self) -> int:
        code: int = self.state["terminated"]["exitCode"]
        return code

    def status(self) -> Object:
        image = self._spec["image"]
        digest = hashlib.sha256(image.encode()).hexdigest()
        status = {
            "name": self.name,
            "state": self.state,
            "lastState": {},
            "ready": self.running,
            "restartCount": 0,
            "image": image,
            "imageID": f"{image.partition('@')[0]}@sha256:{digest}" if self._id else "",
            "started": self.running,
        }
        return status | ({"containerID": self._id} if self._id else {})

    # What the process has of its container.

    def log(self, line: str) -> None:
        self.lines.append(Line(self._pod.node.now(), line))

    def log_dated(self, line: str) -> None:
        self.log(f"{self._pod.node.now():%Y-%m-%d %H:%M:%SZ}: {line}")

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Unless something else becomes of the container before."""
        now = self._pod.node.now()
        self._appointments = [one for one in self._appointments if one.moment >= now]
        self._appointments.append(self._pod.node.timeline.after(seconds, action))

    def is_online(self) -> bool:
        return not self._pod.node.offline

    def exit(self, code: int) -> None:
        self._end(code, "Completed" if code == 0 else "Error")

    # Its life.

    def pull(self) -> None:
        self._forget_plans()
        name, policy = self._spec["image"], self._spec["imagePullPolicy"]
        # An image that is on the node already is not missed, unless it must be.
        present = name in self._pod.node.pulled and self._pod.forced is not Behaviour.MISSING
        if present and policy != "Always":
            self._say("Pulled", f'Container image "{name}" already present on machine')
            self._configure()
            return
        self._say("Pulling", f'Pulling image "{name}"')
        if self.behaviour is Behaviour.MISSING:
            self.later(FAILED_PULL_SECONDS, self._pull_failed)
        else:
            seconds = PRESENT_PULL_SECONDS if present else self._image.pull_seconds
            self.later(seconds, lambda: self._pulled(seconds))

    @property
    def _image(self) -> Image:
        return self._pod.node.images.get(self._spec["image"])

    @property
    def behaviour(self) -> Behaviour:
        return self._pod.forced or self._image.behaviour

    def _pulled(self, seconds: float) -> None:
        name = self._spec["image"]
        self._pod.node.pulled.add(name)
        took = f"{seconds:g}s ({seconds:g}s including waiting)"
        self._say(
            "Pulled",
            f'Successfully pulled image "{name}" in {took}. Image size: {IMAGE_BYTES} bytes.',
        )
        self._configure()

    def _pull_failed(self) -> None:
        name = self._spec["image"]
        why = (
            f'rpc error: code = NotFound desc = failed to pull and unpack image "{name}": failed '
            f'to resolve reference "{name}": {name}: not found'
        )
        self._say("Failed", f'Failed to pull image "{name}": {why}', warning=True)
        self._say("Failed", "Error: ErrImagePull", warning=True)
        self._wait("ErrImagePull", why)
        seconds = min(BACK_OFF_FIRST_SECONDS * 2**self._failures, BACK_OFF_LIMIT_SECONDS)
        self._failures += 1
        self.later(1, lambda: self._back_off(why))
        self.later(seconds, self.pull)

    def _back_off(self, why: str) -> None:
        text = f'Back-off pulling image "{self._spec["image"]}"'
        self._say("BackOff", text)
        self._say("Failed", "Error: ImagePullBackOff", warning=True)
        self._wait("ImagePullBackOff", f"{text}: ErrImagePull: {why}")

    def _configure(self) -> None:
        self._forget_plans()
        pod = self._pod.current()
        if pod is None:  # nothing can be asked of a cluster that is out of reach
            self.later(CONFIGURE_AGAIN_SECONDS, self._configure)
            return
        try:
            environment = resolve(self._spec, pod, self._pod.secret)
        except MissingError as error:
            self._say("Failed", f"Error: {error}", warning=True)
            self._wait("CreateContainerConfigError", str(error))
            self.later(CONFIGURE_AGAIN_SECONDS, self._configure)
            return
        self.later(CREATE_SECONDS, lambda: self._start(environment))

    def _start(self, environment: dict[str, str]) -> None:
        node = self._pod.node
        self._id = f"containerd://{node.new_id()}"
        self._say("Created", f"Created container: {self.name}")
        self._say("Started", f"Started container {self.name}")
        self.state = {"running": {"startedAt": timestamp(node.now())}}
        behaviour = self.behaviour
        self._process = Runner(self, environment, behaviour, self._image.start_seconds, node.broker)
        if behaviour is Behaviour.FILLS_DISK:
            self.later(FILL_SECONDS, self._pod.evict)
        self._pod.report()
        self._process.start()

    # Its end.

    def terminate(self, grace: float, stop_seconds: float) -> None:
        """Ask it to stop, and kill it if it does not."""
        self._forget_plans()
        if self._process is None or not self.running:
            return
        self._say("Killing", f"Stopping container {self.name}")
        self._process.terminate()
        if self._process.deaf:
            self.later(grace, lambda: self._end(137, "Error"))
        else:
            self.later(min(stop_seconds, grace), lambda: self._end(143, "Error"))

    def hasten(self, grace: float) -> None:
        """It has less time to stop than it was given."""
        if self._process is not None and self.running and self._process.deaf:
            self._forget_plans()
            self.later(grace, lambda: self._end(137, "Error"))

    def kill(self) -> None:
        """At once, and without a word."""
        self.lose_power()
        if self.running:
            self._end(137, "Error")

    def lose_power(self) -> None:
        self._forget_plans()
        if self._process is not None:
            self._process.vanish()

    def regain_power(self) -> None:
        """What ran does not run any more; what was being prepared is prepared again."""
        if self.running:
            self._end(137, "Error")
        elif not self.terminated:
            self.pull()

    def lose_line(self) -> None:
        if self._process is not None:
            self._process.lose_line()

    def regain_line(self) -> None:
        if self._process is not None:
            self._process.regain_line()

    def give_up(self) -> None:
        """The pod is over and this container never came to run."""
        self._forget_plans()
        if not self.terminated:
            text = "The container could not be located when the pod was terminated"
            self.state = {
                "terminated": {
                    "exitCode": 137,
                    "reason": "ContainerStatusUnknown",
                    "message": text,
                    "startedAt": None,
                    "finishedAt": None,
                }
            }

    def _end(self, code: int, reason: str) -> None:
        self._forget_plans()
        if self._process is not None:
            self._process.vanish()  # whatever it was, it is no more
        started = self.state.get("running", {}).get("startedAt")
        self.state = {
            "terminated": {
                "exitCode": code,
                "reason": reason,
                "startedAt": started,
                "finishedAt": timestamp(self._pod.node.now()),
                "containerID": self._id,
            }
        }
        self._pod.container_ended()

    def _wait(self, reason: str, message: str) -> None:
        self.state = {"waiting": {"reason": reason, "message": message}}
        self._pod.report()

    def _say(self, reason: str, message: str, *, warning: bool = False) -> None:
        self._pod.say(reason, message, warning=warning, container=self.name)

    def _forget_plans(self) -> None:
        for appointment in self._appointments:
            appointment.cancel()
        self._appointments.clear()
