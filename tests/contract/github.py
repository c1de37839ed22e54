"""The GitHub that the contract suite speaks to: simulated, or the real one where it is named.

With `CONTRACT_REAL=1`, `GHAPP_ORG_ID`, `GHAPP_ORG_PRIVATE_KEY` (PEM, or `@path`), `CONTRACT_ORG`
and `CONTRACT_REPO` (the name of a repository of that organization) it is the one at
`GITHUB_API_URL`. The suite makes and deletes runners and one runner group there.
"""

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
import requests

from reconcile.sim.clock import LiveClock
from reconcile.sim.faults import Faults
from reconcile.sim.github import GitHub
from reconcile.sim.http import Request, Response
from reconcile.sim.server import Server
from reconcile.sim.timeline import LiveTime
from tests.published import api_problems
from tests.simulated import private_key, public_key

NEEDED = ("GHAPP_ORG_ID", "GHAPP_ORG_PRIVATE_KEY", "CONTRACT_ORG", "CONTRACT_REPO")


@dataclass
class Subject:
    """What the suite knows of the GitHub under test: what an operator would configure."""

    url: str
    app_id: str
    private_key: str
    organization: str
    repository: str
    session: requests.Session = field(default_factory=requests.Session)
    problems: list[str] = field(default_factory=list)
    prefix: str = field(default_factory=lambda: f"contract-{uuid.uuid4().hex[:8]}")
    was_told: Callable[[], bool] = lambda: True  # whether deliveries that were to come have come

    def jwt(self, **claims: Any) -> str:
        now = int(time.time())
        usual = {"iss": self.app_id, "iat": now - 60, "exp": now + 300}
        return jwt.encode({**usual, **claims}, self.private_key, algorithm="RS256")

    def call(self, method: str, path: str, credential: str, **options: Any) -> requests.Response:
        """One request; the exchange is held against GitHub's description of itself."""
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {credential}",
            "X-GitHub-Api-Version": "2022-11-28",
            **options.pop("headers", {}),
        }
        url = path if path.startswith("http") else self.url + path
        answer = self.session.request(method, url, headers=headers, timeout=30, **options)
        self.problems += api_problems(self._asked(answer.request), _answered(answer))
        return answer

    def installation_id(self) -> int:
        for page in self.pages("/app/installations", self.jwt()):
            for installation in page.json():
                if installation["account"]["login"].lower() == self.organization.lower():
                    return int(installation["id"])
        raise AssertionError(f"The App is not installed on {self.organization}.")

    def token(self) -> str:
        path = f"/app/installations/{self.installation_id()}/access_tokens"
        answer = self.call("POST", path, self.jwt())
        assert answer.status_code == 201, answer.text
        return str(answer.json()["token"])

    def pages(self, path: str, credential: str, **params: Any) -> Iterator[requests.Response]:
        answer = self.call("GET", path, credential, params=params)
        yield answer
        while "next" in answer.links:
            answer = self.call("GET", answer.links["next"]["url"], credential)
            yield answer

    def _asked(self, request: requests.PreparedRequest) -> Request:
        parts = urlsplit(request.url or "")
        body = request.body or b""
        return Request(
            method=request.method or "",
            path=str(parts.path).removeprefix(urlsplit(self.url).path),
            query=dict(parse_qsl(str(parts.query))),
            headers={name.lower(): value for name, value in request.headers.items()},
            body=body.encode() if isinstance(body, str) else body,
            base_url=self.url,
        )


def _answered(answer: requests.Response) -> Response:
    return Response(answer.status_code, answer.content, dict(answer.headers))


@contextlib.contextmanager
def subject() -> Iterator[Subject]:
    with contextlib.ExitStack() as stack:
        if os.environ.get("CONTRACT_REAL") and all(os.environ.get(name) for name in NEEDED):
            made = _real()
        else:
            made = stack.enter_context(_simulated())
        stack.callback(made.session.close)
        yield made
        assert not made.problems, made.problems


def _real() -> Subject:
    key = os.environ["GHAPP_ORG_PRIVATE_KEY"]
    return Subject(
        url=os.environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/"),
        app_id=os.environ["GHAPP_ORG_ID"],
        private_key=Path(key[1:]).read_text() if key.startswith("@") else key,
        organization=os.environ["CONTRACT_ORG"],
        repository=os.environ["CONTRACT_REPO"],
    )


@contextlib.contextmanager
def _simulated() -> Iterator[Subject]:
    with LiveTime(LiveClock()) as live:
        github = GitHub(live.timeline)
        app = github.accounts.add_app(public_key())
        organization = github.accounts.add_organization("riseproject")
        github.accounts.add_repository(organization, "llvm-project")
        with Server(github, live.timeline, Faults()) as server:
            app.webhook_url = f"{server.url}/nothing-is-here"  # for a delivery that fails
            github.accounts.install(app, organization)
            yield Subject(
                server.url,
                str(app.id),
                private_key(),
                "riseproject",
                "llvm-project",
                was_told=lambda: bool(github.deliveries.log),
            )
