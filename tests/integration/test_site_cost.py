"""A page costs what it shows, not what once was: with a long history, what is read at every run is
read through an index, and so is what is read now and then."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from static_site.cuts import MOST_ROWS, PAGE, PAGES
from static_site.pages import usage
from static_site.reading import FIRST, QUERIES, span
from tests.database import Cluster, Database
from tests.integration.plans import STATISTICS, assert_bounded, with_history
from tests.site_rows import NOW

JOBS, WORKERS, RUNS = 120_000, 60_000, 120_000
THEN = f"timestamptz '{NOW}'"
A_DAY = 86_400 // 8  # jobs; of the others half as many
# A job every eight seconds for eleven days. One in ten of them was given up, one in ten workers
# failed, of the runs all but one in fifty were idle; the newest are not over yet.
HISTORY = f"""
SET session_replication_role = replica;
INSERT INTO jobs (job_id, status, provider, entity_id, entity_name, entity_type, repo_full_name,
                  installation_id, job_labels, k8s_pool, k8s_image, k8s_pod, conclusion, run_id,
                  created_at, queued_at, started_at, completed_at)
SELECT {JOBS} - n,
       CASE WHEN n <= 300 THEN 'pending' WHEN n <= 600 THEN 'running'
            WHEN n % 10 = 0 THEN 'failed' ELSE 'completed' END::status_enum,
       'github', n % 30, 'org-' || n % 30, CASE n % 30 WHEN 3 THEN 'User' ELSE 'Organization' END,
       'org/repo', n % 30, jsonb_build_array('label-' || n % 4), 'pool-' || n % 3, 'image',
       CASE WHEN n > 300 THEN 'pod-' || lpad((n / 2)::text, 8, '0') END,
       CASE WHEN n > 600 AND n % 10 > 0 THEN 'success' END, n / 5, t, t,
       CASE WHEN n > 300 AND n % 10 > 0 THEN t + interval '30 s' END,
       CASE WHEN n > 600 AND n % 10 > 0 THEN t + interval '5 min' END
  FROM generate_series(1, {JOBS}) AS n, LATERAL (SELECT {THEN} - n * interval '8 s') AS at(t);
INSERT INTO workers (pod_name, status, provider, entity_id, entity_name, entity_type,
                     installation_id, job_labels, k8s_pool, k8s_image, failure_info, created_at,
                     completed_at)
SELECT 'pod-' || lpad(n::text, 8, '0'),
       CASE WHEN n <= 300 THEN 'running'
            WHEN n % 10 = 0 THEN 'failed' ELSE 'completed' END::status_enum,
       'github', n % 30, 'org-' || n % 30, 'Organization', n % 30,
       jsonb_build_array('label-' || n % 4), 'pool-' || n % 3, 'image',
       CASE WHEN n > 300 AND n % 10 = 0 THEN '{{"reason": "pod_failed"}}'::jsonb END,
       t, CASE WHEN n > 300 THEN t + interval '5 min' END
  FROM generate_series(1, {WORKERS}) AS n, LATERAL (SELECT {THEN} - n * interval '16 s') AS at(t);
INSERT INTO reconcile_runs (started_at, completed_at, status, jobs_updated)
SELECT t, t, 'completed', CASE WHEN n % 50 = 0 THEN 2 ELSE 0 END
  FROM generate_series(1, {RUNS}) AS n, LATERAL (SELECT {THEN} - n * interval '8 s') AS at(t);
INSERT INTO reconcile_phases (run_id, phase, success)
SELECT id, 'sync_jobs', true FROM reconcile_runs WHERE jobs_updated > 0;
INSERT INTO demand_waits (entity_id, repo_full_name, job_labels, k8s_pool, pending, covered,
                          waiting_for, planned_at)
SELECT entity_id, CASE entity_type WHEN 'User' THEN repo_full_name ELSE '' END, job_labels,
       k8s_pool, count(*), 2, 'no_board', {THEN}
  FROM jobs WHERE status = 'pending' GROUP BY 1, 2, 3, 4;
"""
BIG = {"jobs", "workers", "reconcile_runs", "reconcile_phases"}
START, END = span(NOW.date() - timedelta(days=2))
OLDEST_LIVE = PAGE * PAGES  # rows back, of a list whose pages were cut before


def newest(name: str, seconds: float) -> list[dict[str, Any]]:
    """The first time, and as ever after."""
    later = NOW - timedelta(seconds=seconds * OLDEST_LIVE), "" if name == "workers" else 0
    return [
        {"after_at": at, "after_id": which, "limit": MOST_ROWS}
        for at, which in (FIRST["workers" if name == "workers" else "jobs"], later)
    ]


# Read at every run.
LIVE: dict[str, list[dict[str, Any]]] = {
    "newest_jobs": newest("jobs", 8),
    "newest_workers": newest("workers", 16),
    "newest_runs": newest("runs", 400),
    "live_jobs": [{"limit": usage.JOBS_OF_GROUP}],
    "live_counts": [{}],
    "live_workers": [{"limit": usage.WORKERS}],
    "worker_counts": [{}],
    "failed_since": [{"since": NOW - timedelta(hours=1), "now": NOW, "names": ["pod-00000310"]}],
    "last_run": [{}],
    "last_worked": [{}],
    "boards": [{}],
    "waits": [{}],
    "covered_jobs": [{}],
    "backing_off": [{"now": NOW}],
}
# Read every few minutes, of a day or a part of one.
DAY = {"start": START, "end": END}
PART = {"after_at": START, "limit": 1000}
OF_A_DAY: dict[str, list[dict[str, Any]]] = {
    "day_before": [{"start": START}, {"start": NOW - timedelta(days=30)}],
    "jobs_of_day": [DAY | PART | {"after_id": 0}],
    "workers_of_day": [DAY | PART | {"after_id": ""}],
    "runs_of_day": [DAY | PART | {"after_id": 0}],
    "count_jobs": [DAY],
    "count_workers": [DAY],
    "count_runs": [DAY],
    "failed_of_day": [DAY],
    "failed_workers": [{"names": ["pod-00000310", "pod-00000320"]}],
    "failed_after": [{"name": name, "limit": 50} for name in ("", "pod-00030000")],
}
CASES = [
    pytest.param(name, parameters, most, id=f"{name}-{number}")
    for statements, most in ((LIVE, 3_000), (OF_A_DAY, A_DAY + 100))
    for name, sets in statements.items()
    for number, parameters in enumerate(sets)
]


@pytest.fixture(scope="module", params=STATISTICS)
def history(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Database]:
    with with_history(cluster, HISTORY, BIG, request.param) as database:
        yield database


@pytest.mark.parametrize(("name", "parameters", "most"), CASES)
def test_statement_reads_a_bounded_number_of_rows_through_an_index(
    history: Database, name: str, parameters: dict[str, Any], most: int
) -> None:
    assert_bounded(history, QUERIES[name], parameters, dict.fromkeys(BIG, most))


def test_every_statement_is_looked_at_here_but_for_figures() -> None:
    apart = {"configure_session", "take_lock", "release_lock"}
    figures = {name for name in QUERIES if name.startswith("figure_")}
    assert set(QUERIES) == set(LIVE) | set(OF_A_DAY) | apart | figures
