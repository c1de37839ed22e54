"""Whether anybody looks after a job that waits, and whether there is a runner for it."""

from dataclasses import replace
from typing import Any

import pytest

from tests.trace_cases import (
    CAME,
    NOW,
    PLANNED,
    a_limit,
    a_queue,
    a_wait,
    facts,
    failed_worker,
    first,
    kinds,
    of_job,
    own_demand,
    runs,
    some_boards,
    trouble,
)
from tests.trace_events import moment
from webhook_fn.trace.case import Case
from webhook_fn.trace.facts import Queue
from webhook_fn.trace.finding import Kind
from webhook_fn.trace.rules import diagnose

WAITS = [None, "runner", "no_board", "cap_reached", "backing_off", "parked", "rate_limited"]
TROUBLED = (("sync_workers", "nodes are unknown"), ("demand_match", "TransientError: no nodes"))


def with_runs(*statuses: str, queue: Queue | None = None, **changes: Any) -> Case:
    return of_job(known=facts(runs=runs(*statuses, **changes), queue=queue or a_queue("no_board")))


# Runs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ago", "stale"), [(299, False), (300, False), (301, True), (9000, True)])
def test_runs_are_missed_after_five_minutes(ago: int, stale: bool) -> None:
    case = with_runs("completed", at=NOW - ago)
    assert (kinds(case)[0] is Kind.RECONCILER_STALE) is stale


def test_a_run_that_is_under_way_is_a_sign_of_life() -> None:
    case = with_runs("running", at=NOW - 9, completed_at=None)
    assert Kind.RECONCILER_STALE not in kinds(case)
    hung = with_runs("running", at=NOW - 900, completed_at=None)
    found = first(hung, Kind.RECONCILER_STALE)
    assert "The last run was at 2026-03-02 09:02:38 UTC, 15 minutes ago" in found.summary
    assert found.evidence[0].what == "run 90 started"


@pytest.mark.parametrize("waiting_for", WAITS)
def test_where_no_run_comes_that_comes_first(waiting_for: str | None) -> None:
    limits = (a_limit(blocked_until=moment(NOW + 60)),)
    queue = a_queue(waiting_for, trouble=trouble(), limits=limits)
    case = of_job(known=facts(runs=(), queue=queue))
    assert kinds(case)[0] is Kind.RECONCILER_STALE
    assert Kind.NOT_PLANNED_YET not in kinds(case)
    assert not any("The next run makes" in each.summary for each in diagnose(case))


def test_a_runner_that_is_there_is_told_though_no_run_comes() -> None:
    queue = a_queue(wait=a_wait(covered=1))
    assert kinds(of_job(known=facts(runs=(), queue=queue))) == [
        Kind.RECONCILER_STALE,
        Kind.RUNNER_COMING,
    ]


def test_runs_that_cannot_plan_are_told_after_three() -> None:
    nothing = a_queue(wait=None, boards=None)
    two = with_runs("partial", "partial", queue=nothing, problems=TROUBLED)
    assert kinds(two) == [Kind.NOT_PLANNED_YET]
    three = with_runs("partial", "partial", "partial", queue=nothing, problems=TROUBLED)
    assert kinds(three) == [Kind.RECONCILER_FAILING]
    found = first(three, Kind.RECONCILER_FAILING)
    assert found.summary == "The last 3 runs could not do their work: nodes are unknown."


@pytest.mark.parametrize("status", ["partial", "failed"])
def test_runs_with_somebody_else_s_problem_do_plan(status: str) -> None:
    """What was planned meanwhile shows it; how a run ended does not."""
    problems = (("demand_match", "rise-riscv-runner-9 could not be provisioned: 403"),)
    assert kinds(with_runs(status, status, status, problems=problems)) == [Kind.WAITING_FOR_BOARD]
    before = a_queue("no_board", wait=a_wait("no_board", planned_at=moment(900)), boards=None)
    stale_plan = with_runs(status, status, status, queue=before, problems=problems)
    assert kinds(stale_plan) == [Kind.RECONCILER_FAILING, Kind.WAITING_FOR_BOARD]


def test_a_run_that_was_good_in_between_is_no_failure() -> None:
    nothing = a_queue(wait=None, boards=None)
    mixed = runs("failed", "completed", "failed")
    assert kinds(of_job(known=facts(runs=mixed, queue=nothing))) == [Kind.NOT_PLANNED_YET]


def test_a_failed_run_without_a_word_points_to_its_log() -> None:
    nothing = a_queue(wait=None, boards=None)
    found = first(with_runs("failed", "failed", "failed", queue=nothing), Kind.RECONCILER_FAILING)
    assert found.summary.endswith("their log says why.")


# Whether there is a runner -------------------------------------------------------------------


def covering(covered: int, pending: int, **demand: int) -> Queue:
    """A plan for so many jobs of the kind, and how it stands now."""
    demand = {"pending": pending, **demand}
    return a_queue(
        "no_board",
        wait=a_wait("no_board", covered=covered, pending=pending),
        demands=(own_demand(**demand),),
    )


@pytest.mark.parametrize(
    ("covered", "older", "coming"), [(0, 0, False), (1, 0, True), (1, 1, False), (2, 1, True)]
)
def test_runners_take_the_oldest_jobs(covered: int, older: int, coming: bool) -> None:
    case = of_job(known=facts(queue=covering(covered, 3, older=older)))
    assert kinds(case) == [Kind.RUNNER_COMING if coming else Kind.WAITING_FOR_BOARD]


def test_a_runner_that_took_its_job_since_is_not_coming() -> None:
    """The older of two jobs had a runner, and is gone."""
    queue = covering(1, 2)
    after = replace(queue, demands=(own_demand(pending=1, older=0),))
    assert kinds(of_job(known=facts(queue=after))) == [Kind.WAITING_FOR_BOARD]


def test_a_runner_that_failed_since_is_not_coming() -> None:
    queue = a_queue(wait=a_wait(covered=1))
    before = facts(queue=queue, failures=(failed_worker(completed_at=moment(PLANNED - 1)),))
    after = facts(queue=queue, failures=(failed_worker(completed_at=moment(PLANNED + 1)),))
    assert kinds(of_job(known=before)) == [Kind.RUNNER_COMING]
    assert kinds(of_job(known=after)) == [Kind.NOT_PLANNED_YET]
    assert "had a runner when it was last planned" in (
        first(of_job(known=after), Kind.NOT_PLANNED_YET).summary
    )
    held = replace(after, queue=replace(queue, trouble=trouble(failed_at=moment(PLANNED + 1))))
    assert kinds(of_job(known=held)) == [Kind.BACKING_OFF]


def test_a_plan_from_before_the_job_came_has_no_runner_for_it() -> None:
    before = moment(CAME - 5)
    boards = some_boards(observed_at=before)
    queue = a_queue(wait=a_wait(covered=1, planned_at=before), boards=boards)
    assert kinds(of_job(known=facts(queue=queue))) == [Kind.NOT_PLANNED_YET]
    # A wait in which nothing changed is not written anew; boards are.
    again = replace(queue, boards=some_boards())
    assert kinds(of_job(known=facts(queue=again))) == [Kind.RUNNER_COMING]


@pytest.mark.parametrize("waiting_for", WAITS)
def test_a_job_whose_runner_is_there_is_told_only_that(waiting_for: str | None) -> None:
    queue = a_queue(
        waiting_for,
        wait=a_wait(waiting_for, pending=5, covered=2),
        demands=(own_demand(pending=5, older=1),),
        trouble=trouble(),
        limits=(a_limit(blocked_until=moment(NOW + 60)),),
    )
    assert kinds(of_job(known=facts(queue=queue))) == [Kind.RUNNER_COMING]
