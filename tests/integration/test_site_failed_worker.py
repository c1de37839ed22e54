"""The page of a failed worker: everything that was kept of its pod, and whatever shape it has."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from reconcile.kube.diagnosis import described_containers, described_events, described_pod
from static_site import words
from tests.published_site import Site, at
from tests.site_rows import NOW, ago

T1, T2 = "2026-11-18T11:50:00Z", "2026-11-18T11:55:00Z"
# As the cluster tells it; what is kept of it is made by the code that keeps it.
POD: dict[str, Any] = {
    "metadata": {"uid": "u", "creationTimestamp": T1},
    "spec": {"nodeName": "scw-em-rv1-007", "containers": [{"name": "runner"}]},
    "status": {
        "phase": "Failed",
        "reason": "Evicted",
        "message": "The node was low on resource: ephemeral-storage.",
        "conditions": [
            {
                "type": "Ready",
                "status": "False",
                "reason": "PodFailed",
                "message": "",
                "lastTransitionTime": T2,
            }
        ],
        "containerStatuses": [
            {
                "name": "runner",
                "image": "registry.example/ubuntu:prod",
                "ready": False,
                "restartCount": 1,
                "state": {
                    "terminated": {
                        "exitCode": 137,
                        "reason": "OOMKilled",
                        "startedAt": T1,
                        "finishedAt": T2,
                    }
                },
                "lastState": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
            }
        ],
    },
}
EVENTS: list[dict[str, Any]] = [
    {"type": "Normal", "reason": "Scheduled", "message": "Assigned.", "firstTimestamp": T1},
    {
        "type": "Warning",
        "reason": "BackOff",
        "message": 'Get "https://10.1.2.3:10250/x": refused',
        "lastTimestamp": T2,
        "count": 7,
    },
]
FULL = {
    "pod": described_pod(POD),
    "containers": described_containers(POD),
    "events": described_events(EVENTS),
    "logs": {"runner": "first line\nlast line\n"},
    "errors": ["Reading the events: 500 dial tcp 10.1.2.3:443: refused"],
}


@pytest.fixture
def site(file_site: Site) -> Site:
    """The place does not matter here."""
    return file_site


def page(site: Site, worker: str) -> dict[str, Any]:
    assert site.publish().problems == []
    found: dict[str, Any] = site.document(f"workers/{worker}.json")
    return found


def test_page_tells_everything_that_was_kept(site: Site) -> None:
    worker = site.rows.failed_worker("pod_failed", info=FULL, failed=ago(minutes=5))
    job = site.rows.ended_job(ended=ago(minutes=5), conclusion="failure", k8s_pod=worker)
    found = page(site, worker)
    assert found["image"] == "registry.example/ubuntu:prod"
    assert found["reason"] == words.worker_reason("pod_failed")
    assert found["pod"] == [
        ["phase", "Failed"],
        ["reason", "Evicted"],
        ["message", "The node was low on resource: ephemeral-storage."],
        ["node", "scw-em-rv1-007"],
        ["created at", T1],
        ["started at", T1],
        ["finished at", T2],
    ]
    assert found["conditions"] == [
        {"type": "Ready", "status": "False", "reason": "PodFailed", "message": None, "at": T2}
    ]
    assert found["containers"] == [
        {
            "name": "runner",
            "image": "registry.example/ubuntu:prod",
            "ready": False,
            "restart_count": 1,
            "state": "terminated",
            "details": [
                ["reason", "OOMKilled"],
                ["exit code", "137"],
                ["started at", T1],
                ["finished at", T2],
            ],
            "last_state": "waiting",
            "last_details": [["reason", "CrashLoopBackOff"], ["message", "back-off"]],
        }
    ]
    assert [(each["reason"], each["count"], each["time"]) for each in found["events"]] == [
        ("Scheduled", 1, T1),
        ("BackOff", 7, T2),
    ]
    assert found["events"][1]["message"] == 'Get "https://…/x": refused'
    assert found["logs"] == [{"container": "runner", "text": "first line\nlast line\n"}]
    assert found["logs_hidden"] is False
    assert found["errors"] == ["Reading the events: 500 dial tcp …: refused"]
    row = found["worker"]
    assert (row["name"], row["status"], row["reason"]) == (worker, "failed", "pod_failed")
    assert (row["job"]["id"], row["job"]["conclusion"]) == (job, "failure")
    assert (row["completed_at"], row["run_seconds"]) == (at(ago(minutes=5)), 120)


def test_page_has_it_all_for_people_too(site: Site) -> None:
    worker = site.rows.failed_worker("pod_failed", info=FULL)
    site.rows.ended_job(ended=NOW, job_name="compile", k8s_pod=worker)
    site.publish()
    text = site.text(f"workers/{worker}.html")
    for expected in (
        words.WORKER_REASONS["pod_failed"].words,
        "The node was low on resource: ephemeral-storage.",
        *("OOMKilled", "137", "CrashLoopBackOff", "BackOff", "PodFailed", "last line", "compile"),
    ):
        assert expected in text


def test_job_leads_to_the_page_of_its_failed_worker(site: Site) -> None:
    failed, fine = site.rows.failed_worker(), site.rows.worker(status="completed")
    for worker in (failed, fine, "nobody-knows-it", None):
        site.rows.ended_job(ended=ago(minutes=1), k8s_pod=worker)
    site.publish()
    told = {row["worker"]: row["worker_failed"] for row in site.rows_of("jobs.json")}
    assert told == {failed: True, fine: False, "nobody-knows-it": False, None: False}
    assert f'href="/workers/{failed}"' in site.text("jobs.html")
    assert f'href="/workers/{fine}"' not in site.text("jobs.html")


def test_page_tells_what_came_of_the_job_later(site: Site) -> None:
    """GitHub notices after a while that a runner is lost; meanwhile other workers fail."""
    worker = site.rows.failed_worker("node_unreachable", failed=ago(seconds=5))
    job = site.rows.job(status="running", started_at=ago(minutes=9), k8s_pod=worker)
    assert page(site, worker)["worker"]["job"]["status"] == "running"
    for _ in range(3):
        site.later(minutes=20)
        site.rows.failed_worker(failed=site.now)
        site.publish()
    ended = {"status": "completed", "conclusion": "failure", "completed_at": site.now}
    site.rows.update("jobs", "job_id", job, **ended)
    uploaded = site.later(15).uploads()
    assert f"workers/{worker}.html" in uploaded
    told = site.document(f"workers/{worker}.json")["worker"]["job"]
    assert (told["status"], told["conclusion"]) == ("completed", "failure")
    assert not [path for path in site.later(15).uploads() if path.startswith("workers/")]


def test_page_stays_as_it_is_while_nothing_changes(site: Site) -> None:
    worker = site.rows.failed_worker("node_unreachable")
    site.rows.job(status="running", started_at=ago(minutes=9), k8s_pod=worker)
    site.publish()
    for minutes in (1, 20, 60):
        uploaded = site.later(minutes=minutes).uploads()
        assert not [path for path in uploaded if path.startswith("workers/")]


ODD: list[Any] = [
    None,
    {},
    [],
    ["pod", {"logs": 1}],
    "a text",
    7,
    True,
    {"reason": None},
    {"reason": 7, "message": {"no": "text"}},
    {"reason": "of_tomorrow", "message": ""},
    {"reason": ["?"], "pod": 7, "containers": {}, "events": "none", "logs": [], "errors": {}},
    {"pod": [], "containers": [7, None, "x"], "events": [None, 1], "logs": None, "errors": [7]},
    {"pod": {"conditions": {"a": 1}, "phase": {"x": 1}, "message": ["y"]}},
    {"containers": [{}, {"state": "running"}, {"state": {"running": None}}]},
    {"containers": [{"name": 7, "image": [], "ready": 1, "restart_count": "3", "state": []}]},
    {"containers": [{"state": {"terminated": {"exit_code": None, "message": 7}}}]},
    {"events": [{}, {"time": 7, "type": [], "count": "many", "message": {"a": 1}}]},
    {"logs": {"runner": 7, "": None, "other": ["line"], "last": "a\r\nb\x1b[31m\n"}},
    {"reason": "runner_idle", "logs": {"runner": "x" * 200_000}},
]


@pytest.mark.parametrize("info", ODD, ids=lambda info: str(info)[:40])
def test_page_is_made_whatever_was_kept(site: Site, info: Any) -> None:
    """A row that somebody mended by hand must not stop all other pages."""
    worker = site.rows.failed_worker()
    other = site.rows.failed_worker()
    site.rows.update("workers", "pod_name", worker, failure_info=Jsonb(info))
    found = page(site, worker)
    assert found["reason"]["words"]
    assert f"workers/{other}.html" in site.place.paths()
    assert len(site.rows_of("workers.json")) == 2


def test_worker_without_a_reason_has_a_page_all_the_same(site: Site) -> None:
    worker = site.rows.failed_worker()
    site.rows.update("workers", "pod_name", worker, failure_info=None)
    found = page(site, worker)
    assert found["reason"] == words.worker_reason("unknown")
    [row] = site.rows_of("workers.json")
    assert (row["reason"], row["message"]) == ("unknown", None)
    for name in ("pod", "conditions", "containers", "events", "logs", "errors"):
        assert found[name] == []


def test_failed_workers_of_a_busy_day_have_pages_from_the_first_publishing_on(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that are too old for the newest pages: the day's files lead to them."""
    monkeypatch.setattr("static_site.archive.AUDITED_WORKERS", 1)
    old = [site.rows.failed_worker(failed=ago(hours=6, minutes=n)) for n in range(3)]
    with site.rows.database.connect() as connection:
        connection.execute(
            "INSERT INTO workers (pod_name, provider, entity_id, entity_name, entity_type,"
            " installation_id, k8s_pool, k8s_image, status, created_at)"
            " SELECT 'rise-' || n, 'github', 1, 'o', 'Organization', 1, 'p', 'i', 'completed',"
            " %s::timestamptz - n * interval '1 s' FROM generate_series(1, 1300) AS n",
            [NOW],
        )
    site.publish()
    assert {f"workers/{name}.html" for name in old} <= site.place.paths()
