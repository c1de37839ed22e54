"""Faults on command and by chance, on the simulated GitHub's endpoints."""

import re

import pytest
import requests

from reconcile.sim import faults
from reconcile.sim.faults import Fault, Faults
from reconcile.sim.timeline import SteppedTime
from reconcile.sim.world import World
from tests.simulated import LABEL, Client, Simulated

RUNNERS = "/orgs/riseproject/actions/runners"
JIT = f"{RUNNERS}/generate-jitconfig"
BODY = {"name": "runner-1", "runner_group_id": 1, "labels": [LABEL]}


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (faults.timeout(5), requests.ReadTimeout),
        (faults.reset(), requests.ConnectionError),
        (faults.half_body(), requests.exceptions.ChunkedEncodingError),
    ],
)
def test_connection_fails_once_and_then_works(
    world: Simulated, client: Client, fault: Fault, error: type[Exception]
) -> None:
    world.faults.next("github.list_org_runners", fault)
    with pytest.raises(error):
        client.get(RUNNERS, timeout=0.3)
    assert client.get(RUNNERS).status_code == 200


@pytest.mark.parametrize("status", [500, 502, 503])
def test_server_error_has_githubs_words(world: Simulated, client: Client, status: int) -> None:
    world.faults.next("github.*", faults.status(status), times=2)
    for _ in range(2):
        answer = client.get(RUNNERS)
        assert answer.status_code == status
        assert answer.json()["message"]
    assert client.get(RUNNERS).status_code == 200


def test_rate_limit_on_command_says_when_to_come_back(world: Simulated, client: Client) -> None:
    world.faults.next("github.*", faults.rate_limited(retry_after=17))
    answer = client.get(RUNNERS)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "17")


def test_token_can_be_said_to_have_expired(world: Simulated, client: Client) -> None:
    world.faults.next("github.*", faults.expired_token())
    answer = client.get(RUNNERS)
    assert (answer.status_code, answer.json()["message"]) == (401, "Bad credentials")


def test_wrong_json_is_a_whole_answer_that_cannot_be_read(world: Simulated, client: Client) -> None:
    world.faults.next("github.*", faults.wrong_json())
    answer = client.get(RUNNERS)
    assert answer.status_code == 200
    with pytest.raises(requests.exceptions.JSONDecodeError):
        answer.json()


@pytest.mark.parametrize("after_effect", [False, True])
def test_failed_write_may_have_been_done_or_not(
    world: Simulated, client: Client, after_effect: bool
) -> None:
    world.faults.next("github.create_jit_config_org", faults.reset(after_effect=after_effect))
    with pytest.raises(requests.ConnectionError):
        client.post(JIT, BODY)
    assert client.get(RUNNERS).json()["total_count"] == int(after_effect)
    assert client.post(JIT, BODY).status_code == (409 if after_effect else 201)


@pytest.mark.parametrize("fault", [faults.half_body(), faults.wrong_json()])
def test_answer_without_a_body_fails_as_well(
    world: Simulated, client: Client, fault: Fault
) -> None:
    runner, _ = world.runner()
    world.faults.next("github.delete_org_runner", fault)
    with pytest.raises(requests.ConnectionError):
        client.delete(f"{RUNNERS}/{runner.id}")
    assert client.delete(f"{RUNNERS}/{runner.id}").status_code == 404, "it was done"


def test_latency_and_failure_can_meet(world: Simulated, client: Client) -> None:
    world.faults.always("github.*", faults.latency(0.05))
    world.faults.next("github.*", faults.status(503))
    assert client.get(RUNNERS).status_code == 503
    assert client.get(RUNNERS).elapsed.total_seconds() >= 0.05


def test_rule_reaches_only_its_endpoints_until_it_is_removed(
    world: Simulated, client: Client
) -> None:
    rule = world.faults.always("github.list_*", faults.status(500))
    assert client.get(RUNNERS).status_code == 500
    assert client.post(JIT, BODY).status_code == 201
    world.faults.remove(rule)
    assert client.get(RUNNERS).status_code == 200


def test_chance_is_the_same_for_the_same_seed_whoever_else_calls() -> None:
    def fates(seed: int, *, others: bool) -> list[bool]:
        drawn = Faults(seed)
        drawn.sometimes("github.*", 0.3, faults.reset())
        answer = []
        for _ in range(200):
            if others:
                drawn.draw("github.list_org_runners", "/other")
            answer.append(bool(drawn.draw("github.list_org_runners", "/mine")))
        return answer

    assert fates(1, others=False) == fates(1, others=True) != fates(2, others=False)
    assert 30 < sum(fates(1, others=False)) < 90


def test_calls_are_counted_and_kept(world: Simulated, client: Client) -> None:
    before = world.server.counts["github.list_org_runners"]
    world.faults.next("github.list_org_runners", faults.reset())
    with pytest.raises(requests.ConnectionError):
        client.get(RUNNERS)
    client.get(RUNNERS, params={"per_page": 5})
    assert world.server.counts["github.list_org_runners"] == before + 2
    failed, answered = list(world.server.calls)[-2:]
    assert failed.status is None
    assert (answered.target, answered.status) == (f"{RUNNERS}?per_page=5", 200)


def test_every_endpoint_of_both_can_be_told_to_fail() -> None:
    with World(SteppedTime()) as world, requests.Session() as session:
        for server in (world.github_server, world.cluster_server):
            for endpoint in server.service.router.endpoints:
                name = f"{server.service.name}.{endpoint.name}"
                world.faults.next(name, faults.status(503))
                path = re.sub(r"\{\w+\}", "1", endpoint.template)
                answer = session.request(endpoint.method, server.url + path, timeout=5)
                assert answer.status_code == 503, name


def test_unknown_path_is_not_found_in_githubs_words(client: Client) -> None:
    answer = client.get("/nowhere")
    assert (answer.status_code, answer.json()["message"]) == (404, "Not Found")
    assert client.call("PUT", RUNNERS).status_code == 404
