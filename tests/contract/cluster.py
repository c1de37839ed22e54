"""The cluster that the contract suite speaks to: simulated, or the real one where it is named.

With `CONTRACT_REAL=1` and `KUBECONFIG` it is that cluster, in the namespace of the current
context. The suite makes pods and secrets there, all labelled `app=riscv-runners-contract`, and
takes them away again. Unless a test needs a board, its pods fit no node: nothing is pulled.
"""

import contextlib
import json
import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import kubernetes_validate
import pytest
import yaml
from kubernetes import client as k8s
from kubernetes import config as k8s_config

from reconcile.sim.clock import LiveClock
from reconcile.sim.cluster import Behaviour, Cluster, Image
from reconcile.sim.faults import Faults
from reconcile.sim.server import Server
from reconcile.sim.timeline import LiveTime
from tests.waiting import wait_until

APP = "riscv-runners-contract"
BOARD_LABEL = "riseproject.dev/board"
SPEED = 20
# Small images that exist for RISC-V. What they do is said by their command on a real cluster, and
# by their name in the simulated one.
IDLE_IMAGE = "busybox:1.36"
FILLING_IMAGE = "busybox:1.37"
MISSING_IMAGE = "registry.invalid/riscv-runners/missing:1"
IDLE_COMMAND = ["sh", "-c", "echo one; echo two; sleep 3600 & trap 'exit 143' TERM; wait"]
FILLING_COMMAND = ["sh", "-c", "dd if=/dev/zero of=/filling bs=1M count=64; sleep 3600"]

Body = dict[str, Any]


@dataclass
class Kube:
    """The official client, with every answer held against the published schemas."""

    api: k8s.ApiClient
    namespace: str
    patience: float  # seconds of ours to wait for what takes a cluster a minute
    board: str | None
    version: str = field(init=False)  # the schemas it is held against: its own
    prefix: str = field(default_factory=lambda: f"contract-{uuid.uuid4().hex[:8]}")
    made: int = 0

    def __post_init__(self) -> None:
        code = k8s.VersionApi(self.api).get_code()
        served = (int(code.major), int(code.minor.rstrip("+")))
        known = kubernetes_validate.latest_version().split(".")
        major, minor = min(served, (int(known[0]), int(known[1])))
        self.version = f"{major}.{minor}"

    @property
    def core(self) -> k8s.CoreV1Api:
        return k8s.CoreV1Api(self.api)

    def call(self, method: str, *args: Any, **options: Any) -> Body:
        """What the server sent, unlike what the client's models make of it."""
        answer = getattr(self.core, method)(*args, _preload_content=False, **options)
        body: Body = json.loads(answer.data)
        answer.release_conn()
        check_shape(body, self.version)
        return body

    def refused(self, method: str, *args: Any, **options: Any) -> Body:
        """The Status of a call that must fail; its code is the HTTP status."""
        with pytest.raises(k8s.ApiException) as refusal:
            self.call(method, *args, **options)
        status: Body = json.loads(refusal.value.body)
        assert (status["kind"], status["status"]) == ("Status", "Failure")
        assert status["code"] == refusal.value.status
        return status

    def name(self) -> str:
        self.made += 1
        return f"{self.prefix}-{self.made}"

    def labels(self) -> dict[str, str]:
        return {"app": APP, "run": self.prefix}

    def pod_body(self, **spec: Any) -> Body:
        """A pod that no node is good enough for."""
        container = {"name": "runner", "image": IDLE_IMAGE, "command": IDLE_COMMAND}
        usual = {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "nodeSelector": {"riscv-runners-contract/no-such-node": "true"},
            "containers": [container],
        }
        return {"metadata": {"name": self.name(), "labels": self.labels()}, "spec": usual | spec}

    def board_body(self, container: Body | None = None, **spec: Any) -> Body:
        """A pod for a board. In the simulated cluster it idles because it has a configuration."""
        usual = {
            "name": "runner",
            "image": IDLE_IMAGE,
            "command": IDLE_COMMAND,
            "env": [{"name": "RUNNER_JITCONFIG", "value": "bm8gdG9rZW4="}],
        }
        return self.pod_body(
            nodeSelector={BOARD_LABEL: self.board}, containers=[usual | (container or {})], **spec
        )

    def create(self, body: Body, **options: Any) -> Body:
        return self.call("create_namespaced_pod", self.namespace, body, **options)

    def read(self, pod: Body) -> Body:
        return self.call("read_namespaced_pod", pod["metadata"]["name"], self.namespace)

    def patch(self, pod: Body, change: Any, **options: Any) -> Body:
        name = pod["metadata"]["name"]
        return self.call("patch_namespaced_pod", name, self.namespace, change, **options)

    def delete(self, pod: Body, **options: Any) -> Body:
        name = pod["metadata"]["name"]
        return self.call("delete_namespaced_pod", name, self.namespace, **options)

    def list_pods(self, **options: Any) -> Body:
        return self.call("list_namespaced_pod", self.namespace, **options)

    def log(self, pod: Body, **options: Any) -> bytes:
        answer = self.core.read_namespaced_pod_log(
            pod["metadata"]["name"], self.namespace, _preload_content=False, **options
        )
        data: bytes = answer.data
        answer.release_conn()
        return data

    def create_secret(self, **fields: Any) -> Body:
        metadata = {"name": self.name(), "labels": self.labels()} | fields.pop("metadata", {})
        body = {"metadata": metadata, **fields}
        return self.call("create_namespaced_secret", self.namespace, body)

    def until(self, condition: Callable[[], bool]) -> None:
        wait_until(condition, self.patience)

    def until_phase(self, pod: Body, phase: str) -> Body:
        self.until(lambda: bool(self.read(pod)["status"]["phase"] == phase))
        return self.read(pod)

    def is_gone(self, method: str, name: str) -> bool:
        try:
            self.call(method, name, self.namespace)
        except k8s.ApiException as error:
            return bool(error.status == 404)
        return False

    def events(self, pod: Body) -> list[Body]:
        uid = pod["metadata"]["uid"]
        found = self.call(
            "list_namespaced_event", self.namespace, field_selector=f"involvedObject.uid={uid}"
        )
        items: list[Body] = found["items"]
        return items

    def clean_up(self) -> None:
        selector = f"app={APP},run={self.prefix}"
        for pod in self.list_pods(label_selector=selector)["items"]:
            with contextlib.suppress(k8s.ApiException):
                self.patch(pod, {"metadata": {"finalizers": None}})
                self.delete(pod, grace_period_seconds=0)
        secrets = self.call("list_namespaced_secret", self.namespace, label_selector=selector)
        for secret in secrets["items"]:
            with contextlib.suppress(k8s.ApiException):
                self.call("delete_namespaced_secret", secret["metadata"]["name"], self.namespace)


def check_shape(body: Body, version: str) -> None:
    """Of an object, or of every item of a list, which does not say itself what it is."""
    kind = body["kind"]
    if kind.endswith("List"):
        for item in body["items"]:
            assert "kind" not in item
            _validate({"kind": kind.removesuffix("List"), "apiVersion": "v1", **item}, version)
    elif kind != "Status":
        _validate(body, version)


def _validate(body: Body, version: str) -> None:
    kubernetes_validate.validate(_without_nulls(body), version, strict=True)


def _without_nulls(value: Any) -> Any:
    """The schemas know no null, the API sends them all the same."""
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_without_nulls(one) for one in value]
    return value


@contextlib.contextmanager
def kube() -> Iterator[Kube]:
    real = os.environ.get("CONTRACT_REAL") == "1" and os.environ.get("KUBECONFIG")
    with _real() if real else _simulated() as made:
        try:
            yield made
        finally:
            made.clean_up()


@contextlib.contextmanager
def _real() -> Iterator[Kube]:
    _, context = k8s_config.list_kube_config_contexts()
    namespace = context["context"].get("namespace", "default")
    with k8s_config.new_client_from_config() as api:
        nodes = k8s.CoreV1Api(api).list_node(label_selector=BOARD_LABEL).items
        ready = [
            node.metadata.labels[BOARD_LABEL]
            for node in nodes
            if not node.spec.unschedulable
            and not node.spec.taints
            and any(
                each.type == "Ready" and each.status == "True" for each in node.status.conditions
            )
        ]
        yield Kube(api, namespace, patience=180, board=ready[0] if ready else None)


@contextlib.contextmanager
def _simulated() -> Iterator[Kube]:
    with LiveTime(LiveClock(speed=SPEED)) as time:
        simulated = Cluster(time.timeline)
        for number in range(3):
            simulated.add_node(f"contract-{number}", "contract-board", runners=20)
        simulated.set_image(IDLE_IMAGE, Image(pull_seconds=5))
        simulated.set_image(FILLING_IMAGE, Image(behaviour=Behaviour.FILLS_DISK))
        simulated.set_image(MISSING_IMAGE, Image(behaviour=Behaviour.MISSING))
        with Server(simulated, time.timeline, Faults()) as server:
            config = yaml.safe_load(simulated.kubeconfig(server.url))
            with k8s_config.new_client_from_config_dict(config) as api:
                yield Kube(api, "default", patience=30, board="contract-board")
