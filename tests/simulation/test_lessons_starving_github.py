"""Lessons 16 to 18: what GitHub allows, keeps and opens. Whole runs on the simulated world."""

from collections.abc import Iterator

import pytest

from reconcile.sim import faults
from reconcile.sim.cluster.images import Behaviour
from reconcile.sim.github import Limits
from reconcile.sim.github.service import limit_key
from reconcile.sim.server import Call
from tests.database import Database
from tests.simulation import situations as it
from tests.system import PREFIX, System, system


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


def asked(s: System) -> int:
    """Requests to GitHub of the organization's installation."""
    return sum(
        "/orgs/riseproject" in call.target or "/repos/riseproject" in call.target
        for call in s.world.github_server.calls
    )


def refused(s: System) -> list[Call]:
    """By any of GitHub's limits: an hour's, a minute's, or so many at once."""
    return [call for call in s.world.github_server.calls if call.status in (403, 429)]


# 16: GitHub's limits ---------------------------------------------------------------------------


def test_lesson_16_retry_after_is_remembered_across_runs(s: System) -> None:
    s.boards(1)
    it.working(s, seconds=3600)
    s.world.time.step(15)
    s.world.faults.next("github.list_run_jobs", faults.rate_limited(retry_after=200))
    s.good_run()
    before = asked(s)
    s.push()
    for _ in range(3):
        s.world.time.step(60)
        s.good_run()
    assert asked(s) == before
    s.world.time.step(21)
    s.good_run()
    assert asked(s) > before


def test_lesson_16_an_installations_limit_is_nobody_elses(s: System) -> None:
    s.boards(2)
    limited = s.push(seconds=60)
    s.world.time.step(15)
    s.world.faults.next("github.list_run_jobs", faults.rate_limited(retry_after=600))
    s.good_run()
    other = s.push(s.personal, seconds=60)
    s.ticks(10)
    assert it.conclusions(other) == {"success"}
    assert limited.jobs[0].runner is None
    assert [row["entity_name"] for row in s.workers()] == ["octodog"]


def test_lesson_16_a_limit_while_provisioning_fails_no_demand(s: System) -> None:
    s.boards(1)
    run = s.push(seconds=60)
    s.world.time.step(2)
    s.world.faults.next("github.create_jit_config_org", faults.rate_limited(retry_after=100))
    s.good_run()
    assert s.reasons() == ["rate_limited"]
    assert it.trouble(s) == []
    s.ticks(6)
    assert len(s.workers()) == 1, "nothing is tried before the time that GitHub named"
    s.ticks(10)
    assert it.conclusions(run) == {"success"}


def test_lesson_16_polling_stops_before_provisioning_does(s: System) -> None:
    s.boards(3)
    it.working(s, seconds=3600)
    s.database.execute("UPDATE github_credentials SET rate_remaining = 500 WHERE rate_limit > 0")
    polls = s.calls("github.list_run_jobs")
    s.push(seconds=3600)
    s.world.time.step(15)
    s.good_run()
    assert s.calls("github.list_run_jobs") == polls
    assert len(s.workers()) == 2
    s.database.execute("UPDATE github_credentials SET rate_remaining = 0 WHERE rate_limit > 0")
    s.push(seconds=3600)
    s.world.time.step(15)
    s.good_run()
    assert len(s.workers()) == 2, "and nothing is left for either"


def test_lesson_16_polling_cannot_use_up_what_provisioning_needs(database: Database) -> None:
    """An hour's limit that is far too small for one look at every job every 15 seconds."""
    with system(database, limits=Limits(requests_an_hour=100)) as s:
        s.boards(12)
        for _ in range(8):
            s.push(seconds=3600)
        for _ in range(20):
            s.world.time.step(30)
            s.good_run()
        for _ in range(4):
            s.push(seconds=3600)
        s.world.time.step(15)
        s.good_run()
        assert len(s.workers()) == 12
        assert refused(s) == []


def test_lesson_16_jobs_are_listed_by_workflow_run_and_unchanged_ones_cost_nothing(
    s: System,
) -> None:
    s.boards(20)
    it.working(s, count=20, seconds=3600)
    s.ticks(3)
    key = limit_key(s.installation)
    before, polls = s.world.github.limiter.used(key), s.calls("github.list_run_jobs")
    s.ticks(10)
    assert s.calls("github.list_run_jobs") - polls <= 10, "one request for twenty jobs"
    assert s.calls("github.get_job") == 0
    assert s.world.github.limiter.used(key) == before
    assert s.world.github.limiter.most_points_a_minute <= 900


def test_lesson_16_a_burst_stays_within_the_points_a_minute(s: System) -> None:
    s.toml = "default_max_workers = 1000\n"
    s.boards(220)
    s.push(count=220, seconds=3600)
    s.world.time.step(2)
    s.good_run()
    assert 100 < len(s.pods()) < 220
    assert s.world.github.limiter.most_points_a_minute <= 900
    s.world.time.step(61)
    s.good_run()
    assert len(s.pods()) == 220
    assert refused(s) == []
    assert set(s.reasons()) <= {"rate_limited"}
    assert it.trouble(s) == []


# 17: left-over registrations -------------------------------------------------------------------


def test_lesson_17_the_registration_of_a_failed_worker_goes(s: System) -> None:
    s.boards(2)
    s.world.cluster.next_pod(Behaviour.CRASHES, 2)
    s.push()
    s.push(s.personal)
    s.world.time.step(2)
    s.good_run()
    assert len(s.runners()) == 2
    s.world.time.step(60)
    s.good_run()
    assert s.reasons() == ["pod_failed"] * 2
    assert s.runners() == []


def test_lesson_17_what_has_no_worker_goes_also_where_no_worker_is_active(s: System) -> None:
    s.boards(2)
    it.working(s, seconds=60)
    it.working(s, s.personal, seconds=60)
    s.ticks(8)
    assert set(s.statuses()[1]) == {"completed"}
    it.registered(s, f"{PREFIX}left")
    it.registered(s, f"{PREFIX}left", s.personal)
    s.world.time.step(600)
    s.good_run()
    assert s.runners() == []


def test_lesson_17_stagings_runners_and_those_of_others_are_never_touched(s: System) -> None:
    others = [it.staging_name(), it.staging_name(2), "rise-riscv-runner", "somebody-elses"]
    s.boards(1)
    it.working(s, seconds=60)
    for name in others:
        it.registered(s, name)
    it.make_pod(s, it.staging_name(3))
    for _ in range(4):
        s.world.time.step(600)
        s.good_run()
    assert s.runners() == sorted(others)
    assert it.staging_name(3) in s.pods()


def test_lesson_17_a_busy_one_is_never_removed(s: System) -> None:
    s.boards(1)
    it.working(s, seconds=60)
    s.ticks(8)
    it.online(s, f"{PREFIX}left")
    run = s.push(seconds=1500)
    s.world.time.step(2)
    assert it.busy_names(s) == [f"{PREFIX}left"]
    for _ in range(2):
        s.world.time.step(650)
        s.good_run()
        assert it.busy_names(s) == [f"{PREFIX}left"]
    assert s.calls("github.delete_org_runner") == 0
    s.world.time.step(300)
    assert it.conclusions(run) == {"success"}


def test_lesson_17_more_than_a_page_of_them_goes(s: System) -> None:
    s.boards(1)
    it.working(s, seconds=60)
    s.ticks(8)
    for number in range(130):
        it.registered(s, f"{PREFIX}left-{number}")
    for number in range(110):
        it.registered(s, it.staging_name(number))
    for _ in range(3):
        s.world.time.step(600)
        s.good_run()
    assert s.runners() == sorted(it.staging_name(number) for number in range(110))


def test_lesson_17_what_could_not_be_removed_is_tried_again_at_the_next_run(s: System) -> None:
    s.boards(1)
    it.working(s, seconds=60)
    s.ticks(8)
    it.registered(s, f"{PREFIX}left")
    s.world.faults.always("github.delete_org_runner", faults.status(502))
    s.world.time.step(600)
    assert s.run().status == "partial"
    s.world.faults.clear()
    s.world.time.step(15)
    s.good_run()
    assert s.runners() == []


# 18: the runner group --------------------------------------------------------------------------


def test_lesson_18_a_group_made_by_us_is_closed_to_public_repositories(s: System) -> None:
    public = s.world.github.accounts.add_repository(s.organization, "open", private=False)
    s.boards(2)
    run = s.push(public)
    s.ticks(10)
    assert not it.group_of(s).allows_public_repositories
    assert run.jobs[0].runner is None


@pytest.mark.parametrize("exists", [False, True])
def test_lesson_18_a_group_is_opened_if_the_configuration_says_so(s: System, exists: bool) -> None:
    public = s.world.github.accounts.add_repository(s.organization, "open", private=False)
    s.boards(3)
    if exists:
        it.working(s, seconds=60)
        assert not it.group_of(s).allows_public_repositories
    s.toml = "[runner_group]\nallows_public_repositories = true\n"
    run = s.push(public, seconds=60)
    s.ticks(10)
    assert it.group_of(s).allows_public_repositories
    assert it.conclusions(run) == {"success"}
    s.toml = "[runner_group]\nallows_public_repositories = false\n"
    it.provisioned(s)
    assert not it.group_of(s).allows_public_repositories


def test_lesson_18_without_a_setting_the_group_is_left_as_its_organization_sets_it(
    s: System,
) -> None:
    s.boards(3)
    it.working(s, seconds=60)
    it.group_of(s).allows_public_repositories = True
    it.working(s, seconds=60)
    s.ticks(10)
    assert it.group_of(s).allows_public_repositories
    assert s.calls("github.update_runner_group") == 0
