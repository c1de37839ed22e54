"""The client on the simulated GitHub: its operations."""

from collections.abc import Iterator

import pytest

from reconcile.errors import (
    NameTakenError,
    NotFoundError,
    PermanentError,
    RateLimitedError,
    UncertainError,
)
from reconcile.github import GitHubClient
from reconcile.ports import GitHub
from reconcile.settings import GitHubBudget
from reconcile.sim import faults
from reconcile.sim.github import workflow
from reconcile.sim.github.deliveries import Mishap, MishapRule
from reconcile.sim.github.model import RunnerGroup
from reconcile.sim.http import Request, Response
from tests.integration.github_client import Bench, bench
from tests.simulated import GROUP, LABEL, Process

BUILD = workflow.uniform((LABEL,), seconds=60)


@pytest.fixture
def it() -> Iterator[Bench]:
    with bench() as it:
        yield it


def as_port(client: GitHubClient) -> GitHub:
    """The type checker's word for it that the client is what the phases need."""
    return client


# Operations ----------------------------------------------------------------------------------


def test_runner_is_registered_listed_and_deleted(it: Bench) -> None:
    client = it.client()
    group = it.group(client)
    made = client.create_jit_config(it.org, group, "runner-1", [LABEL, "riscv"])
    process = Process()
    it.world.github.connect(made.reveal(), process)
    [runner] = as_port(client).runners(it.org, group, []).items
    assert (runner.id, runner.name) == (made.runner_id, "runner-1")
    assert (runner.online, runner.busy) == (True, False)
    it.world.github.engine.push(it.world.public, BUILD)
    it.world.time.step(5)
    [runner] = client.runners(it.org, group, []).items
    assert runner.busy
    assert client.delete_runner(it.org, runner.id) is False
    it.world.time.step(120)
    assert client.delete_runner(it.org, runner.id) is True, "it was gone before"
    idle = client.create_jit_config(it.org, group, "runner-2", [LABEL])
    assert client.delete_runner(it.org, idle.runner_id) is True
    assert client.runners(it.org, group, []).items == []


def test_personal_accounts_runner_is_registered_in_its_repository(it: Bench) -> None:
    client = it.client()
    made = client.create_jit_config(it.repo, None, "runner-1", [LABEL])
    with pytest.raises(NameTakenError):
        client.create_jit_config(it.repo, None, "runner-1", [LABEL])
    assert client.delete_runner(it.repo, made.runner_id) is True


def test_refused_registrations_are_told_apart(it: Bench) -> None:
    client = it.client()
    group = it.group(client)
    client.create_jit_config(it.org, group, "runner-1", [LABEL])
    with pytest.raises(NameTakenError, match="generate-jitconfig: 409 "):
        client.create_jit_config(it.org, group, "runner-1", [LABEL])
    with pytest.raises(NotFoundError):
        client.create_jit_config(it.org, 4711, "runner-2", [LABEL])
    with pytest.raises(PermanentError, match="422 Validation Failed"):
        client.create_jit_config(it.org, group, "runner-2", [])
    with pytest.raises(ValueError, match="needs a group"):
        client.create_jit_config(it.org, None, "runner-2", [LABEL])
    assert len(client.runners(it.org, None, []).items) == 1


def groups(it: Bench) -> dict[str, bool]:
    listed = it.world.github.runners.groups_of(it.world.organization)
    return {each.name: each.allows_public_repositories for each in listed if not each.default}


@pytest.mark.parametrize(("wanted", "made"), [(None, False), (False, False), (True, True)])
def test_new_group_is_open_to_public_repositories_only_if_asked(
    it: Bench, wanted: bool | None, made: bool
) -> None:
    client = it.client()
    number = client.ensure_group(it.org, GROUP, allows_public_repositories=wanted)
    assert client.ensure_group(it.org, GROUP, allows_public_repositories=wanted) == number
    assert groups(it) == {GROUP: made}
    assert (it.counted("create_runner_group"), it.counted("update_runner_group")) == (1, 0)


def test_groups_setting_is_changed_only_if_one_is_given(it: Bench) -> None:
    client = it.client()
    number = client.ensure_group(it.org, GROUP, allows_public_repositories=True)
    assert client.ensure_group(it.org, GROUP, allows_public_repositories=None) == number
    assert groups(it) == {GROUP: True}
    assert client.ensure_group(it.org, GROUP, allows_public_repositories=False) == number
    assert groups(it) == {GROUP: False}
    assert client.ensure_group(it.org, GROUP.lower(), allows_public_repositories=None) != number


@pytest.mark.parametrize("after_effect", [False, True])
def test_group_whose_answer_got_lost_is_looked_for_again(it: Bench, after_effect: bool) -> None:
    client = it.client()
    it.world.faults.next("github.create_runner_group", faults.reset(after_effect=after_effect))
    if after_effect:
        client.ensure_group(it.org, GROUP, allows_public_repositories=True)
    else:
        with pytest.raises(UncertainError):
            client.ensure_group(it.org, GROUP, allows_public_repositories=True)
    assert it.counted("create_runner_group") == 1
    client.ensure_group(it.org, GROUP, allows_public_repositories=True)
    it.world.faults.next("github.update_runner_group", faults.reset(after_effect=after_effect))
    if after_effect:
        client.ensure_group(it.org, GROUP, allows_public_repositories=False)
    else:
        with pytest.raises(UncertainError):
            client.ensure_group(it.org, GROUP, allows_public_repositories=False)
    assert it.counted("update_runner_group") == 1


def test_group_that_somebody_else_makes_meanwhile_is_found(it: Bench) -> None:
    made: list[RunnerGroup] = []

    def be_quicker(request: Request, _: Response) -> None:
        if request.path.endswith("/runner-groups") and request.method == "GET" and not made:
            group = RunnerGroup(0, it.world.organization, GROUP)
            made.append(it.world.github.runners.add_group(group))

    it.world.server.observers.append(be_quicker)
    found = it.client().ensure_group(it.org, GROUP, allows_public_repositories=None)
    assert [each.id for each in made] == [found]
    assert it.world.server.calls[-2].status == 409


def test_jobs_and_runs_are_read(it: Bench) -> None:
    run = it.world.github.engine.push(it.world.public, BUILD)
    client = it.client()
    [job] = run.jobs
    assert client.job(it.org, it.repository, job.id).status == "queued"
    assert client.run_is_completed(it.org, it.repository, run.id) is False
    it.world.online()
    it.world.time.step(120)
    done = client.job(it.org, it.repository, job.id)
    assert (done.status, done.conclusion, done.runner_name) == ("completed", "success", "runner-1")
    assert (done.started_at, done.completed_at) != (None, None)
    assert client.run_is_completed(it.org, it.repository, run.id) is True
    for ask in (client.job, client.run_is_completed):
        with pytest.raises(NotFoundError, match="404 Not Found"):
            ask(it.org, it.repository, 4711)
    with pytest.raises(NotFoundError):
        client.jobs_of_run(it.org, it.repository, 4711, [])


def test_renamed_repository_is_followed_for_reads_and_writes(it: Bench) -> None:
    run = it.world.github.engine.push(it.world.public, BUILD)
    it.world.github.accounts.rename(it.world.organization, "riscv-rise")
    it.world.github.accounts.rename(it.person, "lovelace")
    for prefix in ("", "/api/v3"):
        client = it.client(prefix=prefix)
        listing = client.jobs_of_run(it.org, it.repository, run.id, [])
        assert len(listing.items) == 1
        assert not client.jobs_of_run(it.org, it.repository, run.id, listing.pages).changed
        assert client.job(it.org, it.repository, run.jobs[0].id).status == "queued"
        made = client.create_jit_config(it.repo, None, "runner-1", [LABEL])
        [runner] = client.runners(it.repo, None, []).items
        assert client.delete_runner(it.repo, runner.id) is True
        assert runner.id == made.runner_id


def test_names_that_are_no_paths_are_quoted(it: Bench) -> None:
    with pytest.raises(NotFoundError):
        it.client().job(it.org, "riseproject/what?is=this#here", 1)
    assert it.world.server.calls[-1].target == (
        "/repos/riseproject/what%3Fis%3Dthis%23here/actions/jobs/1"
    )


# Deliveries ----------------------------------------------------------------------------------


def test_failed_deliveries_are_read_from_a_cursor_and_redelivered(it: Bench) -> None:
    it.world.github.deliveries.misbehave(MishapRule(Mishap.REFUSE, times=3))
    for _ in range(5):
        it.world.github.engine.push(it.world.public, BUILD)
    it.world.time.step(5)
    client, app_id = it.client(), it.world.app.id
    failed = client.failed_deliveries(app_id, None)
    assert [each.failed for each in failed] == [True] * 3
    assert [each.id for each in failed] == sorted(each.id for each in failed)
    assert {(each.event, each.action, each.status_code) for each in failed} == {
        ("workflow_job", "queued", 503)
    }
    assert failed[0].delivered_at <= it.world.time.clock.now()
    assert client.failed_deliveries(app_id, failed[0].id) == failed[1:]
    assert client.failed_deliveries(app_id, failed[2].id) == []
    assert client.failed_deliveries(it.personal_app.id, None) == []
    it.world.receiver.received.clear()
    client.redeliver(app_id, failed[0].id)
    it.world.time.step(5)
    [received] = it.world.receiver.received
    assert received.headers["x-github-delivery"] == failed[0].guid
    with pytest.raises(NotFoundError):
        client.redeliver(app_id, 4711)


def test_delivery_says_where_it_comes_from_and_its_record_which_job_it_is_about(
    it: Bench,
) -> None:
    it.world.github.deliveries.misbehave(MishapRule(Mishap.REFUSE, times=2))
    run = it.world.github.engine.push(it.world.public, BUILD)
    it.world.time.step(5)
    it.world.github.accounts.suspend(it.world.installation)
    it.world.time.step(5)
    client, app_id = it.client(), it.world.app.id
    of_job, of_installation = client.failed_deliveries(app_id, None)
    assert [each.qualified_event for each in (of_job, of_installation)] == [
        "workflow_job.queued",
        "installation.suspend",
    ]
    assert of_job.installation_id == it.world.installation.id
    assert client.job_of_delivery(app_id, of_job.id) == run.jobs[0].id
    assert client.job_of_delivery(app_id, of_installation.id) is None
    with pytest.raises(NotFoundError):
        client.job_of_delivery(app_id, 4711)
    with pytest.raises(NotFoundError):
        client.job_of_delivery(it.personal_app.id, of_job.id)


def test_looking_into_deliveries_counts_as_polling(it: Bench) -> None:
    """It is only to be told: what is needed to make runners is not to be used up by it."""
    it.world.github.deliveries.misbehave(MishapRule(Mishap.REFUSE, times=1))
    it.world.github.engine.push(it.world.public, BUILD)
    it.world.time.step(5)
    budget = GitHubBudget(points_per_minute=100, polling_points_share=0.03)
    client, app_id = it.client(budget=budget), it.world.app.id
    [failed] = client.failed_deliveries(app_id, None)
    for _ in range(3):
        client.job_of_delivery(app_id, failed.id)
    with pytest.raises(RateLimitedError):
        client.job_of_delivery(app_id, failed.id)
    client.redeliver(app_id, failed.id)


def test_every_page_of_deliveries_is_read_until_the_cursor(it: Bench) -> None:
    it.world.github.deliveries.misbehave(MishapRule(Mishap.REFUSE))
    for _ in range(250):
        it.world.github.engine.push(it.world.public, BUILD)
    it.world.time.step(5)
    client, app_id = it.client(), it.world.app.id
    failed = client.failed_deliveries(app_id, None)
    assert len({each.id for each in failed}) == 250
    assert it.counted("list_deliveries") == 3
    assert client.failed_deliveries(app_id, failed[170].id) == failed[171:]
    assert it.counted("list_deliveries") == 4, "it stops where it was before"
