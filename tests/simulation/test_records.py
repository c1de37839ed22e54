"""What runs leave behind for others to read: the boards they saw, and records that are closed."""

from collections.abc import Iterator
from dataclasses import asdict

import pytest

from reconcile import store
from reconcile.settings import RunLimits
from reconcile.sim import faults
from reconcile.store.runs import Totals
from tests.database import Database
from tests.system import BOARD, System, system


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


def boards(s: System) -> dict[str, tuple[int, int, int, int]]:
    return {
        row["k8s_pool"]: (row["slots"], row["usable"], row["in_use"], row["free"])
        for row in s.database.rows("SELECT * FROM boards")
    }


def test_boards_are_recorded_as_the_run_saw_them(s: System) -> None:
    s.boards(3)
    s.boards(1, "scw-em-rv2")
    s.push()
    s.ticks(4)
    assert boards(s) == {BOARD: (3, 3, 1, 2), "scw-em-rv2": (1, 1, 0, 1)}
    s.world.cluster.cordon(f"{BOARD}-002")
    s.ticks(1)
    assert boards(s)[BOARD] == (3, 2, 1, 1)


def test_listing_failure_leaves_the_boards_as_they_were(s: System) -> None:
    s.boards(2)
    s.ticks(1)
    before = s.database.rows("SELECT * FROM boards")
    s.world.faults.always("k8s.list_nodes", faults.status(500))
    s.ticks(1, good=False)
    assert s.database.rows("SELECT * FROM boards") == before != []


def test_pool_without_nodes_is_forgotten(s: System) -> None:
    s.boards(1)
    s.boards(1, "scw-em-rv2")
    s.ticks(1)
    s.world.cluster.remove_node("scw-em-rv2-001")
    s.ticks(1)
    assert set(boards(s)) == {BOARD}


def test_record_of_a_killed_run_is_closed_by_the_next(s: System) -> None:
    s.database.execute("INSERT INTO reconcile_runs (started_at) VALUES (now() - interval '1 hour')")
    s.good_run()
    killed, good = s.database.rows("SELECT * FROM reconcile_runs ORDER BY id")
    assert (killed["status"], good["status"]) == ("failed", "completed")
    assert killed["completed_at"] == good["started_at"]
    assert "did not come to its end" in killed["error"]


def test_every_total_is_in_the_record(s: System) -> None:
    now, totals = s.world.time.clock.now(), Totals(1, 2, 3, 4, 5, 6)
    with store.connect(s.config().conninfo, "prod", RunLimits()) as database:
        number = store.runs.start(database, now)
        store.runs.finish(database, number, "completed", None, [], totals, now)
    [record] = s.database.rows("SELECT * FROM reconcile_runs")
    assert {name: record[name] for name in asdict(totals)} == asdict(totals)
