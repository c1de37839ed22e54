"""Workers: loaded with the job each took, moved on by sets, failed one by one."""

import functools
import json
from collections.abc import Iterable, Sequence
from datetime import datetime

from ..model import Failure, Json, Pod, Scope, Status, Worker
from .database import Database, as_json, joined


def lock(database: Database) -> None:
    database.execute("lock_workers")


def load(database: Database, pod_names: Sequence[str]) -> list[Worker]:
    """The active ones, and those of these pods that are not."""
    return database.fetch("load_workers", {"pod_names": joined(pod_names)}, _worker)


def known(database: Database, names: Sequence[str]) -> dict[str, Status]:
    def entry(name: str, status: str) -> tuple[str, Status]:
        return name, Status(status)

    return dict(database.fetch("known_workers", {"pod_names": joined(names)}, entry))


def mark_running(database: Database, pods: Iterable[Pod], now: datetime) -> int:
    return database.execute(
        "mark_workers_running", {"workers": as_json([_seen(pod, now) for pod in pods]), "now": now}
    )


def place(database: Database, pods: Iterable[Pod], now: datetime) -> int:
    rows = [{"pod_name": pod.name, "node": pod.node} for pod in pods]
    return database.execute("place_workers", {"workers": as_json(rows), "now": now})


def complete(database: Database, ended: Iterable[tuple[str, Pod | None]], now: datetime) -> int:
    rows = [_seen(pod, None) if pod else {"pod_name": name} for name, pod in ended]
    return database.execute("complete_workers", {"workers": as_json(rows), "now": now})


def fail(database: Database, failure: Failure, node: str | None, now: datetime) -> int:
    info: Json = {
        "version": 2,
        "reason": failure.reason,
        "message": failure.message,
        "at": now.isoformat(timespec="seconds"),
        **failure.details,
    }
    return database.execute(
        "fail_worker",
        {
            "pod_name": failure.worker.pod_name,
            "failure_info": as_json(info),
            "node": node,
            "now": now,
        },
    )


def reserve(database: Database, workers: Iterable[Worker], now: datetime) -> set[str]:
    """The names that were free, and are these workers' now."""
    rows = [
        {
            "pod_name": worker.pod_name,
            "entity_id": worker.scope.entity_id,
            "entity_name": worker.scope.entity_name,
            "entity_type": worker.scope.entity_type,
            "installation_id": worker.scope.installation_id,
            "repo_full_name": worker.scope.repo_full_name,
            "job_labels": worker.labels,
            "k8s_pool": worker.pool,
            "k8s_image": worker.image,
        }
        for worker in workers
    ]
    return set(database.fetch("reserve_workers", {"workers": as_json(rows), "now": now}, str))


def rename(database: Database, name: str, new_name: str, now: datetime) -> bool:
    parameters = {"pod_name": name, "new_name": new_name, "now": now}
    return database.execute("rename_worker", parameters) == 1


@functools.cache
def _labels(text: str) -> tuple[str, ...]:
    """Thousands of workers have the same few sets."""
    return tuple(json.loads(text))


def _seen(pod: Pod, otherwise: datetime | None) -> Json:
    return {
        "pod_name": pod.name,
        "node": pod.node,
        "running_at": pod.started_at or otherwise,
    }


def _worker(
    pod_name: str,
    installation_id: int,
    entity_id: int,
    entity_name: str,
    entity_type: str,
    repo_full_name: str | None,
    labels: str,
    pool: str,
    image: str,
    node: str | None,
    status: str,
    created_at: datetime,
    running_at: datetime | None,
    completed_at: datetime | None,
    job_status: str | None,
    job_started_at: datetime | None,
    job_completed_at: datetime | None,
) -> Worker:
    return Worker(
        pod_name,
        Scope(installation_id, entity_id, entity_name, entity_type, repo_full_name),
        _labels(labels),
        pool,
        image,
        node,
        Status(status),
        created_at,
        running_at,
        completed_at,
        Status(job_status) if job_status else None,
        job_started_at,
        job_completed_at,
    )
