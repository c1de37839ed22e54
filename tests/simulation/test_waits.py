"""What runs write down of what pending jobs wait for: each reason, each kind of demand."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from reconcile import store
from reconcile.clock import Deadline
from reconcile.settings import RunLimits
from reconcile.sim import faults
from reconcile.sim.cluster.images import Behaviour
from reconcile.sim.github.model import Repository
from reconcile.sim.http import Request
from tests.database import Database, Row
from tests.simulated import LABEL
from tests.simulation import situations as it
from tests.simulation.test_edges_going_on import plans
from tests.system import BOARD, System, system

OTHER_BOARD = "scw-em-rv2"
TWO_POOLS = f"""
[[route]]
labels = ["{LABEL}"]
repositories = ["riseproject/other"]
pool = "{OTHER_BOARD}"
image = "registry.example/good:1"

[[route]]
labels = ["{LABEL}"]
pool = "{BOARD}"
image = "registry.example/good:1"
"""
Told = tuple[int, int, str | None, datetime | None]  # pending, covered, waiting_for, wait_until


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


def rows(s: System) -> list[Row]:
    return s.database.rows(
        "SELECT *, xmin::text AS version FROM demand_waits"
        " ORDER BY entity_id, repo_full_name, k8s_pool"
    )


def told(row: Row) -> Told:
    return row["pending"], row["covered"], row["waiting_for"], row["wait_until"]


def waits(s: System) -> Told:
    """Of the only demand that has pending jobs."""
    [row] = rows(s)
    return told(row)


def retry_at(s: System) -> datetime:
    [row] = it.trouble(s)
    moment = row["retry_at"]
    assert isinstance(moment, datetime)
    return moment


def arrived(s: System, repository: Repository | None = None, count: int = 1) -> None:
    """Pushed, and stored by the function."""
    s.push(repository, count=count, seconds=3600)
    s.world.time.step(2)


# One for each reason ---------------------------------------------------------------------------


def test_job_with_a_runner_on_its_way_is_covered_until_it_runs(s: System) -> None:
    s.boards(1)
    it.provisioned(s)
    [row] = rows(s)
    assert told(row) == (1, 1, None, None)
    assert (row["entity_id"], row["repo_full_name"]) == (s.organization.id, "")
    assert (row["job_labels"], row["k8s_pool"]) == ([LABEL], BOARD)
    assert row["planned_at"] == s.world.time.clock.now()
    s.world.time.step(2)
    s.good_run()
    assert waits(s) == (1, 1, None, None), "also when it is an earlier run's"
    s.world.time.step(60)
    s.good_run()
    assert s.statuses() == (["running"], ["running"])
    assert rows(s) == []


def test_jobs_beyond_the_boards_wait_for_one(s: System) -> None:
    s.boards(3)
    arrived(s, count=10)
    s.good_run()
    assert waits(s) == (10, 3, "no_board", None)
    s.world.time.step(60)
    s.good_run()
    assert waits(s) == (7, 0, "no_board", None)


def test_jobs_of_a_pool_without_boards_wait_for_one(s: System) -> None:
    arrived(s)
    s.good_run()
    assert waits(s) == (1, 0, "no_board", None)


@pytest.mark.parametrize("boards", [2, 5])
def test_jobs_beyond_the_cap_wait_for_it_whether_or_not_there_is_a_board(
    s: System, boards: int
) -> None:
    s.toml = "default_max_workers = 2\n"
    s.boards(boards)
    arrived(s, count=4)
    s.good_run()
    assert waits(s) == (4, 2, "cap_reached", None)
    s.world.time.step(60)
    s.good_run()
    assert waits(s) == (2, 0, "cap_reached", None)


@pytest.mark.parametrize(("park_after", "reason"), [(5, "backing_off"), (1, "parked")])
def test_failing_demand_says_when_it_is_tried_again_whether_or_not_there_is_a_board(
    s: System, park_after: int, reason: str
) -> None:
    s.toml = f"[back_off]\npark_after = {park_after}\nfirst = 600\n"
    s.boards(1)
    s.world.cluster.next_pod(Behaviour.CRASHES)
    arrived(s, count=2)
    s.good_run()
    assert waits(s) == (2, 1, "no_board", None)
    s.world.time.step(60)
    s.good_run()
    assert waits(s) == (2, 0, reason, retry_at(s))
    it.provisioned(s, s.personal, seconds=3600)
    [mine] = [row for row in rows(s) if row["entity_id"] == s.organization.id]
    assert told(mine) == (2, 0, reason, retry_at(s)), "nor is it hidden by the board being taken"


def test_while_one_runner_proves_itself_nobody_knows_until_when(s: System) -> None:
    s.boards(3)
    s.world.cluster.next_pod(Behaviour.CRASHES, 6)
    arrived(s, count=3)
    for attempts in (1, 2):
        s.good_run()
        assert waits(s) == (3, 3, None, None)
        s.world.time.step(60)
        s.good_run()
        assert [row["failures"] for row in it.trouble(s)] == [attempts]
        assert waits(s) == (3, 0, "backing_off", retry_at(s))
        s.world.time.step(120)
    s.good_run()
    assert waits(s) == (3, 1, "backing_off", None), "the new one"
    s.good_run()
    assert waits(s) == (3, 1, "backing_off", None), "and an earlier run's"


@pytest.mark.parametrize("boards", [0, 1])
def test_limit_says_when_it_ends_whether_or_not_there_is_a_board(s: System, boards: int) -> None:
    s.boards(boards)
    arrived(s, count=2)
    s.world.time.step(15)
    s.world.faults.next("github.list_run_jobs", faults.rate_limited(retry_after=600))
    until = s.world.time.clock.now() + timedelta(seconds=600)
    s.good_run()
    assert waits(s) == (2, 0, "rate_limited", until)
    s.ticks(1)
    assert waits(s) == (2, 0, "rate_limited", until)


def test_limit_of_the_app_that_gives_the_tokens_is_told_too(s: System) -> None:
    arrived(s)
    s.world.time.step(15)
    s.world.faults.next("github.create_token", faults.rate_limited(retry_after=600))
    until = s.world.time.clock.now() + timedelta(seconds=600)
    s.good_run()
    assert waits(s) == (1, 0, "rate_limited", until)


def test_limit_that_provisioning_itself_uses_up_is_told(s: System) -> None:
    s.toml = "default_max_workers = 1000\n"
    s.boards(220)
    arrived(s, count=220)
    s.good_run()
    pending, covered, reason, until = waits(s)
    assert (pending, covered, reason) == (220, len(s.pods()), "rate_limited")
    now = s.world.time.clock.now()
    assert until is not None
    assert now < until <= now + timedelta(seconds=61)


@pytest.mark.parametrize("boards", [0, 1])
def test_account_that_gives_no_token_is_told_whether_or_not_there_is_a_board(
    s: System, boards: int
) -> None:
    s.boards(boards)
    arrived(s)
    arrived(s, s.personal)
    s.world.github.accounts.suspend(s.installation)
    s.world.github.accounts.suspend(s.personal_installation)
    for _ in range(3):
        s.world.time.step(15)
        s.run()
        assert [told(row) for row in rows(s)] == [(1, 0, "no_access", None)] * 2


# Which demand ----------------------------------------------------------------------------------


def test_personal_accounts_wait_by_repository(s: System) -> None:
    more = s.world.github.accounts.add_repository(s.user, "tools", private=True)
    s.boards(1)
    arrived(s, s.personal, count=2)
    arrived(s, more)
    s.good_run()
    assert [(row["repo_full_name"], *told(row)) for row in rows(s)] == [
        ("octodog/tools", 1, 0, "no_board", None),
        ("octodog/toys", 2, 1, "no_board", None),
    ]


def test_fair_scheduling_covers_each_entitys_share(s: System) -> None:
    s.toml = 'scheduling = "fair"\n'
    small, repository, _ = s.tenant("smallorg")
    arrived(s, count=10)
    arrived(s, repository, count=3)
    s.boards(4)
    s.good_run()
    assert {row["entity_id"]: told(row) for row in rows(s)} == {
        s.organization.id: (10, 2, "no_board", None),
        small.id: (3, 2, "no_board", None),
    }


@pytest.mark.parametrize(("boards", "logged"), [(0, "no_board"), (1, "cap_reached")])
def test_demand_in_two_pools_is_told_by_pool_and_its_oldest_jobs_are_covered(
    database: Database,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    boards: int,
    logged: str,
) -> None:
    """Its one free runner takes the oldest job, which is routed to the other pool: also if no
    board of either is free. Then the plan does not look at them."""
    routes = tmp_path / "routes.toml"
    routes.write_text(TWO_POOLS)
    with system(database, routes_file=routes) as s:
        other = s.world.github.accounts.add_repository(s.organization, "other", private=True)
        arrived(s, other)
        arrived(s)
        s.boards(1)
        s.good_run()
        assert [(row["k8s_pool"], *told(row)) for row in rows(s)] == [
            (BOARD, 1, 1, None, None),
            (OTHER_BOARD, 1, 0, "no_board", None),
        ]
        s.toml = "default_max_workers = 1\n"
        s.boards(boards, OTHER_BOARD)
        capsys.readouterr()
        s.good_run()
        [plan] = plans(capsys)
        assert (plan["waiting_runner"], plan[f"waiting_{logged}"]) == (1, 1)
        assert [(row["k8s_pool"], *told(row)) for row in rows(s)] == [
            (BOARD, 1, 0, "cap_reached", None),
            (OTHER_BOARD, 1, 1, None, None),
        ]


def test_group_is_of_the_installation_of_its_newest_job(s: System) -> None:
    arrived(s, count=3)
    newest = s.jobs()[-1]["job_id"]
    s.database.execute("UPDATE jobs SET installation_id = 99999 WHERE job_id <> %s", newest)
    with store.connect(s.config().conninfo, "prod", RunLimits()) as database:
        [group] = store.demand.groups(database)
    assert group.scope.installation_id == s.installation.id
    assert (group.pending, group.scope.entity_name) == (3, "riseproject")
    assert group.scope.is_organization


# What came of the plan -------------------------------------------------------------------------


def test_jobs_whose_runners_could_not_be_made_are_not_covered_and_back_off(s: System) -> None:
    s.boards(3)
    arrived(s, count=5)
    s.world.faults.next("k8s.create_pod", faults.status(403))
    assert s.run().status == "partial"
    assert len(s.pods()) == 2
    assert waits(s) == (5, 2, "backing_off", retry_at(s))


def test_limit_met_while_a_runner_is_made_is_told(s: System) -> None:
    s.boards(1)
    arrived(s)
    s.world.faults.next("github.create_jit_config_org", faults.rate_limited(retry_after=100))
    until = s.world.time.clock.now() + timedelta(seconds=100)
    s.good_run()
    assert waits(s) == (1, 0, "rate_limited", until)


def test_runner_that_may_have_been_made_covers_its_job(s: System) -> None:
    """Its row waits for the next run to see."""
    s.toml = it.IMPATIENT
    s.boards(1)
    arrived(s)
    s.world.faults.always("k8s.create_pod", faults.reset(after_effect=True))
    s.world.faults.always("k8s.read_pod", faults.status(500))
    s.run()
    assert s.statuses()[1] == ["pending"]
    assert waits(s) == (1, 1, None, None)


def test_runner_that_the_run_had_no_time_for_is_the_next_runs(
    s: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    s.boards(1)
    arrived(s, count=2)

    def its_time_is_over(request: Request) -> None:
        if "runner-groups" in request.path:
            monkeypatch.setattr(Deadline, "passed", True)

    with it.watched(s.world.github_server, its_time_is_over):
        s.run()
    assert s.reasons() == ["provision_failed"]
    assert it.trouble(s) == []
    assert waits(s) == (2, 0, "runner", None)
    monkeypatch.undo()
    s.good_run()
    assert waits(s) == (2, 1, "no_board", None)
