"""The client on the simulated GitHub: it keeps to its limits instead of running into them."""

import threading
from collections.abc import Iterator

import pytest

from reconcile.errors import RateLimitedError
from reconcile.github import Credential, GitHubClient
from reconcile.settings import GitHubBudget
from reconcile.sim import faults
from reconcile.sim.github import Limits, workflow
from tests.integration.github_client import Bench, bench, by_key
from tests.simulated import LABEL

BUILD = workflow.uniform((LABEL,), seconds=36_000)


@pytest.fixture
def it() -> Iterator[Bench]:
    with bench() as it:
        yield it


def poll_all(it: Bench, client: GitHubClient) -> int:
    """Single jobs, whose answers always cost; as many as are let through."""
    job_id = max(it.world.github.engine.jobs)
    count = 0
    while client.polls_left(it.org):
        client.job(it.org, it.repository, job_id)
        count += 1
    with pytest.raises(RateLimitedError):
        client.job(it.org, it.repository, job_id)
    return count


def test_limits_are_remembered_from_every_answer_and_across_runs(it: Bench) -> None:
    client = it.client()
    client.runners(it.org, None, [])
    credential = by_key(client.credentials(), "installation")
    assert (credential.rate_limit, credential.rate_remaining) == (5000, 4999)
    assert credential.rate_resets_at is not None
    it.world.faults.next("github.list_org_runners", faults.rate_limited(40))
    with pytest.raises(RateLimitedError):
        client.runners(it.org, None, [])
    second = it.client(client.credentials())
    with pytest.raises(RateLimitedError):
        second.runners(it.org, None, [])
    assert it.counted("list_org_runners") == 2
    second.runners(it.repo, None, [])
    it.world.time.step(40)
    second.runners(it.org, None, [])


def test_polling_stops_at_its_share_and_provisioning_goes_on(it: Bench) -> None:
    it.world.github.engine.push(it.world.public, BUILD)
    client = it.client()
    assert poll_all(it, client) == 150
    second = it.client(client.credentials())
    assert second.polls_left(it.org) == 0
    assert second.polls_left(it.repo) > 0, "each installation has its own"
    second.create_jit_config(it.org, it.group(second), "runner-1", [LABEL])
    it.world.time.step(60)
    assert poll_all(it, second) == 12


def test_polling_that_finds_nothing_new_costs_nothing_and_goes_on(it: Bench) -> None:
    runs = [it.world.github.engine.push(it.world.public, BUILD) for _ in range(40)]
    client = it.client()
    known = {run.id: client.jobs_of_run(it.org, it.repository, run.id, []).pages for run in runs}
    used = it.used()
    for _ in range(20):
        client = it.client(client.credentials() or ())
        for run in runs:
            assert not client.jobs_of_run(it.org, it.repository, run.id, known[run.id]).changed
        it.world.time.step(15)
    assert it.used() == used
    assert it.world.github.limiter.most_points_a_minute <= 360


def test_polling_leaves_the_reserve_alone() -> None:
    with bench(Limits(requests_an_hour=100)) as it:
        it.world.github.engine.push(it.world.public, BUILD)
        client = it.client(budget=GitHubBudget(polling_requests_share=50))
        assert poll_all(it, client) == 81, "what is left of 100 is below 20 then"
        for _ in range(19):
            client.runners(it.org, None, [])
        used = it.used()
        with pytest.raises(RateLimitedError):
            client.runners(it.org, None, [])
        assert it.used() == used == 100
        it.world.time.step(3600)
        client.runners(it.org, None, [])


def test_points_of_any_minute_stay_within_the_share_with_many_threads(it: Bench) -> None:
    it.world.github.engine.push(it.world.public, BUILD)
    job_id = max(it.world.github.engine.jobs)
    budget = GitHubBudget(points_per_minute=200)
    limiter = it.world.github.limiter
    saved = it.client(budget=budget)
    it.group(saved)
    credentials = saved.credentials()
    for run in range(6):
        client = it.client(credentials, budget=budget)
        refused: list[RateLimitedError] = []

        def work(number: int, client: GitHubClient = client, run: int = run) -> None:
            for turn in range(6):
                try:
                    client.job(it.org, it.repository, job_id)
                    client.create_jit_config(it.org, 1, f"r-{run}-{number}-{turn}", [LABEL])
                except RateLimitedError as error:
                    refused.append(error)  # noqa: B023 of this turn

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert refused
        assert limiter.most_points_a_minute <= 180
        credentials = _merged(credentials, client)
        it.world.time.step(15)
    assert limiter.most_points_a_minute > 170, "nothing is given away either"
    assert len(it.world.github.runners.all()) >= 40


def _merged(before: list[Credential], client: GitHubClient) -> list[Credential]:
    """As the database keeps them: by key, the latest."""
    return list({each.key: each for each in [*before, *client.credentials()]}.values())


def test_primary_limit_that_is_used_up_is_waited_for_across_runs() -> None:
    with bench(Limits(requests_an_hour=10)) as it:
        client = it.client()
        for _ in range(10):
            client.runners(it.org, None, [])
        saved = client.credentials()
        for _ in range(3):
            with pytest.raises(RateLimitedError):
                it.client(saved).runners(it.org, None, [])
        assert it.counted("list_org_runners") == 10
        refusal = it.client(saved).refusal(it.org)
        assert isinstance(refusal, RateLimitedError)
        it.world.time.step((refusal.until - it.world.time.clock.now()).total_seconds())
        it.client(saved).runners(it.org, None, [])


def test_primary_limit_that_others_used_up_is_waited_for() -> None:
    with bench(Limits(requests_an_hour=10)) as it:
        other = it.world.as_installation()
        client = it.client()
        client.runners(it.org, None, [])
        for _ in range(9):
            other.get("/orgs/riseproject/actions/runners")
        with pytest.raises(RateLimitedError) as caught:
            client.runners(it.org, None, [])
        assert "403 API rate limit exceeded" in str(caught.value)
        blocked = by_key(client.credentials(), "installation").blocked_until
        assert blocked == caught.value.until > it.world.time.clock.now()


def test_secondary_limit_without_a_time_is_waited_for_a_minute(it: Bench) -> None:
    client = it.client()
    it.world.faults.next("github.list_org_runners", faults.status(429))
    with pytest.raises(RateLimitedError) as caught:
        client.runners(it.org, None, [])
    assert (caught.value.until - it.world.time.clock.now()).total_seconds() == 60


def test_app_that_is_limited_leaves_no_room_where_no_token_is_at_hand(it: Bench) -> None:
    client = it.client()
    it.world.faults.next("github.create_token", faults.rate_limited(40))
    with pytest.raises(RateLimitedError) as caught:
        client.runners(it.org, None, [])
    for each in (client, it.client(client.credentials())):
        refusal = each.refusal(it.org)
        assert isinstance(refusal, RateLimitedError)
        assert refusal.until == caught.value.until
        assert each.writes_left(it.org) == 0
        assert each.refusal(it.repo) is None, "its App is another"
        assert each.writes_left(it.repo) > 0
    it.world.time.step(40)
    assert client.refusal(it.org) is None
    assert client.writes_left(it.org) > 0


def test_app_that_is_limited_is_no_matter_while_a_token_lasts(it: Bench) -> None:
    client = it.client()
    client.runners(it.org, None, [])
    it.world.time.step(1800)
    it.world.faults.next("github.list_deliveries", faults.rate_limited(3600))
    with pytest.raises(RateLimitedError):
        client.failed_deliveries(it.world.app.id, None)
    second = it.client(client.credentials())
    assert second.refusal(it.org) is None
    assert second.writes_left(it.org) > 0
    it.world.time.step(1800)
    assert isinstance(second.refusal(it.org), RateLimitedError), "the next one is the App's to get"
    assert second.writes_left(it.org) == 0


def test_server_without_limits_is_used_without() -> None:
    off = Limits(requests_an_hour=None, points_a_minute=None, at_once=None)
    with bench(off) as it:
        client = it.client(budget=GitHubBudget(points_per_minute=0))
        for _ in range(1000):
            client.runners(it.org, None, [])
        assert by_key(client.credentials(), "installation").rate_limit is None
