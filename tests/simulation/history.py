"""Days that pass, and rows that were left long ago."""

from datetime import datetime, timedelta

from reconcile.run import RunReport
from tests.simulation import situations as it
from tests.system import System

DAY = 86_400
WEEK = "[retention]\nevents_days = 7\nhistory_days = 7\nruns_days = 7\n"


def days(s: System, count: int, *, good: bool = True) -> None:
    """With a run at the end of each."""
    for _ in range(count):
        s.world.time.step(DAY)
        report = s.run()
        assert not good or report.status == "completed", report.phases


def past_midnight(s: System) -> timedelta:
    return s.world.time.clock.now() - midnight(s)


def midnight(s: System) -> datetime:
    return s.world.time.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)


def events(s: System, where: str = "true") -> list[str]:
    rows = s.database.rows(f"SELECT event FROM installation_events WHERE {where} ORDER BY id")
    return [row["event"] for row in rows]


def counts(s: System) -> dict[str, int]:
    tables = {
        "events": "installation_events",
        "jobs": "jobs",
        "workers": "workers",
        "runs": "reconcile_runs",
    }
    return {
        name: s.database.rows(f"SELECT count(*) FROM {table}")[0]["count"]
        for name, table in tables.items()
    }


def impact(report: RunReport) -> str | None:
    return it.phase(report, "retention").impact


def done(s: System, count: int = 1) -> None:
    """Jobs that came and went."""
    s.push(seconds=60, count=count)
    s.ticks(12)
    assert s.statuses() == (["completed"] * count, ["completed"] * count)


BACKLOG = """
INSERT INTO installation_events (source, event, outcome, installation_id, entity_id, job_id,
                                 payload, received_at)
SELECT 'webhook', 'workflow_job.queued', 'job_stored', 7, 7, 1000 + n, '{}',
       %(then)s + n * interval '1 s'
  FROM generate_series(1, %(rows)s) AS n;
INSERT INTO jobs (job_id, status, provider, entity_id, entity_name, entity_type, repo_full_name,
                  installation_id, k8s_pool, k8s_image, k8s_pod, created_at, updated_at)
SELECT 1000 + n, 'completed', 'github', 7, 'old', 'Organization', 'old/old', 7, 'pool', 'image',
       'old-' || n, %(then)s + n * interval '1 s', %(then)s + n * interval '1 s'
  FROM generate_series(1, %(rows)s) AS n;
INSERT INTO workers (pod_name, status, provider, entity_id, entity_name, entity_type,
                     installation_id, k8s_pool, k8s_image, created_at, completed_at)
SELECT 'old-' || n, 'failed', 'github', 7, 'old', 'Organization', 7, 'pool', 'image',
       %(then)s, %(then)s + n * interval '1 s'
  FROM generate_series(1, %(rows)s) AS n;
WITH runs AS (
    INSERT INTO reconcile_runs (started_at, completed_at, status)
    SELECT %(then)s + n * interval '1 s', %(then)s, 'completed'
      FROM generate_series(1, %(runs)s) AS n
    RETURNING id)
INSERT INTO reconcile_phases (run_id, phase, success) SELECT id, 'of_old', true FROM runs;
"""


def backlog(s: System, rows: int, *, runs: int | None = None) -> None:
    """Rows of ten days ago, in every table; of runs a thousand more, which stay."""
    then = midnight(s) - timedelta(days=10)
    with s.database.connect() as connection:
        for statement in BACKLOG.split(";\n")[:-1]:
            connection.execute(
                statement.encode(),
                {"then": then, "rows": rows, "runs": rows + 1_000 if runs is None else runs},
            )
