"""Figures of boards, workers, runs and limits, to the exact value, from rows as runs leave them."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from reconcile.github.state import Credential
from reconcile.model import Boards, Reason
from reconcile.store.figures import MOST_SERIES, EndedWorkers, Limit, PoolBoards, Workers
from tests.database import Database
from tests.integration.fleet import NOW, POOL, Fleet, Read, ago, fleet, reading


@pytest.fixture
def f(database: Database) -> Iterator[Fleet]:
    with fleet(database) as made:
        yield made


@pytest.fixture
def read(database: Database) -> Iterator[Read]:
    with reading(database) as made:
        yield made


# Boards and workers ------------------------------------------------------------------------------


def test_boards_are_as_the_last_run_that_saw_them_left_them(f: Fleet, read: Read) -> None:
    f.run("completed", ago(90), ago(80), [Boards(POOL, 9, 9, 0, 9), Boards("gone", 1, 1, 1, 0)])
    seen = [Boards(POOL, slots=8, usable=6, in_use=5, free=1), Boards("other", 2, 0, 0, 0)]
    f.run("partial", ago(60), ago(50), seen)
    f.run("partial", ago(30), ago(20), None)  # could not list them
    assert sorted(read().boards, key=repr) == [
        PoolBoards("other", 2, 0, 0),
        PoolBoards(POOL, slots=8, usable=6, in_use=5),
    ]


def test_workers_that_are_active(f: Fleet, read: Read) -> None:
    f.worker()
    for _ in range(2):
        f.worker(running=ago(60))
    f.worker(pool="other", created=ago(hours=30), running=ago(hours=30))
    f.worker(running=ago(60), completed=ago(30))
    f.worker(failed=ago(30))
    assert sorted(read().workers, key=repr) == [
        Workers("other", "running", 1),
        Workers(POOL, "pending", 1),
        Workers(POOL, "running", 2),
    ]


def test_workers_that_ended_within_the_hour_by_reason(f: Fleet, read: Read) -> None:
    for _ in range(3):
        f.worker(created=ago(hours=5), running=ago(hours=5), completed=ago(3599))
    for reason in (Reason.POD_FAILED, Reason.POD_FAILED, Reason.RUNNER_IDLE):
        f.worker(failed=ago(60), reason=reason)
    f.worker(pool="other", failed=ago(60), reason=Reason.NODE_UNREACHABLE)
    f.worker(running=ago(60))
    for moment in (ago(hours=1), ago(hours=2)):
        f.worker(completed=moment)
        f.worker(failed=moment)
    assert sorted(read().ended_workers, key=repr) == [
        EndedWorkers("other", "node_unreachable", 1),
        EndedWorkers(POOL, "pod_failed", 2),
        EndedWorkers(POOL, "runner_idle", 1),
        EndedWorkers(POOL, None, 3),
    ]


def test_worker_that_failed_for_no_known_reason_is_a_failure(
    database: Database, f: Fleet, read: Read
) -> None:
    """So is one of an older system; and one that has diagnostics has not failed for that."""
    f.worker(failed=ago(60))
    f.worker(failed=ago(60))
    f.worker(completed=ago(60))
    database.execute("UPDATE workers SET failure_info = '{}' WHERE pod_name = 'runner-1'")
    database.execute("UPDATE workers SET failure_info = NULL WHERE pod_name = 'runner-2'")
    told = """UPDATE workers SET failure_info = '{"reason": "pod_failed"}'"""
    database.execute(f"{told} WHERE pod_name = 'runner-3'")
    assert sorted(read().ended_workers, key=repr) == [
        EndedWorkers(POOL, "unknown", 2),
        EndedWorkers(POOL, None, 1),
    ]


# What stands in the way --------------------------------------------------------------------------


def test_demands_that_are_held(f: Fleet, read: Read) -> None:
    soon, passed = NOW + timedelta(seconds=1), NOW
    f.trouble(1, failures=1, retry_at=soon)
    f.trouble(2, failures=3, retry_at=soon)
    f.trouble(3, failures=5, retry_at=soon, parked=True)
    f.trouble(4, failures=0, retry_at=soon)  # History: it works again.
    f.trouble(5, failures=2, retry_at=passed)  # It may be tried.
    f.trouble(6, failures=6, retry_at=passed, parked=True)
    found = read()
    assert (found.backing_off, found.parked) == (2, 1)


def credential(
    key: str, remaining: int | None = None, *, resets: float = 60, blocked: float | None = None
) -> Credential:
    """`resets` and `blocked` are in so many seconds."""
    return Credential(
        key,
        rate_limit=None if remaining is None else 5000,
        rate_remaining=remaining,
        rate_resets_at=None if remaining is None else NOW + timedelta(seconds=resets),
        blocked_until=None if blocked is None else NOW + timedelta(seconds=blocked),
    )


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        (credential("installation:11", 1250), [Limit("11", 0.25, blocked=False)]),
        (credential("installation:11", 0), [Limit("11", 0.0, blocked=False)]),
        (credential("installation:11", 500, blocked=5), [Limit("11", 0.1, blocked=True)]),
        (credential("installation:11", blocked=5), [Limit("11", None, blocked=True)]),
        (credential("installation:11", 0, resets=-1, blocked=5), [Limit("11", None, blocked=True)]),
        # What the hour before left says nothing of this one.
        (credential("installation:11", 0, resets=0), []),
        (credential("installation:11", 0, resets=-1, blocked=0), []),
        (credential("installation:11"), []),
        (credential("app:7", 0, blocked=5), []),
    ],
)
def test_limits_that_are_in_force(
    f: Fleet, read: Read, known: Credential, shown: list[Limit]
) -> None:
    f.credential(known)
    assert read().limits == shown


def test_limit_without_any_requests_is_no_division_by_zero(
    database: Database, f: Fleet, read: Read
) -> None:
    f.credential(credential("installation:11", 0))
    database.execute("UPDATE github_credentials SET rate_limit = 0")
    assert read().limits == [Limit("11", None, blocked=False)]


def test_installations_in_trouble_are_not_cut_off_by_those_that_are_not(
    database: Database, f: Fleet, read: Read
) -> None:
    database.execute(
        "INSERT INTO github_credentials"
        " (key, rate_limit, rate_remaining, rate_resets_at, updated_at)"
        " SELECT 'installation:' || n, 1000, n, %s::timestamptz + interval '1 minute', now()"
        "   FROM generate_series(1, 1000) AS n",
        NOW,
    )
    f.credential(credential("installation:2000", blocked=5))
    found = read().limits
    assert found[0] == Limit("2000", None, blocked=True)
    assert found[1:] == [Limit(str(n), n / 1000, blocked=False) for n in range(1, MOST_SERIES)]


# Runs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["completed", "partial"])
def test_last_success_is_when_a_run_last_ended_with_something_done(
    f: Fleet, read: Read, status: str
) -> None:
    f.run("completed", ago(500), ago(400))
    f.run(status, ago(300), ago(200))
    f.run("failed", ago(90), ago(80))
    f.begin_run(ago(10))
    assert read().last_success_age == 200


def test_first_run_in_flight_has_an_age(f: Fleet, read: Read) -> None:
    f.begin_run(ago(10))
    assert read().last_success_age == 10


def test_where_no_run_ever_did_its_work_the_age_is_since_the_first(f: Fleet, read: Read) -> None:
    """Else nobody would be told of a system that never worked."""
    f.run("failed", ago(900), ago(800))
    f.run("failed", ago(300), ago(200))
    assert read().last_success_age == 900


def test_last_success_is_never_in_the_future(f: Fleet, read: Read) -> None:
    f.run("completed", NOW, NOW + timedelta(seconds=3))  # by another machine's clock
    assert read().last_success_age == 0


def test_success_of_long_ago_is_known_to_be_old(database: Database, f: Fleet, read: Read) -> None:
    """How old exactly is of no use to anybody, and would cost more with each run that fails."""
    f.run("completed", ago(hours=999), ago(hours=999))
    database.execute(
        "INSERT INTO reconcile_runs (started_at, completed_at, status)"
        " SELECT %s::timestamptz - n * interval '15 s', now(), 'failed'"
        "   FROM generate_series(1, 10000) AS n",
        NOW,
    )
    assert read().last_success_age == 150_000
