"""What the lists say of jobs, workers and runs, from rows."""

import json
from typing import Any

import pytest

from tests.published_site import Site, at
from tests.site_rows import ago


@pytest.fixture
def site(file_site: Site) -> Site:
    """The place does not matter here."""
    return file_site


def test_jobs_are_by_status_and_then_the_newest_first(site: Site) -> None:
    numbers = {
        (status, minutes): site.rows.job(status=status, created_at=ago(minutes=minutes))
        for minutes in (5, 3, 4)
        for status in ("completed", "failed", "running", "pending")
    }
    expected = [
        numbers[status, minutes]
        for status in ("pending", "running", "failed", "completed")
        for minutes in (3, 4, 5)
    ]
    site.publish()
    for name in ("jobs.json", "days/2026-11-18/jobs.json"):
        assert [row["id"] for row in site.rows_of(name)] == expected


def test_workers_are_by_status_and_runs_by_time(site: Site) -> None:
    workers = [
        site.rows.worker(status=status, created_at=ago(minutes=minutes))
        for status in ("pending", "running", "completed")
        for minutes in (3, 9)
    ]
    failed = site.rows.failed_worker()
    runs = [site.rows.run(started_at=ago(minutes=minutes)) for minutes in (9, 3, 6)]
    site.publish()
    names = [row["name"] for row in site.rows_of("workers.json")]
    assert names == [*workers[:4], failed, *workers[4:]]
    assert [row["id"] for row in site.rows_of("runs.json")] == [runs[1], runs[2], runs[0]]


def test_durations_are_never_negative(site: Site) -> None:
    """GitHub's clock, the cluster's and ours differ."""
    site.rows.job(
        status="completed",
        queued_at=ago(seconds=10),
        started_at=ago(seconds=30),
        completed_at=ago(seconds=40),
    )
    site.rows.worker(
        status="completed", created_at=ago(60), running_at=ago(90), completed_at=ago(120)
    )
    site.rows.run(started_at=ago(60), completed_at=ago(61))
    site.publish()
    [job], [worker] = site.rows_of("jobs.json"), site.rows_of("workers.json")
    assert (job["wait_seconds"], job["run_seconds"]) == (0, 0)
    assert (worker["start_seconds"], worker["run_seconds"]) == (0, 0)
    assert site.rows_of("runs.json")[0]["seconds"] == 0


@pytest.mark.parametrize(
    ("columns", "wait", "run", "end"),
    [
        ({}, None, None, None),
        ({"status": "running", "started_at": ago(40)}, 260, None, None),
        (
            *({"status": "completed", "started_at": ago(40), "completed_at": ago(10)},),
            *(260, 30, at(ago(10))),
        ),
        ({"status": "completed", "completed_at": ago(10)}, None, None, at(ago(10))),
        ({"status": "failed", "updated_at": ago(20)}, None, None, at(ago(20))),
    ],
)
def test_job_says_how_long_it_waited_and_ran(
    site: Site, columns: dict[str, Any], wait: int | None, run: int | None, end: str | None
) -> None:
    site.rows.job(**columns)
    site.publish()
    [job] = site.rows_of("jobs.json")
    assert (job["wait_seconds"], job["run_seconds"], job["completed_at"]) == (wait, run, end)


@pytest.mark.parametrize("conclusion", ["success", "failure", "cancelled", "timed_out", None])
def test_job_says_what_github_concluded(site: Site, conclusion: str | None) -> None:
    site.rows.ended_job(ended=ago(minutes=1), conclusion=conclusion)
    site.publish()
    assert site.rows_of("jobs.json")[0]["conclusion"] == conclusion


@pytest.mark.parametrize("status", ["pending", "running", "completed", "failed"])
def test_reason_is_told_while_it_holds_a_job_up(site: Site, status: str) -> None:
    """A webhook takes a parked job on, and leaves what is said of it to the next run."""
    info = {"reason": "demand_parked", "message": "3 attempts in a row failed (pod_failed)."}
    site.rows.job(status=status, failure_info=info)
    site.publish()
    [job] = site.rows_of("jobs.json")
    expected = info if status in ("pending", "failed") else dict.fromkeys(info)
    assert {name: job[name] for name in info} == expected


def test_job_that_waits_for_days_says_what_for_in_the_file_of_its_day(site: Site) -> None:
    """From the first publishing on."""
    site.rows.job(created_at=ago(days=2))
    site.rows.waits("rate_limited")
    site.publish()
    [row] = site.rows_of("days/2026-11-16/jobs.json")
    assert row["waiting"]["reason"] == "rate_limited"
    assert site.document("days/2026-11-16/jobs.json")["settled"] is False


def test_link_that_is_no_address_of_the_web_is_none(site: Site) -> None:
    for url in ("javascript:alert(1)", "http://github.com/x", "", None):
        site.rows.job(html_url=url)
    site.publish()
    assert [row["url"] for row in site.rows_of("jobs.json")] == [None] * 4


def test_labels_that_are_no_list_stop_no_page(site: Site) -> None:
    """Somebody mended a row by hand."""
    for labels in ({"a": 1}, 7, "text", [7, None]):
        site.rows.job()
        site.rows.database.execute(
            "UPDATE jobs SET job_labels = %s::jsonb WHERE job_id = (SELECT max(job_id) FROM jobs)",
            json.dumps(labels),
        )
    assert site.publish().problems == []
    assert len(site.rows_of("jobs.json")) == 4


def test_run_says_what_its_phases_did(site: Site) -> None:
    phases: list[dict[str, Any]] = [
        {"phase": "sync_jobs", "impact": "jobs advanced: 3", "elapsed_seconds": 0.1234},
        {"phase": "sync_workers", "success": False, "error": "pods are unknown"},
        {"phase": "publish"},
    ]
    number = site.rows.run(status="partial", phases=phases, started_at=ago(10))
    site.publish()
    [run] = site.rows_of("runs.json")
    assert (run["id"], run["status"], run["seconds"]) == (number, "partial", 1.0)
    assert [(each["phase"], each["success"], each["seconds"]) for each in run["phases"]] == [
        ("sync_jobs", True, 0.12),
        ("sync_workers", False, 0.0),
        ("publish", True, 0.0),
    ]
    assert run["phases"][0]["impact"] == "jobs advanced: 3"
    assert run["phases"][1]["error"] == "pods are unknown"
