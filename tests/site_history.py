"""History by the million for the site to be fast with."""

import json
from datetime import datetime, timedelta
from pathlib import Path

from tests.database import Database
from tests.site_rows import LABELS, NOW
from webhook_fn.store import load_queries

QUERIES = load_queries(Path(__file__).with_suffix(".sql"))


def add_history(
    database: Database, jobs: int, days: float, until: datetime = NOW, failed_every: int = 50
) -> None:
    """Jobs that are over, evenly over so many days, with their workers and runs."""
    span = timedelta(days=days)
    info = {
        "version": 2,
        "reason": "pod_failed",
        "message": "It failed.",
        "logs": {"runner": "line\n" * 20},
    }
    parameters = {
        "jobs": jobs,
        "failed_every": failed_every,
        "first": until - span - timedelta(hours=1),
        "step": span / jobs,
        "labels": json.dumps(LABELS),
        "large": json.dumps(["large", *LABELS]),
        "info": json.dumps(info),
    }
    with database.connect() as connection, connection.transaction():
        connection.execute("ALTER TABLE jobs DISABLE TRIGGER jobs_notify_queue_event")
        connection.execute(QUERIES["jobs"], parameters)
        connection.execute(QUERIES["workers"], parameters)
        connection.execute(QUERIES["runs"], parameters)
        connection.execute("ALTER TABLE jobs ENABLE TRIGGER jobs_notify_queue_event")
    database.execute("VACUUM ANALYZE")
