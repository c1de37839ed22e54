"""What the system met and did about it, told from its rows: each once, however late it comes."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from reconcile.demo.reading import Reading
from tests.database import Database
from tests.site_rows import NOW, SiteRows, ago


@pytest.fixture
def rows(database: Database) -> SiteRows:
    return SiteRows(database)


@pytest.fixture
def reading(database: Database) -> Iterator[Reading]:
    with Reading.connect(database.url) as reading:
        yield reading


def lines(reading: Reading, marker: Any = None) -> tuple[list[str], Any]:
    told, marker = reading.happenings_since(marker)
    assert all(each.by_system for each in told)
    return [f"{each.at:%H:%M:%S} {each.text}" for each in told], marker


def trouble(rows: SiteRows, **columns: Any) -> None:
    row = {
        "entity_id": 1,
        "job_labels": ("ubuntu", "rvv"),
        "failures": 2,
        "reason": "pod_failed",
        "failed_at": ago(30),
        "retry_at": ago(-60),
    }
    rows.insert("demand_back_off", row | columns)


def test_each_kind_of_happening_is_told_once_and_in_order(reading: Reading, rows: SiteRows) -> None:
    rows.failed_worker("node_unreachable", failed=ago(50), pod_name="rise-a", k8s_node="scw-7")
    rows.failed_worker("provision_failed", failed=ago(49), pod_name="rise-b", k8s_node=None)
    for number in range(3):
        info = {"reason": "stuck_queued" if number else "job_gone"}
        rows.job(status="failed", failure_info=info, updated_at=ago(40 + number))
    phases = [{"phase": "sync_jobs", "error": "GitHub\n answered 502", "success": False}]
    bad = rows.run(status="partial", started_at=ago(36), phases=phases)
    killed = rows.run(status="failed", started_at=ago(34), error="It did not come to its end.")
    rows.job()
    trouble(rows)
    trouble(rows, job_labels=("x",), failures=5, parked=True, failed_at=ago(29))
    trouble(rows, job_labels=("y",), failures=0)
    trouble(rows, entity_id=3, repo_full_name="mira-k/toys", failures=1, failed_at=ago(28))
    trouble(rows, entity_id=99, failed_at=ago(27))
    rows.insert("webhook_cursors", {"app_id": 1, "delivery_id": 9, "read_at": ago(20)})
    for guid, attempts in (("a", 1), ("b", 2), ("c", 0)):
        row = {"app_id": 1, "guid": guid, "delivery_id": 1, "attempts": attempts}
        rows.insert("webhook_redeliveries", row | {"next_at": None, "failed_at": ago(60)})
    told, marker = lines(reading)
    assert told == [
        "11:59:17 worker failed (node_unreachable) on scw-7: rise-a",
        "11:59:18 worker failed (provision_failed): rise-b",
        "11:59:26 gave up 2 jobs of riseproject (stuck_queued)",
        "11:59:27 gave up 1 job of riseproject (job_gone)",
        f"11:59:32 run {bad} partial: sync_jobs: GitHub answered 502",
        f"11:59:34 run {killed} failed: It did not come to its end.",
        "11:59:37 riseproject backs off until 12:01:07 after 2 failures (pod_failed): ubuntu, rvv",
        "11:59:38 riseproject is parked until 12:01:07 after 5 failures (pod_failed): x",
        "11:59:39 mira-k/toys backs off until 12:01:07 after 1 failure (pod_failed): ubuntu, rvv",
        "11:59:40 99 backs off until 12:01:07 after 2 failures (pod_failed): ubuntu, rvv",
        "11:59:47 asked GitHub to deliver 3 webhooks again",
    ]
    assert lines(reading, marker)[0] == []


def test_the_ordinary_is_not_told(reading: Reading, rows: SiteRows) -> None:
    rows.job()
    rows.ended_job(ended=ago(5), conclusion="failure")
    rows.worker()
    rows.worker(status="completed", completed_at=ago(5))
    rows.run()
    rows.run(status="running", completed_at=None)
    assert lines(reading)[0] == []


def test_only_what_is_new_is_told(reading: Reading, rows: SiteRows) -> None:
    rows.failed_worker(pod_name="rise-a")
    trouble(rows)
    row = {"app_id": 1, "guid": "a", "delivery_id": 1, "attempts": 1, "failed_at": ago(60)}
    rows.insert("webhook_redeliveries", row)
    _, marker = lines(reading)
    # By another clock it was long ago; and a row that is only written again is not news.
    rows.failed_worker(pod_name="rise-b", failed=ago(days=1), k8s_node="scw-1")
    rows.update("workers", "pod_name", "rise-a", updated_at=NOW)
    rows.update("demand_back_off", "entity_id", 1, retry_at=ago(-70))
    rows.update("webhook_redeliveries", "guid", "a", delivery_id=2, failed_at=NOW)
    told, marker = lines(reading, marker)
    assert told == ["12:00:07 worker failed (runner_never_registered) on scw-1: rise-b"]
    rows.update("demand_back_off", "entity_id", 1, failures=3, failed_at=ago(1))
    rows.update("webhook_redeliveries", "guid", "a", attempts=2)
    told, _ = lines(reading, marker)
    assert told == [
        "12:00:06 1 backs off until 12:01:17 after 3 failures (pod_failed): ubuntu, rvv",
        "12:00:07 asked GitHub to deliver 1 webhook again",
    ]


def test_what_is_committed_later_is_told_then(
    reading: Reading, rows: SiteRows, database: Database
) -> None:
    marker = None
    rows.worker(pod_name="rise-a", k8s_node="scw-1")
    rows.worker(pod_name="rise-b", k8s_node="scw-2")
    fail = "UPDATE workers SET status = 'failed', completed_at = %s WHERE pod_name = %s"
    with database.connect() as other, other.transaction():
        other.execute(fail, [ago(60), "rise-a"])
        with other.transaction():  # A savepoint has a number of its own.
            other.execute(fail, [ago(60), "rise-b"])
        for _ in range(3):
            rows.failed_worker("pod_failed", failed=ago(10), k8s_node=None)
            told, marker = lines(reading, marker)
            assert len(told) == 1
    told, marker = lines(reading, marker)
    assert told == [
        "11:59:07 worker failed (unknown) on scw-1: rise-a",
        "11:59:07 worker failed (unknown) on scw-2: rise-b",
    ]
    assert lines(reading, marker)[0] == []


def test_demands_that_back_off_alike_are_one_line(reading: Reading, rows: SiteRows) -> None:
    for number in range(5):
        trouble(rows, entity_id=number, failed_at=ago(number), retry_at=ago(-number))
        trouble(rows, entity_id=10 + number, failed_at=ago(20), parked=True)
    assert lines(reading)[0] == [
        "11:59:47 5 demands are parked (pod_failed), the last until 12:01:07",
        "12:00:07 5 demands back off (pod_failed), the last until 12:00:11",
    ]


def test_long_error_is_cut_between_words(reading: Reading, rows: SiteRows) -> None:
    number = rows.run(status="failed", error="word " * 100)
    [line], _ = lines(reading)
    assert line == f"11:59:58 run {number} failed: " + "word " * 31 + "…"


def test_workers_that_fail_alike_are_one_line(reading: Reading, rows: SiteRows) -> None:
    for number in range(5):
        rows.failed_worker("node_unreachable", failed=ago(number), k8s_node=f"scw-{number % 2}")
    for number in range(4):
        rows.failed_worker("provision_failed", failed=ago(20 + number), k8s_node=None)
    assert lines(reading)[0] == [
        "11:59:47 4 workers failed (provision_failed)",
        "12:00:07 5 workers failed (node_unreachable) on 2 boards",
    ]


def test_outage_is_told_when_it_begins_and_as_it_grows(reading: Reading, rows: SiteRows) -> None:
    def bad_run() -> int:
        error = f"pods are unknown: request {time.monotonic_ns()} got 503"
        phases = [{"phase": "sync_workers", "error": error, "success": False}]
        return rows.run(status="partial", phases=phases)

    told: list[int] = []
    marker = None
    for number in range(1, 10):
        last = bad_run()
        found, marker = lines(reading, marker)
        if found:
            [line] = found
            times = "" if number == 1 else f" ({number} times)"
            assert line.startswith(f"11:59:58 run {last} partial{times}: sync_workers: pods are")
            told.append(number)
    assert told == [1, 2, 4, 8]
    for _ in range(4):
        rows.run()
    bad_run()
    [line], _ = lines(reading, marker)
    assert "times" not in line, "another outage is news"


def test_there_are_never_more_than_twenty_and_the_newest_stay(
    reading: Reading, rows: SiteRows
) -> None:
    for number in range(30):
        rows.failed_worker(f"reason_{number}", failed=ago(100 - number), k8s_node=None)
    told, marker = lines(reading)
    assert len(told) == 20
    assert "reason_29" in told[-1]
    assert "reason_10" in told[0]
    assert lines(reading, marker)[0] == []
