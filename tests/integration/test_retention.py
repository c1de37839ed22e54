"""What is old is found without a look at what is not, and removed without being in the way."""

import contextlib
import dataclasses
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from reconcile import store
from reconcile.policy.retention import CutOffs, cut_offs
from reconcile.settings import Retention, RunLimits
from reconcile.store.database import QUERIES
from reconcile.store.retention import OldRows
from tests.database import Cluster, Database
from tests.integration.fleet import NOW, UBUNTU
from tests.integration.plans import STATISTICS, assert_bounded, with_history
from webhook_fn import job as delivered
from webhook_fn.store import Store

YEAR_OF_SECONDS = 365 * 86_400
EVENTS, JOBS, WORKERS, RUNS = 200_000, 60_000, 60_000, 60_000
THEN = f"timestamptz '{NOW}'"
BATCH = 100
# Four years: three deliveries a job, every hundredth event is of an installation, and stays; every
# thousandth tells of one that was deleted while its account has jobs. The newest are not over yet.
HISTORY = f"""
SET session_replication_role = replica;
INSERT INTO installation_events (source, event, outcome, installation_id, entity_id, entity_name,
                                 job_id, payload, received_at)
SELECT 'webhook',
       CASE WHEN n % 1000 = 1 THEN 'installation.deleted'
            WHEN n % 100 = 1 THEN 'installation_repositories.added'
            WHEN n % 1000 = 2 THEN 'auth_attempt.404' ELSE 'workflow_job.queued' END,
       'recorded', n % 300, n % 300, 'org-' || n % 300,
       CASE WHEN n % 100 <> 1 AND n % 1000 <> 2 THEN n / 3 END, '{{}}',
       {THEN} - n * interval '{4 * YEAR_OF_SECONDS // EVENTS} s'
  FROM generate_series(1, {EVENTS}) AS n;
INSERT INTO jobs (job_id, status, provider, entity_id, entity_name, entity_type, repo_full_name,
                  installation_id, job_labels, k8s_pool, k8s_image, k8s_pod, run_id, created_at,
                  updated_at, completed_at)
SELECT n,
       CASE WHEN n <= 300 THEN 'pending' WHEN n <= 600 THEN 'running'
            WHEN n % 10 = 0 THEN 'failed' ELSE 'completed' END::status_enum,
       'github', n % 300, 'org-' || n % 300, 'Organization', 'org/repo', n % 300,
       jsonb_build_array('label-' || n % 4), 'pool-' || n % 3, 'image', 'pod-' || n, n / 5, t, t,
       CASE WHEN n > 600 AND n % 10 > 0 THEN t + interval '5 min' END
  FROM generate_series(1, {JOBS}) AS n,
       LATERAL (SELECT {THEN} - n * interval '{4 * YEAR_OF_SECONDS // JOBS} s') AS at(t);
INSERT INTO workers (pod_name, status, provider, entity_id, entity_name, entity_type,
                     installation_id, job_labels, k8s_pool, k8s_image, created_at, completed_at)
SELECT 'pod-' || n,
       CASE WHEN n <= 300 THEN 'running'
            WHEN n % 10 = 0 THEN 'failed' ELSE 'completed' END::status_enum,
       'github', n % 300, 'org-' || n % 300, 'Organization', n % 300,
       jsonb_build_array('label-' || n % 4), 'pool-' || n % 3, 'image', t,
       CASE WHEN n > 300 THEN t + interval '5 min' END
  FROM generate_series(1, {WORKERS}) AS n,
       LATERAL (SELECT {THEN} - n * interval '{4 * YEAR_OF_SECONDS // WORKERS} s') AS at(t);
INSERT INTO reconcile_runs (started_at, completed_at, status)
SELECT {THEN} - ({RUNS} - n) * interval '{4 * YEAR_OF_SECONDS // RUNS} s', {THEN}, 'completed'
  FROM generate_series(1, {RUNS}) AS n;
"""
BIG = {"installation_events", "jobs", "workers", "reconcile_runs"}


def kept_for(years: int) -> Retention:
    days = 365 * years
    return Retention(events_days=days, history_days=days, runs_days=days, batch=BATCH)


@pytest.fixture(scope="module", params=STATISTICS)
def history(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Database]:
    with with_history(cluster, HISTORY, BIG, request.param) as database:
        yield database


def parameters(kept: Retention) -> dict[str, Any]:
    first = cut_offs(NOW, kept)
    return {
        "events": first.events,
        "history": first.history,
        "workers": first.history,
        "runs": first.runs,
        "pods": "",
        "batch": kept.batch,
    }


def test_where_nothing_is_old_nothing_is_read(history: Database) -> None:
    """But for the row of the latest run."""
    assert_bounded(history, QUERIES["old_rows"], parameters(kept_for(5)), dict.fromkeys(BIG, 0))


def test_a_batch_is_found_by_reading_little_more_than_a_batch(history: Database) -> None:
    """However much of it is old: half of all. Beside the candidates themselves the live jobs, and
    for each candidate the row that it may belong to."""
    most = {
        "installation_events": BATCH,
        "jobs": 600 + BATCH,
        "workers": BATCH,
        "reconcile_runs": BATCH,
    }
    assert_bounded(history, QUERIES["old_rows"], parameters(kept_for(2)), most)


def test_what_stays_though_it_is_old_is_not_gone_through_again_and_again(
    cluster: Cluster,
) -> None:
    """Of installations, that is: some events of each, and without end. The few that are looked at
    tell of one that was deleted, and stay for the jobs that its account has all the same."""
    with with_history(cluster, HISTORY, BIG, "with statistics") as database:
        old = parameters(kept_for(2)) | {"batch": 1_000_000}
        deleted, others = old_state(database, old)
        assert others > 8 * deleted > 0
        with database.connect() as connection:
            [found] = connection.execute(QUERIES["old_rows"], old).fetchall()
            assert len(found["events"]) > EVENTS / 3
            connection.execute(
                "DELETE FROM installation_events WHERE id = ANY(%s)", [found["events"]]
            )
            connection.execute("VACUUM installation_events")
        assert old_state(database, old) == (deleted, others)
        failed_attempts = EVENTS // 2000
        most = {"installation_events": deleted + failed_attempts}
        assert_bounded(database, QUERIES["old_rows"], old, most)


def old_state(database: Database, old: dict[str, Any]) -> tuple[int, int]:
    [row] = database.rows(
        "SELECT count(*) FILTER (WHERE event = 'installation.deleted') AS deleted,"
        "       count(*) FILTER (WHERE event = 'installation_repositories.added') AS others"
        "  FROM installation_events WHERE received_at < %s",
        old["events"],
    )
    return row["deleted"], row["others"]


def test_what_was_found_is_removed_by_its_keys(history: Database) -> None:
    nothing = {"events": [-1], "jobs": [-1], "workers": "none", "runs": [-1], "history": NOW}
    assert_bounded(history, QUERIES["remove_old_rows"], nothing, dict.fromkeys(BIG, 0))


# Beside deliveries -----------------------------------------------------------------------------


JOB = delivered.Job(
    job_id=1,
    entity=delivered.Entity(1, "riseproject", "Organization"),
    repo_full_name="riseproject/firmware",
    repo_private=False,
    installation_id=11,
    labels=UBUNTU,
    run_id=1,
    run_attempt=1,
    job_name="build",
    workflow_name="ci",
    html_url=None,
    queued_at=None,
    sender_id=None,
    sender_name=None,
    status=delivered.Status.COMPLETED,
    runner_name="late",
    started_at=None,
    completed_at=NOW,
    conclusion="success",
    steps=None,
)
OLD_JOBS = """
INSERT INTO jobs (job_id, status, provider, entity_id, entity_name, entity_type, repo_full_name,
                  installation_id, k8s_pool, k8s_image, created_at, updated_at)
SELECT n, 'completed', 'github', 1, 'riseproject', 'Organization', 'riseproject/firmware', 11,
       'pool', 'image', %s, %s
  FROM generate_series(1, 3) AS n
"""


@pytest.fixture
def run(database: Database) -> Iterator[store.Database]:
    then = NOW - timedelta(days=400)
    database.execute(OLD_JOBS, then, then)
    with store.connect(database.role_url("prod_reconcile"), "prod", RunLimits()) as connected:
        yield connected


@pytest.fixture
def function(database: Database) -> Iterator[Store]:
    with contextlib.closing(Store(database.role_url("prod_webhook_fn"), "prod", 3)) as connected:
        yield connected


def found(run: store.Database) -> tuple[OldRows, CutOffs]:
    first_kept = cut_offs(NOW, Retention())
    old = store.retention.find(run, first_kept, pods=(), workers=True, batch=1000)
    assert list(old.jobs) == [1, 2, 3]
    return old, first_kept


def test_a_job_that_a_late_delivery_touched_meanwhile_stays(
    database: Database, run: store.Database, function: Store
) -> None:
    old, first_kept = found(run)
    assert function.advance_job(JOB, NOW) is delivered.Status.COMPLETED
    assert store.retention.remove(run, old, first_kept)["jobs"] == 2
    assert [row["job_id"] for row in database.rows("SELECT job_id FROM jobs")] == [1]


def test_deliveries_of_other_jobs_go_on_while_rows_are_removed(
    database: Database, run: store.Database, function: Store
) -> None:
    old, first_kept = found(run)
    database.execute(OLD_JOBS.replace("n, 'comp", "n + 10, 'comp"), NOW, NOW)
    with run.transaction():
        assert store.retention.remove(run, old, first_kept)["jobs"] == 3
        other = dataclasses.replace(JOB, job_id=11)
        assert function.advance_job(other, NOW) is delivered.Status.COMPLETED
