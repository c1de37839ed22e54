"""What becomes of an active job."""

from datetime import UTC, datetime, timedelta

import pytest

from reconcile.model import RemoteJob, Status
from reconcile.policy.jobs import ActiveJob, Change, is_stuck_if_over, judge
from reconcile.settings import Timeouts

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
LIMITS = Timeouts()
RUNNER = "rise-riscv-runner-1"


def ago(seconds: float | None) -> datetime | None:
    return None if seconds is None else NOW - timedelta(seconds=seconds)


def job(
    status: Status = Status.PENDING,
    *,
    age: float = 30,
    pod: str | None = None,
    missing: float | None = None,
) -> ActiveJob:
    return ActiveJob(1, 7, 9, status, ago(age) or NOW, pod, ago(missing))


def remote(status: str, runner: str | None = None) -> RemoteJob:
    return RemoteJob(1, status, None, runner, None, None)


PENDING, RUNNING = job(), job(Status.RUNNING, pod=RUNNER)


@pytest.mark.parametrize(
    ("row", "seen", "change"),
    [
        (PENDING, remote("queued"), Change.NONE),
        (PENDING, remote("waiting"), Change.NONE),
        (PENDING, remote("requested"), Change.NONE),
        (PENDING, remote("a status of next year"), Change.NONE),
        (PENDING, remote("in_progress", RUNNER), Change.ADVANCE),
        (PENDING, remote("completed", RUNNER), Change.ADVANCE),
        (PENDING, remote("completed"), Change.ADVANCE),
        (RUNNING, remote("in_progress", RUNNER), Change.NONE),
        (RUNNING, remote("completed", RUNNER), Change.ADVANCE),
        (RUNNING, remote("queued"), Change.NONE),  # GitHub's listing lags: never backwards.
        # Who took it was not known.
        (job(Status.RUNNING), remote("in_progress", RUNNER), Change.ADVANCE),
        (job(Status.RUNNING), remote("in_progress"), Change.NONE),
        # It was missed before and is there.
        (job(missing=90), remote("queued"), Change.FOUND),
        (job(Status.RUNNING, pod=RUNNER, missing=90), remote("in_progress", RUNNER), Change.FOUND),
        (job(missing=90), remote("completed"), Change.ADVANCE),
        # It is not there.
        (PENDING, None, Change.MISS),
        (RUNNING, None, Change.MISS),
        (job(missing=0), None, Change.NONE),
        (job(missing=59), None, Change.NONE),
        (job(missing=60), None, Change.GIVE_UP_GONE),
        (job(Status.RUNNING, missing=60), None, Change.GIVE_UP_GONE),
    ],
)
def test_the_change(row: ActiveJob, seen: RemoteJob | None, change: Change) -> None:
    assert judge(row, seen, run_completed=False, now=NOW, limits=LIMITS) is change


@pytest.mark.parametrize(
    ("row", "seen", "stuck"),
    [
        (job(age=599), remote("queued"), False),
        (job(age=600), remote("queued"), True),
        (job(age=600), remote("waiting"), True),
        (job(age=600, missing=90), remote("queued"), True),
        (job(age=600), remote("in_progress"), False),
        (job(age=600), remote("completed"), False),
        (job(age=600), None, False),
        (job(Status.RUNNING, age=600), remote("queued"), False),
    ],
)
def test_a_job_is_stuck_if_it_is_queued_for_long_in_a_run_that_is_over(
    row: ActiveJob, seen: RemoteJob | None, stuck: bool
) -> None:
    assert is_stuck_if_over(row, seen, NOW, LIMITS) is stuck
    over = judge(row, seen, run_completed=True, now=NOW, limits=LIMITS)
    assert (over is Change.GIVE_UP_STUCK) is stuck
    going_on = judge(row, seen, run_completed=False, now=NOW, limits=LIMITS)
    assert going_on is not Change.GIVE_UP_STUCK
