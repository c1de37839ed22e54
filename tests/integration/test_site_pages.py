"""What each page says, from rows: usage and its waits, the overview, health."""

from datetime import timedelta
from typing import Any

import pytest

from reconcile.policy.plan import Wait
from static_site.pages import usage
from tests.published_site import Site, at
from tests.site_rows import LABELS, NOW, POOL, ago

LARGE = ("large", "ubuntu-24.04-riscv")
PERSON = {"entity_id": 2, "entity_name": "ada", "entity_type": "User"}


@pytest.fixture
def site(file_site: Site) -> Site:
    """The place does not matter here."""
    return file_site


# Usage -----------------------------------------------------------------------------------------


def groups(site: Site) -> list[Any]:
    site.publish()
    found: list[Any] = site.document("usage.json")["groups"]
    return found


def told(group: Any) -> list[tuple[int, str, str | None]]:
    waits = [(each["count"], each["waiting"]) for each in group["waits"]]
    return [(count, waiting["reason"], waiting["until"]) for count, waiting in waits]


def test_usage_is_by_account_and_labels_the_busiest_first(site: Site) -> None:
    for _ in range(3):
        site.rows.job(**PERSON, repo_full_name="ada/engine")
    site.rows.job(status="running", started_at=ago(minutes=1))
    site.rows.job(job_labels=LARGE, k8s_pool="cloudv10x")
    site.rows.job(job_labels=LARGE)
    site.rows.worker()
    site.rows.worker(status="pending", k8s_node=None)
    site.rows.worker(entity_id=3, entity_name="idle")
    site.rows.ended_job(ended=ago(minutes=9))
    found = groups(site)
    assert [
        (each["entity"], each["labels"], each["pending"], each["running"]) for each in found
    ] == [
        ("ada", list(LABELS), 3, 0),
        ("riseproject", list(LARGE), 2, 0),
        ("riseproject", list(LABELS), 0, 1),
        ("idle", list(LABELS), 0, 0),
    ]
    assert [each["pools"] for each in found[1:3]] == [["cloudv10x", POOL], [POOL]]
    assert [(each["workers_pending"], each["workers_running"]) for each in found] == [
        *((0, 0), (0, 0), (1, 1), (0, 1))
    ]
    document = site.document("usage.json")
    assert [document[each] for each in ("pending", "running", "workers")] == [5, 1, 3]


@pytest.mark.parametrize("wait", [*Wait, None])
def test_wait_is_told_in_words_with_its_end(site: Site, wait: Wait | None) -> None:
    until = None if wait is None else NOW + timedelta(minutes=4)
    site.rows.boards(usable=4, in_use=4)
    site.rows.job()
    site.rows.waits(wait, wait_until=until)
    [group] = groups(site)
    [row] = site.rows_of("jobs.json")
    [counted] = group["waits"]
    assert counted == {"count": 1, "waiting": row["waiting"]}
    assert row["waiting"]["reason"] == (wait or "new")
    assert row["waiting"]["until"] == (until and at(until))
    for page in ("usage.html", "jobs.html"):
        assert row["waiting"]["words"].replace("'", "&#39;") in site.text(page)


def test_back_off_is_told_with_its_reason(site: Site) -> None:
    back_off = {"failures": 4, "reason": "pod_failed", "failed_at": NOW}
    retry_at = NOW + timedelta(minutes=8)
    for entity, retries in ((1, retry_at), (2, NOW - timedelta(minutes=1))):
        key = {"entity_id": entity, "job_labels": LABELS, "retry_at": retries}
        site.rows.insert("demand_back_off", key | back_off)
    site.rows.job()
    site.rows.waits("backing_off", wait_until=retry_at)
    [group] = groups(site)
    words = "Its runners failed 4 times in a row (pod_failed): the next is tried later."
    assert group["waits"][0]["waiting"]["words"] == words
    assert site.document("index.json")["backing_off"] == 1, "the other is tried again by now"


def test_oldest_jobs_are_those_with_a_runner_on_its_way(site: Site) -> None:
    jobs = [site.rows.job(created_at=ago(minutes=10 - n)) for n in range(5)]
    site.rows.waits("no_board", pending=5, covered=2)
    [group] = groups(site)
    assert told(group) == [(3, "no_board", None), (2, "runner", None)]
    reasons = {row["id"]: row["waiting"]["reason"] for row in site.rows_of("jobs.json")}
    assert [reasons[job] for job in jobs] == ["runner", "runner", *["no_board"] * 3]


def test_pools_of_one_demand_are_covered_each_by_itself(site: Site) -> None:
    first = [site.rows.job(created_at=ago(minutes=10 - n)) for n in range(2)]
    other = [site.rows.job(created_at=ago(minutes=20 - n), k8s_pool="cloudv10x") for n in range(2)]
    site.rows.waits("no_board", pending=2, covered=1)
    site.rows.waits("cap_reached", pending=2, covered=1, k8s_pool="cloudv10x")
    site.publish()
    reasons = {row["id"]: row["waiting"]["reason"] for row in site.rows_of("jobs.json")}
    assert [reasons[job] for job in (*first, *other)] == [
        *("runner", "no_board", "runner", "cap_reached")
    ]


def test_personal_account_waits_by_repository(site: Site) -> None:
    engine = [site.rows.job(**PERSON, repo_full_name="ada/engine") for _ in range(2)]
    notes = [site.rows.job(**PERSON, repo_full_name="ada/notes") for _ in range(2)]
    until = NOW + timedelta(hours=1)
    ada = {"entity_id": 2, "pending": 2}
    site.rows.waits("parked", **ada, repo_full_name="ada/engine", wait_until=until)
    site.rows.waits("no_board", **ada, repo_full_name="ada/notes", covered=1)
    [group] = groups(site)
    assert told(group) == [(2, "parked", at(until)), (1, "runner", None), (1, "no_board", None)]
    reasons = {row["id"]: row["waiting"]["reason"] for row in site.rows_of("jobs.json")}
    assert [reasons[job] for job in (*engine, *notes)] == [
        *("parked", "parked", "runner", "no_board")
    ]


def test_jobs_and_workers_beyond_the_room_of_a_group_are_counted(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "WORKERS_OF_GROUP", 3)
    running = [
        site.rows.job(status="running", started_at=ago(minutes=1), created_at=ago(minutes=n))
        for n in (2, 3)
    ]
    pending = [site.rows.job(created_at=ago(minutes=n)) for n in range(40, 1, -1)]
    workers = [site.rows.worker(created_at=ago(minutes=9 - n)) for n in range(5)]
    [group] = groups(site)
    shown = [each["id"] for each in group["jobs"]]
    assert shown == [*reversed(running), *pending[:23]], "those that run, then the oldest"
    assert (group["pending"], group["more_jobs"]) == (39, 16)
    assert [each["name"] for each in group["workers"]] == workers[:3]
    assert group["more_workers"] == 2


def test_groups_beyond_the_room_of_the_page_are_counted(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "GROUPS", 2)
    for entity in range(5):
        for _ in range(entity + 1):
            site.rows.job(entity_id=entity, entity_name=f"tenant-{entity}")
    assert [each["entity"] for each in groups(site)] == ["tenant-4", "tenant-3"]
    document = site.document("usage.json")
    assert (document["more_groups"], document["pending"]) == (3, 15)


# The overview ----------------------------------------------------------------------------------


def queue(site: Site) -> dict[tuple[str, str], Any]:
    site.publish()
    found = site.document("index.json")["queue"]
    return {(" ".join(each["labels"]), each["pool"]): each for each in found}


def test_queue_is_by_labels_and_pool_the_longest_first(site: Site) -> None:
    site.rows.job(created_at=ago(minutes=9), queued_at=ago(minutes=10))
    site.rows.job(entity_id=2, entity_name="ada", created_at=ago(minutes=20))
    site.rows.job(job_labels=LARGE, k8s_pool="a", status="running", started_at=ago(minutes=1))
    site.rows.job(job_labels=LARGE, k8s_pool="b", status="running", started_at=ago(minutes=1))
    found = queue(site)
    assert list(found) == [(LABELS[0], POOL), (" ".join(LARGE), "a"), (" ".join(LARGE), "b")]
    first = found[LABELS[0], POOL]
    assert (first["pending"], first["running"]) == (2, 0)
    assert first["oldest_queued_at"] == at(ago(minutes=20))
    assert found[" ".join(LARGE), "a"]["oldest_queued_at"] is None
    document = site.document("index.json")
    assert (document["pending"], document["running"]) == (2, 2)


def test_queue_drains_by_its_pools_boards_and_what_jobs_take(site: Site) -> None:
    """Jobs of other labels stand in the same queue."""
    site.rows.boards(slots=3, usable=2, in_use=2)
    site.rows.boards("down", slots=3, usable=0, in_use=0)
    site.rows.boards("fresh", slots=1, usable=1, in_use=0)
    for minutes in (10, 20):
        site.rows.ended_job(ended=ago(days=2), took=minutes * 60)
    for labels in (LABELS, LABELS, LARGE, LARGE):
        site.rows.job(job_labels=labels)
    site.rows.job(k8s_pool="down")
    site.rows.job(k8s_pool="fresh")
    site.rows.job(k8s_pool="unknown")
    site.rows.job(k8s_pool="down", job_labels=LARGE, status="running", started_at=NOW)
    found = {key: (each["drain_seconds"], each["drain"]) for key, each in queue(site).items()}
    soon = (1800, "about 30 min")
    assert found == {
        (LABELS[0], POOL): soon,
        (" ".join(LARGE), POOL): soon,
        (LABELS[0], "down"): (None, "no board can take a job"),
        (LABELS[0], "unknown"): (None, "no board can take a job"),
        (LABELS[0], "fresh"): (
            None,
            "not known yet: no job of this pool ended within a week",
        ),
        (" ".join(LARGE), "down"): (0, "nothing waits"),
    }
    for _, words in found.values():
        assert words in site.text("index.html")


def test_boards_are_in_use_free_or_unusable(site: Site) -> None:
    site.rows.boards("a", slots=10, usable=8, in_use=5)
    site.rows.boards("b", slots=4, usable=0, in_use=4)
    site.publish()
    assert site.document("index.json")["boards"] == [
        {"pool": "a", "slots": 10, "in_use": 5, "free": 3, "unusable": 2},
        {"pool": "b", "slots": 4, "in_use": 4, "free": 0, "unusable": 0},
    ]


def test_figures_stay_for_five_minutes(site: Site) -> None:
    site.publish()
    assert site.document("index.json")["figures"]["day"]["completed"] == 0
    site.rows.ended_job(ended=ago(minutes=1))
    site.later(60).publish()
    assert site.document("index.json")["figures"]["day"]["completed"] == 0
    site.later(240).publish()
    figures = site.document("index.json")["figures"]
    assert (figures["day"]["completed"], figures["at"]) == (1, "2026-11-18T12:05:00Z")


# Health ----------------------------------------------------------------------------------------


def health(site: Site) -> dict[str, Any]:
    site.publish()
    found: dict[str, Any] = site.document("health.json")
    return found


def test_health_before_any_run_knows_none(site: Site) -> None:
    assert health(site) == {
        "environment": "prod",
        "as_of": at(NOW),
        "stale_after_seconds": 180,
        "boards_observed_at": None,
        "last_run": None,
        "last_worked_at": None,
    }
    site.rows.run(status="running", completed_at=None)
    assert health(site.later(15))["last_run"] is None, "the one that publishes is not over"


def test_health_tells_the_last_run_and_the_last_that_worked(site: Site) -> None:
    site.rows.boards()
    worked = ago(minutes=9)
    site.rows.run(started_at=worked, completed_at=worked, status="partial")
    site.rows.run(started_at=ago(minutes=7), status="failed", error="down")
    failed = site.rows.run(started_at=ago(minutes=5), status="failed", error="down")
    site.rows.run(started_at=ago(minutes=1), status="running", completed_at=None)
    found = health(site)
    assert found["last_run"] == {
        "id": failed,
        "status": "failed",
        "started_at": at(ago(minutes=5)),
        "completed_at": at(ago(minutes=5) + timedelta(seconds=1)),
    }
    assert found["last_worked_at"] == at(worked)
    assert found["boards_observed_at"] == at(NOW)


def test_run_that_found_nothing_to_do_counts_for_health(site: Site) -> None:
    site.rows.run(started_at=ago(minutes=9))
    idle = site.rows.run(started_at=ago(minutes=1), jobs_updated=0)
    found = health(site)
    assert found["last_run"]["id"] == idle
    assert found["last_worked_at"] == at(ago(minutes=1) + timedelta(seconds=1))
