"""What the demo reads of its database, held against rows put there one by one."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reconcile.demo.figures import Fleet, PoolNow, PoolUse, RunNow, RunTimes, TenantNow, Waits
from reconcile.demo.reading import PlanningJob, Reading
from tests.database import Database
from tests.site_rows import LABELS, NOW, POOL, SiteRows, ago

OTHER: dict[str, Any] = {"entity_id": 2, "entity_name": "bulkbuild"}
PERSON: dict[str, Any] = {"entity_id": 3, "entity_name": "mira-k", "entity_type": "User"}
TABLES = [
    *("boards", "demand_back_off", "demand_waits", "github_credentials", "github_polls"),
    *("github_scopes", "installation_events", "jobs", "reconcile_phases", "reconcile_runs"),
    *("webhook_cursors", "webhook_redeliveries", "workers"),
]


@pytest.fixture
def rows(database: Database) -> SiteRows:
    return SiteRows(database)


@pytest.fixture
def reading(database: Database) -> Iterator[Reading]:
    with Reading.connect(database.url) as reading:
        yield reading


def event(rows: SiteRows, source: str) -> None:
    rows.insert(
        "installation_events",
        {"source": source, "event": "workflow_job.queued", "outcome": "stored", "payload": {}},
    )


# While it runs ---------------------------------------------------------------------------------


def test_nothing_is_said_of_an_empty_database(reading: Reading, tmp_path: Path) -> None:
    assert reading.fleet(NOW) == Fleet(pools=[], tenants=[], run=None, runs=0)
    told, marker = reading.happenings_since(None)
    assert told == []
    assert reading.happenings_since(marker)[0] == []
    summary = reading.summary("calm", 7, "fair", ago(hours=1), NOW, 60.0)
    assert (summary.seconds, summary.jobs, summary.workers) == (3600.0, {}, {})
    assert (summary.waits, summary.tenants, summary.pools) == (None, {}, [])
    assert (summary.runs, summary.webhooks, summary.good) == (None, 0, False)
    assert reading.jobs_for_planning() == []
    assert (reading.job_states(), reading.worker_states()) == ({}, {})
    assert [path.stem for path in reading.export(tmp_path)] == TABLES
    assert all(len(path.read_text().splitlines()) == 1 for path in tmp_path.iterdir())


def test_boards_are_those_that_the_last_plan_saw(reading: Reading, rows: SiteRows) -> None:
    rows.boards("scw", slots=24, usable=22, in_use=20)
    rows.boards("bpi", slots=4, usable=4, in_use=0)
    assert reading.fleet(NOW).pools == [PoolNow("bpi", 4, 4, 0), PoolNow("scw", 24, 22, 20)]


def test_tenants_are_counted_and_whoever_has_most_to_do_is_first(
    reading: Reading, rows: SiteRows
) -> None:
    rows.job(created_at=ago(40), queued_at=ago(45))
    rows.ended_job(ended=ago(5), **PERSON)
    rows.ended_job(ended=ago(5), conclusion="failure", **PERSON)
    for age in (100, 250, 30):
        rows.job(created_at=ago(age), queued_at=None, **OTHER)
    rows.job(status="running", **OTHER)
    rows.job(status="failed", **OTHER)
    rows.job(status="running", entity_id=4, entity_name="vectorlab")
    assert reading.fleet(NOW).tenants == [
        TenantNow("bulkbuild", 3, 1, 1, 250.0, "new"),
        TenantNow("riseproject", 1, 0, 0, 45.0, "new"),
        TenantNow("vectorlab", 0, 1, 0, None, None),
        TenantNow("mira-k", 0, 0, 2, None, None),
    ]


@pytest.mark.parametrize(
    ("waits", "slug"),
    [
        ([("no_board", 5, 2)], "no_board"),
        ([("no_board", 5, 3)], "runner"),
        ([(None, 4, 4)], "runner"),
        ([("no_board", 5, 1), ("backing_off", 3, 0), ("backing_off", 3, 1)], "backing_off"),
        ([], "new"),
    ],
)
def test_tenant_waits_for_what_holds_up_most_of_its_jobs(
    reading: Reading, rows: SiteRows, waits: list[tuple[str | None, int, int]], slug: str
) -> None:
    rows.job()
    for number, (waiting_for, pending, covered) in enumerate(waits):
        rows.waits(waiting_for, pending=pending, covered=covered, k8s_pool=f"pool-{number}")
    rows.waits("rate_limited", pending=1000, entity_id=2)
    assert [tenant.waits_for for tenant in reading.fleet(NOW).tenants] == [slug]


def test_wait_of_a_job_from_the_future_is_none(reading: Reading, rows: SiteRows) -> None:
    rows.job(created_at=ago(-3), queued_at=ago(-3))
    [tenant] = reading.fleet(NOW).tenants
    assert tenant.oldest_wait == 0.0


def test_run_is_the_newest_with_what_its_phases_met(reading: Reading, rows: SiteRows) -> None:
    rows.run()
    phases: list[dict[str, Any]] = [
        {"phase": "sync_jobs", "error": "GitHub answered 502", "success": False},
        {"phase": "publish", "error": "no bucket", "success": False},
        {"phase": "demand_match"},
    ]
    number = rows.run(
        status="partial", started_at=ago(9), workers_provisioned=3, workers_failed=1, phases=phases
    )
    found = reading.fleet(NOW)
    told = "sync_jobs: GitHub answered 502; publish: no bucket"
    assert found.run == RunNow(number, "partial", ago(9), 1.0, 3, 1, told)
    assert found.runs == 2
    running = rows.run(status="running", started_at=ago(1), completed_at=None)
    assert reading.fleet(NOW).run == RunNow(running, "running", ago(1), None, 0, 0, None)


def test_fleet_of_another_schema_is_not_ours(database: Database, rows: SiteRows) -> None:
    rows.job()
    rows.run()
    with Reading.connect(database.url, schema="staging") as staging:
        assert staging.fleet(NOW) == Fleet(pools=[], tenants=[], run=None, runs=0)


# At the end ------------------------------------------------------------------------------------


def test_jobs_and_workers_are_counted_by_what_became_of_them(
    reading: Reading, rows: SiteRows
) -> None:
    for conclusion in ("success", "success", "failure", "cancelled", None):
        rows.ended_job(ended=ago(5), conclusion=conclusion)
    pending = rows.job()
    rows.job(status="running")
    rows.job(status="failed")
    for status in ("pending", "running", "completed", "completed"):
        rows.worker(status=status, pod_name=f"rise-{status}-{rows._number}")
    lost = rows.failed_worker("node_unreachable")
    rows.failed_worker("node_unreachable")
    rows.worker(status="failed")
    event(rows, "webhook")
    event(rows, "scheduler")
    once = dict.fromkeys(("cancelled", "failed", "failure", "pending", "running", "unknown"), 1)
    assert reading.jobs() == {"success": 2, **once}
    assert next(iter(reading.jobs())) == "success"
    once = dict.fromkeys(("failed: unknown", "pending", "running"), 1)
    assert reading.workers() == {"completed": 2, "failed: node_unreachable": 2, **once}
    assert reading.webhooks() == 1
    assert reading.job_states()[pending] == ("pending", None)
    assert reading.worker_states()[lost] == "failed"
    assert (len(reading.job_states()), len(reading.worker_states())) == (8, 7)


def test_waits_are_between_queued_and_started(reading: Reading, rows: SiteRows) -> None:
    for waited in range(101):
        rows.ended_job(ended=ago(0), waited=waited, **OTHER)
    # It was queued before we heard of it; another one seems to have been started before that.
    rows.ended_job(ended=ago(0), took=10, waited=5, queued_at=ago(310))
    rows.job(status="running", created_at=ago(5), queued_at=None, started_at=ago(8))
    rows.job()
    bulk, rise = Waits(101, 50.0, 95.0, 99.0, 100.0), Waits(2, 150.0, 285.0, 297.0, 300.0)
    assert reading.tenant_waits() == {"bulkbuild": bulk, "riseproject": rise}
    assert list(reading.tenant_waits()) == ["bulkbuild", "riseproject"]
    everybody = reading.waits()
    assert everybody is not None
    assert (everybody.jobs, everybody.p50, everybody.longest) == (103, 50.0, 300.0)
    assert reading.waits(beside=["bulkbuild"]) == rise
    assert reading.waits(beside=["bulkbuild", "riseproject"]) is None


def test_use_of_boards_is_cut_to_the_span(reading: Reading, rows: SiteRows) -> None:
    rows.boards("two", slots=2, usable=0, in_use=0)
    rows.boards("none", slots=0, usable=0, in_use=0)
    rows.boards("full", slots=1, usable=1, in_use=1)
    begin, end = ago(100), ago(0)
    spans = {
        "over": (ago(300), ago(200)),
        "begun before": (ago(150), ago(80)),  # 20 s
        "inside": (ago(60), ago(50)),  # 10 s
        "still there": (ago(30), None),  # 30 s
        "ended after": (ago(20), ago(-50)),  # 20 s
        "made after": (ago(-10), ago(-20)),
    }
    for name, (made, over) in spans.items():
        status = "running" if over is None else "completed"
        times = {"created_at": made, "completed_at": over}
        rows.worker(pod_name=f"rise-{name}", status=status, k8s_pool="two", **times)
    for number in range(2):
        name = f"rise-full-{number}"
        rows.worker(pod_name=name, created_at=ago(900), k8s_pool="full")
    rows.worker(k8s_pool="gone")
    assert reading.pool_use(begin, end) == [
        PoolUse("full", 1, 1.0),
        PoolUse("none", 0, 0.0),
        PoolUse("two", 2, 0.4),
    ]
    assert reading.pool_use(end, end)[2] == PoolUse("two", 2, 0.0)


def test_times_of_runs_are_of_our_clock(reading: Reading, rows: SiteRows) -> None:
    for number in range(101):
        status = "completed" if number < 90 else "partial" if number < 100 else "failed"
        rows.run(status=status, started_at=ago(200), completed_at=ago(200 - number))
    rows.run(status="running", completed_at=None)
    counts = {"completed": 90, "partial": 10, "failed": 1}
    assert reading.run_times(10.0) == RunTimes(counts, 5.0, 9.5)
    summary = reading.summary("calm", 7, "fifo", ago(hours=1), NOW, 1.0)
    assert summary.runs == RunTimes(counts, 50.0, 95.0)


def test_planner_gets_each_job_with_its_demand_and_its_length(
    reading: Reading, rows: SiteRows
) -> None:
    rows.job(created_at=ago(10), job_labels=("a", "b"))
    rows.ended_job(ended=ago(20), took=30, waited=40, **PERSON, repo_full_name="mira-k/toys")
    rows.job(status="running", created_at=ago(15), started_at=ago(14), **OTHER)
    rows.ended_job(ended=ago(5), took=-3, waited=12)  # Clocks differ.
    assert reading.jobs_for_planning() == [
        PlanningJob("mira-k", "mira-k/toys", LABELS, POOL, ago(90), 30.0),
        PlanningJob("bulkbuild", None, LABELS, POOL, ago(15), None),
        PlanningJob("riseproject", None, LABELS, POOL, ago(14), None),
        PlanningJob("riseproject", None, ("a", "b"), POOL, ago(10), None),
    ]


def test_export_has_every_table_in_order_and_no_token(
    reading: Reading, rows: SiteRows, tmp_path: Path
) -> None:
    for number in (3, 1, 2):
        rows.job(job_id=number, job_name='a "name", ümläut\nand a line', workflow_name=None)
        row = {"key": f"installation:{number}", "token": b"secret-token", "updated_at": NOW}
        rows.insert("github_credentials", row)
    directory = tmp_path / "not" / "there yet"
    written = reading.export(directory)
    assert written == [directory / f"{table}.csv" for table in TABLES]
    with (directory / "jobs.csv").open(newline="") as file:
        jobs = list(csv.DictReader(file))
    assert [job["job_id"] for job in jobs] == ["1", "2", "3"]
    assert jobs[0]["job_name"] == 'a "name", ümläut\nand a line'
    assert jobs[0]["created_at"] == "2026-11-18 11:55:07+00"
    with (directory / "github_credentials.csv").open(newline="") as file:
        credentials = list(csv.DictReader(file))
    assert [each["key"] for each in credentials] == [f"installation:{n}" for n in (1, 2, 3)]
    assert "token" not in credentials[0]
    assert b"secret-token".hex() not in (directory / "github_credentials.csv").read_text()
    reading.export(directory)  # Again, over what is there.
    assert reading.fleet(NOW).tenants[0].waiting == 3


def test_export_says_that_it_cannot_write(reading: Reading, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        reading.export(tmp_path / "file")
    (tmp_path / "boards.csv").mkdir()
    with pytest.raises(IsADirectoryError):
        reading.export(tmp_path)
    assert reading.fleet(NOW).runs == 0


def test_nothing_can_be_changed_by_reading(reading: Reading, database: Database) -> None:
    reading.fleet(NOW)
    with (
        reading._link._at_hand() as connection,
        pytest.raises(psycopg.errors.ReadOnlySqlTransaction),
    ):
        connection.execute("DELETE FROM jobs")
