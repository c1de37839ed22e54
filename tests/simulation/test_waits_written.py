"""When what pending jobs wait for is written down, when it is not, and what that costs."""

from collections.abc import Iterator

import pytest

from reconcile.dry_run import dry_run
from reconcile.sim import faults
from tests.database import Database
from tests.simulation import situations as it
from tests.simulation.test_waits import arrived, rows, told, waits
from tests.system import System, system


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


def full(s: System) -> None:
    """The only board is taken, by a job of a personal account that goes on for long."""
    s.boards(1)
    it.working(s, s.personal, seconds=36_000)
    assert rows(s) == []


@pytest.mark.parametrize("listing", ["k8s.list_pods", "k8s.list_nodes"])
def test_listing_failure_leaves_the_rows_as_they_were(s: System, listing: str) -> None:
    s.boards(1)
    arrived(s, count=2)
    s.good_run()
    before = rows(s)
    assert told(before[0]) == (2, 1, "no_board", None)
    arrived(s, s.personal)
    s.world.faults.always(listing, faults.status(500))
    s.ticks(8, good=False)
    assert rows(s) == before
    s.world.faults.clear()
    s.ticks(1, good=False)
    assert len(rows(s)) == 2


def test_nothing_is_left_when_nothing_waits(s: System) -> None:
    s.boards(1)
    run = s.push(count=3, seconds=30)
    s.push(s.personal, seconds=30)
    s.ticks(30)
    assert it.conclusions(run) == {"success"}
    assert rows(s) == []


def test_dry_run_writes_nothing(s: System) -> None:
    s.boards(1)
    arrived(s, count=2)
    dry_run(s.config())
    assert rows(s) == []
    s.good_run()
    before = rows(s)
    s.world.time.step(600)
    arrived(s, s.personal)
    dry_run(s.config())
    assert rows(s) == before != []


def test_row_in_which_nothing_changed_is_written_anew_once_a_minute(s: System) -> None:
    full(s)
    arrived(s)
    s.good_run()
    [first] = rows(s)
    for _ in range(4):
        s.ticks(1)
        assert rows(s) == [first]
    s.ticks(1)
    [second] = rows(s)
    assert second["version"] != first["version"]
    assert told(second) == told(first)
    assert second["planned_at"] == s.world.time.clock.now()
    s.push()
    s.ticks(1)
    [third] = rows(s)
    assert (third["pending"], third["planned_at"]) == (2, s.world.time.clock.now())


def test_row_says_how_many_runners_its_account_may_have_and_is_written_anew_when_that_changes(
    s: System,
) -> None:
    full(s)
    arrived(s)
    s.good_run()
    [first] = rows(s)
    assert first["max_workers"] == 20
    s.toml = f"[entities.{s.organization.id}]\nmax_workers = 3\n"
    s.ticks(1)
    [second] = rows(s)
    assert (second["max_workers"], told(second)) == (3, told(first))
    assert second["planned_at"] == s.world.time.clock.now()


@pytest.mark.parametrize("order", ["fifo", "fair"])
def test_boards_say_in_which_order_they_are_given(s: System, order: str) -> None:
    s.boards(2)
    s.good_run()
    s.toml = f"scheduling = '{order}'\n"
    s.ticks(1)
    assert s.database.rows("SELECT scheduling FROM boards") == [{"scheduling": order}]


def test_row_of_a_clock_that_was_ahead_is_written_anew(s: System) -> None:
    arrived(s)
    s.good_run()
    s.database.execute("UPDATE demand_waits SET planned_at = planned_at + interval '1 day'")
    s.ticks(1)
    assert rows(s)[0]["planned_at"] == s.world.time.clock.now()


def test_what_is_provisioned_is_told_also_if_the_waits_cannot_be_written(s: System) -> None:
    """An older database, say."""
    s.boards(1)
    arrived(s, count=2)
    s.database.execute("ALTER TABLE demand_waits RENAME TO hidden")
    report = s.run()
    assert report.status == "partial"
    assert "save_plan" in it.problems(report)
    assert report.totals.workers_provisioned == len(s.pods()) == 1


# What it costs ---------------------------------------------------------------------------------


def test_github_is_asked_nothing_for_it(s: System) -> None:
    s.toml = "[run]\npoll_interval = 3600\nwebhook_interval = 3600\nsweep_interval = 3600\n"
    full(s)
    arrived(s, count=3)
    s.good_run()
    before = len(s.world.github_server.calls)
    s.world.time.step(15)
    s.good_run()
    assert waits(s) == (3, 0, "no_board", None)
    assert len(s.world.github_server.calls) == before


def test_as_many_statements_for_many_demands_as_for_one(s: System) -> None:
    full(s)
    arrived(s)
    s.good_run()
    s.world.time.step(15)
    one = s.good_run().statements
    for number in range(8):
        _, repository, _ = s.tenant(f"org-{number}")
        arrived(s, repository)
    s.good_run()
    s.world.time.step(15)
    assert s.good_run().statements == one
    assert len(rows(s)) == 9
