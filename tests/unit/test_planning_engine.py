"""Plans that can be worked out by hand."""

from datetime import UTC, datetime, timedelta

import pytest

from reconcile.demo.planning.engine import Pace, Planned, simulate
from reconcile.demo.planning.load import LoadJob
from reconcile.demo.planning.series import Moment, in_steps
from reconcile.demo.planning.waits import waits_of
from reconcile.settings import Scheduling, Settings

BEGINNING = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
# A run hears of a job after 1 s, a runner takes one 4 s after that; a board is free 1 s after its
# job. Runs are 10 s apart.
PACE = Pace(interval=10, notice=1, run=0, start=4, pull=0, stop=1)
FAIR = Settings(scheduling=Scheduling.FAIR)


def at(second: float) -> datetime:
    return BEGINNING + timedelta(seconds=second)


def job(
    second: float = 0,
    seconds: float = 100,
    entity: str = "rise",
    *,
    repository: str | None = None,
    labels: tuple[str, ...] = ("riscv",),
    pool: str = "p",
) -> LoadJob:
    return LoadJob(entity, repository, labels, pool, at(second), seconds)


def waits(
    jobs: list[LoadJob], settings: Settings | None = None, **boards: int
) -> list[float | None]:
    return list(simulate(jobs, boards, settings or Settings(), PACE).waits)


# Boards and runs ---------------------------------------------------------------------------------


def test_job_on_a_free_board_waits_for_its_runner_only() -> None:
    assert waits([job()], p=1) == [5]


def test_second_job_on_one_board_gets_the_run_after_the_first_one() -> None:
    """The first starts at 5, its board is free at 106; runs are at 1, 11, … 101, 111."""
    assert waits([job(), job()], p=1) == [5, 115]


def test_each_new_job_starts_a_run_and_the_interval_anew() -> None:
    """Runs at 1, 91, 101, 111 with the second job; at 1, 99, 109 with one that comes at 98."""
    assert waits([job(), job(90)], p=1) == [5, 111 + 4 - 90]
    assert waits([job(), job(98)], p=1) == [5, 109 + 4 - 98]


def test_new_job_brings_a_run_that_finds_what_is_free() -> None:
    """At 108, not at 111: for the job that waited; the one that came has to wait in turn."""
    first, second, third = waits([job(), job(), job(107)], p=1)
    assert (first, second) == (5, 112)
    # 112 + 100 + 1 is 213; runs are at 108, 118, … 218.
    assert third == 218 + 4 - 107


def test_what_ends_at_the_moment_of_a_run_is_seen_by_it() -> None:
    assert waits([job(seconds=95), job()], p=1) == [5, 105]


def test_jobs_of_one_moment_share_a_run() -> None:
    assert waits([job() for _ in range(3)], p=3) == [5, 5, 5]


def test_board_that_never_had_a_pod_pulls_its_image_first() -> None:
    pace = Pace(interval=10, notice=1, start=4, pull=20, stop=1)
    planned = simulate([job(), job()], {"p": 1}, Settings(), pace)
    assert planned.waits == [25, 131 + 4]


def test_run_that_takes_time_makes_its_pods_at_its_end() -> None:
    """The one at 1 ends at 4; the job that came meanwhile is for the next, straight after it."""
    pace = Pace(interval=10, notice=1, run=3, start=4, pull=0, stop=1)
    planned = simulate([job(), job(1.5)], {"p": 2}, Settings(), pace)
    assert planned.waits == [1 + 3 + 4, 4 + 3 + 4 - 1.5]


def test_runs_that_are_no_distance_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="some time must pass"):
        Pace(interval=0)


# Order and caps ----------------------------------------------------------------------------------


def test_account_at_its_cap_waits_though_boards_are_free() -> None:
    capped = Settings(default_max_workers=1)
    assert waits([job(), job(), job(0, 100, "other")], capped, p=3) == [5, 115, 5]


def test_caps_of_accounts_go_before_that_of_all() -> None:
    jobs = [job(), job(), job(0, 100, "other"), job(0, 100, "other")]
    planned = simulate(jobs, {"p": 9}, Settings(default_max_workers=1), PACE, caps={"other": 2})
    assert planned.waits == [5, 115, 5, 5]


def test_cap_of_an_account_without_jobs_changes_nothing() -> None:
    assert simulate([job()], {"p": 1}, Settings(), PACE, caps={"nobody": 0}).waits == [5]


def test_first_come_first_served_lets_a_flood_pass_before_who_comes_after_it() -> None:
    flood = [job() for _ in range(4)]
    assert waits([*flood, job(50, 100, "small")], p=2) == [5, 5, 115, 115, 221 + 4 - 50]


def test_fair_order_gives_the_next_board_to_who_has_fewest() -> None:
    """A run at 51, then at 61, …, 111: the flood's third job and the small account's one."""
    flood = [job() for _ in range(4)]
    assert waits([*flood, job(50, 100, "small")], FAIR, p=2) == [5, 5, 115, 225, 111 + 4 - 50]


def test_waits_are_told_in_the_order_of_the_jobs_given() -> None:
    later, sooner = job(50), job(0)
    assert waits([later, sooner], p=1) == [111 + 4 - 50, 5]


# Who takes which ---------------------------------------------------------------------------------


def test_worker_takes_the_oldest_job_of_its_demand_not_the_one_it_was_made_for() -> None:
    """The second job's worker pulls the image until 55. The third's, on a board that has it, is
    there at 42, and takes the second job."""
    pace = Pace(interval=10, notice=1, start=4, pull=20, stop=1)
    planned = simulate([job(0, 10), job(30), job(37)], {"p": 2}, Settings(), pace)
    assert planned.waits == [25, 42 - 30, 55 - 37]


def test_worker_takes_the_oldest_job_of_its_demand_in_whatever_pool() -> None:
    """The one for which there is no board has the other's runner, and the other the next."""
    jobs = [job(0, pool="without"), job(2)]
    assert waits(jobs, p=1) == [7, 113 + 4 - 2]


def test_worker_takes_no_job_of_other_labels_or_another_account() -> None:
    assert waits([job(0, labels=("big",), pool="without"), job(2)], p=1) == [None, 5]
    assert waits([job(0, entity="other", pool="without"), job(2)], p=1) == [None, 5]


def test_personal_accounts_runners_serve_one_repository() -> None:
    toys, tools = job(0, repository="me/toys", pool="without"), job(2, repository="me/tools")
    assert waits([toys, tools], p=1) == [None, 5]
    again = job(2, repository="me/toys")
    assert waits([toys, again], p=1) == [7, 113 + 4 - 2]


def test_personal_accounts_repositories_count_against_one_cap() -> None:
    jobs = [job(repository="me/toys"), job(repository="me/tools")]
    assert waits(jobs, Settings(default_max_workers=1), p=2) == [5, 115]


# Nothing to do -----------------------------------------------------------------------------------


def test_without_jobs_nothing_is_used() -> None:
    assert simulate([], {"p": 1}, Settings(), PACE) == Planned([], {"p": 0.0}, [])


@pytest.mark.parametrize("boards", [{}, {"p": 0}, {"other": 3}])
def test_job_without_a_board_of_its_pool_never_starts(boards: dict[str, int]) -> None:
    planned = simulate([job()], boards, Settings(), PACE)
    assert planned.waits == [None]
    assert planned.never_started == 1
    assert planned.series == [Moment(at(0), 1, 0)]


def test_account_that_may_have_no_worker_never_starts() -> None:
    assert waits([job(), job(3)], Settings(default_max_workers=0), p=1) == [None, None]


# Over time ---------------------------------------------------------------------------------------


def test_use_is_the_part_of_time_that_boards_have_workers() -> None:
    """From 1 to 106 and from 111 to 216, of 216 s."""
    planned = simulate([job(), job()], {"p": 1, "unused": 2}, Settings(), PACE)
    assert planned.uses == {"p": pytest.approx(210 / 216), "unused": 0.0}


def test_series_tells_of_each_change() -> None:
    planned = simulate([job(), job()], {"p": 1}, Settings(), PACE)
    assert planned.series == [
        Moment(at(0), 2, 0),
        Moment(at(1), 2, 1),
        Moment(at(5), 1, 1),
        Moment(at(106), 1, 0),
        Moment(at(111), 1, 1),
        Moment(at(115), 0, 1),
        Moment(at(216), 0, 0),
    ]


def test_steps_have_the_most_of_their_time() -> None:
    found = [Moment(at(0), 2, 0), Moment(at(11), 5, 3), Moment(at(12), 1, 1), Moment(at(40), 0, 0)]
    assert in_steps(found, at(0), at(40), 4) == [
        Moment(at(0), 2, 0),
        Moment(at(10), 5, 3),
        Moment(at(20), 1, 1),
        Moment(at(30), 1, 1),
    ]


def test_one_moment_can_be_cut_into_steps() -> None:
    steps = in_steps([Moment(at(0), 1, 0)], at(0), at(0), 3)
    assert [step.waiting for step in steps] == [1, 1, 1]


def test_percentiles_are_waits_that_were_there() -> None:
    found = waits_of([None, *range(1, 101)])
    assert found is not None
    assert (found.jobs, found.p50, found.p95, found.p99, found.longest) == (100, 50, 95, 99, 100)
    one = waits_of([7.0])
    assert one is not None
    assert (one.p50, one.p99, one.longest) == (7, 7, 7)
    assert waits_of([None]) is None
