"""Rows in which everything that nobody may see has "hush" in it, or an address of ours."""

from datetime import datetime, timedelta
from typing import Any

from reconcile.model import JobReason, Reason
from reconcile.policy.plan import Wait
from tests.site_rows import NOW, SiteRows, ago

FORBIDDEN = (b"hush", b"10.66.", b"fd66:", b".internal")
ADDRESSES = (
    'dial tcp 10.66.1.2:10250: refused; Get "https://api.hush.internal:6443/api"; '
    'connection to server at "db.hush.internal" (fd66::5), port 5432 failed; '
    "failed to resolve host 'db.hush.internal'; lookup db.hush.internal on 10.66.0.10:53"
)
OWNER = ("entity_id", "entity_name", "entity_type")
# Whose, of what kind, which repository, and whether GitHub said that it is private.
KINDS: list[dict[str, Any]] = [
    {"repo_full_name": "riseproject/hush-org", "repo_private": True},
    {"repo_full_name": "riseproject/hush-unknown", "repo_private": None},
    {
        "repo_full_name": "ada/hush-notes",
        "repo_private": True,
        "entity_id": 2,
        "entity_name": "ada",
        "entity_type": "User",
    },
]


def says(repository: str) -> str:
    """Everything that a message of ours can say of it."""
    path = f"/repos/{repository}/actions/runners"
    page = f"https://github.com/{repository}/actions"
    return f"GET {path}: 404 Not Found; see {page}; {repository} is gone; {ADDRESSES}"


def hushed_job(rows: SiteRows, kind: dict[str, Any], **columns: Any) -> int:
    name = kind["repo_full_name"]
    return rows.job(
        **{
            "job_name": f"hush build of {name}",
            "workflow_name": "hush flow",
            "html_url": f"https://github.com/{name}/actions/runs/7/job/8",
            "sender_name": "hush-sender",
            "steps": [{"name": "hush step"}],
            **kind,
            **columns,
        }
    )


def told_by_its_pod(repository: str) -> dict[str, Any]:
    text = says(repository)
    ended = {"reason": "Error", "exit_code": 1, "message": f"hush end of the log {text}"}
    return {
        "message": text,
        "pod": {
            "phase": "Failed",
            "message": text,
            "conditions": [{"type": "Ready", "status": "False", "message": text, "at": None}],
        },
        "containers": [
            {
                "name": "runner",
                "image": "registry.example/ubuntu:prod",
                "state": {"terminated": ended},
                "last_state": {"waiting": {"message": ended["message"]}},
            }
        ],
        "events": [{"time": None, "type": "Warning", "reason": "Failed", "message": text}],
        "logs": {"runner": f"hush log line\nRunning job: hush build\n{text}\n"},
        "errors": [text],
    }


def hushed_day(rows: SiteRows, end: datetime) -> None:
    """Jobs in every state, and a worker of each that failed in every way."""
    for number, kind in enumerate(KINDS):
        info = {"version": 2, "message": says(kind["repo_full_name"])}
        common = {"created_at": end - timedelta(minutes=30 + number)}
        parked = info | {"reason": str(JobReason.DEMAND_PARKED)}
        hushed_job(rows, kind, **common, failure_info=parked)
        hushed_job(rows, kind, **common, status="running", started_at=end, failure_info=parked)
        for reason in JobReason:
            gone = info | {"reason": str(reason)}
            hushed_job(rows, kind, **common, status="failed", failure_info=gone)
        for reason in [*Reason, None]:
            worker = hushed_worker(rows, kind, end, reason)
            ended = {"started_at": end, "completed_at": end, "conclusion": "failure"}
            hushed_job(rows, kind, **common, **ended, status="completed", k8s_pod=worker)


def hushed_worker(
    rows: SiteRows, kind: dict[str, Any], end: datetime, reason: Reason | None
) -> str:
    columns: dict[str, Any] = {}
    if kind.get("entity_type") == "User":
        columns = {name: kind[name] for name in OWNER} | {"repo_full_name": kind["repo_full_name"]}
    if reason is None:
        return rows.worker(status="completed", created_at=end, completed_at=end, **columns)
    info = told_by_its_pod(kind["repo_full_name"])
    return rows.failed_worker(str(reason), failed=end, info=info, **columns)


def hushed_rest(rows: SiteRows) -> None:
    """What is not about one job: plans, runs, and what the system keeps for itself."""
    person = KINDS[2]
    for number, wait in enumerate(Wait):
        rows.waits(
            wait, entity_id=2, repo_full_name=person["repo_full_name"], k8s_pool=f"pool-{number}"
        )
    rows.insert(
        "demand_back_off",
        {
            "entity_id": 2,
            "repo_full_name": person["repo_full_name"],
            "job_labels": ["ubuntu-24.04-riscv"],
            "failures": 3,
            "reason": "pod_failed",
            "failed_at": NOW,
            "retry_at": NOW + timedelta(hours=1),
        },
    )
    never_made = {"message": says(person["repo_full_name"])}
    owner = {name: person[name] for name in OWNER}
    rows.failed_worker(
        "provision_failed",
        info=never_made,
        repo_full_name=person["repo_full_name"],
        running_at=None,
        **owner,
    )
    rows.worker(repo_full_name=person["repo_full_name"], **owner)
    for started in (ago(minutes=3), ago(days=3)):
        text = f"GET /repos/ada/hush-notes/actions/runs/7: 404; {ADDRESSES}"
        phase = {"phase": "sync_jobs", "success": False, "message": "hush", "error": text}
        rows.run(started_at=started, status="failed", error=text, phases=[phase])
    kept_secrets(rows)


def kept_secrets(rows: SiteRows) -> None:
    event = {"source": "webhook", "event": "workflow_job.queued", "outcome": "hush"}
    rows.insert("installation_events", event | {"payload": {"repository": "hush"}})
    rows.insert(
        "github_credentials",
        {"key": "installation:11", "token": b"hush", "updated_at": NOW, "auth_failure": "hush"},
    )
    rows.insert(
        "github_polls",
        {"installation_id": 11, "target": 7, "checked_at": NOW, "pages": [{"etag": "hush"}]},
    )
    rows.insert(
        "github_scopes",
        {
            "entity_id": 2,
            "repo_full_name": "ada/hush-notes",
            "installation_id": 11,
            "entity_name": "ada",
            "entity_type": "User",
            "used_at": NOW,
        },
    )
