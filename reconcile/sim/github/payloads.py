"""What GitHub's webhooks say, event by event."""

from datetime import datetime

from . import shapes
from .model import ORGANIZATION, Account, Installation, Job, Repository
from .shapes import Json


def workflow_job(action: str, job: Job, installation: Installation, now: datetime) -> Json:
    payload = {
        "action": action,
        "workflow_job": shapes.job(job, now),
        "repository": shapes.repository(job.repository),
        "sender": shapes.account(job.run.actor),
        "installation": _installation_lite(installation),
    }
    owner = job.repository.owner
    if owner.type == ORGANIZATION:
        payload["organization"] = shapes.organization(owner)
    return payload


def installation(
    action: str, it: Installation, sender: Account, repositories: list[Repository]
) -> Json:
    payload: Json = {
        "action": action,
        "installation": shapes.installation(it),
        "sender": shapes.account(sender),
    }
    if action in ("created", "deleted"):
        payload["repositories"] = [shapes.named_repository(each) for each in repositories]
    return payload


def installation_repositories(
    action: str, it: Installation, sender: Account, repositories: list[Repository]
) -> Json:
    listed = [shapes.named_repository(each) for each in repositories]
    return {
        "action": action,
        "installation": shapes.installation(it),
        "repository_selection": "all" if it.selected is None else "selected",
        "repositories_added": listed if action == "added" else [],
        "repositories_removed": listed if action == "removed" else [],
        "requester": None,
        "sender": shapes.account(sender),
    }


def installation_target(it: Installation, old_login: str, sender: Account) -> Json:
    return {
        "action": "renamed",
        "account": shapes.account(it.account) | {"description": None},
        "changes": {"login": {"from": old_login}},
        "installation": _installation_lite(it),
        "target_type": it.account.type,
        "sender": shapes.account(sender),
    }


def _installation_lite(it: Installation) -> Json:
    return {"id": it.id, "node_id": shapes.node_id("MDI", it.id)}
