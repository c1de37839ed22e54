"""Single deliveries as GitHub makes them: payloads of the published shapes, headers, signatures.

The shapes are those of the simulated GitHub. Nothing here is taken from webhook_fn: what it
accepts is measured against this, not with it.
"""

import base64
import hashlib
import hmac
import json
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from reconcile.sim.github import payloads, shapes, workflow
from reconcile.sim.github.accounts import PERMISSIONS
from reconcile.sim.github.model import (
    Account,
    App,
    Attempt,
    Conclusion,
    Installation,
    Job,
    Repository,
    Run,
    Runner,
    RunnerGroup,
    Status,
)

SECRET = "it is a secret to everybody"
ORG_APP = 1001
PERSONAL_APP = 1002
LABEL = "ubuntu-24.04-riscv"
WEB = "https://github.com"
QUEUED_AT = datetime(2026, 3, 2, 10, 0, 0, tzinfo=UTC)
STARTED_AT = datetime(2026, 3, 2, 10, 3, 10, tzinfo=UTC)
COMPLETED_AT = datetime(2026, 3, 2, 10, 9, 42, tzinfo=UTC)
CREATED_AT = datetime(2026, 3, 1, 9, 0, 0, tzinfo=UTC)
DESCRIPTION = "Compilers & tools, “quoted”, <b>bold</b>"

Payload = dict[str, Any]


def account(
    account_id: int = 21003710, login: str = "riseproject", kind: str = "Organization"
) -> Payload:
    return shapes.account(Account(account_id, login, kind))


def repository(owner: Payload, name: str = "llvm-project", *, private: bool = False) -> Payload:
    it = Repository(310000001, _account(owner), name, private, CREATED_AT)
    return shapes.repository(it) | {"description": DESCRIPTION}


@dataclass(frozen=True)
class WorkflowJob:
    """One job's story, from which each of its deliveries is made."""

    job_id: int = 41000000001
    labels: tuple[str, ...] = (LABEL,)
    owner: Payload = field(default_factory=account)
    private: bool = False
    installation_id: int = 7001
    sender: Payload = field(default_factory=lambda: account(583231, "octocat", "User"))
    runner: str | None = "rise-riscv-runner-abc123"
    conclusion: str = "success"

    def payload(self, action: str) -> Payload:
        job = self._job(action)
        installed = _installation(_account(self.owner), self.installation_id, ORG_APP)
        payload = payloads.workflow_job(action, job, installed, job.completed_at or STARTED_AT)
        payload["workflow_job"]["status"] = action
        payload["repository"] = repository(self.owner, private=self.private)
        payload["sender"] = self.sender
        return payload

    def _job(self, action: str) -> Job:
        owner = _account(self.owner)
        repository = Repository(310000001, owner, "llvm-project", self.private, CREATED_AT)
        job = Job(
            id=self.job_id,
            run=Run(
                id=9001,
                number=1,
                repository=repository,
                workflow=workflow.Workflow("CI", ".github/workflows/ci.yml", ()),
                workflow_id=1,
                actor=_account(self.sender),
                event="push",
                head_sha="f" * 40,
                head_branch="main",
                created_at=QUEUED_AT,
            ),
            attempt=Attempt(1, QUEUED_AT, QUEUED_AT, [], {}),
            spec=workflow.JobSpec(
                "build", "build (riscv64)", self.labels, (workflow.Step("Set up job", 5),)
            ),
            created_at=QUEUED_AT,
        )
        if action in ("in_progress", "completed") and self.runner is not None:
            job.status, job.started_at = Status.IN_PROGRESS, STARTED_AT
            group = RunnerGroup(3, owner, "RISE RISC-V Runners")
            job.runner = Runner(55, self.runner, owner, group, self.labels, "")
        if action == "completed":
            job.status, job.conclusion = Status.COMPLETED, Conclusion(self.conclusion)
            job.completed_at = COMPLETED_AT
        return job


def installation(
    action: str, owner: Payload | None = None, installation_id: int = 7001, app_id: int = ORG_APP
) -> Payload:
    it = _installation(_account(owner or account()), installation_id, app_id)
    if action == "suspend":
        it.suspended_at, it.suspended_by = CREATED_AT, _octocat()
    return payloads.installation(action, it, _octocat(), [])


def installation_repositories(action: str) -> Payload:
    it = _installation(_account(account()), 7001, ORG_APP)
    it.selected = {1}
    listed = [Repository(1, it.account, "x", False, CREATED_AT)]
    return payloads.installation_repositories(action, it, _octocat(), listed)


def installation_target(new_login: str = "riscv-rise") -> Payload:
    it = _installation(_account(account(login=new_login)), 7001, ORG_APP)
    return payloads.installation_target(it, "riseproject", _octocat())


def _octocat() -> Account:
    return Account(583231, "octocat", "User")


def _account(owner: Payload) -> Account:
    return Account(owner["id"], owner["login"], owner["type"])


def _installation(owner: Account, installation_id: int, app_id: int) -> Installation:
    app = App(
        id=app_id,
        slug="riscv-runners",
        owner=_octocat(),
        public_key="",
        permissions=PERMISSIONS,
        events=["workflow_job"],
        webhook_url=None,
        webhook_secret=SECRET,
        created_at=CREATED_AT,
    )
    return Installation(installation_id, app, owner, PERMISSIONS, CREATED_AT, CREATED_AT)


def ping() -> Payload:
    return {
        "zen": "Design for failure.",
        "hook_id": 1,
        "hook": {"type": "App", "id": 1, "config": {"secret": "********", "url": WEB}},
    }


def signature(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def headers(event: str, body: bytes, app_id: int = ORG_APP) -> dict[str, str]:
    return {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/044aadd",
        "x-github-delivery": str(uuid.uuid4()),
        "x-github-event": event,
        "x-github-hook-id": "1",
        "x-github-hook-installation-target-id": str(app_id),
        "x-github-hook-installation-target-type": "integration",
        "x-hub-signature-256": signature(body),
    }


def lambda_event(
    body: bytes,
    headers: dict[str, str],
    *,
    method: str = "POST",
    path: str = "/",
    query: str = "",
    encoded: bool = False,
) -> Payload:
    """A function URL's event, payload format 2.0."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": "anonymous",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
            },
            "requestId": str(uuid.uuid4()),
            "stage": "$default",
        },
        "body": base64.b64encode(body).decode() if encoded else body.decode(),
        "isBase64Encoded": encoded,
    }


def encode(payload: Payload) -> bytes:
    return json.dumps(payload).encode()


def decode_base64(text: str) -> bytes:
    return base64.b64decode(text.encode(), validate=True)
