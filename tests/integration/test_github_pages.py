"""The client on the simulated GitHub: listings, all pages of them, and what has not changed."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from reconcile.errors import NotFoundError
from reconcile.github.shapes import STEP_FIELDS
from reconcile.model import Pages
from reconcile.sim.github import workflow
from tests.integration.github_client import Bench, bench
from tests.simulated import LABEL

ENTERPRISE = "/api/v3"


@pytest.fixture
def it() -> Iterator[Bench]:
    with bench() as it:
        yield it


def matrix(count: int) -> workflow.Workflow:
    return workflow.parse(
        f"""
        name: many
        on: push
        jobs:
          build:
            runs-on: {LABEL}
            strategy:
              matrix:
                part: {list(range(count))}
            steps: [{{run: sleep 600}}]
        """
    )


def stored(pages: Pages) -> Pages:
    """As they come back from the database."""
    loaded: Pages = json.loads(json.dumps(pages))
    return loaded


# Every page ----------------------------------------------------------------------------------


def test_every_page_of_runners_is_read(it: Bench) -> None:
    it.register(250)
    client = it.client()
    listing = client.runners(it.org, None, [])
    assert [each.name for each in listing.items] == [f"runner-{n:04}" for n in range(250)]
    assert [len(page["items"]) for page in listing.pages] == [100, 100, 50]
    assert listing.changed
    in_group = client.runners(it.org, 1, [])
    assert in_group.items == listing.items
    assert it.counted("list_group_runners") == 3


def test_every_page_of_jobs_of_all_attempts_is_read(it: Bench) -> None:
    run = it.world.github.engine.push(it.world.public, matrix(120))
    it.world.github.engine.cancel(run)
    it.world.github.engine.rerun(run)
    listing = it.client().jobs_of_run(it.org, it.repository, run.id, [])
    assert [each.job_id for each in listing.items] == [each.id for each in run.jobs]
    assert len(listing.items) == 240
    assert [each.status for each in listing.items].count("queued") == 120


def test_group_is_found_on_any_page(it: Bench) -> None:
    client = it.client()
    made = [
        client.ensure_group(it.org, f"group {number}", allows_public_repositories=None)
        for number in range(120)
    ]
    found = client.ensure_group(it.org, "group 115", allows_public_repositories=None)
    assert found == made[115]


def test_every_page_is_read_under_an_enterprise_servers_prefix(it: Bench) -> None:
    it.register(150)
    client = it.client(prefix=ENTERPRISE)
    listing = client.runners(it.org, None, [])
    assert len(listing.items) == 150
    again = client.runners(it.org, None, listing.pages)
    assert (again.changed, len(again.items)) == (False, 150)
    assert all(call.target.startswith(ENTERPRISE) for call in it.world.server.calls)


def test_group_that_is_gone_falls_back_to_its_organization(it: Bench) -> None:
    it.register(2)
    client = it.client()
    assert len(client.runners(it.org, 4711, []).items) == 2


def test_renamed_organization_is_found_by_its_installation(it: Bench) -> None:
    it.register(2)
    it.world.github.accounts.rename(it.world.organization, "elsewhere")
    client = it.client()
    assert len(client.runners(it.org, None, []).items) == 2
    group = client.ensure_group(it.org, "ours", allows_public_repositories=None)
    made = client.create_jit_config(it.org, group, "third", [LABEL])
    found = client.find_runner(it.org, "third")
    assert found is not None
    assert found.id == made.runner_id
    assert client.delete_runner(it.org, made.runner_id)
    assert client.find_runner(it.org, "third") is None
    assert it.world.server.counts["github.get_installation"] == 1, "asked once a run"


def test_what_is_nowhere_is_not_found(it: Bench) -> None:
    nowhere = replace(it.repo, repo_full_name=f"{it.repo.entity_name}/nothing")
    with pytest.raises(NotFoundError):
        it.client().runners(nowhere, None, [])


def test_repositories_have_runners_of_their_own(it: Bench) -> None:
    it.register(2)
    client = it.client()
    made = client.create_jit_config(it.repo, None, "mine", [LABEL])
    [runner] = client.runners(it.repo, None, []).items
    assert (runner.id, runner.name, runner.online, runner.busy) == (
        made.runner_id,
        "mine",
        False,
        False,
    )


# What has not changed ------------------------------------------------------------------------


def test_unchanged_listing_costs_nothing(it: Bench) -> None:
    it.register(150)
    client = it.client()
    known = stored(client.runners(it.org, None, []).pages)
    used = it.used()
    for _ in range(5):
        listing = client.runners(it.org, None, known)
        assert not listing.changed
        assert listing.pages == known
        assert len(listing.items) == 150
    assert it.used() == used


def test_listing_is_unchanged_for_the_next_run_with_the_same_token(it: Bench) -> None:
    run = it.world.github.engine.push(it.world.public, matrix(120))
    first = it.client()
    before = first.jobs_of_run(it.org, it.repository, run.id, [])
    used = it.used()
    second = it.client(first.credentials())
    after = second.jobs_of_run(it.org, it.repository, run.id, stored(before.pages))
    assert (after.changed, after.items) == (False, before.items)
    assert it.used() == used


@pytest.mark.parametrize("number", [0, 120, 249])
def test_change_on_any_page_is_seen(it: Bench, number: int) -> None:
    it.register(250)
    client = it.client()
    known = client.runners(it.org, None, []).pages
    [changed] = [
        each for each in it.world.github.runners.all() if each.name == f"runner-{number:04}"
    ]
    changed.online = True
    listing = client.runners(it.org, None, known)
    assert listing.changed
    assert [each.name for each in listing.items if each.online] == [changed.name]
    assert not client.runners(it.org, None, listing.pages).changed


def test_pages_come_and_go(it: Bench) -> None:
    client = it.client()
    known: Pages = []
    for count in (0, 100, 101, 230):
        it.register(count - len(it.world.github.runners.all()), prefix=f"to-{count}")
        listing = client.runners(it.org, None, known)
        assert len(listing.items) == count
        assert len(listing.pages) == max(1, -(-count // 100))
        known = stored(listing.pages)
    for runner in it.world.github.runners.all()[50:]:
        client.delete_runner(it.org, runner.id)
        it.world.time.step(1)
    listing = client.runners(it.org, None, known)
    assert (len(listing.items), len(listing.pages)) == (50, 1)


@pytest.mark.parametrize(
    "known",
    [
        [{"etag": 'W/"x"'}],
        [{"etag": 7, "items": []}],
        [{"etag": 'W/"x"', "items": [{"id": "one"}]}],
        [{"etag": "", "items": []}],
        [[]],
        ["nonsense"],
    ],
)
def test_stored_pages_that_cannot_be_read_are_asked_for_anew(it: Bench, known: Any) -> None:
    it.register(3)
    client = it.client()
    client.runners(it.org, None, [])
    assert len(client.runners(it.org, None, known).items) == 3


def test_jobs_are_stored_without_steps_and_tell_a_start_only_with_a_runner(it: Bench) -> None:
    run = it.world.github.engine.push(it.world.public, matrix(2))
    it.world.online()
    it.world.time.step(10)
    client = it.client()
    listing = client.jobs_of_run(it.org, it.repository, run.id, [])
    running, queued = sorted(listing.items, key=lambda each: each.status)
    assert (running.status, running.runner_name) == ("in_progress", "runner-1")
    assert running.started_at is not None
    assert running.steps is not None
    assert set(running.steps[0]) == set(STEP_FIELDS)
    assert (queued.status, queued.runner_name) == ("queued", None)
    assert (queued.started_at, queued.steps) == (None, None)
    assert "steps" not in json.dumps(listing.pages)
    assert set(listing.pages[0]["items"][0]) == {
        "id",
        "status",
        "conclusion",
        "runner_name",
        "started_at",
        "completed_at",
    }
    again = client.jobs_of_run(it.org, it.repository, run.id, stored(listing.pages))
    assert [each.steps for each in again.items] == [None, None]
    one = client.job(it.org, it.repository, running.job_id)
    assert one == running
