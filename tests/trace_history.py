"""A long event log, and all that a trace reads beside it. The statements know what is in it."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests import github
from tests.database import Database
from webhook_fn.payload import trim
from webhook_fn.store import load_queries

NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
POOL = "scw-em-rv1"
LABELS = [github.LABEL]
# Accounts: one has most jobs, one has none, one changed more often than a trace reads.
BIGGEST, MIDDLING, SMALLEST, RESTLESS = 1, 1000, 2400, 20
BROAD, REPOSITORIES = 10, 2000  # that it is installed on
LARGE = ("installation_events", "jobs", "workers", "reconcile_phases", "reconcile_runs")
PAYLOAD = 1_300  # characters of what a job's delivery says beside that
NAMELESS = 60_000_000  # an installation of which no event has the account


INDEXES = """
    SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition
      FROM pg_index AS i
     WHERE i.indrelid::regclass::text = ANY(%s)
       AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conindid = i.indexrelid)
"""


def entity(account: int) -> int:
    return 21_000_000 + account


def installation(account: int) -> int:
    return 50_000_000 + account


@dataclass(frozen=True)
class Size:
    events: int = 5_000_000
    changes: int = 5_200  # of one account
    pending: int = 10_000
    workers: int = 300_000
    runs: int = 200_000
    failed_deliveries: int = 40_000

    @property
    def last_job(self) -> int:
        """The number of the last one that does not wait; the next is the first of those that do."""
        return (self.events - self.events // 33 - self.pending) // 3


def _load() -> dict[str, str]:
    """In their order, each put together."""
    queries = {
        name: query.decode()
        for name, query in load_queries(Path(__file__).with_suffix(".sql")).items()
    }
    parts = {name: queries.pop(name) for name in ("account_of", "time_of", "numbered_jobs")}
    parts["numbered_jobs"] = parts["numbered_jobs"].format(**parts)
    return {name: query.format(**parts) for name, query in queries.items()}


def add_history(database: Database, size: Size) -> None:
    """Without triggers."""
    parameters = _parameters(size)
    with database.connect() as connection, connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        for query in QUERIES.values():
            connection.execute(query.encode(), parameters if "%(" in query else None)


def add_long_history(database: Database, size: Size) -> None:
    """In a fifth of the time: indexes are made afterwards, and of changes there is no log."""
    with database.connect() as connection:
        for table in LARGE:
            connection.execute(f"ALTER TABLE {table} SET UNLOGGED".encode())
        indexes = connection.execute(INDEXES, [list(LARGE)]).fetchall()
        for index in indexes:
            connection.execute(f"DROP INDEX {index['name']}".encode())
        add_history(database, size)
        connection.execute("SET maintenance_work_mem = '512MB'")
        for index in indexes:
            connection.execute(index["definition"].encode())
        connection.execute("VACUUM ANALYZE")


QUERIES = _load()


def _parameters(size: Size) -> dict[str, Any]:
    installed = _kept(github.installation("suspend"))
    return {
        "now": NOW,
        "events": size.events,
        "last_job": size.last_job,
        "pending": size.pending,
        "workers": size.workers,
        "runs": size.runs,
        "failed_deliveries": size.failed_deliveries,
        "pool": POOL,
        "other_pool": "cloudv10x",
        "labels": json.dumps(LABELS),
        "restless": RESTLESS,
        "changes": size.changes,
        "broad": BROAD,
        "repositories": REPOSITORIES,
        "nameless": NAMELESS,
        "workflow_job": _job_template(),
        "rest": json.dumps({"rest": "x" * PAYLOAD}),
        "installation": json.dumps(installed),
    }


def _job_template() -> str:
    """For format(). What a trace reads of it and no more: what takes time is to make it, field by
    field, five million times."""
    job = {"id": "%3$s", "labels": LABELS, "runner_name": "rise-riscv-runner-%6$s"}
    repository = {"full_name": "tenant-%4$s/project-%5$s"}
    told = {"action": "%2$s", "workflow_job": job, "repository": repository, "_delivery": "d-%1$s"}
    return json.dumps(told).replace('"%3$s"', "%3$s")


def _kept(payload: github.Payload) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(trim(payload, ""))
    return kept
