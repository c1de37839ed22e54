"""Of a delivery that failed it is written down what it was about, before it is asked for again."""

from collections.abc import Iterator

import pytest

from reconcile.phases.missed_webhooks import REDELIVERIES_A_RUN
from reconcile.sim import faults
from reconcile.sim.github.deliveries import Mishap, MishapRule
from reconcile.sim.github.model import Job
from tests.database import Cluster, Database, Row
from tests.simulation import situations as it
from tests.simulation.crashing import Point, When, watched_run
from tests.system import TICK, System, system

INTERVAL = 300  # between two readings of the logs
NEVER = "[run]\nredelivery_attempts = 0\n"


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


def refuse(s: System, event: str = "workflow_job.queued", times: int | None = None) -> None:
    s.world.github.deliveries.misbehave(MishapRule(Mishap.REFUSE, event, times=times))


def refused(s: System, count: int = 1) -> list[Job]:
    """Jobs that nobody was told of."""
    refuse(s)
    jobs = s.push(count=count).jobs
    s.world.time.step(2)
    return list(jobs)


def rows(s: System) -> list[Row]:
    return s.database.rows("SELECT * FROM webhook_redeliveries ORDER BY delivery_id")


def known(s: System) -> list[int | None]:
    return [row["job_id"] for row in rows(s)]


def asked(s: System) -> tuple[int, int]:
    """How many were looked into, and how many were to be delivered again."""
    return s.calls("github.get_delivery"), s.calls("github.redeliver")


def test_a_failed_delivery_is_known_by_its_event_installation_job_and_answer(s: System) -> None:
    [job] = refused(s)
    s.good_run()
    [row] = rows(s)
    [logged] = [each for each in s.world.github.deliveries.log.values() if each.status_code == 503]
    assert row == {
        "app_id": s.app_ids[0],
        "guid": logged.guid,
        "delivery_id": logged.id,
        "attempts": 1,
        "next_at": None,
        "failed_at": logged.delivered_at.replace(microsecond=0),
        "event": "workflow_job.queued",
        "installation_id": s.installation.id,
        "job_id": job.id,
        "status_code": 503,
    }


def test_once_the_job_is_known_it_is_not_looked_for_again(s: System) -> None:
    [job] = refused(s)
    for _ in range(60):
        s.good_run()
        s.world.time.step(INTERVAL)
    assert asked(s) == (1, 5)
    assert [(row["job_id"], row["attempts"], row["next_at"]) for row in rows(s)] == [
        (job.id, 5, None)
    ]


def test_the_latest_answer_is_told(s: System) -> None:
    s.world.github.deliveries.misbehave(MishapRule(Mishap.REFUSE, "*.queued", times=1, status=500))
    [job] = refused(s)
    s.good_run()
    s.world.time.step(INTERVAL)
    s.good_run()
    assert [(row["job_id"], row["status_code"]) for row in rows(s)] == [(job.id, 503)]


def test_only_of_jobs_it_is_asked_what_it_was_about(s: System) -> None:
    refuse(s, "installation.*")
    s.tenant("second")
    s.world.time.step(2)
    s.good_run()
    assert asked(s) == (0, 1)
    assert [(row["event"], row["job_id"]) for row in rows(s)] == [("installation.created", None)]


def test_one_that_github_has_forgotten_is_given_up_and_told_of_once(s: System) -> None:
    refused(s)
    s.world.faults.always("github.redeliver", faults.status(500))
    s.world.faults.always("github.get_delivery", faults.status(500))
    s.run()
    s.world.faults.clear()
    s.world.github.deliveries.log.clear()
    s.world.time.step(TICK)
    report = s.run()
    [row] = rows(s)
    assert (row["event"], row["job_id"], row["next_at"]) == ("workflow_job.queued", None, None)
    assert it.problems(report).count("404") == 1
    s.world.time.step(TICK)
    s.good_run()


def test_what_could_not_be_looked_up_is_delivered_again_all_the_same(s: System) -> None:
    refused(s)
    s.world.github.deliveries.behave()
    s.world.faults.always("github.get_delivery", faults.status(502))
    report = s.run()
    assert "could not be looked up" in it.problems(report)
    s.world.time.step(5)
    assert len(s.jobs()) == 1
    assert known(s) == [None]


def test_many_are_looked_into_as_they_are_asked_for_a_part_at_each_run(s: System) -> None:
    jobs = refused(s, count=REDELIVERIES_A_RUN + 5)
    s.world.github.deliveries.behave()
    s.good_run()
    assert asked(s) == (REDELIVERIES_A_RUN, REDELIVERIES_A_RUN)
    assert known(s).count(None) == 5
    s.ticks(1)
    assert asked(s) == (REDELIVERIES_A_RUN + 5,) * 2
    assert sorted(job.id for job in jobs) == sorted(each for each in known(s) if each)
    s.world.time.step(5)
    assert len(s.jobs()) == REDELIVERIES_A_RUN + 5


# Where nothing is to be asked for again --------------------------------------------------------


def test_without_redeliveries_the_job_is_looked_up_all_the_same_and_once(s: System) -> None:
    s.toml = NEVER
    jobs = refused(s, count=3)
    s.ticks(30)
    assert asked(s) == (3, 0)
    assert sorted(job.id for job in jobs) == sorted(each for each in known(s) if each)
    assert {(row["attempts"], row["next_at"]) for row in rows(s)} == {(0, None)}
    assert s.jobs() == []


def test_without_redeliveries_one_that_is_forgotten_is_not_looked_for_again(s: System) -> None:
    s.toml = NEVER
    refused(s)
    s.world.faults.always("github.get_delivery", faults.status(500))
    s.run()
    s.world.faults.clear()
    s.world.github.deliveries.log.clear()
    before = asked(s)[0]
    s.ticks(3)
    assert asked(s) == (before + 1, 0)
    assert [(row["job_id"], row["next_at"]) for row in rows(s)] == [(None, None)]


def test_without_redeliveries_a_lookup_that_fails_is_tried_again(s: System) -> None:
    s.toml = NEVER
    [job] = refused(s)
    s.world.faults.always("github.get_delivery", faults.status(502))
    assert "could not be looked up" in it.problems(s.run())
    s.world.faults.clear()
    s.ticks(1)
    assert known(s) == [job.id]


def test_attempts_that_are_taken_away_are_not_made(s: System) -> None:
    [job] = refused(s)
    s.world.faults.always("github.redeliver", faults.status(500))
    s.run()
    s.world.faults.clear()
    before = asked(s)[1]
    s.toml = NEVER
    s.ticks(30)
    assert asked(s) == (1, before)
    assert [(row["job_id"], row["next_at"]) for row in rows(s)] == [(job.id, None)]


# Killed in between -----------------------------------------------------------------------------


@pytest.mark.parametrize("when", When)
def test_killed_at_the_redelivery_the_next_run_knows_the_job(cluster: Cluster, when: When) -> None:
    effects: list[str] = []
    for killed in (False, True):
        with cluster.new_database() as database, system(database) as s:
            [job] = refused(s)
            s.world.github.deliveries.behave()
            if not killed:
                effects = watched_run(s)
                continue
            watched_run(s, Point(effects.index("github.redeliver"), when))
            assert [(row["job_id"], row["attempts"]) for row in rows(s)] == [(job.id, 0)]
            s.world.time.step(60)
            s.good_run()
            s.world.time.step(5)
            assert [row["job_id"] for row in s.jobs()] == [job.id]
            assert s.calls("github.get_delivery") == 1
            assert [(row["job_id"], row["next_at"]) for row in rows(s)] == [(job.id, None)]


def test_killed_before_it_is_written_down_the_next_run_looks_again(cluster: Cluster) -> None:
    effects: list[str] = []
    for killed in (False, True):
        with cluster.new_database() as database, system(database) as s:
            [job] = refused(s)
            if not killed:
                effects = watched_run(s)
                continue
            [writing] = [
                number
                for number, name in enumerate(effects)
                if name.startswith("db.UPDATE webhook_redeliveries AS r SET job_id")
            ]
            watched_run(s, Point(writing, When.BEFORE))
            assert known(s) == [None]
            s.world.time.step(60)
            s.good_run()
            assert known(s) == [job.id]
