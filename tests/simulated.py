"""The simulated GitHub on its own, in stepped time, with a client that is plain `requests`."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

import jwt
import requests

from reconcile.demo import keys
from reconcile.sim.faults import Faults
from reconcile.sim.github import GitHub, Limits
from reconcile.sim.github.model import App, Installation, Runner
from reconcile.sim.http import Request, Response
from reconcile.sim.server import Server
from reconcile.sim.timeline import SteppedTime
from tests.published import api_problems
from tests.receiver import Receiver

LABEL = "ubuntu-24.04-riscv"
GROUP = "RISE RISC-V Runners"
SECRET = "it is a secret to everybody"


@cache
def private_key() -> str:
    return keys.private_key()


@cache
def public_key() -> str:
    return keys.public_key(private_key())


def app_jwt(app_id: int, now: datetime, **claims: Any) -> str:
    issued = int(now.timestamp())
    usual = {"iss": str(app_id), "iat": issued - 60, "exp": issued + 540}
    return jwt.encode({**usual, **claims}, private_key(), algorithm="RS256")


@dataclass
class Client:
    """Requests with a bearer's token, from one base URL."""

    base_url: str
    credential: str
    session: requests.Session = field(default_factory=requests.Session)

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        url = path if path.startswith("http") else self.base_url + path
        headers = {"Authorization": f"Bearer {self.credential}", **options.pop("headers", {})}
        options.setdefault("timeout", 30)
        return self.session.request(method, url, headers=headers, **options)

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.call("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> requests.Response:
        return self.call("POST", path, json=body, **options)

    def delete(self, path: str) -> requests.Response:
        return self.call("DELETE", path)

    def pages(self, path: str, **params: Any) -> Iterator[requests.Response]:
        response = self.get(path, params=params)
        yield response
        while "next" in response.links:
            response = self.get(response.links["next"]["url"])
            yield response


@dataclass
class Process:
    """A runner process as a test sees it: what GitHub told it."""

    told: list[str] = field(default_factory=list)

    def job_started(self, job_name: str) -> None:
        self.told.append(f"started {job_name}")

    def job_finished(self, job_name: str, conclusion: str) -> None:
        self.told.append(f"finished {job_name}: {conclusion}")

    def deregistered(self) -> None:
        self.told.append("deregistered")


def runner_pod(name: str, jit: dict[str, Any], board: str = "scw-em-rv1") -> dict[str, Any]:
    """A pod as the control plane would make it; `jit` is where its configuration comes from."""
    return {
        "metadata": {"name": name, "labels": {"app": "rise-riscv-runner"}},
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {"riseproject.dev/board": board},
            "containers": [
                {
                    "name": "runner",
                    "image": "registry.example/ubuntu-24.04:prod",
                    "env": [{"name": "RUNNER_JITCONFIG", **jit}],
                    "resources": {"limits": {"riseproject.com/runner": "1"}},
                }
            ],
        },
    }


class Simulated:
    """One App on one organization with one public and one private repository."""

    def __init__(self, seed: int = 0, limits: Limits | None = None) -> None:
        self.time = SteppedTime()
        self.faults = Faults(seed)
        self.github = GitHub(self.time.timeline, seed, limits)
        self.receiver = Receiver()
        self.server = Server(self.github, self.time.timeline, self.faults)
        self.hooks = Server(self.receiver, self.time.timeline, Faults())
        self.problems: list[str] = []
        self.odd_requests = False  # those of a test that sends them are not held against it
        self.server.observers.append(self._observe)
        self.clients: list[Client] = []

    @contextlib.contextmanager
    def started(self) -> Iterator["Simulated"]:
        with self.server, self.hooks:
            self.app = self.add_app()
            accounts = self.github.accounts
            self.organization = accounts.add_organization("riseproject")
            self.public = accounts.add_repository(self.organization, "llvm-project")
            self.private = accounts.add_repository(self.organization, "firmware", private=True)
            self.installation = accounts.install(self.app, self.organization)
            self.time.step(5)
            self.receiver.received.clear()
            try:
                yield self
            finally:
                for client in self.clients:
                    client.session.close()
        assert not self.problems, self.problems
        assert not self.receiver.problems, self.receiver.problems

    def _observe(self, request: Request, response: Response) -> None:
        self.problems += api_problems(request, response, odd_requests=self.odd_requests)

    def add_app(self) -> App:
        return self.github.accounts.add_app(
            public_key(), webhook_url=self.hooks.url + "/", webhook_secret=SECRET
        )

    def client(self, credential: str) -> Client:
        made = Client(self.server.url, credential)
        self.clients.append(made)
        return made

    def as_app(self, app: App | None = None, **claims: Any) -> Client:
        return self.client(app_jwt((app or self.app).id, self.time.clock.now(), **claims))

    def as_installation(self, installation: Installation | None = None, **body: Any) -> Client:
        number = (installation or self.installation).id
        path = f"/app/installations/{number}/access_tokens"
        app = (installation or self.installation).app
        response = self.as_app(app).post(path, body or None)
        assert response.status_code == 201, response.text
        return self.client(response.json()["token"])

    def runner(
        self, name: str = "runner-1", labels: tuple[str, ...] = (LABEL,), *, public: bool = True
    ) -> tuple[Runner, str]:
        """Registered through the API, in a group of its own making; with its JIT configuration."""
        client = self.as_installation()
        base = f"/orgs/{self.organization.login}/actions"
        groups = client.get(f"{base}/runner-groups").json()["runner_groups"]
        group_id = next((each["id"] for each in groups if each["name"] == GROUP), None)
        if group_id is None:
            body = {"name": GROUP, "allows_public_repositories": public}
            group_id = client.post(f"{base}/runner-groups", body).json()["id"]
        body = {"name": name, "runner_group_id": group_id, "labels": list(labels)}
        made = client.post(f"{base}/runners/generate-jitconfig", body)
        assert made.status_code == 201, made.text
        answer = made.json()
        runner = self.github.runners.find(self.organization, answer["runner"]["id"])
        return runner, answer["encoded_jit_config"]

    def online(self, name: str = "runner-1", labels: tuple[str, ...] = (LABEL,)) -> Process:
        _, jit = self.runner(name, labels)
        process = Process()
        self.github.connect(jit, process)
        return process
