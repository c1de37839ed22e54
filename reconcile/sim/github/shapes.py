"""GitHub's JSON for the things it is about: accounts, repositories, jobs, runs, runners."""

import hashlib
from datetime import datetime, timedelta
from typing import Any

from .model import (
    ORGANIZATION,
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

API = "https://api.github.com"
WEB = "https://github.com"
READ_ONLY_LABELS = frozenset({"self-hosted", "linux", "x64", "arm64", "riscv64"})

Json = dict[str, Any]


def timestamp(moment: datetime | None) -> str | None:
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def node_id(kind: str, number: int) -> str:
    return f"{kind}_kwDO{number:08x}"


def account(it: Account) -> Json:
    api = f"{API}/users/{it.login}"
    return {
        "login": it.login,
        "id": it.id,
        "node_id": node_id("O" if it.type == ORGANIZATION else "U", it.id),
        "avatar_url": f"https://avatars.githubusercontent.com/u/{it.id}?v=4",
        "gravatar_id": "",
        "url": api,
        "html_url": f"{WEB}/{it.login}",
        "followers_url": f"{api}/followers",
        "following_url": f"{api}/following{{/other_user}}",
        "gists_url": f"{api}/gists{{/gist_id}}",
        "starred_url": f"{api}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{api}/subscriptions",
        "organizations_url": f"{api}/orgs",
        "repos_url": f"{api}/repos",
        "events_url": f"{api}/events{{/privacy}}",
        "received_events_url": f"{api}/received_events",
        "type": it.type,
        "site_admin": False,
    }


def organization(it: Account) -> Json:
    api = f"{API}/orgs/{it.login}"
    return {
        "login": it.login,
        "id": it.id,
        "node_id": node_id("O", it.id),
        "url": api,
        "repos_url": f"{api}/repos",
        "events_url": f"{api}/events",
        "hooks_url": f"{api}/hooks",
        "issues_url": f"{api}/issues",
        "members_url": f"{api}/members{{/member}}",
        "public_members_url": f"{api}/public_members{{/member}}",
        "avatar_url": f"https://avatars.githubusercontent.com/u/{it.id}?v=4",
        "description": None,
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


def minimal_repository(it: Repository) -> Json:
    api = f"{API}/repos/{it.full_name}"
    return {
        "id": it.id,
        "node_id": node_id("R", it.id),
        "name": it.name,
        "full_name": it.full_name,
        "private": it.private,
        "owner": account(it.owner),
        "html_url": f"{WEB}/{it.full_name}",
        "description": None,
        "fork": False,
        "url": api,
        **{f"{link}_url": f"{api}/{link}{{/sha}}" for link in REPOSITORY_LINKS},
    }


def repository(it: Repository) -> Json:
    created = timestamp(it.created_at)
    return minimal_repository(it) | {
        "created_at": created,
        "updated_at": created,
        "pushed_at": created,
        "git_url": f"git://github.com/{it.full_name}.git",
        "ssh_url": f"git@github.com:{it.full_name}.git",
        "clone_url": f"{WEB}/{it.full_name}.git",
        "svn_url": f"{WEB}/{it.full_name}",
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
        "visibility": "private" if it.private else "public",
        "forks": 3,
        "open_issues": 5,
        "watchers": 12,
        "default_branch": "main",
        "custom_properties": {},
    }


def named_repository(it: Repository) -> Json:
    """How installation events list repositories."""
    return {
        "id": it.id,
        "node_id": node_id("R", it.id),
        "name": it.name,
        "full_name": it.full_name,
        "private": it.private,
    }


def app(it: App, installations: int) -> Json:
    return {
        "id": it.id,
        "slug": it.slug,
        "client_id": it.client_id,
        "node_id": node_id("A", it.id),
        "owner": account(it.owner),
        "name": it.slug,
        "description": None,
        "external_url": "https://example.com",
        "html_url": f"{WEB}/apps/{it.slug}",
        "created_at": timestamp(it.created_at),
        "updated_at": timestamp(it.created_at),
        "permissions": it.permissions,
        "events": it.events,
        "installations_count": installations,
    }


def installation(it: Installation) -> Json:
    place = (
        f"organizations/{it.account.login}/settings"
        if it.account.type == ORGANIZATION
        else "settings"
    )
    return {
        "id": it.id,
        "account": account(it.account),
        "repository_selection": "all" if it.selected is None else "selected",
        "access_tokens_url": f"{API}/app/installations/{it.id}/access_tokens",
        "repositories_url": f"{API}/installation/repositories",
        "html_url": f"{WEB}/{place}/installations/{it.id}",
        "app_id": it.app.id,
        "app_slug": it.app.slug,
        "target_id": it.account.id,
        "target_type": it.account.type,
        "permissions": it.permissions,
        "events": it.app.events,
        "created_at": timestamp(it.created_at),
        "updated_at": timestamp(it.updated_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": account(it.suspended_by) if it.suspended_by else None,
        "suspended_at": timestamp(it.suspended_at),
    }


def runner_group(it: RunnerGroup) -> Json:
    api = f"{API}/orgs/{it.organization.login}/actions/runner-groups/{it.id}"
    return {
        "id": it.id,
        "name": it.name,
        "visibility": it.visibility,
        "default": it.default,
        "runners_url": f"{api}/runners",
        "hosted_runners_url": f"{api}/hosted-runners",
        **(
            {"selected_repositories_url": f"{api}/repositories"}
            if it.visibility == "selected"
            else {}
        ),
        "inherited": False,
        "allows_public_repositories": it.allows_public_repositories,
        "restricted_to_workflows": False,
        "selected_workflows": [],
        "workflow_restrictions_read_only": False,
    }


def runner(it: Runner) -> Json:
    return {
        "id": it.id,
        "name": it.name,
        "os": "linux" if it.online else "unknown",
        "status": "online" if it.online else "offline",
        "busy": it.busy,
        "ephemeral": True,
        "labels": [
            {
                "id": number,
                "name": label,
                "type": "read-only" if label.lower() in READ_ONLY_LABELS else "custom",
            }
            for number, label in enumerate(it.labels, start=1)
        ],
        "runner_group_id": it.group.id if it.group else 1,
    }


def job(it: Job, now: datetime) -> Json:
    repo = f"{API}/repos/{it.repository.full_name}"
    page = f"{WEB}/{it.repository.full_name}/actions/runs/{it.run.id}"
    return {
        "id": it.id,
        "run_id": it.run.id,
        "workflow_name": it.run.workflow.name,
        "head_branch": it.run.head_branch,
        "run_url": f"{repo}/actions/runs/{it.run.id}",
        "run_attempt": it.attempt.number,
        "node_id": node_id("CR", it.id),
        "head_sha": it.run.head_sha,
        "url": f"{repo}/actions/jobs/{it.id}",
        "html_url": f"{page}/job/{it.id}",
        "status": it.status,
        "conclusion": it.conclusion,
        "created_at": timestamp(it.created_at),
        # Until a runner takes it GitHub repeats the time of queueing, and of one that never was
        # taken the time of its end.
        "started_at": timestamp(it.started_at or it.completed_at or it.created_at),
        "completed_at": timestamp(it.completed_at),
        "name": it.spec.name,
        "steps": steps(it, now),
        "check_run_url": f"{repo}/check-runs/{it.id}",
        "labels": list(it.spec.labels),
        **_taken_by(it.runner),
    }


def _taken_by(it: Runner | None) -> Json:
    if it is None:
        return dict.fromkeys(("runner_id", "runner_name", "runner_group_id", "runner_group_name"))
    return {
        "runner_id": it.id,
        "runner_name": it.name,
        "runner_group_id": it.group.id if it.group else 1,
        "runner_group_name": it.group.name if it.group else "Default",
    }


def steps(it: Job, now: datetime) -> list[Json]:
    """Where the job is in its steps: a matter of arithmetic, not of events."""
    if it.started_at is None:
        return []
    end = it.completed_at or now
    begins = it.started_at
    listed: list[Json] = []
    for number, step in enumerate(it.spec.steps, start=1):
        if begins > end or (begins == end and number > 1 and it.status is not Status.COMPLETED):
            break
        ends = begins + timedelta(seconds=step.seconds)
        over = ends <= end
        interrupted = not over and it.status is Status.COMPLETED
        conclusion = None
        if over:
            conclusion = Conclusion.FAILURE if step.fails else Conclusion.SUCCESS
        elif interrupted:
            conclusion = Conclusion.CANCELLED
        listed.append(
            {
                "name": step.name,
                "status": Status.COMPLETED if over or interrupted else Status.IN_PROGRESS,
                "conclusion": conclusion,
                "number": number,
                "started_at": timestamp(begins),
                "completed_at": timestamp(min(ends, end)) if over or interrupted else None,
            }
        )
        if interrupted or not over:
            break
        begins = ends
    return listed


def run(it: Run, attempt: Attempt | None = None) -> Json:
    """As of its latest attempt, or of that one."""
    attempt = attempt or it.attempt
    repo = f"{API}/repos/{it.repository.full_name}"
    api = f"{repo}/actions/runs/{it.id}"
    suite = it.id + 10**9
    return {
        "id": it.id,
        "name": it.workflow.name,
        "node_id": node_id("WFR", it.id),
        "check_suite_id": suite,
        "check_suite_node_id": node_id("CS", suite),
        "head_branch": it.head_branch,
        "head_sha": it.head_sha,
        "path": it.workflow.path,
        "run_number": it.number,
        "run_attempt": attempt.number,
        "referenced_workflows": [],
        "event": it.event,
        "display_title": f"Push to {it.head_branch}",
        "status": attempt.status,
        "conclusion": attempt.conclusion,
        "workflow_id": it.workflow_id,
        "url": api,
        "html_url": f"{WEB}/{it.repository.full_name}/actions/runs/{it.id}",
        "pull_requests": [],
        "created_at": timestamp(it.created_at),
        "updated_at": timestamp(attempt.updated_at),
        "actor": account(it.actor),
        "triggering_actor": account(it.actor),
        "run_started_at": timestamp(attempt.started_at),
        "jobs_url": f"{api}/jobs",
        "logs_url": f"{api}/logs",
        "check_suite_url": f"{repo}/check-suites/{suite}",
        "artifacts_url": f"{api}/artifacts",
        "cancel_url": f"{api}/cancel",
        "rerun_url": f"{api}/rerun",
        "previous_attempt_url": (
            f"{api}/attempts/{attempt.number - 1}" if attempt.number > 1 else None
        ),
        "workflow_url": f"{repo}/actions/workflows/{it.workflow_id}",
        "head_commit": _commit(it),
        "repository": minimal_repository(it.repository),
        "head_repository": minimal_repository(it.repository),
    }


def _commit(it: Run) -> Json:
    person = {"name": it.actor.login, "email": f"{it.actor.login}@users.noreply.github.com"}
    return {
        "id": it.head_sha,
        "tree_id": hashlib.sha1(it.head_sha.encode(), usedforsecurity=False).hexdigest(),
        "message": "Make it faster",
        "timestamp": timestamp(it.created_at),
        "author": person,
        "committer": person,
    }
