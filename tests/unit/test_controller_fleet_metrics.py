"""The fleet's figures on /metrics: what each is told as, and what becomes of what is gone."""

import math
from dataclasses import replace
from typing import Any

import pytest

from reconcile.model import Reason
from reconcile.store.figures import LiveJobs, PoolBoards
from tests.unit.exposition import BUSY, LARGE, NOTHING, QUEUE, UBUNTU, Shown


@pytest.fixture
def shown() -> Shown:
    return Shown()


# The fleet ---------------------------------------------------------------------------------------


def test_queues_are_told_by_label_over_all_pools(shown: Shown) -> None:
    shown.learn(BUSY)
    large = {"runner_label": "large,ubuntu-24.04-riscv"}
    assert shown.samples("cicd_queue_depth") == [(large, 4), (QUEUE, 6)]
    assert shown.samples("cicd_jobs_running_gauge") == [(large, 0), (QUEUE, 3)]
    assert shown.samples("cicd_oldest_pending_seconds") == [(large, 30), (QUEUE, 90)]


def test_quantiles_are_told_by_tenant_and_for_all(shown: Shown) -> None:
    shown.learn(BUSY)

    def by_quantile(name: str, **labels: str) -> dict[str, float]:
        return {
            of["quantile"]: value
            for of, value in shown.samples(name)
            if of == {**labels, "quantile": of["quantile"]}
        }

    mine = {"tenant": "riseproject", **QUEUE}
    waits = {"0.5": 2.0, "0.95": 6.0, "0.99": 8.0}
    assert by_quantile("cicd_job_wait_time_seconds", **mine) == waits
    assert len(shown.samples("cicd_job_wait_time_seconds")) == 3
    everybody = {"0.5": 1.0, "0.95": 5.0, "0.99": 9.0}
    assert by_quantile("cicd_fleet_wait_time_seconds", **QUEUE) == everybody
    assert len(shown.samples("cicd_fleet_wait_time_seconds")) == 3
    took = {"0.5": 60.0, "0.95": 600.0, "0.99": 900.0}
    assert by_quantile("cicd_job_duration_seconds", **mine) == took


def test_boards_and_workers_are_told_by_pool(shown: Shown) -> None:
    shown.learn(BUSY)
    assert shown.value("cicd_board_capacity", pool="rv1") == 5
    assert shown.value("cicd_boards_usable", pool="rv1") == 4
    assert shown.value("cicd_boards_in_use", pool="rv1") == 2
    assert shown.value("cicd_workers", pool="rv1", status="pending") == 1
    assert shown.value("cicd_workers", pool="rv1", status="running") == 2
    # A pool that only jobs know of has no boards, which is what one wants to see.
    assert shown.value("cicd_board_capacity", pool="rv2") == 0
    assert shown.value("cicd_workers", pool="rv2", status="running") == 0


def test_failures_are_told_by_reason_and_all_reasons_are_there(shown: Shown) -> None:
    shown.learn(BUSY)
    failures = {
        of["reason"]: value
        for of, value in shown.samples("cicd_worker_failures_last_hour")
        if of["pool"] == "rv1"
    }
    expected: dict[str, float] = dict.fromkeys(Reason, 0.0)
    assert failures == expected | {"pod_failed": 2, "of another version": 1}
    assert shown.value("cicd_workers_ended_last_hour", pool="rv1") == 10


def test_what_stands_in_the_way_is_told(shown: Shown) -> None:
    shown.learn(BUSY)
    assert shown.value("cicd_demands_held", state="backing_off") == 2
    assert shown.value("cicd_demands_held", state="parked") == 1
    assert shown.samples("github_rate_limit_remaining_ratio") == [({"installation": "11"}, 0.25)]
    assert shown.value("github_installations_blocked") == 1


# Drain time --------------------------------------------------------------------------------------


def queue(pending: int = 0, running: int = 0, labels: list[str] = UBUNTU) -> LiveJobs:
    return LiveJobs(labels, "rv1", pending, running, 0.0)


FOUR_BOARDS = [PoolBoards("rv1", slots=5, usable=4, in_use=4)]
UNUSABLE = [PoolBoards("rv1", slots=5, usable=0, in_use=0)]
KNOWN = {"rv1": 300.0}


@pytest.mark.parametrize(
    ("jobs", "boards", "usual", "seconds"),
    [
        ([queue(6)], FOUR_BOARDS, KNOWN, 6 * 300 / 4),
        # Others wait for the same boards.
        ([queue(6), queue(2, labels=LARGE)], FOUR_BOARDS, KNOWN, 8 * 300 / 4),
        ([queue(6)], UNUSABLE, KNOWN, math.inf),
        ([queue(6)], [], KNOWN, math.inf),
        ([queue(6)], UNUSABLE, {}, math.inf),
        ([queue(6)], FOUR_BOARDS, {}, None),
        ([queue(6)], FOUR_BOARDS, {"rv2": 300.0}, None),
        # Where none waits, nothing is left to drain, whatever the boards do.
        ([queue(0, running=1)], FOUR_BOARDS, KNOWN, 0),
        ([queue(0, running=1)], UNUSABLE, {}, 0),
        ([queue(0, running=1), queue(6, labels=LARGE)], UNUSABLE, KNOWN, 0),
    ],
)
def test_drain_time_of_a_queue(
    shown: Shown,
    jobs: list[LiveJobs],
    boards: list[PoolBoards],
    usual: dict[str, float],
    seconds: float | None,
) -> None:
    shown.learn(replace(NOTHING, live_jobs=jobs, boards=boards, usual_duration=usual))
    assert shown.value("cicd_estimated_drain_time_seconds", **QUEUE) == seconds


@pytest.mark.parametrize("order", [1, -1])
def test_drain_time_of_labels_in_two_pools_is_that_of_the_slower(shown: Shown, order: int) -> None:
    jobs = [queue(4), LiveJobs(UBUNTU, "rv2", 1, 0, 0.0)][::order]
    boards = [*FOUR_BOARDS, PoolBoards("rv2", slots=1, usable=1, in_use=1)]
    usual = KNOWN | {"rv2": 1000.0}
    shown.learn(replace(NOTHING, live_jobs=jobs, boards=boards, usual_duration=usual))
    assert shown.samples("cicd_estimated_drain_time_seconds") == [(QUEUE, 1000)]


def test_drain_time_that_is_unknown_now_is_not_shown_as_0(shown: Shown) -> None:
    """Nor once it was known, or there was nothing to drain."""
    for jobs in ([], [queue(0, running=1)], [queue(6)]):
        shown.learn(replace(NOTHING, live_jobs=jobs, boards=FOUR_BOARDS))
    assert shown.samples("cicd_estimated_drain_time_seconds") == []


# What was there, and is not any more --------------------------------------------------------------

REMEMBERED = [
    "cicd_queue_depth",
    "cicd_jobs_running_gauge",
    "cicd_oldest_pending_seconds",
    "cicd_estimated_drain_time_seconds",
    "cicd_jobs_completed_last_hour",
    "cicd_board_capacity",
    "cicd_boards_usable",
    "cicd_boards_in_use",
    "cicd_workers",
    "cicd_worker_failures_last_hour",
    "cicd_workers_ended_last_hour",
]


@pytest.mark.parametrize("name", REMEMBERED)
def test_what_was_there_is_shown_as_0(shown: Shown, name: str) -> None:
    shown.learn(BUSY)
    before = shown.samples(name)
    assert any(value for _, value in before)
    shown.learn(NOTHING)
    assert shown.samples(name) == [(of, 0) for of, _ in before]


@pytest.mark.parametrize(
    "known",
    [
        {"boards": BUSY.boards},
        {"live_jobs": BUSY.live_jobs},
        {"workers": BUSY.workers},
        {"ended_workers": BUSY.ended_workers},
    ],
)
def test_pool_is_known_by_whatever_was_there_of_it(shown: Shown, known: dict[str, Any]) -> None:
    shown.learn(replace(NOTHING, **known))
    shown.learn(NOTHING)
    assert shown.value("cicd_board_capacity", pool="rv1") == 0
    assert shown.value("cicd_workers", pool="rv1", status="running") == 0
    assert shown.value("cicd_worker_failures_last_hour", pool="rv1", reason="pod_failed") == 0
    assert shown.value("cicd_workers_ended_last_hour", pool="rv1") == 0


@pytest.mark.parametrize(
    "name",
    [
        "cicd_job_wait_time_seconds",
        "cicd_fleet_wait_time_seconds",
        "cicd_job_duration_seconds",
        "github_rate_limit_remaining_ratio",
    ],
)
def test_what_has_no_value_any_more_is_not_shown_as_0(shown: Shown, name: str) -> None:
    """Nobody waited, which is not to say that somebody waited 0 seconds."""
    shown.learn(BUSY)
    assert shown.samples(name)
    shown.learn(NOTHING)
    assert shown.samples(name) == []
