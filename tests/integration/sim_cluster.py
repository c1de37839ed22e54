"""A simulated cluster in stepped time, with a GitHub that only takes notes."""

import json
from dataclasses import dataclass, field
from typing import Any

from reconcile.sim.broker import Listener, RefusedError
from reconcile.sim.cluster import ADMIN_TOKEN, Cluster
from reconcile.sim.cluster.pod_worker import PodWorker
from reconcile.sim.http import Request, Response
from reconcile.sim.timeline import SteppedTime

BOARD = "scw-em-rv1"
IMAGE = "registry.example/ubuntu-24.04:prod"
JIT = "c2VjcmV0IGNvbmZpZ3VyYXRpb24="
PODS = "/api/v1/namespaces/default/pods"
SECRETS = "/api/v1/namespaces/default/secrets"
EVENTS = "/api/v1/namespaces/default/events"
NODES = "/api/v1/nodes"

Body = dict[str, Any]


@dataclass
class FakeSession:
    """A runner's connection: what the cluster did to it, and the runner at its other end."""

    jit: str
    listener: Listener
    calls: list[str] = field(default_factory=list)
    done: bool = False  # its job is

    def lose(self) -> None:
        self.calls.append("lose")

    def resume(self) -> None:
        self.calls.append("resume")

    def stop(self) -> None:
        self.calls.append("stop")
        # GitHub may say at once what became of the job; a runner that stops must not mind.
        self.listener.job_finished("build", "failure")

    def vanish(self) -> None:
        self.calls.append("vanish")

    def do_job(self) -> None:
        self.done = True
        self.listener.job_started("build")
        self.listener.job_finished("build", "success")


@dataclass
class FakeBroker:
    sessions: list[FakeSession] = field(default_factory=list)
    refuses: bool = False

    def connect(self, jit_config: str, listener: Listener) -> FakeSession:
        if self.refuses:
            raise RefusedError
        self.sessions.append(FakeSession(jit_config, listener))
        return self.sessions[-1]


class World:
    def __init__(self, nodes: int = 1, seed: int = 0) -> None:
        self.time = SteppedTime()
        self.github = FakeBroker()
        self.cluster = Cluster(self.time.timeline, self.github, seed)
        self.made = 0
        for number in range(nodes):
            self.cluster.add_node(f"rv1-{number}", BOARD)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: dict[str, Any] | None = None,
        token: str | None = ADMIN_TOKEN,
        media_type: str = "application/json",
    ) -> Response:
        """As a server hands it over, without the network in between."""
        text = {name: str(value) for name, value in (query or {}).items()}
        headers = {"content-type": media_type}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        content = body if isinstance(body, bytes) else b"" if body is None else _encoded(body)
        with self.time.timeline.lock:
            found = self.cluster.router.match(method, path)
            parameters = found[1] if found else {}
            request = Request(
                method, path, text, headers, content, "http://sim", parameters=parameters
            )
            if found is None:
                return self.cluster.no_such_path(request)
            return self.cluster.respond(found[0], request)

    def ask(self, method: str, path: str, body: Any = None, **options: Any) -> Body:
        response = self.send(method, path, body, **options)
        assert response.status < 300, response.body
        answer: Body = json.loads(response.body)
        return answer

    def refused(self, method: str, path: str, body: Any = None, **options: Any) -> Body:
        response = self.send(method, path, body, **options)
        assert response.status >= 400, response.body
        status: Body = json.loads(response.body)
        assert (status["kind"], status["code"]) == ("Status", response.status)
        return status

    def create(self, name: str = "", container: Body | None = None, **spec: Any) -> str:
        """A runner pod, as the reconciler makes them; its name."""
        self.made += 1
        name = name or f"pod-{self.made:04}"
        self.ask("POST", PODS, pod_body(name, container, **spec))
        return name

    def patch(self, name: str, change: Body) -> Body:
        return self.ask("PATCH", f"{PODS}/{name}", change, media_type=STRATEGIC)

    def delete(self, name: str, **query: Any) -> Body:
        return self.ask("DELETE", f"{PODS}/{name}", query=query)

    def running(self, **spec: Any) -> str:
        """A pod that is up, with its runner waiting for a job."""
        name = self.create(**spec)
        self.time.step(60)
        assert self.phase(name) == "Running"
        return name

    def workers(self, node: str) -> list[PodWorker]:
        """What the node itself knows of its pods, deleted ones included."""
        kubelet = self.cluster._nodes._kubelets.get(node)
        return list(kubelet.workers.values()) if kubelet else []

    def step(self, seconds: float) -> None:
        self.time.step(seconds)

    def phase(self, name: str) -> str:
        return str(self.cluster.pod(name)["status"]["phase"])

    def node_of(self, name: str) -> str:
        return str(self.cluster.pod(name)["spec"].get("nodeName", ""))

    def state(self, name: str) -> Body:
        [status] = self.cluster.pod(name)["status"]["containerStatuses"]
        state: Body = status["state"]
        return state

    def condition(self, name: str, kind: str) -> Body:
        conditions = self.cluster.pod(name)["status"]["conditions"]
        return next(one for one in conditions if one["type"] == kind)

    def names(self) -> list[str]:
        return [pod["metadata"]["name"] for pod in self.cluster.pods()]

    def log(self, name: str, **query: Any) -> str:
        response = self.send("GET", f"{PODS}/{name}/log", query=query)
        assert response.status == 200, response.body
        return response.body.decode()

    def reasons(self, name: str) -> list[str]:
        events = self.ask("GET", EVENTS, query={"fieldSelector": f"involvedObject.name={name}"})
        return [event["reason"] for event in events["items"]]

    def taints(self, name: str) -> set[tuple[str, str]]:
        taints = self.cluster.node(name)["spec"].get("taints", [])
        return {(taint["key"], taint["effect"]) for taint in taints}


STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"


def pod_body(name: str, container: Body | None = None, **spec: Any) -> Body:
    usual = {
        "name": "runner",
        "image": IMAGE,
        "env": [{"name": "RUNNER_JITCONFIG", "value": JIT}],
        "resources": {"limits": {"riseproject.com/runner": "1"}},
    }
    return {
        "metadata": {"name": name, "labels": {"app": "rise-riscv-runner"}},
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {"riseproject.dev/board": BOARD},
            "containers": [usual | (container or {})],
            **spec,
        },
    }


def _encoded(body: Any) -> bytes:
    return json.dumps(body).encode()
