"""Lessons 13 to 15: starving and storming. Whole runs on the simulated world."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconcile.sim.cluster.images import Behaviour, Image
from reconcile.sim.github.model import Run
from tests.database import Database
from tests.simulated import LABEL
from tests.simulation import situations as it
from tests.system import System, system

ROUTES = """
[[route]]
labels = ["ubuntu-24.04-riscv"]
pool = "scw-em-rv1"
image = "registry.example/good:1"

[[route]]
labels = ["other"]
pool = "scw-em-rv1"
image = "registry.example/bad:1"

[[route]]
labels = ["other", "ubuntu-24.04-riscv"]
pool = "scw-em-rv1"
image = "registry.example/both:1"
"""
GOOD, BAD, BOTH = (f"registry.example/{name}:1" for name in ("good", "bad", "both"))
MATRIX = 200


@pytest.fixture
def s(database: Database, tmp_path: Path) -> Iterator[System]:
    routes = tmp_path / "routes.toml"
    routes.write_text(ROUTES)
    with system(database, routes_file=routes) as made:
        yield made


def boards_of(s: System) -> Counter[str]:
    active = [row for row in s.workers() if row["status"] in ("pending", "running")]
    return Counter(row["entity_name"] for row in active)


def status(run: Run) -> str:
    return str(run.jobs[0].status)


# 13: demand that always fails ------------------------------------------------------------------


def failed_until(s: System, failures: int) -> None:
    """With a run every 15 seconds."""
    for _ in range(300):
        s.world.time.step(15)
        s.good_run()
        if it.trouble(s) and it.trouble(s)[0]["failures"] == failures:
            return
    pytest.fail(f"there were no {failures} failures")


def test_lesson_13_a_demand_that_always_fails_backs_off_and_is_parked(s: System) -> None:
    s.world.cluster.set_image(BAD, Image(behaviour=Behaviour.CRASHES))
    s.boards(1)
    s.push(labels=("other",))
    for failures, wait in ((1, 30), (2, 60), (3, 120), (4, 240), (5, 3600)):
        failed_until(s, failures)
        [row] = it.trouble(s)
        seconds = (row["retry_at"] - row["failed_at"]).total_seconds()
        assert 0.8 * wait <= seconds <= min(1.2 * wait, 3600)
        assert row["parked"] is (failures == 5)
        assert row["reason"] == "pod_failed"
        assert len(s.workers()) == failures, "one attempt at a time, and none too soon"
    [job] = s.jobs()
    assert (job["status"], job["failure_info"]["reason"]) == ("pending", "demand_parked")
    assert job["failure_info"]["failures"] == 5
    assert job["failure_info"]["last_reason"] == "pod_failed"


def test_lesson_13_an_image_that_is_missing_backs_off_too(s: System) -> None:
    s.world.cluster.set_image(BAD, Image(behaviour=Behaviour.MISSING))
    s.boards(1)
    s.push(labels=("other",))
    s.world.time.step(2)
    for failures in (1, 2, 3):
        s.good_run()
        s.world.time.step(600)
        s.good_run()
        assert [row["failures"] for row in it.trouble(s)] == [failures]
        s.good_run()
        assert len(s.workers()) == failures, "not again at once"
        s.world.time.step(150)
    assert set(s.reasons()) == {"pod_stuck_pending"}


def test_lesson_13_a_failing_demand_does_not_eat_the_slot_of_those_behind_it(s: System) -> None:
    s.world.cluster.set_image(BAD, Image(behaviour=Behaviour.CRASHES))
    s.boards(1)
    s.push(labels=("other",), count=3)
    s.world.time.step(2)
    behind = s.push(count=2, seconds=60)
    s.ticks(25)
    assert it.conclusions(behind) == {"success"}
    assert "other" in s.workers()[0]["job_labels"]


def test_lesson_13_one_worker_of_a_failing_demand_proves_itself_before_the_next(s: System) -> None:
    s.world.cluster.set_image(BAD, Image(behaviour=Behaviour.CRASHES))
    s.boards(4)
    s.push(labels=("other",), count=4)
    s.world.time.step(2)
    s.good_run()
    assert len(s.workers()) == 4
    failed_until(s, 1)
    failed_until(s, 2)
    assert len(s.workers()) == 8, "the second attempt is a whole one too"
    failed_until(s, 3)
    assert len(s.workers()) == 9
    failed_until(s, 4)
    assert len(s.workers()) == 10


def test_lesson_13_what_works_again_is_forgiven(s: System) -> None:
    s.world.cluster.set_image(BAD, Image(behaviour=Behaviour.CRASHES))
    s.toml = "[back_off]\npark_after = 2\nlongest = 600\n"
    s.boards(2)
    run = s.push(labels=("other",), count=2, seconds=60)
    failed_until(s, 2)
    s.good_run()
    assert it.job_reasons(s) == ["demand_parked"] * 2
    s.world.cluster.set_image(BAD, Image())
    s.world.time.step(600)
    s.good_run()
    s.ticks(5)
    assert it.trouble(s) == []
    assert "demand_parked" not in it.job_reasons(s)
    s.ticks(10)
    assert it.conclusions(run) == {"success"}
    assert it.job_reasons(s) == [None, None]


# 14: one tenant's matrix -----------------------------------------------------------------------


def test_lesson_14_a_cap_leaves_boards_to_everybody_else(s: System) -> None:
    s.toml = "default_max_workers = 3\n"
    _, small, _ = s.tenant("smallorg")
    s.boards(5)
    s.push(count=MATRIX, seconds=3600)
    s.world.time.step(2)
    s.good_run()
    assert boards_of(s) == {"riseproject": 3}
    for _ in range(2):
        s.push(small, seconds=3600)
    s.world.time.step(15)
    s.good_run()
    assert boards_of(s) == {"riseproject": 3, "smallorg": 2}
    s.ticks(4)
    assert boards_of(s) == {"riseproject": 3, "smallorg": 2}


def test_lesson_14_a_cap_of_its_own_is_an_entitys(s: System) -> None:
    s.toml = f"default_max_workers = 1\n[entities.{s.organization.id}]\nmax_workers = 4\n"
    _, small, _ = s.tenant("smallorg")
    s.boards(8)
    s.push(count=MATRIX, seconds=3600)
    s.push(small, count=3, seconds=3600)
    s.world.time.step(2)
    s.good_run()
    assert boards_of(s) == {"riseproject": 4, "smallorg": 1}


@pytest.mark.parametrize(("scheduling", "small_boards"), [("fifo", 0), ("fair", 2)])
def test_lesson_14_fair_gives_the_next_board_to_whom_has_fewest(
    s: System, scheduling: str, small_boards: int
) -> None:
    s.toml = f'scheduling = "{scheduling}"\ndefault_max_workers = {MATRIX}\n'
    _, small, _ = s.tenant("smallorg")
    s.push(count=MATRIX, seconds=3600)
    s.world.time.step(2)
    s.push(small, count=50, seconds=3600)
    s.world.time.step(2)
    s.boards(4)
    s.good_run()
    assert boards_of(s)["smallorg"] == small_boards
    assert sum(boards_of(s).values()) == 4


def test_lesson_14_fair_takes_no_board_away_and_gives_each_that_comes_free(s: System) -> None:
    s.toml = 'scheduling = "fair"\n'
    _, small, _ = s.tenant("smallorg")
    s.boards(4)
    it.working(s, count=MATRIX, seconds=300)
    s.push(small, count=3, seconds=3600)
    s.world.time.step(2)
    s.good_run()
    assert boards_of(s) == {"riseproject": 4}
    s.world.time.step(320)
    s.good_run()
    assert boards_of(s) == {"riseproject": 2, "smallorg": 2}


# 15: a runner takes a job of another label set -------------------------------------------------


def test_lesson_15_the_books_come_out_right_when_a_runner_took_another_sets_job(s: System) -> None:
    """The runner of both labels is there first and takes the older job, of one label, whose own
    runner then has nothing to do: it cannot take the other job, which needs one more."""
    s.world.cluster.set_image(GOOD, Image(pull_seconds=180))
    s.boards(3)
    one = s.push(seconds=900)
    s.world.time.step(1)
    both = s.push(labels=("other", LABEL), seconds=900)
    s.world.time.step(2)
    s.good_run()
    assert len(s.workers()) == 2
    s.world.time.step(60)
    assert one.jobs[0].runner is not None
    assert set(one.jobs[0].runner.labels) == {"other", LABEL}
    assert status(both) == "queued"
    s.good_run()
    assert len(s.workers()) == 3, "the job that was passed over gets a runner of its own"
    s.ticks(6)
    assert status(both) == "in_progress"
    assert len(s.workers()) == 3
    s.world.time.step(800)
    s.good_run()
    s.world.time.step(300)
    s.good_run()
    assert it.conclusions(one) | it.conclusions(both) == {"success"}
    assert sorted(s.statuses()[1]) == ["completed", "completed", "failed"]
    assert s.reasons() == ["runner_idle"], "the one that nobody needed"
    assert s.runners() == []
    assert len(s.workers()) == 3


def test_lesson_15_a_runner_that_is_still_free_is_not_made_a_second_time(s: System) -> None:
    """Its job went to a runner of another set; the next job of its own set is its."""
    s.world.cluster.set_image(GOOD, Image(pull_seconds=180))
    s.boards(3)
    s.push(seconds=900)
    s.world.time.step(1)
    s.push(labels=("other", LABEL), seconds=900)
    s.world.time.step(2)
    s.good_run()
    s.world.time.step(60)
    s.good_run()
    later = s.push(seconds=60)
    s.ticks(14)
    assert len(s.workers()) == 3
    assert it.conclusions(later) == {"success"}


def test_lesson_15_a_job_that_a_foreign_runner_took_leaves_its_worker_to_the_next(
    s: System,
) -> None:
    s.boards(2)
    first = it.provisioned(s, seconds=900)
    it.online(s, "somebody-elses")
    s.world.time.step(2)
    assert it.busy_names(s) == ["somebody-elses"]
    second = s.push(seconds=60)
    s.ticks(10)
    assert len(s.workers()) == 1
    assert it.conclusions(second) == {"success"}
    assert status(first) == "in_progress"
