"""What is old goes a part at each run, and is in nobody's way meanwhile."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconcile.dry_run import Forecast, dry_run
from tests.database import Cluster, Database
from tests.simulation import situations as it
from tests.simulation.crashing import Point, When, watched_run
from tests.simulation.history import DAY, WEEK, backlog, counts, days, done, impact
from tests.system import TICK, System, system


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        made.toml = WEEK
        yield made


# A part at each run ----------------------------------------------------------------------------


def test_a_backlog_goes_in_batches_one_at_each_run(s: System) -> None:
    backlog(s, 2_500)
    kept = counts(s)
    seen = []
    for _ in range(4):
        report = s.good_run()
        seen.append(impact(report))
        s.world.time.step(TICK)
    assert seen == [
        "events removed: 1000, jobs removed: 1000, workers removed: 1000, runs removed: 1000",
        "events removed: 1000, jobs removed: 1000, workers removed: 1000, runs removed: 1000",
        # Each run's own row makes room for one more.
        "events removed: 500, jobs removed: 500, workers removed: 500, runs removed: 503",
        "runs removed: 1",
    ]
    assert counts(s) == {
        "events": kept["events"] - 2_500,
        "jobs": 0,
        "workers": 0,
        "runs": 1_000,
    }


def test_the_oldest_go_first(s: System) -> None:
    s.toml = WEEK + "batch = 3\n"
    backlog(s, 8, runs=0)
    s.good_run()
    assert [row["job_id"] for row in s.jobs()] == [1004, 1005, 1006, 1007, 1008]
    assert [row["pod_name"] for row in s.workers()] == [f"old-{n}" for n in (4, 5, 6, 7, 8)]
    left = s.database.rows("SELECT job_id FROM installation_events WHERE job_id > 0 ORDER BY id")
    assert [row["job_id"] for row in left] == [1004, 1005, 1006, 1007, 1008]


def test_it_takes_one_statement_and_one_more_if_something_goes(s: System) -> None:
    s.toml = WEEK + "batch = 3\n"
    s.good_run()
    s.world.time.step(TICK)
    idle = s.good_run().statements
    backlog(s, 5)
    for _ in range(2):
        s.world.time.step(TICK)
        assert s.good_run().statements == idle + 1


# Beside others ---------------------------------------------------------------------------------


def test_what_somebody_holds_is_left_for_later_and_waited_for_by_nobody(s: System) -> None:
    backlog(s, 3, runs=0)
    with s.database.connect() as other, other.transaction():
        other.execute("SELECT FROM jobs WHERE job_id = 1002 FOR UPDATE")
        assert impact(s.good_run()) == "events removed: 3, jobs removed: 2, workers removed: 3"
    s.world.time.step(TICK)
    assert impact(s.good_run()) == "jobs removed: 1"


def test_what_cannot_be_removed_stops_nothing_else(s: System) -> None:
    backlog(s, 3, runs=0)
    s.boards(1)
    s.push()
    s.world.time.step(TICK)
    s.database.execute("REVOKE DELETE ON jobs FROM prod_reconcile")
    report = s.run()
    assert report.status == "partial"
    assert [each.phase for each in report.phases if not each.success] == ["retention"]
    assert "permission denied" in it.problems(report)
    assert len(s.pods()) == 1
    assert counts(s)["events"] > 3
    s.database.execute("GRANT DELETE ON jobs TO prod_reconcile")
    s.world.time.step(TICK)
    assert impact(s.good_run()) == "events removed: 3, jobs removed: 3, workers removed: 3"


def test_days_of_the_site_stay_though_their_rows_go(s: System, tmp_path: Path) -> None:
    s.environment["SITE_URL"] = f"file://{tmp_path}"
    s.boards(1)
    done(s)
    s.world.time.step(DAY)
    s.good_run()
    folder = tmp_path / "days" / "2026-03-02"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    days(s, 8)
    assert s.statuses() == ([], [])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    listed = json.loads((tmp_path / "days.json").read_text())["days"]
    assert (listed[-1]["day"], listed[-1]["jobs"]["rows"]) == ("2026-03-02", 1)
    assert json.loads((tmp_path / "jobs.json").read_text())["rows"] == []
    s.ticks(1)
    s.world.time.step(1)
    assert s.good_run().totals.objects_published == 0, "it has come to rest"


def test_dry_run_tells_what_would_go_and_removes_nothing(s: System) -> None:
    assert "remove" not in dry_run(s.config()).text()
    backlog(s, 3, runs=0)
    before = counts(s)
    forecast: Forecast = dry_run(s.config())
    assert forecast.document()["remove"] == {"events": 3, "jobs": 3, "workers": 3}
    assert "old events to remove: 3" in forecast.text()
    assert counts(s) == before


@pytest.mark.parametrize("when", When)
def test_killed_while_it_removes_the_next_run_goes_on(cluster: Cluster, when: When) -> None:
    effects: list[str] = []
    for point in (None, when):
        with cluster.new_database() as database, system(database) as s:
            s.toml = WEEK
            backlog(s, 30, runs=1_030)
            before = counts(s)
            if point is None:
                effects = watched_run(s)
                continue
            [removing] = [
                number for number, name in enumerate(effects) if name.startswith("db.WITH gone_ev")
            ]
            watched_run(s, Point(removing, when))
            after = counts(s)
            gone = {name: before[name] - after[name] for name in ("events", "jobs", "workers")}
            assert set(gone.values()) == ({0} if when is When.BEFORE else {30})
            s.world.time.step(60)
            s.good_run()
            assert counts(s) == {"events": before["events"] - 30, "jobs": 0, "workers": 0} | {
                "runs": 1_000
            }
