"""The simulated GitHub: runner groups, JIT configurations, runners."""

from typing import Any

import pytest

from reconcile.sim.broker import RefusedError
from reconcile.sim.github import workflow
from tests.simulated import GROUP, LABEL, Client, Process, Simulated

BASE = "/orgs/riseproject/actions"
BUILD = workflow.uniform((LABEL,), seconds=60)


def jit_body(**changed: Any) -> dict[str, Any]:
    return {"name": "runner-1", "runner_group_id": 1, "labels": [LABEL], **changed}


def test_organization_has_a_default_group(client: Client) -> None:
    [group] = client.get(f"{BASE}/runner-groups").json()["runner_groups"]
    assert (group["name"], group["default"]) == ("Default", True)


def test_new_group_is_closed_to_public_repositories_unless_asked(client: Client) -> None:
    closed = client.post(f"{BASE}/runner-groups", {"name": "closed"})
    opened = client.post(
        f"{BASE}/runner-groups", {"name": "open", "allows_public_repositories": True}
    )
    assert (closed.status_code, opened.status_code) == (201, 201)
    assert closed.json()["allows_public_repositories"] is False
    assert opened.json()["allows_public_repositories"] is True
    assert client.post(f"{BASE}/runner-groups", {"name": "open"}).status_code == 409
    assert client.post(f"{BASE}/runner-groups", {}).status_code == 422


def test_group_can_be_read_changed_and_deleted(client: Client) -> None:
    group_id = client.post(f"{BASE}/runner-groups", {"name": "one"}).json()["id"]
    path = f"{BASE}/runner-groups/{group_id}"
    body = {"name": "two", "visibility": "private"}
    assert client.call("PATCH", path, json=body).json()["visibility"] == "private"
    assert client.get(path).json()["name"] == "two"
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


def test_jit_configuration_registers_a_runner_that_is_offline(
    world: Simulated, client: Client
) -> None:
    answer = client.post(f"{BASE}/runners/generate-jitconfig", jit_body())
    assert answer.status_code == 201
    runner = answer.json()["runner"]
    [listed] = client.get(f"{BASE}/runners").json()["runners"]
    assert listed == runner
    assert (runner["status"], runner["busy"], runner["name"]) == ("offline", False, "runner-1")
    world.github.connect(answer.json()["encoded_jit_config"], Process())
    assert client.get(f"{BASE}/runners/{runner['id']}").json()["status"] == "online"


def test_name_in_use_is_a_conflict(client: Client) -> None:
    path = f"{BASE}/runners/generate-jitconfig"
    assert client.post(path, jit_body()).status_code == 201
    answer = client.post(path, jit_body())
    assert answer.status_code == 409
    assert "already exists" in answer.json()["message"]


@pytest.mark.parametrize(
    "changed",
    [
        {"labels": []},
        {"labels": [""]},
        {"labels": "x"},
        {"labels": [1]},
        {"labels": [str(number) for number in range(101)]},
        {"name": ""},
        {"name": "x" * 65},
        {"name": None},
        {"runner_group_id": None},
    ],
)
def test_bad_jit_request_is_unprocessable(client: Client, changed: dict[str, Any]) -> None:
    answer = client.post(f"{BASE}/runners/generate-jitconfig", jit_body(**changed))
    assert answer.status_code == 422
    assert client.get(f"{BASE}/runners").json()["total_count"] == 0


def test_body_that_is_no_json_is_a_bad_request(client: Client) -> None:
    path = f"{BASE}/runners/generate-jitconfig"
    assert client.call("POST", path, data=b"{").status_code == 400
    assert client.call("POST", path, data=b"[]").status_code == 400


def test_unknown_group_and_organization_are_not_found(client: Client) -> None:
    path = f"{BASE}/runners/generate-jitconfig"
    assert client.post(path, jit_body(runner_group_id=4711)).status_code == 404
    assert client.get("/orgs/elsewhere/actions/runners").status_code == 404


def test_repository_has_runners_of_its_own(world: Simulated) -> None:
    accounts = world.github.accounts
    person = accounts.add_user("ada")
    repository = accounts.add_repository(person, "engine")
    client = world.as_installation(accounts.install(world.app, person))
    base = f"/repos/{repository.full_name}/actions/runners"
    made = client.post(f"{base}/generate-jitconfig", jit_body())
    assert made.status_code == 201
    assert client.post(f"{base}/generate-jitconfig", jit_body(runner_group_id=9)).status_code == 404
    process = Process()
    world.github.connect(made.json()["encoded_jit_config"], process)
    world.github.engine.push(repository, BUILD)
    world.time.step(5)
    assert process.told == ["started build"]
    assert client.delete(f"{base}/{made.json()['runner']['id']}").status_code == 422
    world.time.step(120)
    assert client.get(base).json() == {"total_count": 0, "runners": []}


def test_every_page_of_runners_can_be_followed(world: Simulated, client: Client) -> None:
    for number in range(5):
        world.runner(f"runner-{number}")
    pages = list(client.pages(f"{BASE}/runners", per_page=2))
    names = [runner["name"] for page in pages for runner in page.json()["runners"]]
    assert names == [f"runner-{number}" for number in range(5)]
    assert all(page.json()["total_count"] == 5 for page in pages)
    named = client.get(f"{BASE}/runners", params={"name": "runner-3"}).json()
    assert [runner["name"] for runner in named["runners"]] == ["runner-3"]


def test_group_lists_only_its_own_runners(world: Simulated, client: Client) -> None:
    world.runner("ours")
    client.post(f"{BASE}/runners/generate-jitconfig", jit_body(name="theirs"))
    groups = client.get(f"{BASE}/runner-groups").json()["runner_groups"]
    [ours] = [group["id"] for group in groups if group["name"] == GROUP]
    listed = client.get(f"{BASE}/runner-groups/{ours}/runners").json()["runners"]
    assert [runner["name"] for runner in listed] == ["ours"]


def test_runner_can_be_deleted_unless_it_is_busy(world: Simulated, client: Client) -> None:
    process = world.online()
    [runner] = client.get(f"{BASE}/runners").json()["runners"]
    path = f"{BASE}/runners/{runner['id']}"
    world.github.engine.push(world.public, BUILD)
    world.time.step(5)
    refused = client.delete(path)
    assert refused.status_code == 422
    assert "is still running a job" in refused.json()["message"]
    world.time.step(120)
    assert process.told == ["started build", "finished build: success"]
    assert client.delete(path).status_code == 404, "an ephemeral runner is gone after its job"


def test_idle_runner_that_is_deleted_is_told(world: Simulated, client: Client) -> None:
    process = world.online()
    [runner] = client.get(f"{BASE}/runners").json()["runners"]
    assert client.delete(f"{BASE}/runners/{runner['id']}").status_code == 204
    assert process.told == ["deregistered"]


def test_runner_that_never_connects_is_removed_after_a_day(
    world: Simulated, client: Client
) -> None:
    world.runner("forgotten")
    world.online("connected")
    world.time.step(24 * 3600 - 60)
    client = world.as_installation()
    assert client.get(f"{BASE}/runners").json()["total_count"] == 2
    world.time.step(60)
    [left] = client.get(f"{BASE}/runners").json()["runners"]
    assert left["name"] == "connected"


def test_jit_configuration_works_only_while_its_runner_is_registered(world: Simulated) -> None:
    runner, jit = world.runner()
    world.as_installation().delete(f"{BASE}/runners/{runner.id}")
    for nonsense in (jit, "", "bm9uc2Vuc2U=", "{}"):
        with pytest.raises(RefusedError):
            world.github.connect(nonsense, Process())


def test_job_of_a_public_repository_gets_no_runner_of_a_closed_group(world: Simulated) -> None:
    _, jit = world.runner(public=False)
    process = Process()
    world.github.connect(jit, process)
    world.github.engine.push(world.public, BUILD)
    world.time.step(60)
    assert process.told == []
    world.github.engine.push(world.private, BUILD)
    world.time.step(5)
    assert process.told == ["started build"]
