"""Deliveries as GitHub makes them: payloads of the published shapes, headers, signatures.

Nothing here is taken from webhook_fn: what it accepts is measured against this, not with it.
"""

import base64
import hashlib
import hmac
import json
import uuid
from dataclasses import dataclass, field
from typing import Any

SECRET = "it is a secret to everybody"
ORG_APP = 1001
PERSONAL_APP = 1002
LABEL = "ubuntu-24.04-riscv"
API = "https://api.github.com"
WEB = "https://github.com"

Payload = dict[str, Any]


def account(
    account_id: int = 21003710, login: str = "riseproject", kind: str = "Organization"
) -> Payload:
    api = f"{API}/users/{login}"
    return {
        "login": login,
        "id": account_id,
        "node_id": "MDEyOk9yZw==",
        "avatar_url": f"https://avatars.example/u/{account_id}",
        "gravatar_id": "",
        "url": api,
        "html_url": f"{WEB}/{login}",
        "followers_url": f"{api}/followers",
        "following_url": f"{api}/following{{/other_user}}",
        "gists_url": f"{api}/gists{{/gist_id}}",
        "starred_url": f"{api}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{api}/subscriptions",
        "organizations_url": f"{api}/orgs",
        "repos_url": f"{api}/repos",
        "events_url": f"{api}/events{{/privacy}}",
        "received_events_url": f"{api}/received_events",
        "type": kind,
        "site_admin": False,
    }


# fmt: off
REPOSITORY_LINKS = (
    "forks", "keys", "collaborators", "teams", "hooks", "issue_events", "events", "assignees",
    "branches", "tags", "blobs", "git_tags", "git_refs", "trees", "statuses", "languages",
    "stargazers", "contributors", "subscribers", "subscription", "commits", "git_commits",
    "comments", "issue_comment", "contents", "compare", "merges", "archive", "downloads",
    "issues", "pulls", "milestones", "notifications", "labels", "releases", "deployments",
)
# fmt: on


def repository(owner: Payload, name: str = "llvm-project", *, private: bool = False) -> Payload:
    full_name = f"{owner['login']}/{name}"
    api = f"{API}/repos/{full_name}"
    return {
        "id": 310000001,
        "node_id": "R_kgDOEnoH",
        "name": name,
        "full_name": full_name,
        "private": private,
        "owner": owner,
        "html_url": f"{WEB}/{full_name}",
        "description": "Compilers & tools, “quoted”, <b>bold</b>",
        "fork": False,
        "url": api,
        **{f"{link}_url": f"{api}/{link}{{/sha}}" for link in REPOSITORY_LINKS},
        "created_at": "2024-03-01T08:00:00Z",
        "updated_at": "2026-03-01T08:00:00Z",
        "pushed_at": "2026-03-02T08:00:00Z",
        "git_url": f"git://github.com/{full_name}.git",
        "ssh_url": f"git@github.com:{full_name}.git",
        "clone_url": f"{WEB}/{full_name}.git",
        "svn_url": f"{WEB}/{full_name}",
        "homepage": None,
        "size": 4711,
        "stargazers_count": 12,
        "watchers_count": 12,
        "language": "C++",
        "has_issues": True,
        "has_projects": True,
        "has_downloads": True,
        "has_wiki": False,
        "has_pages": False,
        "has_discussions": False,
        "forks_count": 3,
        "mirror_url": None,
        "archived": False,
        "disabled": False,
        "open_issues_count": 5,
        "license": None,
        "allow_forking": True,
        "is_template": False,
        "web_commit_signoff_required": False,
        "topics": ["riscv"],
        "visibility": "private" if private else "public",
        "forks": 3,
        "open_issues": 5,
        "watchers": 12,
        "default_branch": "main",
        "custom_properties": {},
    }


def organization(owner: Payload) -> Payload:
    api = f"{API}/orgs/{owner['login']}"
    return {
        "login": owner["login"],
        "id": owner["id"],
        "node_id": owner["node_id"],
        "url": api,
        "repos_url": f"{api}/repos",
        "events_url": f"{api}/events",
        "hooks_url": f"{api}/hooks",
        "issues_url": f"{api}/issues",
        "members_url": f"{api}/members{{/member}}",
        "public_members_url": f"{api}/public_members{{/member}}",
        "avatar_url": owner["avatar_url"],
        "description": None,
    }


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
        repo = repository(self.owner, private=self.private)
        run = f"{repo['url']}/actions/runs/9001"
        taken = action in ("in_progress", "completed") and self.runner is not None
        done = action == "completed"
        payload = {
            "action": action,
            "workflow_job": {
                "id": self.job_id,
                "run_id": 9001,
                "workflow_name": "CI",
                "head_branch": "main",
                "run_url": run,
                "run_attempt": 1,
                "node_id": "CR_kwDOEnoH",
                "head_sha": "f" * 40,
                "url": f"{repo['url']}/actions/jobs/{self.job_id}",
                "html_url": f"{repo['html_url']}/actions/runs/9001/job/{self.job_id}",
                "status": action,
                "conclusion": self.conclusion if done else None,
                "created_at": "2026-03-02T10:00:00Z",
                # GitHub repeats the time of queueing until a runner takes the job.
                "started_at": "2026-03-02T10:03:10Z" if taken else "2026-03-02T10:00:00Z",
                "completed_at": "2026-03-02T10:09:42Z" if done else None,
                "name": "build (riscv64)",
                "steps": self._steps(done) if taken else [],
                "check_run_url": f"{repo['url']}/check-runs/{self.job_id}",
                "labels": list(self.labels),
                "runner_id": 55 if taken else None,
                "runner_name": self.runner if taken else None,
                "runner_group_id": 3 if taken else None,
                "runner_group_name": "RISE RISC-V Runners" if taken else None,
            },
            "repository": repo,
            "sender": self.sender,
            "installation": {"id": self.installation_id, "node_id": "MDIzOkluc3RhbGw="},
        }
        if self.owner["type"] == "Organization":
            payload["organization"] = organization(self.owner)
        return payload

    def _steps(self, done: bool) -> list[Payload]:
        return [
            {
                "name": "Set up job",
                "status": "completed" if done else "in_progress",
                "conclusion": "success" if done else None,
                "number": 1,
                "started_at": "2026-03-02T10:03:11Z",
                "completed_at": "2026-03-02T10:03:15Z" if done else None,
            }
        ]


def installation(
    action: str, owner: Payload | None = None, installation_id: int = 7001, app_id: int = ORG_APP
) -> Payload:
    owner = owner or account()
    sender = account(583231, "octocat", "User")
    return {
        "action": action,
        "installation": {
            "id": installation_id,
            "account": owner,
            "repository_selection": "all",
            "access_tokens_url": f"{API}/app/installations/{installation_id}/access_tokens",
            "repositories_url": f"{API}/installation/repositories",
            "html_url": f"{WEB}/settings/installations/{installation_id}",
            "app_id": app_id,
            "app_slug": "riscv-runners",
            "target_id": owner["id"],
            "target_type": owner["type"],
            "permissions": {"actions": "read", "metadata": "read"},
            "events": ["workflow_job"],
            "created_at": "2026-03-01T09:00:00Z",
            "updated_at": "2026-03-01T09:00:00Z",
            "single_file_name": None,
            "suspended_by": sender if action == "suspend" else None,
            "suspended_at": "2026-03-01T09:30:00Z" if action == "suspend" else None,
        },
        "sender": sender,
    }


def installation_repositories(action: str) -> Payload:
    listed = [
        {"id": 1, "node_id": "R_1", "name": "x", "full_name": "riseproject/x", "private": False}
    ]
    return installation(action) | {
        "repository_selection": "selected",
        "repositories_added": listed if action == "added" else [],
        "repositories_removed": listed if action == "removed" else [],
        "requester": None,
    }


def installation_target(new_login: str = "riscv-rise") -> Payload:
    owner = account(login=new_login)
    return {
        "action": "renamed",
        "account": owner | {"description": None},
        "changes": {"login": {"from": "riseproject"}},
        "installation": {"id": 7001, "node_id": "MDIzOkluc3RhbGw="},
        "target_type": "Organization",
        "sender": account(583231, "octocat", "User"),
    }


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
    encoded: bool = False,
) -> Payload:
    """A function URL's event, payload format 2.0."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
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
