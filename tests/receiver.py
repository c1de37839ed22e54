"""Where the simulated GitHub's webhooks arrive: keeps them, and answers as it is told to."""

import json
from dataclasses import dataclass, field
from typing import Any

from reconcile.sim.http import Endpoint, Request, Response, Router
from tests.published import webhook_problems


@dataclass(frozen=True)
class Received:
    event: str
    payload: dict[str, Any]
    headers: dict[str, str]
    body: bytes

    @property
    def name(self) -> str:
        return f"{self.event}.{self.payload['action']}"


@dataclass
class Receiver:
    """A service for the simulators' own server. Every payload is held against GitHub's schemas."""

    name: str = "receiver"
    prefix: str = ""
    status: int = 200
    received: list[Received] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    router: Router = field(init=False)

    def __post_init__(self) -> None:
        self.router = Router([Endpoint("deliver", "POST", "/", self._receive)])

    def respond(self, endpoint: Endpoint, request: Request) -> Response:
        return endpoint.handler(request)

    def no_such_path(self, request: Request) -> Response:
        return Response(404)

    def refusal(self, status: int, retry_after: int | None) -> Response:
        return Response(status)

    def names(self) -> list[str]:
        return [received.name for received in self.received]

    def _receive(self, request: Request) -> Response:
        payload = json.loads(request.body)
        event = request.headers["x-github-event"]
        self.problems += webhook_problems(event, payload)
        self.received.append(Received(event, payload, dict(request.headers), request.body))
        return Response(self.status)
