"""Demand that comes, goes and changes its mind."""

from collections.abc import Iterator

import pytest

from tests.database import Database
from tests.system import System, system


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


def troubles(s: System) -> list[tuple[int, str]]:
    rows = s.database.rows("SELECT failures, reason FROM demand_back_off")
    return [(row["failures"], row["reason"]) for row in rows]


def test_cancelled_job_leaves_no_back_off_behind(s: System) -> None:
    s.boards(1)
    run = s.push()
    s.ticks(1)
    s.world.github.engine.cancel(run)
    s.ticks(60)
    assert s.reasons() == ["runner_idle"]
    assert troubles(s) == []
    again = s.push()
    s.ticks(1)
    assert [row["status"] for row in s.workers()] == ["failed", "pending"], "tried at once"
    s.ticks(40)
    assert again.conclusion == "success"


def test_job_that_its_runners_never_get_backs_off(s: System) -> None:
    """A group that is closed to public repositories keeps them apart."""
    s.boards(1)
    public = s.world.github.accounts.add_repository(s.organization, "llvm-project")
    s.push(public)
    s.ticks(60)
    assert s.reasons() == ["runner_idle"]
    assert troubles(s) == [(1, "runner_idle")]


def test_job_taken_by_somebody_elses_runner_gets_no_second_one(s: System) -> None:
    s.push()
    s.ticks(1)
    [job] = s.jobs()
    s.database.execute(
        "UPDATE jobs SET status = 'running', k8s_pod = 'their-own-runner' WHERE job_id = %s",
        job["job_id"],
    )
    s.boards(1)
    s.ticks(4)
    assert s.workers() == []
