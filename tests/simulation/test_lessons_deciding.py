"""Lessons 1 to 3: deciding on bad information. Whole runs on the simulated world."""

from collections.abc import Iterator

import pytest

from reconcile.sim import faults
from reconcile.sim.faults import Fault
from reconcile.sim.github.model import Run, RunnerGroup
from reconcile.sim.http import Request
from tests.database import Database
from tests.simulated import GROUP
from tests.simulation import situations as it
from tests.system import System, system

FAILURES: dict[str, Fault] = {
    "timeout": faults.timeout(),
    "reset": faults.reset(),
    "500": faults.status(500),
    "half_body": faults.half_body(),
    "wrong_json": faults.wrong_json(),
}


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


# 1: unknown is not absent ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listing", "phase"),
    [
        ("k8s.list_pods", "sync_workers"),
        ("k8s.list_nodes", "sync_workers"),
        ("github.list_group_runners", "sync_workers"),
        ("github.list_org_runners", "sync_workers"),
        ("github.list_repo_runners", "sync_workers"),
        ("github.list_run_jobs", "sync_jobs"),
    ],
)
def test_lesson_01_a_listing_that_failed_kills_no_worker_and_fails_no_job(
    s: System, listing: str, phase: str
) -> None:
    """The jobs run for longer than any timeout, and no webhook says that they do: all that keeps
    their workers alive is what the listings say."""
    s.toml = it.IMPATIENT
    s.boards(3)
    it.lose(s, "in_progress")
    runs = [it.provisioned(s, seconds=3600), it.provisioned(s, s.personal, seconds=3600)]
    s.world.time.step(900)
    for name, fault in FAILURES.items():
        s.world.faults.always("github.list_run_jobs", faults.status(500))
        s.world.faults.always(listing, fault)
        if listing == "github.list_org_runners":  # It is asked for when the group is gone.
            s.world.faults.always("github.list_group_runners", faults.status(404))
        report = s.run()
        s.world.faults.clear()
        assert report.status == "partial", name
        assert it.phase(report, phase).error, name
        assert it.kills(s) == [], name
        assert s.reasons() == [], name
        assert it.job_reasons(s) == [None, None], name
        s.world.time.step(61)
    s.world.time.step(3600)
    s.good_run()
    assert s.statuses() == (["completed"] * 2, ["completed"] * 2)
    assert [it.conclusions(run) for run in runs] == [{"success"}] * 2


def test_lesson_01_runner_groups_that_could_not_be_listed_are_not_made_anew(s: System) -> None:
    s.toml = it.IMPATIENT
    s.boards(1)
    run = s.push()
    s.world.time.step(2)
    for name, fault in FAILURES.items():
        s.world.faults.always("github.list_runner_groups", fault)
        report = s.run()
        s.world.faults.clear()
        assert report.status == "partial", name
        assert "runner-groups" in (it.phase(report, "demand_match").error or ""), name
        assert it.writes(s) == [], name
        s.world.time.step(3601)  # past the back-off
    assert s.jobs()[0]["status"] == "pending"
    s.good_run()
    s.ticks(30)
    assert it.conclusions(run) == {"success"}


def test_lesson_01_nothing_is_provisioned_on_boards_that_could_not_be_listed(s: System) -> None:
    s.boards(2)
    s.push(count=2)
    s.world.time.step(2)
    for listing in ("k8s.list_nodes", "k8s.list_pods"):
        s.world.faults.always(listing, faults.status(503))
        assert it.phase(s.run(), "demand_match").error
        s.world.faults.clear()
    assert s.pods() == []
    s.good_run()
    assert len(s.pods()) == 2


def test_lesson_01_runners_beyond_the_first_page_are_there(s: System) -> None:
    """An idle runner that the first page does not name is not one that never registered."""
    s.boards(1)
    for number in range(230):
        it.registered(s, f"somebody-elses-{number}")
    name = it.idle(s)
    s.world.time.step(200)
    s.good_run()
    assert s.reasons() == []
    assert it.kills(s) == []
    assert name in s.runners()


def test_lesson_01_a_page_that_failed_is_not_the_end_of_the_list(s: System) -> None:
    s.boards(1)
    for number in range(130):
        it.registered(s, f"somebody-elses-{number}")
    it.idle(s)
    s.world.time.step(200)

    def second_page_fails(request: Request) -> None:
        if request.query.get("page") == "2":
            s.world.faults.next("github.list_group_runners", faults.status(502))

    with it.watched(s.world.github_server, second_page_fails):
        assert s.run().status == "partial"
    assert it.kills(s) == []
    assert s.reasons() == []


def test_lesson_01_jobs_beyond_the_first_page_are_seen(s: System) -> None:
    run = s.push(count=130)
    s.world.time.step(2)
    assert len(s.jobs()) == 130
    it.lose(s, "completed")
    s.world.github.engine.cancel(run)
    s.world.time.step(15)
    s.good_run()
    assert {row["status"] for row in s.jobs()} == {"completed"}
    assert {row["conclusion"] for row in s.jobs()} == {"cancelled"}


def test_lesson_01_a_runner_group_beyond_the_first_page_is_found(s: System) -> None:
    runners = s.world.github.runners
    for number in range(130):
        runners.add_group(RunnerGroup(0, s.organization, f"Group {number}"))
    ours = runners.add_group(RunnerGroup(0, s.organization, GROUP))
    s.boards(1)
    it.provisioned(s)
    assert s.calls("github.create_runner_group") == 0
    assert [each.name for each in runners.in_group(ours)] == s.pods()


# 2: asked again just before the kill -----------------------------------------------------------


def test_lesson_02_a_runner_that_took_a_job_since_it_was_listed_is_left_alone(s: System) -> None:
    s.boards(1)
    name = it.idle(s)
    s.world.time.step(600)
    taken: list[Run] = []

    def a_job_comes(request: Request) -> None:
        if request.method == "DELETE" and not taken:
            taken.append(s.push(seconds=300))
            s.world.time.step(2)

    with it.watched(s.world.github_server, a_job_comes):
        report = s.run()
    assert report.status == "completed"
    assert it.busy_names(s) == [name]
    assert "k8s.patch_pod" not in it.writes(s)
    assert s.reasons() == []
    s.world.time.step(400)
    s.good_run()
    assert it.conclusions(taken[0]) == {"success"}
    assert s.statuses()[1] == ["completed"]


def test_lesson_02_github_is_asked_before_the_pod_is_stopped(s: System) -> None:
    s.boards(1)
    it.idle(s)
    s.world.time.step(600)
    order: list[str] = []

    def note(request: Request) -> None:
        if request.method != "GET":
            order.append(request.method)

    with it.watched(s.world.github_server, note), it.watched(s.world.cluster_server, note):
        s.good_run()
    assert order == ["DELETE", "PATCH"]
    assert s.reasons() == ["runner_idle"]


@pytest.mark.parametrize(
    "fault", [faults.status(502), faults.reset(), faults.reset(after_effect=True)]
)
def test_lesson_02_no_answer_is_no_permission(s: System, fault: Fault) -> None:
    """Not even if the registration is gone, for all one knows."""
    s.boards(1)
    it.idle(s)
    s.world.time.step(600)
    s.world.faults.always("github.delete_org_runner", fault)
    assert s.run().status == "partial"
    assert "k8s.patch_pod" not in it.writes(s)
    assert s.reasons() == []
    s.world.faults.clear()
    s.world.time.step(15)
    s.run()
    assert len(s.reasons()) == 1


# 3: one 404 proves nothing ---------------------------------------------------------------------


def test_lesson_03_a_transient_404_leaves_the_job_as_it_is(s: System) -> None:
    s.boards(1)
    run = it.working(s)
    before = s.jobs()
    s.world.time.step(15)
    s.world.faults.next("github.list_run_jobs", faults.status(404))
    s.good_run()
    assert s.jobs() == [before[0] | {"missing_since": s.world.time.clock.now()}]
    s.world.time.step(90)
    s.good_run()
    assert s.jobs() == before
    s.ticks(20)
    assert it.conclusions(run) == {"success"}
    assert s.statuses() == (["completed"], ["completed"])


def test_lesson_03_a_job_that_its_run_does_not_list_is_looked_at_itself(s: System) -> None:
    s.boards(1)
    run = it.working(s, seconds=3600)
    before = s.jobs()
    run.attempt.jobs.clear()  # GitHub's listing lags behind what it knows.
    for _ in range(4):
        s.world.time.step(70)
        s.good_run()
        assert s.jobs()[0] | {"missing_since": None} == before[0]
    assert s.calls("github.get_job") > 0


def test_lesson_03_a_job_is_gone_when_a_later_run_is_told_so_again(s: System) -> None:
    s.toml = "[run]\npoll_interval = 1\n"
    run = s.push(count=2)
    other = s.push()
    s.world.time.step(2)
    s.good_run()
    s.world.github.engine.delete(run)
    s.world.time.step(15)
    s.good_run()
    assert s.statuses()[0] == ["pending"] * 3
    s.world.time.step(59)
    s.good_run()
    assert s.statuses()[0] == ["pending"] * 3, "the second look is too soon to be believed"
    s.world.time.step(1)
    s.good_run()
    assert s.statuses()[0] == ["failed", "failed", "pending"]
    assert it.job_reasons(s) == ["job_gone", "job_gone", None]
    assert other.jobs[0].id == s.jobs()[2]["job_id"]


@pytest.mark.parametrize("endpoint", ["github.list_run_jobs", "github.create_token"])
def test_lesson_03_a_5xx_fails_no_job_however_long_it_lasts(s: System, endpoint: str) -> None:
    s.boards(1)
    run = it.working(s, seconds=7200)
    s.world.faults.always(endpoint, faults.status(502))
    for _ in range(6):
        s.world.time.step(1000)  # past a token's hour
        s.run()
    assert it.job_reasons(s) == [None]
    assert it.kills(s) == []
    s.world.faults.clear()
    s.world.time.step(1500)
    s.good_run()
    assert it.conclusions(run) == {"success"}
    assert s.statuses() == (["completed"], ["completed"])


def test_lesson_03_an_installation_is_gone_when_its_token_endpoint_says_so(s: System) -> None:
    s.boards(2)
    it.working(s, count=3, seconds=7200)
    personal = it.provisioned(s, s.personal)
    s.world.github.accounts.uninstall(s.installation)
    for _ in range(12):
        s.world.time.step(100)
        s.run()
    gone = [row for row in s.jobs() if row["entity_name"] == "riseproject"]
    assert [row["status"] for row in gone] == ["failed"] * 3
    assert {row["failure_info"]["reason"] for row in gone} == {"installation_gone"}
    events = s.database.rows("SELECT * FROM installation_events WHERE source = 'scheduler'")
    assert [(row["event"], row["installation_id"]) for row in events] == [
        ("auth_attempt.404", s.installation.id)
    ]
    assert it.job_reasons(s)[-1] is None, "the other installation's job is not touched"
    assert personal.id == s.jobs()[-1]["run_id"]


def test_lesson_03_a_suspended_installation_is_not_gone(s: System) -> None:
    s.push()
    s.world.time.step(2)
    s.good_run()
    s.world.github.accounts.suspend(s.installation)
    for _ in range(5):
        s.world.time.step(100)
        s.run()
    assert s.statuses()[0] == ["pending"]
    events = s.database.rows("SELECT event FROM installation_events WHERE source = 'scheduler'")
    assert [row["event"] for row in events] == ["auth_attempt.other_error"]
    s.world.github.accounts.unsuspend(s.installation)
    s.boards(1)
    s.ticks(30, good=False)
    assert s.statuses()[0] == ["completed"]
