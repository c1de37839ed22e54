"""Figures against the same sums done row by row."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from random import Random
from typing import Any, NamedTuple

import pytest
from psycopg.types.json import Jsonb

from static_site import reading, words
from static_site.pages import figures
from tests.database import Database
from tests.site_rows import NOW

AT = figures.moment_of(NOW)
DAY, WEEK, FIRST_HOUR = AT - timedelta(days=1), AT - timedelta(days=7), figures.first_hour(AT)
ENDS = ("success", "neutral", "failure", "timed_out", "cancelled", "skipped", None)


class Made(NamedTuple):
    """A job's row, as far as figures look at it."""

    entity: int
    labels: tuple[str, ...]
    pool: str
    status: str
    conclusion: str | None
    reason: str | None
    created_at: datetime
    queued_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None

    @property
    def waited(self) -> float:
        assert self.started_at is not None
        return max(0.0, (self.started_at - (self.queued_at or self.created_at)).total_seconds())


class MadeWorker(NamedTuple):
    status: str
    reason: str | None
    completed_at: datetime


def some_moment(random: Random) -> datetime:
    """Anywhere in the last nine days, and often right at an edge."""
    if random.random() < 0.25:
        edge = random.choice([AT, DAY, WEEK, FIRST_HOUR, AT.replace(minute=0)])
        return edge + timedelta(seconds=random.choice([-1, 0, 1]))
    days = random.choice([0.04, 1, 1.1, 7, 9])
    return NOW - timedelta(seconds=random.randrange(int(days * 86_400)))


def some_job(random: Random, tenants: int, label_sets: int) -> Made:
    created = some_moment(random)
    status = random.choice(["pending", "running", "completed", "completed", "completed", "failed"])
    queued = random.choice([None, created, created - timedelta(seconds=random.randrange(90))])
    started = completed = conclusion = None
    if status == "running" or (status == "completed" and random.random() < 0.9):
        started = created + timedelta(seconds=random.randrange(-60, 4000), milliseconds=300)
    if started is not None and random.random() < 0.4:
        started = some_moment(random)
    if status == "completed":
        completed = (started or created) + timedelta(seconds=random.randrange(-5, 9000))
        completed = some_moment(random) if random.random() < 0.4 else completed
        conclusion = random.choice(ENDS)
    reason = random.choice(["job_gone", "banned", None]) if status == "failed" else None
    number = min(random.randrange(tenants), random.randrange(tenants))
    labels = (f"label-{random.randrange(label_sets):02}", "riscv")
    pool = f"pool-{random.randrange(3)}"
    return Made(
        number, labels, pool, status, conclusion, reason, created, queued, started, completed
    )


def store(database: Database, jobs: Sequence[Made], workers: Sequence[MadeWorker]) -> None:
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO jobs (job_id, provider, entity_id, entity_name, entity_type,"
            " repo_full_name, installation_id, k8s_image, job_labels, k8s_pool, status, conclusion,"
            " failure_info, created_at, queued_at, started_at, completed_at) VALUES (%s, 'github',"
            " %s, %s, 'Organization', 'o/r', 1, 'i', %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                (
                    *(number, job.entity, f"tenant-{job.entity}", Jsonb(job.labels), job.pool),
                    *(job.status, job.conclusion, Jsonb({"reason": job.reason})),
                    *(job.created_at, job.queued_at, job.started_at, job.completed_at),
                )
                for number, job in enumerate(jobs)
            ],
        )
        cursor.executemany(
            "INSERT INTO workers (pod_name, provider, entity_id, entity_name, entity_type,"
            " installation_id, k8s_pool, k8s_image, status, failure_info, completed_at)"
            " VALUES (%s, 'github', 1, 'o', 'Organization', 1, 'p', 'i', %s, %s, %s)",
            [
                (f"rise-{number}", each.status, Jsonb({"reason": each.reason}), each.completed_at)
                for number, each in enumerate(workers)
            ],
        )


# By hand ---------------------------------------------------------------------------------------


def quantile(values: Sequence[float], share: float) -> int | None:
    """percentile_disc: a value that is there."""
    return round(sorted(values)[math.ceil(share * len(values)) - 1]) if values else None


def began(jobs: Sequence[Made], since: datetime, *, inclusive: bool = False) -> list[Made]:
    return [
        job
        for job in jobs
        if job.started_at is not None
        and job.started_at <= AT
        and (job.started_at > since or (inclusive and job.started_at == since))
    ]


def over(jobs: Sequence[Made], since: datetime) -> list[Made]:
    return [job for job in jobs if job.completed_at is not None and since < job.completed_at <= AT]


def outcomes(jobs: Sequence[Made]) -> dict[str, int]:
    kinds = {"success": "succeeded", "neutral": "succeeded", "failure": "failed"}
    counted = Counter(
        kinds.get(job.conclusion or "", "failed" if job.conclusion == "timed_out" else "cancelled")
        for job in jobs
    )
    return {kind: counted[kind] for kind in ("succeeded", "failed", "cancelled")}


def waits(jobs: Sequence[Made]) -> dict[str, Any]:
    waited = [job.waited for job in jobs]
    return {
        "started": len(jobs),
        "wait_p50": quantile(waited, 0.5),
        "wait_p95": quantile(waited, 0.95),
    }


def reasons(found: Sequence[str | None], *, of_jobs: bool) -> list[dict[str, Any]]:
    counted = Counter(reason or "unknown" for reason in found)
    told = words.job_reason if of_jobs else (lambda slug: words.worker_reason(slug)["words"])
    return [
        {"reason": reason, "words": told(reason), "count": count}
        for reason, count in sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    ]


def span(jobs: Sequence[Made], workers: Sequence[MadeWorker], since: datetime) -> dict[str, Any]:
    """The label sets are the most used ones of the week, whatever the span."""
    of_week = Counter(job.labels for job in began(jobs, WEEK))
    order = sorted(of_week, key=lambda labels: (-of_week[labels], labels))[: figures.LABEL_SETS]
    by_labels = {
        labels: [job for job in began(jobs, since) if job.labels == labels] for labels in order
    }
    given_up = [job for job in jobs if job.status == "failed" and since < job.created_at <= AT]
    failed = [w for w in workers if w.status == "failed" and since < w.completed_at <= AT]
    return {
        **waits(began(jobs, since)),
        "by_labels": [
            {"labels": list(labels), **waits(found)} for labels, found in by_labels.items() if found
        ],
        "completed": len(over(jobs, since)),
        **outcomes(over(jobs, since)),
        "given_up": len(given_up),
        "job_reasons": reasons([job.reason for job in given_up], of_jobs=True),
        "worker_reasons": reasons([each.reason for each in failed], of_jobs=False),
    }


def in_hour(moment: datetime | None, hour: datetime) -> bool:
    return moment is not None and moment <= AT and hour <= moment < hour + timedelta(hours=1)


def tenants(jobs: Sequence[Made]) -> tuple[list[dict[str, Any]], int]:
    came = Counter(job.entity for job in jobs if FIRST_HOUR < job.created_at <= AT)
    chosen = sorted(came, key=lambda entity: (-came[entity], entity))[: figures.TENANTS]
    hours = [FIRST_HOUR + timedelta(hours=number) for number in range(24)]
    found = []
    for entity in chosen:
        its = [job for job in jobs if job.entity == entity]
        cells = []
        for hour in hours:
            ended = [job for job in its if in_hour(job.completed_at, hour)]
            waited = [job.waited for job in its if in_hour(job.started_at, hour)]
            failed = outcomes(ended)["failed"]
            cells.append(
                {"ended": len(ended), "failed": failed, "wait_p95": quantile(waited, 0.95)}
            )
        waited = [job.waited for job in began(its, FIRST_HOUR, inclusive=True)]
        found.append(
            {
                "entity": f"tenant-{entity}",
                "ended": sum(cell["ended"] or 0 for cell in cells),
                "failed": sum(cell["failed"] or 0 for cell in cells),
                "wait_p95": quantile(waited, 0.95),
                "hours": cells,
            }
        )
    return found, len(came) - len(chosen)


def by_hand(jobs: Sequence[Made], workers: Sequence[MadeWorker]) -> dict[str, Any]:
    hours = []
    for number in range(24):
        hour = FIRST_HOUR + timedelta(hours=number)
        its_ends = [job for job in jobs if in_hour(job.completed_at, hour)]
        its_starts = [job for job in jobs if in_hour(job.started_at, hour)]
        hours.append({"at": words.stamp(hour), **outcomes(its_ends), **waits(its_starts)})
    by_day: defaultdict[date, list[Made]] = defaultdict(list)
    for job in over(jobs, WEEK):
        assert job.completed_at is not None
        by_day[job.completed_at.date()].append(job)
    dates = [AT.date() - timedelta(days=before) for before in reversed(range(7))]
    return {
        "at": words.stamp(AT),
        "day": span(jobs, workers, DAY),
        "week": span(jobs, workers, WEEK),
        "hours": hours,
        "days": [{"day": day.isoformat(), **outcomes(by_day[day])} for day in dates],
    }


@pytest.mark.parametrize(
    ("seed", "count", "tenants_there", "label_sets"),
    [(1, 0, 1, 1), (2, 5, 2, 2), (3, 400, 5, 3), (4, 600, 60, 40), (5, 300, 19, 20)],
)
def test_figures_are_those_counted_by_hand(
    database: Database, seed: int, count: int, tenants_there: int, label_sets: int
) -> None:
    random = Random(seed)
    jobs = [some_job(random, tenants_there, label_sets) for _ in range(count)]
    workers = [
        MadeWorker(
            random.choice(["failed", "completed"]),
            random.choice(["pod_failed", "runner_idle", None]),
            some_moment(random),
        )
        for _ in range(count // 2)
    ]
    store(database, jobs, workers)
    with reading.connect(database.role_url("prod_reconcile"), "prod") as reader:
        rows = reader.figures(AT, FIRST_HOUR, figures.LABEL_SETS, figures.TENANTS, figures.FAILURES)
    told: dict[str, Any] = dict(figures.figures(rows, AT))
    found, more = told.pop("tenants"), told.pop("more_tenants")
    assert told == by_hand(jobs, workers)
    expected, left_out = tenants(jobs)
    assert {each["entity"]: each for each in found} == {each["entity"]: each for each in expected}
    assert more == left_out
    usual = defaultdict(list)
    for job in over(jobs, WEEK):
        if job.started_at and job.completed_at and job.completed_at > job.started_at:
            usual[job.pool].append((job.completed_at - job.started_at).total_seconds())
    assert figures.usual_seconds(rows.ended) == pytest.approx(
        {pool: sum(each) / len(each) for pool, each in usual.items()}, abs=0.1
    )
