"""Rows as a world's webhooks and runs would have left them, written at once."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import psycopg
from psycopg import sql

from tests.bench.world_process import IMAGE, RunningWorld
from tests.database import Database, Row
from tests.simulated import LABEL
from tests.system import BOARD, PREFIX

ENTITY = ("entity_id", "entity_name", "entity_type", "installation_id")
PLACE = ("provider", "job_labels", "k8s_pool", "k8s_image")
TIMES = ("created_at", "updated_at")
REPOSITORY = "riseproject/firmware"
HISTORY_JOBS = 100_000
HISTORY_WORKERS = 20_000


def fill(database: Database, world: RunningWorld) -> None:
    """Every job and every worker as it was when it was new: the first run moves them on."""
    common = (*_entity(world), *_place())
    copy(
        database,
        "jobs",
        ("job_id", "run_id", "job_name", "repo_full_name", *ENTITY, *PLACE, *TIMES),
        (
            (job.job_id, job.run_id, job.name, REPOSITORY, *common, *_at(job.created_at))
            for job in world.jobs
        ),
    )
    made = world.pods_created_at
    copy(
        database,
        "workers",
        ("pod_name", *ENTITY, *PLACE, *TIMES),
        ((name, *common, *_at(made)) for name in world.pods),
    )
    if world.pods:
        copy(
            database,
            "github_scopes",
            (*ENTITY, "group_id", "used_at"),
            [(*_entity(world), world.group_id, made)],
        )


def adding(
    connection: psycopg.Connection[Row], world: RunningWorld, numbers: Iterable[int]
) -> Callable[[], None]:
    """Each call commits the next of these jobs, as the function does."""
    columns = ("job_id", "run_id", "job_name", "repo_full_name", *ENTITY, *PLACE, *TIMES)
    statement = sql.SQL("INSERT INTO jobs ({}) VALUES ({})").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)),
        sql.SQL(", ").join([sql.Placeholder()] * len(columns)),
    )
    common = (*_entity(world), *_place())
    jobs = iter([world.jobs[number] for number in numbers])

    def add() -> None:
        job = next(jobs)
        connection.execute(
            statement,
            (job.job_id, job.run_id, job.name, REPOSITORY, *common, *_at(world.now)),
        )

    return add


def add_history(database: Database, world: RunningWorld) -> None:
    """A hundred thousand jobs that are over, and the workers that took them."""
    common = (*_entity(world), *_place())
    first = max(job.job_id for job in world.jobs) + 1
    then = world.jobs[0].created_at
    copy(
        database,
        "jobs",
        ("job_id", "run_id", "k8s_pod", "status", "repo_full_name", *ENTITY, *PLACE, *TIMES),
        (
            (first + n, first + n // 10, _old_pod(n), "completed", REPOSITORY, *common, *_at(then))
            for n in range(HISTORY_JOBS)
        ),
    )
    copy(
        database,
        "workers",
        ("pod_name", "status", *ENTITY, *PLACE, *TIMES),
        (
            (_old_pod(n), "failed" if n % 10 == 0 else "completed", *common, *_at(then))
            for n in range(HISTORY_WORKERS)
        ),
    )
    analyze(database)


def analyze(database: Database) -> None:
    """As autovacuum would have, in time."""
    database.execute("VACUUM ANALYZE")


def copy(
    database: Database, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with database.connect() as connection, connection.cursor().copy(statement) as writing:
        for row in rows:
            writing.write_row(row)


def _old_pod(number: int) -> str:
    return f"{PREFIX}old-{number % HISTORY_WORKERS}"


def _at(moment: str) -> tuple[str, str]:
    """Created, and not touched since."""
    return moment, moment


def _entity(world: RunningWorld) -> tuple[Any, ...]:
    return world.organization_id, "riseproject", "Organization", world.installation_id


def _place() -> tuple[str, ...]:
    return "github", json.dumps([LABEL]), BOARD, IMAGE
