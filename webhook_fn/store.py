"""The rows. One connection, kept across invocations and re-opened when it died."""

import contextlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

from .events import Delivery, Outcome
from .http import RequestError
from .job import Job, Status
from .routes import Route

ENTITY_TYPES = frozenset({"Organization", "User"})  # entity_type_enum
# No statement of a reading begins later. With the last one's own time it ends before Lambda does.
READING_SECONDS = 3

Row = tuple[Any, ...]


def load_queries(path: Path) -> dict[str, bytes]:
    """The statements of a .sql file by the name in the `-- name: …` line above each."""
    blocks = re.split(r"^-- name: (\w+)\n", path.read_text(), flags=re.MULTILINE)[1:]
    return {
        name: re.sub(r"^--.*\n", "", block, flags=re.MULTILINE).strip().encode()
        for name, block in zip(blocks[::2], blocks[1::2], strict=True)
    }


QUERIES = load_queries(Path(__file__).with_name("queries.sql"))


@dataclass(frozen=True, slots=True)
class Reading:
    """One moment of the database."""

    connection: psycopg.Connection[Row]
    until: float  # by the monotonic clock

    def read(self, query: bytes, parameters: Mapping[str, Any]) -> Sequence[Row]:
        if time.monotonic() > self.until:
            raise RequestError(503, "The database takes too long to answer this.")
        return self.connection.execute(query, parameters).fetchall()


@dataclass(slots=True)
class Store:
    """Every statement is a transaction of its own, but within a reading. Not for more than one
    thread."""

    conninfo: str
    schema: str
    statement_timeout_seconds: int
    _connection: psycopg.Connection[Row] | None = None

    def insert_job(self, job: Job, route: Route, now: datetime) -> bool:
        """Whether the job is new."""
        parameters = job_parameters(job, route, now)
        return self._execute(QUERIES["insert_job"], parameters).fetchone() is not None

    def advance_job(self, job: Job, now: datetime) -> Status | None:
        """The status the job had before, or None if it is unknown."""
        row = self._execute(QUERIES["advance_job"], progress_parameters(job, now)).fetchone()
        return None if row is None else Status(row[0])

    def append_event(
        self, delivery: Delivery, outcome: Outcome, payload: str, now: datetime
    ) -> None:
        parameters = event_parameters(delivery, outcome, payload, now)
        self._execute(QUERIES["append_event"], parameters)

    def ping(self) -> None:
        self._execute(QUERIES["ping"], {})

    def read(self, query: bytes, parameters: Mapping[str, Any]) -> Sequence[Row]:
        return self._execute(query, parameters).fetchall()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Reading]:
        """What is read within agrees with itself, and nothing can be written. A connection that
        died before is noticed at the beginning."""
        self._execute(QUERIES["begin_reading"], {})
        connection = self._open()
        try:
            yield Reading(connection, time.monotonic() + READING_SECONDS)
        finally:
            try:
                connection.execute(QUERIES["end_reading"])
            except psycopg.Error:
                self.close()  # It died, or was left in the middle of something.

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _execute(self, query: bytes, parameters: Mapping[str, Any]) -> psycopg.Cursor[Row]:
        connection = self._open()
        try:
            return connection.execute(query, parameters)
        except psycopg.OperationalError:
            if not connection.closed:
                raise  # The database answered, with a no (a timeout, say).
        # The connection is dead, perhaps since long before this statement. All statements bear
        # being repeated: if only the answer was lost, after the commit, a job is unchanged and
        # an event is written twice, not never.
        return self._open().execute(query, parameters)

    def _open(self) -> psycopg.Connection[Row]:
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> psycopg.Connection[Row]:
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
