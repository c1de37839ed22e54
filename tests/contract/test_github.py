"""What the reconciler relies on GitHub for, through plain `requests`."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests

from tests.contract.github import Subject, subject
from tests.waiting import wait_until

LABEL = "riscv-runners-contract"


@pytest.fixture
def github() -> Iterator[Subject]:
    with subject() as made:
        yield made


@pytest.fixture
def token(github: Subject) -> str:
    return github.token()


@pytest.fixture
def group_id(github: Subject, token: str) -> Iterator[int]:
    base = f"/orgs/{github.organization}/actions/runner-groups"
    answer = github.call("POST", base, token, json={"name": github.prefix})
    assert answer.status_code == 201, answer.text
    yield answer.json()["id"]
    github.call("DELETE", f"{base}/{answer.json()['id']}", token)


Register = Callable[..., requests.Response]


@pytest.fixture
def register(github: Subject, token: str, group_id: int) -> Iterator[Register]:
    """Registers a runner by a JIT configuration; whatever is left is deleted at the end."""
    base = f"/orgs/{github.organization}/actions/runners"
    made: list[int] = []

    def register(name: str, **changed: Any) -> requests.Response:
        body = {"name": f"{github.prefix}-{name}", "runner_group_id": group_id, "labels": [LABEL]}
        answer = github.call("POST", f"{base}/generate-jitconfig", token, json={**body, **changed})
        if answer.status_code == 201:
            made.append(answer.json()["runner"]["id"])
        return answer

    yield register
    for runner_id in made:
        github.call("DELETE", f"{base}/{runner_id}", token)


# Apps and tokens -----------------------------------------------------------------------------


def test_app_is_known_by_its_jwt(github: Subject) -> None:
    answer = github.call("GET", "/app", github.jwt())
    assert answer.status_code == 200
    assert str(answer.json()["id"]) == github.app_id


@pytest.mark.parametrize("shift", [-3600, 3600])
def test_jwt_out_of_its_time_is_unauthorized(github: Subject, shift: int) -> None:
    now = int(time.time()) + shift
    answer = github.call("GET", "/app", github.jwt(iat=now - 60, exp=now + 300))
    assert answer.status_code == 401


def test_unknown_installation_is_not_found(github: Subject) -> None:
    answer = github.call("POST", "/app/installations/1/access_tokens", github.jwt())
    assert answer.status_code == 404


def test_token_lasts_about_an_hour(github: Subject) -> None:
    path = f"/app/installations/{github.installation_id()}/access_tokens"
    answer = github.call("POST", path, github.jwt())
    assert answer.status_code == 201
    left = datetime.fromisoformat(answer.json()["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=55) < left <= timedelta(minutes=61)


def test_wrong_token_is_unauthorized(github: Subject) -> None:
    path = f"/orgs/{github.organization}/actions/runners"
    answer = github.call("GET", path, "ghs_" + "x" * 36)
    assert (answer.status_code, answer.json()["message"]) == (401, "Bad credentials")


# Runner groups and runners -------------------------------------------------------------------


def test_new_group_is_listed_and_closed_to_public_repositories(
    github: Subject, token: str, group_id: int
) -> None:
    path = f"/orgs/{github.organization}/actions/runner-groups"
    pages = list(github.pages(path, token, per_page=100))
    groups = {group["id"]: group for page in pages for group in page.json()["runner_groups"]}
    assert groups[group_id]["name"] == github.prefix
    assert groups[group_id]["allows_public_repositories"] is False
    assert any(group["default"] for group in groups.values())


def test_jit_configuration_registers_an_offline_runner_in_its_group(
    github: Subject, token: str, group_id: int, register: Register
) -> None:
    answer = register("one")
    assert answer.status_code == 201
    assert answer.json()["encoded_jit_config"]
    runner = answer.json()["runner"]
    assert (runner["status"], runner["busy"]) == ("offline", False)
    assert [label["name"] for label in runner["labels"]] == [LABEL]
    path = f"/orgs/{github.organization}/actions/runner-groups/{group_id}/runners"
    listed = github.call("GET", path, token).json()["runners"]
    assert [each["id"] for each in listed] == [runner["id"]]


def test_name_in_use_is_a_conflict(register: Register) -> None:
    assert register("one").status_code == 201
    assert register("one").status_code == 409


def test_runner_without_labels_is_unprocessable(register: Register) -> None:
    assert register("one", labels=[]).status_code == 422


def test_every_page_of_a_groups_runners_is_reached_by_its_links(
    github: Subject, token: str, group_id: int, register: Register
) -> None:
    made = {register(f"number-{number}").json()["runner"]["id"] for number in range(3)}
    path = f"/orgs/{github.organization}/actions/runner-groups/{group_id}/runners"
    pages = list(github.pages(path, token, per_page=1))
    assert len(pages) == 3
    assert {runner["id"] for page in pages for runner in page.json()["runners"]} == made


def test_deleted_runner_is_gone_and_its_name_free(
    github: Subject, token: str, register: Register
) -> None:
    runner_id = register("one").json()["runner"]["id"]
    path = f"/orgs/{github.organization}/actions/runners/{runner_id}"
    assert github.call("DELETE", path, token).status_code == 204
    assert github.call("GET", path, token).status_code == 404
    assert github.call("DELETE", path, token).status_code == 404
    assert register("one").status_code == 201


def test_repository_registers_runners_in_its_default_group(github: Subject, token: str) -> None:
    base = f"/repos/{github.organization}/{github.repository}/actions/runners"
    body = {"name": f"{github.prefix}-repo", "runner_group_id": 1, "labels": [LABEL]}
    answer = github.call("POST", f"{base}/generate-jitconfig", token, json=body)
    assert answer.status_code == 201
    path = f"{base}/{answer.json()['runner']['id']}"
    listed = [
        runner["name"]
        for page in github.pages(base, token, per_page=100)
        for runner in page.json()["runners"]
    ]
    assert body["name"] in listed
    assert github.call("DELETE", path, token).status_code == 204


# Jobs, conditional requests, limits, deliveries ----------------------------------------------


def test_unknown_jobs_and_runs_are_not_found(github: Subject, token: str) -> None:
    base = f"/repos/{github.organization}/{github.repository}/actions"
    for path in ("/jobs/1", "/runs/1", "/runs/1/jobs", "/runs/1/attempts/1/jobs"):
        assert github.call("GET", base + path, token).status_code == 404


def test_unchanged_answer_is_free_of_the_primary_limit(
    github: Subject, token: str, group_id: int
) -> None:
    path = f"/orgs/{github.organization}/actions/runner-groups/{group_id}"
    first = github.call("GET", path, token)
    tag = {"If-None-Match": first.headers["ETag"]}
    second = github.call("GET", path, token, headers=tag)
    assert (second.status_code, second.content) == (304, b"")
    for answer in (first, second):
        assert int(answer.headers["X-RateLimit-Limit"]) >= 5000
        assert int(answer.headers["X-RateLimit-Reset"]) > time.time()
    used = "X-RateLimit-Used"
    assert int(second.headers[used]) == int(first.headers[used])


def test_tag_is_worth_nothing_with_another_token(
    github: Subject, token: str, group_id: int
) -> None:
    path = f"/orgs/{github.organization}/actions/runner-groups/{group_id}"
    tag = github.call("GET", path, token).headers["ETag"]
    answer = github.call("GET", path, github.token(), headers={"If-None-Match": tag})
    assert answer.status_code == 200


def test_delivery_log_is_a_list_newest_first(github: Subject) -> None:
    path = "/app/hook/deliveries"
    answer = github.call("GET", path, github.jwt(), params={"per_page": 10})
    assert answer.status_code == 200
    times = [entry["delivered_at"] for entry in answer.json()]
    assert times == sorted(times, reverse=True)
    assert github.call("GET", f"{path}/1", github.jwt()).status_code == 404


def test_record_of_a_delivery_has_what_was_sent(github: Subject) -> None:
    """In the list only its event, action and installation are told."""
    wait_until(github.was_told)
    answer = github.call("GET", "/app/hook/deliveries", github.jwt(), params={"per_page": 10})
    if not (entries := answer.json()):
        pytest.skip("this App was sent nothing lately")
    for entry in entries:
        assert isinstance(entry["installation_id"], int | None)
        answer = github.call("GET", f"/app/hook/deliveries/{entry['id']}", github.jwt())
        assert answer.status_code == 200
        record = answer.json()
        assert {name: record[name] for name in ("id", "guid", "event", "action")} == {
            name: entry[name] for name in ("id", "guid", "event", "action")
        }
        payload = record["request"]["payload"]
        assert payload.get("action") == entry["action"]  # A ping has none.
        if entry["event"] == "workflow_job":
            assert isinstance(payload["workflow_job"]["id"], int)
