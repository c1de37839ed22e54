"""Figures cost what is going on, not what once was: with a long history, each is read through an
index, and none reads more than a bounded number of rows."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from reconcile.store import figures, listening
from reconcile.store.database import QUERIES
from tests.database import Cluster, Database
from tests.integration.fleet import NOW
from tests.integration.plans import STATISTICS, assert_bounded, with_history
from tests.waiting import wait_until

JOBS, WORKERS, RUNS = 200_000, 50_000, 50_000
THEN = f"timestamptz '{NOW}'"
# As months of webhooks and runs leave them: a job every two seconds, one in ten of them given up,
# one in ten workers failed, the newest not over yet. (Triggers would only take time.)
HISTORY = f"""
SET session_replication_role = replica;
INSERT INTO jobs (job_id, status, provider, entity_id, entity_name, entity_type, repo_full_name,
                  installation_id, job_labels, k8s_pool, k8s_image, k8s_pod, conclusion, run_id,
                  created_at, queued_at, started_at, completed_at)
SELECT n,
       CASE WHEN n <= 300 THEN 'pending' WHEN n <= 600 THEN 'running'
            WHEN n % 10 = 0 THEN 'failed' ELSE 'completed' END::status_enum,
       'github', n % 300, 'org-' || n % 300, 'Organization', 'org/repo', n % 300,
       jsonb_build_array('label-' || n % 4), 'pool-' || n % 3, 'image', 'pod-' || n,
       CASE WHEN n > 600 AND n % 10 > 0 THEN 'success' END, n / 5, t, t,
       CASE WHEN n > 300 AND n % 10 > 0 THEN t + interval '30 s' END,
       CASE WHEN n > 600 AND n % 10 > 0 THEN t + interval '5 min' END
  FROM generate_series(1, {JOBS}) AS n,
       LATERAL (SELECT {THEN} - n * interval '2 s') AS at(t);
INSERT INTO workers (pod_name, status, provider, entity_id, entity_name, entity_type,
                     installation_id, k8s_pool, k8s_image, failure_info, created_at, completed_at)
SELECT 'pod-' || n,
       CASE WHEN n <= 200 THEN 'running'
            WHEN n % 10 = 0 THEN 'failed' ELSE 'completed' END::status_enum,
       'github', 1, 'o', 'Organization', 1, 'pool-' || n % 3, 'image',
       CASE WHEN n > 200 AND n % 10 = 0 THEN '{{"reason": "pod_failed"}}'::jsonb END,
       t, CASE WHEN n > 200 THEN t + interval '5 min' END
  FROM generate_series(1, {WORKERS}) AS n,
       LATERAL (SELECT {THEN} - n * interval '4 s') AS at(t);
INSERT INTO reconcile_runs (started_at, completed_at, status)
SELECT {THEN} - n * interval '15 s', {THEN}, 'failed' FROM generate_series(1, {RUNS}) AS n;
"""
BIG = {"jobs", "workers", "reconcile_runs"}
# What an hour has of each, and what is live; no run worked, so that all that may be are looked at.
MOST_ROWS = {"jobs": 2_500, "workers": 1_500, "reconcile_runs": 20_001}
PARAMETERS = {
    "now": NOW,
    "since": NOW - timedelta(seconds=60),
    "until": NOW - timedelta(seconds=30),
    "limit": figures.MOST_SERIES,
}
FIGURES = [name for name in QUERIES if name.startswith("figure_")]


@pytest.fixture(scope="module", params=STATISTICS)
def history(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Database]:
    with with_history(cluster, HISTORY, BIG, request.param) as database:
        yield database


@pytest.mark.parametrize("name", FIGURES)
def test_figure_reads_a_bounded_number_of_rows_through_an_index(
    history: Database, name: str
) -> None:
    assert_bounded(history, QUERIES[name], PARAMETERS, MOST_ROWS)


def test_every_figure_of_a_big_table_is_looked_at_here() -> None:
    """Else a table that was renamed would be read without anybody noticing."""
    reading = dict.fromkeys(BIG, 0)
    for name in FIGURES:
        for table in BIG:
            reading[table] += f"FROM {table}" in QUERIES[name].decode()
    assert reading == {"jobs": 6, "workers": 2, "reconcile_runs": 1}


def usage(database: Database) -> dict[str, tuple[int, int]]:
    """Of each big table so far: how often it was read from end to end, and rows by index."""
    rows = database.rows(
        "SELECT relname, seq_scan, COALESCE(idx_tup_fetch, 0) AS fetched"
        "  FROM pg_stat_user_tables WHERE schemaname = 'prod'"
    )
    return {row["relname"]: (row["seq_scan"], row["fetched"]) for row in rows}


def session_is_over(database: Database) -> bool:
    """And has told what it did."""
    found = database.rows(
        "SELECT 1 FROM pg_stat_activity"
        " WHERE application_name = %s AND datname = current_database()",
        listening.APPLICATION_NAME,
    )
    return found == []


def test_reading_again_and_again_stays_as_cheap(history: Database) -> None:
    """A statement that is repeated is prepared, and may get another plan then, for any moment."""
    times = 20
    before = usage(history)
    with listening.listen(history.role_url("prod_reconcile"), "prod") as session:
        since = None
        for number in range(times):
            moment = NOW + timedelta(seconds=number)
            since = figures.read(session.database, moment, since).until
    wait_until(lambda: session_is_over(history))
    after = usage(history)
    for table in BIG:
        assert after[table][0] == before[table][0], f"{table} was read from end to end"
        read = after[table][1] - before[table][1]
        # Several figures read the same table.
        assert 0 < read <= 4 * times * MOST_ROWS[table], table
