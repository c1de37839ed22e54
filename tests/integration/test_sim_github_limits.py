"""The simulated GitHub: rate limits and conditional requests."""

import threading
from collections.abc import Iterator

import pytest
import requests

from reconcile.sim import faults
from reconcile.sim.github import Limits, workflow
from tests.simulated import LABEL, Client, Simulated

RUNNERS = "/orgs/riseproject/actions/runners"


@pytest.fixture
def world() -> Iterator[Simulated]:
    with Simulated(limits=Limits(requests_an_hour=20, points_a_minute=60)).started() as world:
        yield world


def remaining(client: Client) -> int:
    return int(client.get("/rate_limit").json()["rate"]["remaining"])


def test_every_answer_tells_what_is_left(world: Simulated) -> None:
    client = world.as_installation()
    first, second = client.get(RUNNERS), client.get(RUNNERS)
    assert first.headers["X-RateLimit-Limit"] == "20"
    assert (first.headers["X-RateLimit-Remaining"], first.headers["X-RateLimit-Used"]) == (
        "19",
        "1",
    )
    assert second.headers["X-RateLimit-Remaining"] == "18"
    assert second.headers["X-RateLimit-Reset"] == first.headers["X-RateLimit-Reset"]
    assert remaining(client) == remaining(client) == 18, "asking for the limit is free"


def test_primary_limit_refuses_until_its_window_is_over(world: Simulated) -> None:
    client = world.as_installation()
    for _ in range(20):
        assert client.get(RUNNERS).status_code == 200
        world.time.step(5)
    refused = client.get(RUNNERS)
    assert refused.status_code == 403
    assert "API rate limit exceeded for installation ID" in refused.json()["message"]
    assert refused.headers["X-RateLimit-Remaining"] == "0"
    reset = int(refused.headers["X-RateLimit-Reset"])
    world.time.step(reset - world.time.clock.now().timestamp())
    assert world.as_installation().get(RUNNERS).status_code == 200


def test_limit_is_each_installations_own(world: Simulated) -> None:
    accounts = world.github.accounts
    other = accounts.install(world.app, accounts.add_organization("elsewhere"))
    client = world.as_installation()
    for _ in range(3):
        client.get(RUNNERS)
    assert remaining(client) == 17
    assert remaining(world.as_installation(other)) == 20


def test_unchanged_answer_costs_nothing(world: Simulated) -> None:
    client = world.as_installation()
    tag = client.get(RUNNERS).headers["ETag"]
    for _ in range(30):
        answer = client.get(RUNNERS, headers={"If-None-Match": tag})
        assert (answer.status_code, answer.content) == (304, b"")
    assert remaining(client) == 19
    world.runner()
    changed = client.get(RUNNERS, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["ETag"] != tag


def test_job_in_progress_changes_its_tag_only_with_its_steps(world: Simulated) -> None:
    run = world.github.engine.push(world.public, workflow.uniform((LABEL,), seconds=600))
    world.online()
    world.time.step(10)
    client = world.as_installation()
    path = f"/repos/{world.public.full_name}/actions/runs/{run.id}/jobs"
    tag = client.get(path).headers["ETag"]
    world.time.step(300)
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 304
    world.time.step(600)
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 200


def test_tag_of_another_token_matches_nothing(world: Simulated) -> None:
    tag = world.as_installation().get(RUNNERS).headers["ETag"]
    answer = world.as_installation().get(RUNNERS, headers={"If-None-Match": tag})
    assert answer.status_code == 200


def test_points_a_minute_are_limited_and_a_write_costs_five(world: Simulated) -> None:
    client = world.as_installation()
    body = {"name": "", "runner_group_id": 1, "labels": [LABEL]}
    for _ in range(12):
        assert client.post(f"{RUNNERS}/generate-jitconfig", body).status_code == 422
    refused = client.get(RUNNERS)
    assert refused.status_code == 429
    assert "secondary rate limit" in refused.json()["message"]
    assert refused.headers["Retry-After"] == "60"
    world.time.step(60)
    assert client.get(RUNNERS).status_code == 200


def test_too_many_at_once_are_refused() -> None:
    with Simulated(limits=Limits(at_once=3)).started() as world:
        credential = world.as_installation().credential
        world.faults.always("github.list_org_runners", faults.latency(0.5))
        statuses: list[int] = []

        def ask() -> None:
            statuses.append(world.client(credential).get(RUNNERS).status_code)

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses.count(200) >= 3
        assert 403 in statuses


def test_calls_that_are_left_without_an_answer_are_not_at_once() -> None:
    with Simulated(limits=Limits(at_once=2)).started() as world:
        client = world.as_installation()
        world.faults.next("github.list_org_runners", faults.timeout(30), times=3)
        for _ in range(3):
            with pytest.raises(requests.ReadTimeout):
                client.get(RUNNERS, timeout=0.1)
        assert client.get(RUNNERS).status_code == 200


def test_limits_can_be_switched_off() -> None:
    off = Limits(requests_an_hour=None, points_a_minute=None, at_once=None)
    with Simulated(limits=off).started() as world:
        client = world.as_installation()
        answers = [client.get(RUNNERS) for _ in range(50)]
        assert {answer.status_code for answer in answers} == {200}
        assert "X-RateLimit-Limit" not in answers[-1].headers
