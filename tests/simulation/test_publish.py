"""The run's last phase: the site shows what the run saw and did, and takes nothing else with it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconcile import site
from reconcile.run import RunReport
from reconcile.store.runs import PhaseRecord
from static_site import reading
from tests.database import Database
from tests.site_rows import NOW
from tests.system import System, system


@pytest.fixture
def s(database: Database, tmp_path: Path) -> Iterator[System]:
    with system(database) as made:
        made.environment["SITE_URL"] = f"file://{tmp_path}/site"
        yield made


@pytest.fixture
def page(tmp_path: Path) -> Any:
    def read(name: str) -> Any:
        return json.loads((tmp_path / "site" / f"{name}.json").read_text())

    return read


def published(s: System) -> int:
    [row] = s.database.rows("SELECT objects_published FROM reconcile_runs ORDER BY id DESC LIMIT 1")
    return int(row["objects_published"])


def test_run_publishes_what_it_saw_and_what_it_did(s: System, page: Any) -> None:
    s.boards(2)
    s.push(count=3)
    s.world.time.step(5)
    report = s.good_run()
    assert [phase.phase for phase in report.phases][-1] == "publish"
    assert page("index")["boards"] == [
        {"pool": "scw-em-rv1", "slots": 2, "in_use": 0, "free": 2, "unusable": 0}
    ]
    [group] = page("usage")["groups"]
    assert (group["pending"], group["workers_pending"]) == (3, 2)
    assert [(each["count"], each["waiting"]["reason"]) for each in group["waits"]] == [
        (2, "runner"),
        (1, "no_board"),
    ]
    assert published(s) > 10


def test_jobs_are_followed_to_their_end(s: System, page: Any) -> None:
    s.boards(1)
    s.push(seconds=30)
    s.ticks(10)
    [job] = page("jobs")["rows"]
    assert (job["status"], job["conclusion"]) == ("completed", "success")
    [worker] = page("workers")["rows"]
    assert worker["job"]["id"] == job["id"]
    assert page("usage")["groups"] == []
    assert {each["status"] for each in page("runs")["rows"]} == {"completed"}


def test_run_that_changed_nothing_publishes_nothing(s: System) -> None:
    s.ticks(2)
    s.world.time.step(1)
    s.good_run()
    assert published(s) == 0


def test_without_a_site_nothing_is_published(s: System, tmp_path: Path) -> None:
    del s.environment["SITE_URL"]
    report = s.good_run()
    assert "publish" not in [phase.phase for phase in report.phases]
    assert not (tmp_path / "site").exists()


def test_site_that_cannot_be_published_stops_nothing_else(s: System, tmp_path: Path) -> None:
    (tmp_path / "site").write_text("a file where a directory should be")
    s.boards(1)
    s.push()
    s.world.time.step(5)
    report = s.run()
    assert report.status == "partial"
    assert [phase.phase for phase in report.phases if not phase.success] == ["publish"]
    assert len(s.pods()) == 1
    (tmp_path / "site").unlink()
    s.world.time.step(15)
    s.good_run()
    assert (tmp_path / "site" / "index.html").exists()


def test_run_leaves_publishing_to_whoever_is_at_it(s: System) -> None:
    with reading.connect(s.database.role_url("prod_reconcile"), "prod"):
        report = s.good_run()
    assert report.phases[-1].impact == "publishing left to another: 1"


def test_everything_is_published_after_the_run_that_is_at_it(s: System) -> None:
    s.good_run()
    publisher = site.publisher(s.config())
    assert publisher is not None
    waited: list[float] = []
    busy = reading.connect(s.database.role_url("prod_reconcile"), "prod")
    busy.__enter__()

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        busy.__exit__(None, None, None)

    publisher.publish_everything(s.world.time.clock.now, 60, sleep)
    assert len(waited) == 1


@pytest.mark.parametrize(
    ("work", "publishing", "status"),
    [
        (True, True, "completed"),
        (True, False, "partial"),
        (False, True, "failed"),
        (False, False, "failed"),
    ],
)
def test_run_that_could_do_nothing_is_no_better_for_what_it_did_after_the_work(
    work: bool, publishing: bool, status: str
) -> None:
    phases = [
        PhaseRecord(name, success, "", None, None, 0.1)
        for name, success in (
            ("sync_jobs", work),
            ("demand_match", work),
            ("retention", publishing),
            ("publish", publishing),
        )
    ]
    assert RunReport(NOW, 1, phases).status == status
