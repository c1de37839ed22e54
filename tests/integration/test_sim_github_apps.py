"""The simulated GitHub: Apps, installations and their tokens."""

import jwt
import pytest

from reconcile.sim.github import workflow
from tests.simulated import Simulated, app_jwt, private_key


def test_app_is_known_by_its_jwt(world: Simulated) -> None:
    answer = world.as_app().get("/app")
    assert answer.status_code == 200
    assert (answer.json()["id"], answer.json()["installations_count"]) == (world.app.id, 1)


def test_app_may_name_itself_by_its_client_id(world: Simulated) -> None:
    assert world.as_app(iss=world.app.client_id).get("/app").status_code == 200


@pytest.mark.parametrize(
    ("seconds", "claim", "words"),
    [
        (0, "exp", "must be a numeric value representing the future time"),
        (-1, "exp", "must be a numeric value representing the future time"),
        (601, "exp", "too far in the future"),
        (5, "iat", "must be an Integer representing the time"),
    ],
)
def test_jwt_is_refused_out_of_its_time(
    world: Simulated, seconds: int, claim: str, words: str
) -> None:
    moment = int(world.time.clock.now().timestamp()) + seconds
    credential = app_jwt(world.app.id, world.time.clock.now(), **{claim: moment})
    answer = world.client(credential).get("/app")
    assert answer.status_code == 401
    assert words in answer.json()["message"]


def test_jwt_of_ten_minutes_is_accepted(world: Simulated) -> None:
    now = int(world.time.clock.now().timestamp())
    assert world.as_app(iat=now, exp=now + 600).get("/app").status_code == 200


def test_jwt_runs_out_as_time_passes(world: Simulated) -> None:
    client = world.as_app()
    world.time.step(539)
    assert client.get("/app").status_code == 200
    world.time.step(1)
    assert client.get("/app").status_code == 401


def test_jwt_of_an_unknown_app_finds_no_integration(world: Simulated) -> None:
    answer = world.client(app_jwt(4711, world.time.clock.now())).get("/app")
    assert (answer.status_code, answer.json()["message"]) == (404, "Integration not found")


def test_jwt_signed_with_another_key_is_refused(world: Simulated) -> None:
    now = int(world.time.clock.now().timestamp())
    claims = {"iss": str(world.app.id), "iat": now - 60, "exp": now + 60}
    forged = jwt.encode(claims, "x" * 32, algorithm="HS256")
    unsigned = jwt.encode(claims, "", algorithm="none")
    cut = jwt.encode(claims, private_key(), algorithm="RS256")[:-6]
    for credential in (forged, unsigned, cut, "nonsense"):
        answer = world.client(credential).get("/app")
        assert answer.status_code == 401
        assert answer.json()["message"] == "A JSON web token could not be decoded"


def test_nobody_is_refused(world: Simulated) -> None:
    answer = world.client("").session.get(world.server.url + "/app", timeout=5)
    assert answer.status_code == 401


def test_installation_token_lasts_an_hour(world: Simulated) -> None:
    client = world.as_installation()
    path = f"/repos/{world.public.full_name}/actions/runs"
    world.time.step(3599)
    assert client.get(path).status_code == 200
    world.time.step(1)
    answer = client.get(path)
    assert (answer.status_code, answer.json()["message"]) == (401, "Bad credentials")


def test_unknown_installation_is_not_found(world: Simulated) -> None:
    path = "/app/installations/{}/access_tokens"
    assert world.as_app().post(path.format(1)).status_code == 404
    other = world.add_app()
    own = path.format(world.installation.id)
    assert world.as_app(other).post(own).status_code == 404
    assert world.as_app().post(own).status_code == 201


def test_suspended_installation_gets_no_token_and_its_token_does_nothing(world: Simulated) -> None:
    client = world.as_installation()
    world.github.accounts.suspend(world.installation)
    refused = world.as_app().post(f"/app/installations/{world.installation.id}/access_tokens")
    used = client.get(f"/repos/{world.public.full_name}/actions/runs")
    for answer in (refused, used):
        assert answer.status_code == 403
        assert answer.json()["message"] == "This installation has been suspended"
    world.github.accounts.unsuspend(world.installation)
    assert client.get(f"/repos/{world.public.full_name}/actions/runs").status_code == 200


def test_deleted_installation_is_gone_with_its_tokens(world: Simulated) -> None:
    client = world.as_installation()
    assert world.as_app().delete(f"/app/installations/{world.installation.id}").status_code == 204
    again = world.as_app().post(f"/app/installations/{world.installation.id}/access_tokens")
    assert again.status_code == 404
    assert client.get(f"/repos/{world.public.full_name}/actions/runs").status_code == 401


def test_token_reaches_only_what_it_was_made_for(world: Simulated) -> None:
    client = world.as_installation(repositories=["firmware"], permissions={"actions": "read"})
    assert client.get(f"/repos/{world.private.full_name}/actions/runs").status_code == 200
    assert client.get(f"/repos/{world.public.full_name}/actions/runs").status_code == 404
    answer = client.get(f"/orgs/{world.organization.login}/actions/runners")
    assert (answer.status_code, answer.json()["message"]) == (
        403,
        "Resource not accessible by integration",
    )


def test_token_for_more_than_is_granted_is_refused(world: Simulated) -> None:
    path = f"/app/installations/{world.installation.id}/access_tokens"
    assert world.as_app().post(path, {"permissions": {"actions": "write"}}).status_code == 422
    assert world.as_app().post(path, {"repositories": ["elsewhere"]}).status_code == 422


def test_repositories_that_are_not_selected_are_not_found(world: Simulated) -> None:
    world.github.accounts.select(world.installation, [world.private])
    client = world.as_installation()
    assert client.get(f"/repos/{world.private.full_name}/actions/runs").status_code == 200
    assert client.get(f"/repos/{world.public.full_name}/actions/runs").status_code == 404


def test_old_paths_lead_to_a_renamed_account(world: Simulated) -> None:
    old = f"/repos/{world.public.full_name}/actions/runs"
    world.github.accounts.rename(world.organization, "riscv-rise")
    client = world.as_installation()
    for _ in range(3):
        world.github.engine.push(world.public, workflow.uniform(("x",)))
    moved = client.get(old, params={"per_page": 1, "page": 2}, allow_redirects=False)
    assert moved.status_code == 301
    place = f"/repositories/{world.public.id}/actions/runs?per_page=1&page=2"
    assert moved.headers["Location"].endswith(place)
    pages = list(client.pages(old, per_page=1))
    assert len({page.json()["workflow_runs"][0]["id"] for page in pages}) == 3
    body = {"name": "runner-1", "runner_group_id": 1, "labels": ["x"]}
    path = old.replace("/runs", "/runners/generate-jitconfig")
    assert client.post(path, body, allow_redirects=False).status_code == 307
    assert client.post(path, body).status_code == 201, "a write is repeated as a write"
    assert client.get("/orgs/riseproject/actions/runners").status_code == 404


def test_installations_are_listed_in_pages(world: Simulated) -> None:
    accounts = world.github.accounts
    for number in range(4):
        accounts.install(world.app, accounts.add_user(f"user-{number}"))
    answers = list(world.as_app().pages("/app/installations", per_page=2))
    assert [len(answer.json()) for answer in answers] == [2, 2, 1]
    assert set(answers[1].links) == {"prev", "first", "next", "last"}


def test_enterprise_base_url_works_as_well(world: Simulated) -> None:
    client = world.as_app()
    client.base_url += "/api/v3"
    answer = client.get("/app/installations", params={"per_page": 1})
    assert answer.status_code == 200
    world.github.accounts.install(world.app, world.github.accounts.add_user("one"))
    links = client.get("/app/installations", params={"per_page": 1}).links
    assert links["next"]["url"].startswith(client.base_url)
