"""The rows. One connection, kept across invocations and re-opened when it died."""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

from .events import Delivery, Outcome
from .job import Job, Status
from .routes import Route

ENTITY_TYPES = frozenset({"Organization", "User"})  # entity_type_enum


def load_queries(path: Path) -> dict[str, bytes]:
    """The statements of a .sql file by the name in the `-- name: …` line above each."""
    blocks = re.split(r"^-- name: (\w+)\n", path.read_text(), flags=re.MULTILINE)[1:]
    return {
        name: re.sub(r"^--.*\n", "", block, flags=re.MULTILINE).strip().encode()
        for name, block in zip(blocks[::2], blocks[1::2], strict=True)
    }


QUERIES = load_queries(Path(__file__).with_name("queries.sql"))


@dataclass(slots=True)
class Store:
    """Every statement is a transaction of its own. Not for more than one thread."""

    conninfo: str
    schema: str
    statement_timeout_seconds: int
    _connection: psycopg.Connection[tuple[Any, ...]] | None = None

    def insert_job(self, job: Job, route: Route, now: datetime) -> bool:
        """Whether the job is new."""
        row = self._execute("insert_job", job_parameters(job, route, now)).fetchone()
        return row is not None

    def advance_job(self, job: Job, now: datetime) -> Status | None:
        """The status the job had before, or None if it is unknown."""
        row = self._execute("advance_job", progress_parameters(job, now)).fetchone()
        return None if row is None else Status(row[0])

    def append_event(
        self, delivery: Delivery, outcome: Outcome, payload: str, now: datetime
    ) -> None:
        self._execute("append_event", event_parameters(delivery, outcome, payload, now))

    def ping(self) -> None:
        self._execute("ping", {})

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _execute(self, name: str, parameters: dict[str, Any]) -> psycopg.Cursor[tuple[Any, ...]]:
        connection = self._open()
        try:
            return connection.execute(QUERIES[name], parameters)
        except psycopg.OperationalError:
            if not connection.closed:
                raise  # The database answered, with a no (a timeout, say).
        # The connection is dead, perhaps since long before this statement. All statements bear
        # being repeated: if only the answer was lost, after the commit, a job is unchanged and
        # an event is written twice, not never.
        return self._open().execute(QUERIES[name], parameters)

    def _open(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        connection = psycopg.connect(self.conninfo, autocommit=True)
        try:
            connection.execute(
                QUERIES["configure_session"],
                {"schema": self.schema, "timeout": f"{self.statement_timeout_seconds}s"},
            )
        except BaseException:
            connection.close()
            raise
        return connection


def job_parameters(job: Job, route: Route, now: datetime) -> dict[str, Any]:
    return progress_parameters(job, now) | {
        "entity_id": job.entity.id,
        "entity_name": job.entity.name,
        "entity_type": job.entity.type,
        "repo_full_name": job.repo_full_name,
        "repo_private": job.repo_private,
        "installation_id": job.installation_id,
        "job_labels": json.dumps(job.labels),
        "k8s_pool": route.pool,
        "k8s_image": route.image,
        "html_url": job.html_url,
        "run_id": job.run_id,
        "run_attempt": job.run_attempt,
        "job_name": job.job_name,
        "workflow_name": job.workflow_name,
        "queued_at": job.queued_at,
        "sender_id": job.sender_id,
        "sender_name": job.sender_name,
    }


def progress_parameters(job: Job, now: datetime) -> dict[str, Any]:
    return {
        "job_id": job.job_id,
        "status": job.status,
        "k8s_pod": job.runner_name,
        "started_at": job.started_at,
        "completed_at": job.completed_at,
        "conclusion": job.conclusion,
        "steps": None if job.steps is None else json.dumps(job.steps),
        "now": now,
    }


def event_parameters(
    delivery: Delivery, outcome: Outcome, payload: str, now: datetime
) -> dict[str, Any]:
    entity = delivery.entity
    return {
        "event": delivery.qualified_event,
        "outcome": outcome,
        "installation_id": delivery.installation_id,
        "app_id": delivery.app_id,
        "entity_type": entity.type if entity and entity.type in ENTITY_TYPES else None,
        "entity_id": entity.id if entity else None,
        "entity_name": entity.name if entity else None,
        "job_id": delivery.job_id,
        "payload": payload,
        "received_at": now,
    }
