"""Figures of jobs, to the exact value, from rows as webhooks and runs leave them."""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from reconcile.errors import StoreError
from reconcile.model import Boards
from reconcile.store import figures, listening
from reconcile.store.figures import (
    MOST_SERIES,
    SETTLED_SECONDS,
    Concluded,
    LiveJobs,
    Quantiles,
    Queued,
    drain_seconds,
)
from tests.database import Database
from tests.integration.fleet import (
    LARGE,
    NOW,
    POOL,
    TENANT,
    UBUNTU,
    Fleet,
    Read,
    ago,
    fleet,
    reading,
)
from tests.unit.exposition import NOTHING
from webhook_fn import config as function_config


@pytest.fixture
def f(database: Database) -> Iterator[Fleet]:
    with fleet(database) as made:
        yield made


@pytest.fixture
def read(database: Database) -> Iterator[Read]:
    with reading(database) as made:
        yield made


def test_empty_database_has_figures(read: Read) -> None:
    assert read() == replace(NOTHING, until=ago(SETTLED_SECONDS))


def test_other_environments_are_not_seen(database: Database, read: Read) -> None:
    with fleet(database, "staging") as staging:
        staging.job(started=ago(60), completed=ago(30))
        staging.worker(failed=ago(60))
        staging.run("completed", ago(60), ago(30), [Boards(POOL, 1, 1, 0, 1)])
    found = read()
    assert (found.concluded, found.ended_workers, found.boards) == ([], [], [])
    assert found.last_success_age is None


# What is there now -------------------------------------------------------------------------------


def test_live_jobs_by_labels_and_pool(f: Fleet, read: Read) -> None:
    f.job(created=ago(50), queued=ago(70))
    f.job(created=ago(60))
    f.job(created=ago(500), started=ago(400))
    f.job(pool="other", created=ago(10))  # GitHub's own time is not known of all.
    f.job(labels=LARGE, created=ago(900), started=ago(800))
    # Those that are over do not wait, whoever said so.
    f.job(created=ago(5000), started=ago(4000), completed=ago(3000))
    f.job(created=ago(6000), completed=ago(5000), conclusion="cancelled")
    f.give_up(f.job(created=ago(7000)))
    by_key = {(tuple(each.labels), each.pool): each for each in read().live_jobs}
    assert by_key == {
        (UBUNTU, POOL): LiveJobs([*UBUNTU], POOL, 2, 1, 70.0),
        (UBUNTU, "other"): LiveJobs([*UBUNTU], "other", 1, 0, 10.0),
        (LARGE, POOL): LiveJobs([*LARGE], POOL, 0, 1, 0.0),
    }


# Jobs that came ----------------------------------------------------------------------------------


def test_first_figures_count_no_job(f: Fleet, read: Read) -> None:
    f.job(created=ago(60))
    assert read().queued == []


def test_jobs_that_came_since_by_labels_and_tenant(f: Fleet, read: Read) -> None:
    since = ago(60)
    f.job(created=since)  # counted before
    f.job(created=since + timedelta(microseconds=1))
    f.job(created=ago(30), started=ago(29), completed=ago(28))  # Quick ones count.
    f.give_up(f.job(created=ago(SETTLED_SECONDS), tenant="other-org"))
    f.job(created=ago(SETTLED_SECONDS + 1), labels=LARGE)
    f.job(created=ago(SETTLED_SECONDS - 1))  # for the next time
    found = read(since=since)
    assert found.until == ago(SETTLED_SECONDS)
    assert sorted(found.queued, key=repr) == [
        Queued([*LARGE], TENANT, 1),
        Queued([*UBUNTU], "other-org", 1),
        Queued([*UBUNTU], TENANT, 2),
    ]


def test_row_is_there_once_its_time_is_settled() -> None:
    """The function takes the time first, and may need all of these."""
    latest = (
        function_config.TCP_SETTINGS["tcp_user_timeout"] / 1000
        + function_config.CONNECT_TIMEOUT_SECONDS
        + 2 * function_config.STATEMENT_TIMEOUT_SECONDS
    )
    assert latest < SETTLED_SECONDS


@pytest.mark.parametrize("interval", [1, 7, 15, 40])
def test_every_job_is_counted_exactly_once_however_late_its_row(
    f: Fleet, read: Read, interval: int
) -> None:
    """Each has labels of its own, comes at a second of its own, and is committed later."""
    lateness = itertools.cycle([0, 1, SETTLED_SECONDS // 2, SETTLED_SECONDS])
    start, seconds = ago(3600), 60
    committed: dict[int, list[int]] = {}
    for second, late in zip(range(seconds), lateness, strict=False):
        committed.setdefault(second + late, []).append(second)
    counted: Counter[str] = Counter()
    since = read(start - timedelta(seconds=1)).until
    for second in range(seconds + SETTLED_SECONDS + interval + 1):
        for created in committed.get(second, []):
            f.job(labels=[str(created)], created=start + timedelta(seconds=created))
        if second % interval == 0:
            found = read(start + timedelta(seconds=second), since)
            since = found.until
            for each in found.queued:
                counted[each.labels[0]] += each.count
    assert counted == {str(second): 1 for second in range(seconds)}


def test_clock_that_was_set_back_counts_nothing_twice(f: Fleet, read: Read) -> None:
    f.job(created=ago(60))
    first = read(NOW, ago(120))
    again = read(ago(90), first.until)
    later = read(NOW, again.until)
    assert [len(each.queued) for each in (first, again, later)] == [1, 0, 0]


# How long they waited and took -------------------------------------------------------------------


def quantiles(found: list[Quantiles]) -> dict[tuple[tuple[str, ...], str | None], Quantiles]:
    return {(tuple(each.labels), each.tenant): each for each in found}


def test_waits_of_each_tenant_and_of_all(f: Fleet, read: Read) -> None:
    for seconds in range(1, 101):
        f.job(created=ago(500), queued=ago(1000 + seconds), started=ago(1000))
    f.job(tenant="patient-org", created=ago(1600), started=ago(100))  # no time of GitHub's
    f.job(labels=LARGE, queued=ago(90), started=ago(80))
    assert quantiles(read().waits) == {
        (UBUNTU, None): Quantiles([*UBUNTU], None, 101, [51.0, 96.0, 100.0]),
        (UBUNTU, TENANT): Quantiles([*UBUNTU], TENANT, 100, [50.0, 95.0, 99.0]),
        (UBUNTU, "patient-org"): Quantiles([*UBUNTU], "patient-org", 1, [1500.0] * 3),
        (LARGE, None): Quantiles([*LARGE], None, 1, [10.0] * 3),
        (LARGE, TENANT): Quantiles([*LARGE], TENANT, 1, [10.0] * 3),
    }


def test_waits_are_of_jobs_that_began_within_the_hour(f: Fleet, read: Read) -> None:
    f.job(queued=ago(hours=9), started=ago(hours=1))  # It began an hour ago, not within it.
    f.job(queued=ago(hours=2), started=ago(hours=1.5), completed=ago(60))
    f.job(queued=ago(60))  # still waits
    f.job(queued=ago(50), completed=ago(40), conclusion="cancelled")  # never began
    assert read().waits == []
    f.job(queued=ago(hours=9), started=ago(3599))
    f.job(queued=ago(100), started=ago(80), completed=ago(60))
    assert quantiles(read().waits)[UBUNTU, TENANT].seconds == [20.0, 28801.0, 28801.0]


def test_wait_is_never_negative(f: Fleet, read: Read) -> None:
    f.job(queued=ago(50), started=ago(60))
    assert quantiles(read().waits)[UBUNTU, TENANT].seconds == [0.0] * 3


def test_durations_of_jobs_that_ended_within_the_hour(f: Fleet, read: Read) -> None:
    f.job(created=ago(hours=9), started=ago(hours=8), completed=ago(3599))
    for seconds in (60, 120):
        f.job(started=ago(1000), completed=ago(1000 - seconds))
    f.job(tenant="other-org", labels=LARGE, started=ago(100), completed=ago(90))
    f.job(started=ago(hours=3), completed=ago(hours=1))  # It ended an hour ago.
    f.job(started=ago(500))  # It runs.
    f.job(completed=ago(500), conclusion="cancelled")  # It never ran.
    assert quantiles(read().durations) == {
        (UBUNTU, TENANT): Quantiles([*UBUNTU], TENANT, 3, [120.0, 25201.0, 25201.0]),
        (LARGE, "other-org"): Quantiles([*LARGE], "other-org", 1, [10.0] * 3),
    }


def test_most_series_are_those_of_the_largest_tenants(f: Fleet, read: Read) -> None:
    for number in range(MOST_SERIES):
        f.job(tenant=f"small-{number}", started=ago(60), completed=ago(30))
    for _ in range(2):
        f.job(tenant="zz-large", started=ago(60), completed=ago(30))
    f.job(tenant="zz-rare", labels=LARGE, started=ago(60))
    found = read()
    assert len(found.waits) == len(found.durations) == MOST_SERIES
    all_together = [(each.tenant, each.count) for each in found.waits[:2]]
    assert all_together == [(None, MOST_SERIES + 2), (None, 1)], "they are never left out"
    assert found.waits[2].tenant == found.durations[0].tenant == "zz-large"


def test_conclusions_of_the_hour(f: Fleet, read: Read) -> None:
    for conclusion in ("success", "success", "failure", None):
        f.job(started=ago(60), completed=ago(30), conclusion=conclusion)
    f.job(labels=LARGE, completed=ago(30), conclusion="cancelled")
    f.job(started=ago(hours=2), completed=ago(hours=1), conclusion="timed_out")
    assert sorted(read().concluded, key=repr) == [
        Concluded([*LARGE], "cancelled", 1),
        Concluded([*UBUNTU], "failure", 1),
        Concluded([*UBUNTU], "success", 2),
        Concluded([*UBUNTU], "unknown", 1),
    ]


# Drain time --------------------------------------------------------------------------------------


def test_usual_duration_is_the_mean_of_a_pools_last_jobs_whenever_that_was(
    f: Fleet, read: Read
) -> None:
    f.job(started=ago(1000, hours=90), completed=ago(900, hours=90))
    f.job(started=ago(1000, hours=80), completed=ago(700, hours=80), conclusion="failure")
    f.job(pool="other", started=ago(100), completed=ago(90))
    f.job(pool="third", completed=ago(90), conclusion="cancelled")
    f.job(pool="fourth", started=ago(90), completed=ago(90))
    assert read().usual_duration == {POOL: 200.0, "other": 10.0}


def test_usual_duration_forgets_what_is_long_ago(database: Database, read: Read) -> None:
    database.execute(
        "INSERT INTO jobs (job_id, status, provider, entity_id, entity_name, entity_type,"
        " repo_full_name, installation_id, k8s_pool, k8s_image, started_at, completed_at)"
        " SELECT n, 'completed', 'github', 1, 'o', 'Organization', 'o/r', 1, 'p', 'i', t,"
        "        t + CASE WHEN n <= 1000 THEN interval '10 s' ELSE interval '1 day' END"
        "   FROM generate_series(1, 1500) AS n, LATERAL (SELECT %s::timestamptz"
        "        - n * interval '1 minute' - (n > 1000)::int * interval '1 day') AS at(t)",
        NOW,
    )
    assert read().usual_duration == {"p": 10.0}


def test_drain_time_by_labels(f: Fleet, read: Read) -> None:
    for _ in range(6):
        f.job(created=ago(60))
    f.job(labels=LARGE, created=ago(60))
    f.job(labels=LARGE, pool="dead", created=ago(60))
    f.job(labels=["gone"], pool="gone", created=ago(60))
    f.job(labels=["new"], pool="new", created=ago(60))
    f.job(labels=["idle"], started=ago(60))
    for pool in (POOL, "dead"):
        f.job(labels=["old"], pool=pool, started=ago(900), completed=ago(300))
    boards = [Boards(POOL, 5, 3, 3, 0), Boards("dead", 5, 0, 0, 0), Boards("new", 1, 1, 0, 1)]
    f.run("completed", ago(30), ago(20), boards)
    assert drain_seconds(read()) == {
        UBUNTU: 7 * 600 / 3,
        LARGE: float("inf"),
        ("gone",): float("inf"),
        ("idle",): 0.0,
    }


# Trouble -----------------------------------------------------------------------------------------


def test_statement_that_fails_is_said_and_the_session_goes_on(
    database: Database, read: Read
) -> None:
    database.execute("ALTER TABLE boards RENAME TO hidden")
    with pytest.raises(StoreError, match=r"^figure_boards: .*does not exist"):
        read()
    database.execute("ALTER TABLE hidden RENAME TO boards")
    assert read().boards == []


def test_figures_that_take_too_long_are_given_up(database: Database) -> None:
    with listening.listen(database.role_url("prod_reconcile"), "prod") as session:
        with pytest.raises(StoreError, match="take longer than 0 s"):
            figures.read(session.database, NOW, None, within=0.0)
        assert not session.database.broken
