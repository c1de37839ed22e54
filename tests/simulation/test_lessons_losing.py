"""Lessons 8, 9, 11 and 12: losing work. Whole runs on the simulated world."""

import itertools
from collections.abc import Iterator

import pytest

from reconcile.errors import BusyError
from reconcile.sim import faults
from reconcile.sim.cluster.images import Behaviour
from reconcile.sim.github.deliveries import Mishap, MishapRule
from tests.database import Database
from tests.simulation import situations as it
from tests.system import System, system

HOUR = 3600


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


def misbehave(s: System, mishap: Mishap, events: str = "*", **details: float) -> None:
    rule = MishapRule(mishap, f"workflow_job.{events}")
    for name, value in details.items():
        setattr(rule, name, value)
    s.world.github.deliveries.misbehave(rule)


def cursors(s: System) -> dict[int, int | None]:
    rows = s.database.rows("SELECT app_id, delivery_id FROM webhook_cursors")
    return {row["app_id"]: row["delivery_id"] for row in rows}


# 8: webhooks that did not arrive ---------------------------------------------------------------


def test_lesson_08_a_refused_webhook_is_found_in_the_log_and_redelivered(s: System) -> None:
    s.boards(2)
    s.good_run()
    misbehave(s, Mishap.REFUSE, "queued")
    runs = [s.push(), s.push(s.personal)]
    s.world.time.step(2)
    s.world.github.deliveries.behave()
    s.good_run()
    assert s.jobs() == [], "the logs were read just now"
    s.world.time.step(300)
    s.good_run()
    assert s.calls("github.redeliver") == 2
    s.world.time.step(5)
    assert s.statuses()[0] == ["pending"] * 2
    s.ticks(28)
    assert [it.conclusions(run) for run in runs] == [{"success"}] * 2


def test_lesson_08_the_logs_are_read_on_a_schedule_from_where_they_were_left(s: System) -> None:
    misbehave(s, Mishap.REFUSE, "queued", times=1)
    s.push(count=2)
    s.world.time.step(2)
    s.good_run()
    failed = [each for each in s.world.github.deliveries.log.values() if each.status_code == 503]
    assert cursors(s)[s.app_ids[0]] == failed[0].id
    read = s.calls("github.list_deliveries")
    assert read == 2, "once for each App"
    s.ticks(19)
    assert s.calls("github.list_deliveries") == read, "not before the interval has passed"
    s.ticks(1)
    assert s.calls("github.list_deliveries") == 2 * read
    assert s.calls("github.redeliver") == 1, "what was redelivered is not asked for again"
    assert len(s.jobs()) == 2


def test_lesson_08_a_delivery_that_keeps_failing_is_asked_for_later_each_time_and_not_for_ever(
    s: System,
) -> None:
    misbehave(s, Mishap.REFUSE, "queued")
    s.push()
    s.world.time.step(2)
    asked = []
    for _ in range(60):
        s.good_run()
        asked.append(s.calls("github.redeliver"))
        s.world.time.step(300)
    assert asked[-1] == 5
    moments = [asked.index(count) for count in range(1, 6)]
    waits = [after - before for before, after in itertools.pairwise(moments)]
    assert waits == sorted(waits)
    assert waits[-1] > 2 * waits[0]


def test_lesson_08_a_log_that_could_not_be_read_is_read_next_time(s: System) -> None:
    s.good_run()
    misbehave(s, Mishap.REFUSE, "queued")
    s.push()
    s.world.time.step(300)
    s.world.github.deliveries.behave()
    before = cursors(s)
    s.world.faults.always("github.list_deliveries", faults.status(502))
    assert it.phase(s.run(), "missed_webhooks").error
    assert cursors(s) == before
    s.world.faults.clear()
    s.world.time.step(15)
    s.good_run()
    s.world.time.step(5)
    assert len(s.jobs()) == 1


def test_lesson_08_a_redelivery_that_could_not_be_asked_for_is_not_lost(s: System) -> None:
    misbehave(s, Mishap.REFUSE, "queued", times=1)
    s.push()
    s.world.time.step(2)
    s.world.faults.always("github.redeliver", faults.status(500))
    assert it.phase(s.run(), "missed_webhooks").error
    s.world.faults.clear()
    s.world.time.step(300)
    s.good_run()
    s.world.time.step(5)
    assert len(s.jobs()) == 1


# 9: late, repeated and out of order ------------------------------------------------------------


def test_lesson_09_completed_before_queued_leaves_nothing_to_be_done(s: System) -> None:
    s.boards(2)
    it.online(s, "somebody-elses")
    misbehave(s, Mishap.DELAY, "queued", seconds=900)
    run = s.push(seconds=60)
    s.world.time.step(100)
    s.good_run()
    assert it.conclusions(run) == {"success"}
    s.world.time.step(900)
    s.good_run()
    s.ticks(2)
    assert s.statuses() == (["completed"], [])
    assert s.pods() == []


@pytest.mark.parametrize("mishap", [Mishap.DUPLICATE, Mishap.REORDER, Mishap.DELAY])
def test_lesson_09_whatever_order_webhooks_come_in_each_job_gets_one_runner(
    s: System, mishap: Mishap
) -> None:
    s.boards(3)
    misbehave(s, mishap, seconds=40)
    runs = [s.push(count=2, seconds=60), s.push(s.personal, seconds=60)]
    s.world.time.step(605)  # What nothing overtakes is held back for ten minutes.
    s.ticks(12)
    s.world.time.step(700)
    s.good_run()
    assert [it.conclusions(run) for run in runs] == [{"success"}] * 2
    assert s.statuses() == (["completed"] * 3, ["completed"] * 3)
    assert s.runners() == []


@pytest.mark.parametrize("lost", [("in_progress",), ("completed",), ("in_progress", "completed")])
def test_lesson_09_what_no_webhook_ever_said_is_seen_at_github(
    s: System, lost: tuple[str, ...]
) -> None:
    s.boards(1)
    it.lose(s, *lost)
    run = it.provisioned(s, seconds=60)
    s.ticks(10)
    assert it.conclusions(run) == {"success"}
    assert s.statuses() == (["completed"], ["completed"])
    [job] = s.jobs()
    assert (job["conclusion"], job["k8s_pod"]) == ("success", s.workers()[0]["pod_name"])


def test_lesson_09_a_job_that_another_runner_took_is_nobodys_demand(s: System) -> None:
    it.lose(s, "in_progress", "completed")
    s.push(seconds=HOUR)
    s.world.time.step(2)
    it.online(s, "somebody-elses")
    s.world.time.step(15)
    s.boards(2)
    s.good_run()
    assert s.statuses() == (["running"], [])
    assert s.pods() == []


# 11: one bad row -------------------------------------------------------------------------------

REFUSE_ONE = """
    CREATE FUNCTION refuse_one() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'this row cannot be written'; END $$;
    CREATE TRIGGER refuse_one BEFORE UPDATE ON workers FOR EACH ROW
    WHEN (OLD.pod_name = '{}') EXECUTE FUNCTION refuse_one();
"""


def refuse(s: System, name: str) -> None:
    s.database.execute(REFUSE_ONE.format(name))


@pytest.mark.parametrize(
    ("behaviour", "status"), [(Behaviour.RUNS, "completed"), (Behaviour.CRASHES, "failed")]
)
def test_lesson_11_a_row_that_cannot_be_written_takes_no_other_with_it(
    s: System, behaviour: Behaviour, status: str
) -> None:
    s.boards(3)
    s.world.cluster.next_pod(behaviour, 3)
    it.provisioned(s, count=3, seconds=60)
    one, bad, other = s.pods()
    refuse(s, bad)
    s.world.time.step(30)
    report = s.run()
    assert bad in (it.phase(report, "sync_workers").error or "")
    s.world.time.step(90)
    report = s.run()
    assert bad in (it.phase(report, "sync_workers").error or "")
    assert it.phase(report, "demand_match").success
    seen = {row["pod_name"]: row["status"] for row in s.workers()}
    assert (seen[one], seen[bad], seen[other]) == (status, "pending", status)
    s.database.execute("DROP TRIGGER refuse_one ON workers")
    s.world.time.step(15)
    s.run()
    [row] = [each for each in s.workers() if each["pod_name"] == bad]
    assert row["status"] == status


def test_lesson_11_the_pod_of_a_row_that_could_not_be_failed_is_left_alone(s: System) -> None:
    """Its row goes on to say that it is there; it is ended when that can be written."""
    s.boards(1)
    name = it.idle(s)
    refuse(s, name)
    s.world.time.step(600)
    assert s.run().status == "partial"
    assert "k8s.patch_pod" not in it.writes(s)
    s.database.execute("DROP TRIGGER refuse_one ON workers")
    s.world.time.step(60)
    s.good_run()
    assert s.statuses()[1] == ["failed"]


# 12: everything ends ---------------------------------------------------------------------------


@pytest.mark.parametrize("silent", ["github.*", "k8s.*", "*"])
def test_lesson_12_a_run_ends_though_a_peer_never_answers(s: System, silent: str) -> None:
    """It would be silent for longer than a test may take."""
    s.toml = it.IMPATIENT
    s.boards(2)
    it.working(s, seconds=HOUR)
    s.push(s.personal)
    s.world.time.step(300)
    s.world.faults.always(silent, faults.timeout(600))
    report = s.run()
    s.world.faults.clear()
    assert report.status in ("partial", "failed")
    assert s.reasons() == [] or s.reasons() == ["provision_failed"]
    assert it.job_reasons(s) == [None, None]
    s.world.time.step(60)
    s.good_run()


def test_lesson_12_a_lock_that_is_not_to_be_had_fails_one_phase_and_not_the_others(
    s: System,
) -> None:
    s.toml = "[run]\nlock_timeout = 0.2\n"
    s.boards(1)
    it.lose(s, "completed")
    it.working(s, seconds=60)
    s.world.time.step(300)
    with s.database.connect() as other, other.transaction():
        other.execute("LOCK TABLE workers IN EXCLUSIVE MODE")
        report = s.run()
    assert {each.phase: each.success for each in report.phases} == {
        "sync_jobs": True,
        "sync_workers": False,
        "demand_match": True,
        "missed_webhooks": True,
        "retention": True,
    }
    assert "lock timeout" in (it.phase(report, "sync_workers").error or "")
    assert s.statuses() == (["completed"], ["running"])
    s.good_run()
    assert s.statuses() == (["completed"], ["completed"])


def test_lesson_12_a_statement_has_a_limit(s: System) -> None:
    s.toml = "[run]\nstatement_timeout = 0.2\nlock_timeout = 60\n"
    s.boards(1)
    it.provisioned(s)
    with s.database.connect() as other, other.transaction():
        other.execute("LOCK TABLE workers IN EXCLUSIVE MODE")
        report = s.run()
    assert "statement timeout" in (it.phase(report, "sync_workers").error or "")


def test_lesson_12_a_run_past_its_deadline_starts_nothing_more(s: System) -> None:
    s.toml = "[run]\ndeadline = 0.5\n"
    s.boards(2)
    s.push(count=2)
    s.world.time.step(15)
    s.world.faults.always("github.list_run_jobs", faults.latency(0.7))
    report = s.run()
    assert report.status in ("partial", "failed")
    for name in ("sync_workers", "demand_match", "missed_webhooks"):
        assert "time is over" in (it.phase(report, name).error or "")
    assert s.pods() == []
    assert s.workers() == []
    s.world.faults.clear()
    s.toml = ""
    s.good_run()
    assert len(s.pods()) == 2


def test_lesson_12_a_run_does_not_wait_for_another(s: System) -> None:
    with s.database.connect() as other:
        other.execute("SELECT pg_advisory_lock(hashtext('riscv-runners run'), hashtext('prod'))")
        with pytest.raises(BusyError):
            s.run()
    assert s.database.rows("SELECT * FROM reconcile_runs") == []


def test_lesson_12_a_run_can_follow_straight_after_another(s: System) -> None:
    """A finished one leaves its lock before it says that it has finished."""
    s.world.time.step(60)
    for _ in range(10):
        s.good_run()
