"""Rows of the sample sites: jobs, workers and runs as believable as their numbers allow."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, cast

from static_site import model, words

NOW = datetime(2026, 11, 18, 12, 0, 5, tzinfo=UTC)
TODAY = NOW.date()
POOLS = {"scw-em-rv1": 12, "cloudv10x-pioneer": 6, "cloudv10x-jupiter": 4}
LABELS = {
    "ubuntu-24.04-riscv": "scw-em-rv1",
    "ubuntu-24.04-riscv-2xlarge": "cloudv10x-pioneer",
    "ubuntu-26.04-riscv": "cloudv10x-jupiter",
}
ACCOUNTS = (
    *("riseproject-dev", "pytorch", "llvm", "numpy", "gounthar", "python", "ggml-org", "nodejs"),
    *("openblas", "zephyrproject-rtos", "a-quite-long-organization-name-for-boards"),
)
JOBS = (
    *("build (riscv64)", "test (3.13, riscv64)", "Linux riscv64 / unit tests", "bench"),
    *("check-llvm / stage2-release-with-assertions-and-all-the-targets (riscv64, gcc-14)", "docs"),
)
IMPACTS = ("2 updated of 41 checked", "1 completed, 1 failed", "3 runners made", "1 asked again")


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def ago(**spans: float) -> str:
    return stamp(NOW - timedelta(**spans))


def later(time: str, seconds: float) -> str:
    return stamp(datetime.fromisoformat(time) + timedelta(seconds=seconds))


WAITS: list[model.Waiting] = [
    {"reason": "no_board", "words": "All 12 usable boards of scw-em-rv1 are busy.", "until": None},
    {"reason": "runner", "words": "A runner is on its way for it.", "until": None},
    {
        "reason": "cap_reached",
        "words": "pytorch has 20 runners, as many as it may have at once.",
        "until": None,
    },
    {
        "reason": "backing_off",
        "words": "Its runners failed 3 times in a row (pod_failed): the next is tried later.",
        "until": "2026-11-18T12:04:00Z",
    },
]


def job(number: int, queued_at: str, status: str, **more: Any) -> model.Job:
    random = Random(number)
    account, label = random.choice(ACCOUNTS), random.choice(list(LABELS))
    private = random.random() < 0.1
    began, ended = status in ("running", "completed"), status == "completed"
    wait, run = random.randint(8, 900), random.randint(60, 6000)
    started_at = later(queued_at, wait)
    worker = f"rise-riscv-runner-{random.randrange(16**8):08x}" if began else None
    of_public: dict[str, Any] = {
        "repository": f"{account}/{random.choice(['widgets', 'core', 'vision', 'project'])}",
        "workflow": random.choice(["CI", "Nightly", "riscv64 wheels"]),
        "name": random.choice(JOBS),
        "url": f"https://github.com/{account}/core/actions/runs/{number}/job/{number}",
    }
    made: dict[str, Any] = {
        "id": number,
        "status": status,
        "conclusion": random.choices(["success", "failure", "cancelled"], [80, 14, 6])[0]
        if ended
        else None,
        "reason": None,
        "message": None,
        "waiting": random.choice(WAITS) if status == "pending" else None,
        "entity": account,
        "private": private,
        **(dict.fromkeys(of_public) if private else of_public),
        "attempt": None if private else random.choice([1, 1, 1, 2]),
        "labels": [label],
        "pool": LABELS[label],
        "worker": worker,
        "worker_failed": ended and random.random() < 0.05,
        "queued_at": queued_at,
        "started_at": started_at if began else None,
        "completed_at": later(started_at, run) if ended else None,
        "wait_seconds": wait if began else None,
        "run_seconds": run if ended else None,
    }
    if status == "failed":
        reason = random.choice(list(words.JOB_REASONS))
        made |= {"reason": reason, "message": words.job_reason(reason)}
    return cast("model.Job", made | more)


def worker(number: int, created_at: str, status: str, **more: Any) -> model.Worker:
    random = Random(number)
    account, label = random.choice(ACCOUNTS), random.choice(list(LABELS))
    began, ended = status != "pending", status in ("completed", "failed")
    start, run = random.randint(5, 90), random.randint(60, 6000)
    running_at = later(created_at, start)
    reason = random.choice(list(words.WORKER_REASONS)) if status == "failed" else None
    took: model.WorkerJob = {
        "id": number,
        "name": random.choice([*JOBS, None]),
        "url": f"https://github.com/{account}/core/actions/runs/{number}",
        "status": "running" if status == "running" else "completed",
        "conclusion": None if status == "running" else "success",
    }
    made: dict[str, Any] = {
        "name": f"rise-riscv-runner-{number:08x}",
        "status": status,
        "reason": reason,
        "message": reason and words.worker_reason(reason)["words"],
        "entity": account,
        "repository": None,
        "labels": [label],
        "pool": LABELS[label],
        "node": f"{LABELS[label]}-{random.randint(1, 12):02}" if began else None,
        "job": took if status in ("running", "completed") else None,
        "created_at": created_at,
        "running_at": running_at if began else None,
        "completed_at": later(running_at, run) if ended else None,
        "start_seconds": start if began else None,
        "run_seconds": run if ended else None,
    }
    return cast("model.Worker", made | more)


def runner_of(taken: model.Job) -> model.Worker:
    job = {key: taken[key] for key in ("id", "name", "url", "status", "conclusion")}
    same = {key: taken[key] for key in ("entity", "labels", "pool")}
    node = f"{taken['pool']}-{taken['id'] % 12:02}"
    made = worker(taken["id"], taken["started_at"] or "", "running", job=job, node=node, **same)
    return {**made, "name": taken["worker"] or ""}


def run(number: int, started_at: str, status: str = "completed") -> model.Run:
    random = Random(number)
    phases: list[model.Phase] = []
    for name in ("sync_jobs", "sync_workers", "demand_match", "missed_webhooks", "publish"):
        failed = status in ("partial", "failed") and name in ("sync_workers", "demand_match")
        error = "The cluster did not answer within 10 s: GET /api/v1/pods" if failed else None
        if failed and random.random() < 0.5:
            error = f"{error}\n" + "\n".join(f"  attempt {n}: timed out" for n in range(1, 12))
        impact = random.choice([None, None, random.choice(IMPACTS)]) if not failed else None
        seconds = round(random.uniform(0.01, 0.9), 3)
        phases.append(
            {
                "phase": name,
                "success": not failed,
                "impact": impact,
                "error": error,
                "seconds": seconds,
            }
        )
    took = None if status == "running" else round(sum(each["seconds"] for each in phases), 3)
    return {
        "id": number,
        "status": status,
        "started_at": started_at,
        "completed_at": later(started_at, 2) if took else None,
        "seconds": took,
        "error": "The run was killed at its time limit." if status == "failed" else None,
        "phases": [] if status == "running" else phases,
    }
