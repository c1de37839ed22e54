"""Each rule of what stays though it is old, at its edge: row by row, beside runs that no test of
whole runs gets to."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from reconcile import store
from reconcile.policy.retention import CutOffs
from reconcile.settings import RunLimits
from reconcile.store.retention import OldRows
from tests.database import Database
from tests.site_rows import LABELS, NOW, SiteRows

LIMIT = NOW.replace(hour=0, minute=0, second=0) - timedelta(days=365)
OLD, NEW = LIMIT - timedelta(seconds=1), LIMIT
OTHER_LABELS = ["other"]
Find = Callable[..., OldRows]


class Rows(SiteRows):
    """By default old, and over."""

    def old_job(self, **columns: Any) -> int:
        return self.job(
            **{"status": "completed", "created_at": OLD, "updated_at": OLD, "k8s_pod": None}
            | columns
        )

    def active_job(self, **columns: Any) -> int:
        return self.job(**{"status": "pending", "created_at": OLD, **columns})

    def old_worker(self, status: str = "failed", **columns: Any) -> str:
        made = {"created_at": OLD - timedelta(hours=1), "completed_at": OLD}
        return self.worker(status=status, **{**made, **columns})

    def event(self, event: str, at: datetime = OLD, **columns: Any) -> int:
        row = {"installation_id": 11, "entity_id": 1, **columns}
        names = ("installation_id", "entity_id", "job_id")
        [made] = self.database.rows(
            "INSERT INTO installation_events (source, event, outcome, payload, received_at,"
            " installation_id, entity_id, job_id)"
            " VALUES ('webhook', %s, 'recorded', '{}', %s, %s, %s, %s) RETURNING id",
            event,
            at,
            *(row.get(name) for name in names),
        )
        return int(made["id"])


@pytest.fixture
def rows(database: Database) -> Rows:
    return Rows(database)


@pytest.fixture
def find(database: Database) -> Iterator[Find]:
    with store.connect(database.role_url("prod_reconcile"), "prod", RunLimits()) as connected:

        def find(pods: Sequence[str] = (), *, workers: bool = True, batch: int = 100) -> OldRows:
            first_kept = CutOffs(LIMIT, LIMIT, LIMIT)
            return store.retention.find(
                connected, first_kept, pods=pods, workers=workers, batch=batch
            )

        yield find


# Jobs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["pending", "running", "completed", "failed"])
@pytest.mark.parametrize("created_at", [OLD, NEW])
@pytest.mark.parametrize("updated_at", [OLD, NEW])
@pytest.mark.parametrize("completed_at", [None, OLD, NEW])
def test_job_goes_if_it_is_over_and_all_its_times_are_old(
    rows: Rows,
    find: Find,
    status: str,
    created_at: datetime,
    updated_at: datetime,
    completed_at: datetime | None,
) -> None:
    times = {"created_at": created_at, "updated_at": updated_at, "completed_at": completed_at}
    job = rows.old_job(status=status, **times)
    over = status in ("completed", "failed")
    assert find().jobs == ([job] if over and NEW not in times.values() else [])


@pytest.mark.parametrize(
    ("worker", "goes"),
    [
        ({}, True),
        ({"status": "completed"}, True),
        ({"completed_at": NEW}, False),
        ({"status": "running", "completed_at": None}, False),
    ],
)
def test_job_goes_with_its_worker_and_not_before(
    rows: Rows, find: Find, worker: dict[str, Any], goes: bool
) -> None:
    name = rows.old_worker(**worker)
    job = rows.old_job(k8s_pod=name)
    found = find()
    assert (found.jobs, found.workers) == (([job], [name]) if goes else ([], []))


def test_job_of_somebody_elses_runner_goes(rows: Rows, find: Find) -> None:
    job = rows.old_job(k8s_pod="somebody-elses")
    assert find().jobs == [job]
    assert find(workers=False).jobs == [job]


def test_while_pods_are_unknown_neither_worker_nor_its_job_goes(rows: Rows, find: Find) -> None:
    rows.old_job(k8s_pod=rows.old_worker())
    found = find(workers=False)
    assert (found.jobs, found.workers) == ([], [])


def test_workers_of_the_jobs_that_go_come_before_older_ones(rows: Rows, find: Find) -> None:
    """Else jobs would go without them, for there is not room for all."""
    older = [rows.old_worker(completed_at=OLD - timedelta(days=1)) for _ in range(3)]
    workers = {rows.old_worker() for _ in range(2)}
    jobs = [rows.old_job(k8s_pod=name) for name in workers]
    found = find(batch=2)
    assert set(found.jobs) == set(jobs)
    assert set(found.workers) == workers
    assert set(find(batch=4).workers) > workers
    assert set(find(batch=5).workers) == workers | set(older)


# Workers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["pending", "running", "completed", "failed"])
@pytest.mark.parametrize("completed_at", [None, OLD, NEW])
def test_worker_goes_if_it_ended_long_ago(
    rows: Rows, find: Find, status: str, completed_at: datetime | None
) -> None:
    name = rows.old_worker(status, completed_at=completed_at)
    ended = status in ("completed", "failed") and completed_at == OLD
    assert find().workers == ([name] if ended else [])


def test_worker_whose_pod_is_there_stays(rows: Rows, find: Find) -> None:
    there, gone = rows.old_worker(), rows.old_worker()
    assert find(pods=["another", there]).workers == [gone]


def test_worker_stays_while_its_job_does(rows: Rows, find: Find) -> None:
    """Whose last webhook came a moment later, on the first day that is kept."""
    worker = rows.old_worker("completed")
    job = rows.old_job(k8s_pod=worker, updated_at=NEW)
    assert (find().jobs, find().workers) == ([], [])
    rows.update("jobs", "job_id", job, updated_at=OLD)
    assert (find().jobs, find().workers) == ([job], [worker])


@pytest.mark.parametrize("status", ["pending", "running"])
def test_worker_that_an_active_job_names_stays(rows: Rows, find: Find, status: str) -> None:
    named, other = rows.old_worker("completed"), rows.old_worker("completed")
    rows.active_job(status=status, k8s_pod=named)
    assert find().workers == [other]


WAITS = {"entity_id": 1, "job_labels": LABELS, "created_at": OLD}


@pytest.mark.parametrize(
    ("worker", "job", "stays"),
    [
        ({}, {}, True),
        ({}, {"status": "running"}, True),
        ({}, {"status": "completed", "updated_at": NEW}, False),
        ({}, {"status": "failed", "updated_at": NEW}, False),
        ({"status": "completed"}, {}, False),
        ({"entity_id": 2}, {}, False),
        ({"job_labels": OTHER_LABELS}, {}, False),
        ({"completed_at": OLD - timedelta(seconds=1)}, {}, False),
        ({"k8s_pool": "another"}, {"repo_full_name": "riseproject/other"}, True),
    ],
)
def test_worker_that_failed_while_an_active_job_of_its_demand_waited_stays(
    rows: Rows, find: Find, worker: dict[str, Any], job: dict[str, Any], stays: bool
) -> None:
    name = rows.old_worker(**worker)
    rows.active_job(**{**WAITS, **job})
    assert find().workers == ([] if stays else [name])


def test_it_is_the_oldest_of_the_jobs_that_counts(rows: Rows, find: Find) -> None:
    rows.old_worker()
    for created_at in (NEW, OLD, NOW):
        rows.active_job(created_at=created_at)
    assert find().workers == []


# Events ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["workflow_job.queued", "workflow_job.waiting", "ping", "push"])
def test_event_goes_when_it_is_old(rows: Rows, find: Find, event: str) -> None:
    old = rows.event(event)
    rows.event(event, NEW)
    assert find().events == [old]


@pytest.mark.parametrize("status", ["pending", "running", "completed", "failed"])
def test_events_of_a_job_stay_while_it_is_active(rows: Rows, find: Find, status: str) -> None:
    job = rows.active_job(status=status)
    event = rows.event("workflow_job.queued", job_id=job)
    assert find().events == ([] if status in ("pending", "running") else [event])


def test_of_an_account_with_active_jobs_the_events_of_other_jobs_go(rows: Rows, find: Find) -> None:
    rows.active_job()
    of_another = rows.event("workflow_job.queued", job_id=5)
    assert find().events == [of_another]


STATE = [
    "installation.created",
    "installation.suspend",
    "installation_repositories.removed",
    "installation_target.renamed",
]


@pytest.mark.parametrize("event", STATE)
def test_what_an_installation_is_stays(rows: Rows, find: Find, event: str) -> None:
    rows.event(event)
    assert find().events == []
    rows.event("installation.deleted", installation_id=12)
    assert len(find().events) == 1, "only what is said of that one"


@pytest.mark.parametrize("event", STATE)
def test_it_goes_once_it_is_long_deleted(rows: Rows, find: Find, event: str) -> None:
    said = rows.event(event)
    rows.event("installation.deleted", NEW)
    assert find().events == []
    rows.event("installation.deleted")
    assert find().events == [said]


@pytest.mark.parametrize(
    ("job", "goes"),
    [
        ({"entity_id": 2, "installation_id": 12}, True),
        ({"entity_id": 1, "installation_id": 12}, False),
        ({"entity_id": 2, "installation_id": 11}, False),
        ({"status": "completed", "updated_at": NEW}, True),
    ],
)
def test_no_job_of_the_installation_or_its_account_may_be_active(
    rows: Rows, find: Find, job: dict[str, Any], goes: bool
) -> None:
    rows.active_job(**job)
    created, _ = rows.event("installation.created"), rows.event("installation.deleted")
    assert find().events == ([created] if goes else [])


@pytest.mark.parametrize("later", [*STATE, "auth_attempt.404"])
def test_that_it_was_deleted_goes_after_everything_else(rows: Rows, find: Find, later: str) -> None:
    deleted = rows.event("installation.deleted", entity_id=None)
    assert find().events == [deleted]
    rows.event(later, NEW, entity_id=None)
    assert find().events == []


def test_an_account_that_nobody_named_has_no_jobs(rows: Rows, find: Find) -> None:
    rows.active_job(installation_id=12)
    events = [
        rows.event("auth_attempt.404", entity_id=None, installation_id=None),
        rows.event("installation.deleted", entity_id=None),
    ]
    assert sorted(find().events) == events


def test_a_deletion_that_was_delivered_twice_is_counted_once(rows: Rows, find: Find) -> None:
    created = rows.event("installation.created")
    twice = [rows.event("installation.deleted") for _ in range(2)]
    assert find().events == [created]
    rows.database.execute("DELETE FROM installation_events WHERE id = %s", created)
    assert sorted(find().events) == twice


@pytest.mark.parametrize(
    ("job", "stays"),
    [({}, True), ({"entity_id": 2}, False), ({"status": "failed", "updated_at": NEW}, False)],
)
def test_failed_authentication_stays_while_its_account_has_an_active_job(
    rows: Rows, find: Find, job: dict[str, Any], stays: bool
) -> None:
    rows.active_job(**job)
    attempt = rows.event("auth_attempt.other_error")
    assert find().events == ([] if stays else [attempt])


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_of_events_of_every_kind_there_are_no_more_than_a_batch(
    rows: Rows, find: Find, batch: int
) -> None:
    for number in range(3):
        rows.event("ping")
        rows.event("auth_attempt.404")
        rows.event("installation.created", installation_id=20 + number)
        rows.event("installation.deleted", installation_id=20 + number)
    assert len(find(batch=batch).events) == batch
    assert len(set(find().events)) == len(find().events) == 9


# Runs ------------------------------------------------------------------------------------------


def test_run_that_goes_on_and_the_latest_thousand_stay(rows: Rows, find: Find) -> None:
    running = rows.run(started_at=OLD, status="running", completed_at=None)
    old, new = rows.run(started_at=OLD), rows.run(started_at=NEW)
    rows.database.execute(
        "INSERT INTO reconcile_runs (started_at, status) SELECT %s, 'completed'"
        " FROM generate_series(1, 1000)",
        OLD,
    )
    assert old - running == new - old == 1
    assert find().runs == [old]
