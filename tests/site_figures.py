"""The overview of the sample sites, and all its figures."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from random import Random

from static_site import model, words
from tests import site_sample_rows as samples


def overview(kind: str, jobs: Sequence[model.Job]) -> model.Overview:
    live = [each for each in jobs if each["status"] in ("pending", "running")]
    boards: list[model.Boards] = []
    for pool, slots in ({} if kind == "empty" else samples.POOLS).items():
        running = sum(each["pool"] == pool and each["status"] == "running" for each in live)
        in_use = min(slots, slots if kind == "busy" and pool != "cloudv10x-jupiter" else running)
        unusable = (slots - in_use) * 2 // 3 if kind == "broken" else int(pool == "scw-em-rv1")
        unusable = min(unusable, slots - in_use)
        free = slots - in_use - unusable
        each = {"slots": slots, "in_use": in_use, "free": free, "unusable": unusable}
        boards.append({"pool": pool, **each})  # type: ignore[typeddict-item]
    return {
        "boards": boards,
        "queue": list(queues(live)),
        "pending": sum(each["status"] == "pending" for each in live),
        "running": sum(each["status"] == "running" for each in live),
        "backing_off": 2 if kind == "broken" else 0,
        "figures": figures(kind),
    }


def queues(live: Sequence[model.Job]) -> Sequence[model.Queue]:
    by_labels: dict[tuple[str, ...], list[model.Job]] = defaultdict(list)
    for each in live:
        by_labels[tuple(each["labels"])].append(each)
    found: list[model.Queue] = []
    for labels, jobs in sorted(by_labels.items()):
        waiting = [each["queued_at"] for each in jobs if each["status"] == "pending"]
        found.append(
            {
                "labels": list(labels),
                "pool": jobs[0]["pool"],
                "pending": len(waiting),
                "running": len(jobs) - len(waiting),
                "oldest_queued_at": min(waiting, default=None),
                "drain_seconds": 150 * len(waiting),
                "drain": f"about {3 * len(waiting)} min" if waiting else "nothing waits",
            }
        )
    return found


# Figures ---------------------------------------------------------------------------------------


def figures(kind: str) -> model.Figures:
    random = Random(kind)
    none = kind == "empty"
    hours: list[model.Hour] = []
    for number in range(24):
        at = samples.NOW.replace(minute=0, second=0) - timedelta(hours=23 - number)
        quiet = none or (kind == "calm" and number in (3, 4, 5, 7))
        down = kind == "broken" and number in (17, 18)
        ended = 0 if quiet else random.randint(4, 60)
        failed = ended * (9 if down else 1) // 10
        p50 = None if quiet else random.randint(10, 2400 if kind != "calm" else 120)
        hours.append(
            {
                "at": samples.stamp(at),
                "succeeded": ended - failed - ended // 15,
                "failed": failed,
                "cancelled": ended // 15,
                "started": ended,
                "wait_p50": p50,
                "wait_p95": None if p50 is None else p50 * (6 if down else 2) + 40,
            }
        )
    days: list[model.Day] = []
    for number in range(7):
        counts = [
            0 if none else random.randint(low, high)
            for low, high in ((300, 800), (20, 90), (5, 30))
        ]
        day = str(samples.TODAY - timedelta(days=6 - number))
        days.append(
            {"day": day, "succeeded": counts[0], "failed": counts[1], "cancelled": counts[2]}
        )
    tenants = [] if none else [tenant(name, kind) for name in samples.ACCOUNTS]
    tenants.sort(key=lambda each: -each["failed"] / max(1, each["ended"]))
    return {
        "at": samples.ago(minutes=2),
        "day": span(kind, 1),
        "week": span(kind, 7),
        "hours": hours,
        "days": days,
        "tenants": tenants,
        "more_tenants": 14 if kind == "busy" else 0,
    }


def tenant(name: str, kind: str) -> model.Tenant:
    random = Random(name + kind)
    cells: list[model.Cell] = []
    for hour in range(24):
        ended = random.choice([0, 0, 1, 4, 9, 16])
        failed = sum(random.random() < 0.05 for _ in range(ended))
        if name == "ggml-org" and hour >= 20:
            ended, failed = 12, 11
        if kind == "broken" and hour in (17, 18):
            ended, failed = ended + 5, ended + 4
        wait = random.randint(10, 400 if kind == "calm" else 2600) if ended else None
        cells.append({"ended": ended, "failed": failed, "wait_p95": wait})
    return {
        "entity": name,
        "ended": sum(cell["ended"] for cell in cells),
        "failed": sum(cell["failed"] for cell in cells),
        "wait_p95": max((cell["wait_p95"] or 0 for cell in cells), default=None),
        "hours": cells,
    }


def span(kind: str, days: int) -> model.Span:
    random = Random(f"{kind}{days}")
    none = kind == "empty"
    many = 0 if none else {"calm": 120, "busy": 900, "broken": 260}[kind] * days
    worker_reasons = list(words.WORKER_REASONS)[: {"calm": 2, "busy": 5}.get(kind, 9)]
    return {
        "started": many,
        "wait_p50": None if none else random.randint(20, 300),
        "wait_p95": None if none else random.randint(700, 5000),
        "by_labels": []
        if none
        else [
            {
                "labels": [label],
                "started": many // 3,
                "wait_p50": random.randint(10, 400),
                "wait_p95": random.randint(500, 6000),
            }
            for label in samples.LABELS
        ],
        "completed": many,
        "succeeded": many * 8 // 10,
        "failed": many // 10,
        "cancelled": many - many * 8 // 10 - many // 10,
        "given_up": many // 50,
        "job_reasons": []
        if none
        else [
            {"reason": slug, "words": words.job_reason(slug), "count": random.randint(1, 9) * days}
            for slug in list(words.JOB_REASONS)[: 2 if kind == "calm" else 4]
        ],
        "worker_reasons": []
        if none
        else [
            {
                "reason": slug,
                "words": words.worker_reason(slug)["words"],
                "count": random.randint(1, 20) * days,
            }
            for slug in worker_reasons
        ],
    }
