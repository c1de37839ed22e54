"""The simulated GitHub: webhooks, their mishaps, the delivery log and redelivery."""

import hashlib
import hmac
import json

import pytest

from reconcile.sim.github import workflow
from reconcile.sim.github.deliveries import Mishap, MishapRule
from tests.simulated import LABEL, SECRET, Simulated

BUILD = workflow.uniform((LABEL,), seconds=60)
LIFE = ["workflow_job.queued", "workflow_job.in_progress", "workflow_job.completed"]


def live_and_die(world: Simulated) -> list[str]:
    """One job from its push to its end; the deliveries that arrived."""
    world.github.engine.push(world.public, BUILD)
    world.online()
    world.time.step(300)
    return world.receiver.names()


def test_every_change_of_a_job_is_told_and_signed(world: Simulated) -> None:
    assert live_and_die(world) == LIFE
    for received in world.receiver.received:
        signature = hmac.new(SECRET.encode(), received.body, hashlib.sha256).hexdigest()
        assert received.headers["x-hub-signature-256"] == f"sha256={signature}"
        assert received.headers["x-github-hook-installation-target-id"] == str(world.app.id)
        assert received.payload["installation"]["id"] == world.installation.id
        assert received.payload["organization"]["login"] == "riseproject"
    queued, running, completed = (each.payload["workflow_job"] for each in world.receiver.received)
    assert (queued["status"], queued["runner_name"]) == ("queued", None)
    assert (running["status"], running["runner_name"]) == ("in_progress", "runner-1")
    assert (completed["status"], completed["conclusion"]) == ("completed", "success")


def test_personal_accounts_have_no_organization(world: Simulated) -> None:
    accounts = world.github.accounts
    person = accounts.add_user("ada")
    accounts.install(world.app, person)
    world.github.engine.push(accounts.add_repository(person, "engine"), BUILD)
    world.time.step(5)
    assert "organization" not in world.receiver.received[-1].payload


def test_what_happens_to_an_installation_is_told(world: Simulated) -> None:
    accounts, installation = world.github.accounts, world.installation
    accounts.suspend(installation)
    accounts.unsuspend(installation)
    accounts.accept_permissions(installation, contents="read")
    accounts.select(installation, [world.private])
    accounts.select(installation, [world.private, world.public])
    accounts.rename(world.organization, "riscv-rise")
    accounts.uninstall(installation)
    accounts.install(world.app, world.organization)
    world.time.step(5)
    assert world.receiver.names() == [
        "installation.suspend",
        "installation.unsuspend",
        "installation.new_permissions_accepted",
        "installation_repositories.removed",
        "installation_repositories.added",
        "installation_target.renamed",
        "installation.deleted",
        "installation.created",
    ]


def test_nothing_is_told_of_jobs_to_who_is_suspended_or_not_selected(world: Simulated) -> None:
    accounts = world.github.accounts
    accounts.select(world.installation, [world.private])
    world.github.engine.push(world.public, BUILD)
    accounts.suspend(world.installation)
    world.github.engine.push(world.private, BUILD)
    world.time.step(5)
    assert not [name for name in world.receiver.names() if name.startswith("workflow_job")]


def test_duplicated_delivery_comes_twice_with_the_same_guid(world: Simulated) -> None:
    world.github.deliveries.misbehave(MishapRule(Mishap.DUPLICATE, "*.queued", times=1))
    assert live_and_die(world) == ["workflow_job.queued", *LIFE]
    first, second, *_ = world.receiver.received
    assert first.headers["x-github-delivery"] == second.headers["x-github-delivery"]


def test_delayed_delivery_comes_late(world: Simulated) -> None:
    world.github.deliveries.misbehave(MishapRule(Mishap.DELAY, "*.queued", times=1, seconds=200))
    assert live_and_die(world) == [LIFE[1], LIFE[2], LIFE[0]]


def test_reordered_delivery_is_overtaken_by_the_next(world: Simulated) -> None:
    world.github.deliveries.misbehave(MishapRule(Mishap.REORDER, "*.in_progress", times=1))
    assert live_and_die(world) == [LIFE[0], LIFE[2], LIFE[1]]


def test_when_all_are_reordered_each_second_one_overtakes(world: Simulated) -> None:
    world.github.deliveries.misbehave(MishapRule(Mishap.REORDER))
    runs = [world.github.engine.push(world.public, BUILD) for _ in range(4)]
    world.time.step(5)
    arrived = [received.payload["workflow_job"]["run_id"] for received in world.receiver.received]
    assert arrived == [runs[1].id, runs[0].id, runs[3].id, runs[2].id]


def test_reordered_delivery_that_nothing_overtakes_still_comes(world: Simulated) -> None:
    world.github.deliveries.misbehave(MishapRule(Mishap.REORDER, "*.completed", times=1))
    assert live_and_die(world) == LIFE[:2]
    world.time.step(600)
    assert world.receiver.names() == LIFE


def test_dropped_delivery_is_not_even_in_the_log(world: Simulated) -> None:
    world.github.deliveries.misbehave(MishapRule(Mishap.DROP, "*.completed", times=1))
    assert live_and_die(world) == LIFE[:2]
    log = world.as_app().get("/app/hook/deliveries").json()
    assert [entry["action"] for entry in log] == ["in_progress", "queued", "created"]


def test_mishaps_by_chance_are_the_same_for_the_same_seed() -> None:
    def arrived(seed: int) -> list[str]:
        with Simulated(seed).started() as world:
            world.github.deliveries.misbehave(MishapRule(Mishap.DROP, probability=0.5))
            for _ in range(20):
                world.github.engine.push(world.public, BUILD)
            world.time.step(5)
            return [str(each.payload["workflow_job"]["id"]) for each in world.receiver.received]

    assert arrived(1) == arrived(1) != arrived(2)
    assert 0 < len(arrived(1)) < 20


@pytest.mark.parametrize("how", ["refused by a rule", "refused by the receiver", "nobody there"])
def test_failed_delivery_is_logged_and_can_be_redelivered(world: Simulated, how: str) -> None:
    url = world.app.webhook_url
    if how == "refused by a rule":
        world.github.deliveries.misbehave(MishapRule(Mishap.REFUSE, times=1))
    elif how == "refused by the receiver":
        world.receiver.status = 500
    else:
        world.app.webhook_url = "http://127.0.0.1:1/"
    world.github.engine.push(world.public, BUILD)
    world.time.step(5)
    world.receiver.status, world.app.webhook_url = 200, url
    world.receiver.received.clear()
    client = world.as_app()
    [failed] = client.get("/app/hook/deliveries", params={"status": "failure"}).json()
    assert failed["status_code"] == {"refused by a rule": 503, "nobody there": 502}.get(how, 500)
    assert failed["status"] != "OK"
    path = f"/app/hook/deliveries/{failed['id']}"
    detail = client.get(path).json()
    assert detail["request"]["payload"]["workflow_job"]["status"] == "queued"
    assert client.post(f"{path}/attempts").status_code == 202
    world.time.step(5)
    [received] = world.receiver.received
    assert received.headers["x-github-delivery"] == failed["guid"]
    newest = client.get("/app/hook/deliveries").json()[0]
    assert (newest["redelivery"], newest["status"], newest["guid"]) == (True, "OK", failed["guid"])
    assert newest["id"] > failed["id"]
    assert json.loads(received.body) == detail["request"]["payload"]


def test_redelivery_fails_as_well_while_nobody_is_there(world: Simulated) -> None:
    world.github.deliveries.misbehave(MishapRule(Mishap.REFUSE))
    world.github.engine.push(world.public, BUILD)
    world.time.step(5)
    client = world.as_app()
    [failed] = client.get("/app/hook/deliveries", params={"status": "failure"}).json()
    client.post(f"/app/hook/deliveries/{failed['id']}/attempts")
    world.time.step(5)
    again, first = client.get("/app/hook/deliveries", params={"status": "failure"}).json()
    assert (again["redelivery"], first["redelivery"]) == (True, False)
    assert client.get("/app/hook/deliveries", params={"status": "odd"}).status_code == 422


def test_redirect_is_not_followed(world: Simulated) -> None:
    world.receiver.status = 302
    world.github.engine.push(world.public, BUILD)
    world.time.step(5)
    newest = world.as_app().get("/app/hook/deliveries").json()[0]
    assert (newest["status_code"], len(world.receiver.received)) == (302, 1)


def test_app_that_did_not_subscribe_is_told_nothing(world: Simulated) -> None:
    world.app.events.clear()
    world.github.engine.push(world.public, BUILD)
    world.time.step(5)
    assert world.receiver.names() == []


def test_mishaps_by_chance_do_not_depend_on_what_else_is_asked() -> None:
    def arrived(tokens: int) -> list[int]:
        with Simulated(3).started() as world:
            world.github.deliveries.misbehave(MishapRule(Mishap.DROP, probability=0.5))
            for number in range(20):
                if number < tokens:
                    world.as_installation()
                world.github.engine.push(world.public, BUILD)
            world.time.step(5)
            return [each.payload["workflow_job"]["id"] for each in world.receiver.received]

    assert arrived(tokens=0) == arrived(tokens=7)


def test_delivery_log_is_read_by_cursor_and_ends_after_three_days(world: Simulated) -> None:
    for _ in range(5):
        world.github.engine.push(world.public, BUILD)
    world.time.step(5)
    client = world.as_app()
    pages = list(client.pages("/app/hook/deliveries", per_page=2))
    ids = [entry["id"] for page in pages for entry in page.json()]
    assert len(ids) == 6
    assert ids == sorted(ids, reverse=True)
    assert client.get("/app/hook/deliveries", params={"cursor": "x"}).status_code == 422
    assert client.get("/app/hook/deliveries/1").status_code == 404
    world.time.step(3 * 86400)
    kept = world.as_app().get("/app/hook/deliveries").json()
    assert {entry["action"] for entry in kept} == {"completed"}, (
        "cancelled after a day in the queue"
    )


def test_apps_see_only_their_own_deliveries(world: Simulated) -> None:
    other = world.add_app()
    assert world.as_app(other).get("/app/hook/deliveries").json() == []
    [own] = world.as_app().get("/app/hook/deliveries").json()
    assert world.as_app(other).get(f"/app/hook/deliveries/{own['id']}").status_code == 404
