"""Of the sample sites: usage, a failed worker, health."""

from collections.abc import Sequence

from static_site import model, words
from tests import site_sample_rows as samples


def usage(jobs: Sequence[model.Job], workers: Sequence[model.Worker]) -> model.Usage:
    live = [each for each in jobs if each["status"] in ("pending", "running")]
    there = [each for each in workers if each["status"] in ("pending", "running")]
    keys = dict.fromkeys((each["entity"], tuple(each["labels"])) for each in (*live, *there))
    groups: list[model.Group] = []
    for entity, labels in keys:
        its = [job for job in live if (job["entity"], tuple(job["labels"])) == (entity, labels)]
        own = [
            each for each in there if (each["entity"], tuple(each["labels"])) == (entity, labels)
        ]
        waiting = [job["waiting"] for job in its if job["waiting"]]
        slugs = dict.fromkeys(each["reason"] for each in waiting)
        groups.append(
            {
                "entity": entity,
                "labels": list(labels),
                "pools": [samples.LABELS.get(labels[0], "scw-em-rv1")],
                "pending": len(waiting),
                "running": len(its) - len(waiting),
                "workers_pending": sum(each["status"] == "pending" for each in own),
                "workers_running": sum(each["status"] == "running" for each in own),
                "waits": [
                    {
                        "count": sum(each["reason"] == slug for each in waiting),
                        "waiting": next(each for each in waiting if each["reason"] == slug),
                    }
                    for slug in slugs
                ],
                "jobs": sorted(its, key=lambda job: job["status"] == "pending")[:3],
                "more_jobs": max(0, len(its) - 3),
                "workers": own[:3],
                "more_workers": max(0, len(own) - 3),
            }
        )
    groups.sort(key=lambda group: -group["pending"] - group["running"])
    counts = {"pending": sum(1 for job in live if job["waiting"]), "workers": len(there)}
    running = len(live) - counts["pending"]
    return {**counts, "running": running, "groups": groups, "more_groups": 5 * (len(live) > 50)}  # type: ignore[typeddict-item]


def failed_worker(worker: model.Worker, number: int) -> model.FailedWorker:
    """The first with all there is to see, the second hides its log, the third knows nothing."""
    log = "".join(
        f"2026-11-18T11:{n // 60:02}:{n % 60:02}Z runner[{n}]: "
        + ("connecting to https://pipelines.actions.githubusercontent.com … " * (n % 9 == 0 and 3))
        + f"step {n}\n"
        for n in range(120)
    )
    containers: list[model.Container] = [
        {
            "name": "runner",
            "image": "registry.example/ubuntu-24.04:prod@sha256:" + "5f" * 32,
            "ready": False,
            "restart_count": 0,
            "state": "terminated",
            "details": [("exit code", "137"), ("reason", "OOMKilled")],
            "last_state": "running",
            "last_details": [("started", "2026-11-18T11:02:11Z")],
        }
    ]
    events: list[model.Event] = [
        {
            "time": samples.ago(minutes=58),
            "type": "Normal",
            "reason": "Scheduled",
            "message": f"Successfully assigned default/{worker['name']} to {worker['node']}",
            "count": 1,
        },
        {
            "time": samples.ago(minutes=31),
            "type": "Warning",
            "reason": "BackOff",
            "message": "Back-off pulling image registry.example/ubuntu-24.04:prod",
            "count": 14,
        },
    ]
    conditions: list[model.Condition] = [
        {"type": kind, "status": status, "reason": None, "message": None, "at": events[0]["time"]}
        for kind, status in (("PodScheduled", "True"), ("Initialized", "True"), ("Ready", "False"))
    ]
    nothing = number == 2
    pod = [("phase", "Failed"), ("message", "The node was low on resource: memory.")]
    return {
        "worker": worker,
        "image": "registry.example/ubuntu-24.04:prod",
        "reason": words.worker_reason(worker["reason"] or ""),
        "pod": [] if nothing else pod,
        "conditions": [] if nothing else conditions,
        "containers": [] if nothing else containers,
        "events": [] if nothing else events,
        "logs": [{"container": "runner", "text": log}] if number == 0 else [],
        "logs_hidden": number == 1,
        "errors": ["The pod could not be read: it was not found."] if nothing else [],
    }


def health(environment: str, kind: str) -> model.Health:
    last: model.LastRun = {
        "id": 41_000,
        "status": "failed" if kind == "broken" else "completed",
        "started_at": samples.ago(seconds=17),
        "completed_at": samples.ago(seconds=15),
    }
    return {
        "environment": environment,
        "as_of": samples.stamp(samples.NOW),
        "stale_after_seconds": 180,
        "boards_observed_at": samples.ago(seconds=15),
        "last_run": None if kind == "empty" else last,
        "last_worked_at": samples.ago(minutes=42 if kind == "broken" else 0),
    }
