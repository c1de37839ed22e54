"""The client on the simulated GitHub: every way in which a call can fail."""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from reconcile.clock import Deadline
from reconcile.errors import (
    DeadlineError,
    PermanentError,
    RateLimitedError,
    TransientError,
    UncertainError,
)
from reconcile.github import GitHubClient
from reconcile.settings import GitHubBudget
from reconcile.sim import faults
from reconcile.sim.faults import Fault
from reconcile.sim.github import workflow
from reconcile.sim.http import Request, Response
from tests.integration.github_client import TIMEOUT, Bench, bench, by_key, chain
from tests.simulated import LABEL

BUILD = workflow.uniform((LABEL,), seconds=60)


@pytest.fixture
def it() -> Iterator[Bench]:
    with bench() as it:
        yield it


@dataclass(frozen=True)
class Operation:
    endpoint: str
    do: Callable[[Bench, GitHubClient], Any]
    repeatable: bool


def _a_job(it: Bench) -> int:
    return max(it.world.github.engine.jobs)


def _a_run(it: Bench) -> int:
    return max(it.world.github.engine.runs)


def _a_runner(it: Bench) -> int:
    return it.world.github.runners.all()[0].id


def _a_delivery(it: Bench) -> int:
    return max(each.id for each in it.world.github.deliveries.of(it.world.app))


OPERATIONS = [
    Operation(
        "list_run_jobs", lambda b, c: c.jobs_of_run(b.org, b.repository, _a_run(b), []), True
    ),
    Operation("get_job", lambda b, c: c.job(b.org, b.repository, _a_job(b)), True),
    Operation("get_run", lambda b, c: c.run_is_completed(b.org, b.repository, _a_run(b)), True),
    Operation("list_org_runners", lambda b, c: c.runners(b.org, None, []), True),
    Operation("list_group_runners", lambda b, c: c.runners(b.org, 1, []), True),
    Operation("list_repo_runners", lambda b, c: c.runners(b.repo, None, []), True),
    Operation("list_runner_groups", lambda b, c: b.group(c), True),
    Operation("delete_org_runner", lambda b, c: c.delete_runner(b.org, _a_runner(b)), True),
    Operation("get_app", lambda b, c: c.app_slug(b.apps.organization), True),
    Operation("list_deliveries", lambda b, c: c.failed_deliveries(b.world.app.id, None), True),
    Operation(
        "create_jit_config_org",
        lambda b, c: c.create_jit_config(b.org, 1, "new", [LABEL]),
        False,
    ),
    Operation(
        "create_jit_config_repo",
        lambda b, c: c.create_jit_config(b.repo, None, "new", [LABEL]),
        False,
    ),
    Operation("get_delivery", lambda b, c: c.job_of_delivery(b.world.app.id, _a_delivery(b)), True),
    Operation("redeliver", lambda b, c: c.redeliver(b.world.app.id, _a_delivery(b)), False),
]
POLLS = ("list_run_jobs", "get_job", "get_run", "get_delivery")
LOSSES = [
    *[faults.timeout(after_effect=after) for after in (False, True)],
    *[faults.reset(after_effect=after) for after in (False, True)],
    *[faults.status(code, after_effect=after) for code in (500, 503) for after in (False, True)],
    faults.half_body(),
    faults.wrong_json(),
]


def prepare(it: Bench) -> GitHubClient:
    it.register(3)
    it.world.github.engine.push(it.world.public, BUILD)
    it.world.time.step(5)
    client = it.client(request_timeout=TIMEOUT)
    for scope in (it.org, it.repo):
        client.runners(scope, None, [])
    it.world.server.counts.clear()
    return client


def name_of(value: Operation | Fault) -> str:
    if isinstance(value, Operation):
        return value.endpoint
    return f"{value.kind}-{value.status or ''}{'-after' if value.after_effect else ''}"


@pytest.mark.parametrize("fault", LOSSES, ids=name_of)
@pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)
def test_lost_answer_is_repeated_where_that_is_safe_and_uncertain_elsewhere(
    it: Bench, operation: Operation, fault: Fault
) -> None:
    client = prepare(it)
    it.world.faults.always(f"github.{operation.endpoint}", fault)
    if operation.endpoint.startswith("delete") and fault.kind is faults.Kind.WRONG_JSON:
        assert operation.do(it, client) is True, "the repeat is a 404, whatever its body says"
        return
    with pytest.raises(TransientError) as caught:
        operation.do(it, client)
    # A poll that hangs is left to the next run: there are many, and each would take long.
    hangs = operation.endpoint in POLLS and fault.kind is faults.Kind.TIMEOUT
    repeats = 2 if operation.repeatable and not hangs else 0
    assert it.counted(operation.endpoint) == 1 + repeats
    assert isinstance(caught.value, UncertainError) is not operation.repeatable
    assert len(it.sleeps) == repeats
    it.world.faults.clear()
    if operation.repeatable and fault.kind is not faults.Kind.TIMEOUT:  # They take their time.
        it.world.faults.next(f"github.{operation.endpoint}", fault, times=2)
        assert operation.do(it, client) is not None


@pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)
def test_limit_is_told_with_its_time_and_nothing_is_sent_until_then(
    it: Bench, operation: Operation
) -> None:
    client = prepare(it)
    it.world.faults.next(f"github.{operation.endpoint}", faults.rate_limited(20))
    for _ in range(2):
        with pytest.raises(RateLimitedError) as caught:
            operation.do(it, client)
        waited = caught.value.until - it.world.time.clock.now()
        assert waited.total_seconds() == 20
    assert it.counted(operation.endpoint) == 1
    it.world.time.step(20)
    operation.do(it, client)


@pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)
def test_refusal_is_permanent_and_sent_once(it: Bench, operation: Operation) -> None:
    client = prepare(it)
    it.world.faults.always(f"github.{operation.endpoint}", faults.status(418))
    with pytest.raises(PermanentError, match="418 Error"):
        operation.do(it, client)
    assert it.counted(operation.endpoint) == 1


def test_permission_that_is_missing_is_permanent_and_blocks_nothing(it: Bench) -> None:
    it.world.installation.permissions["organization_self_hosted_runners"] = "read"
    client = it.client()
    with pytest.raises(PermanentError, match="403 Resource not accessible by integration"):
        client.create_jit_config(it.org, 1, "runner-1", [LABEL])
    assert client.runners(it.org, None, []).items == []


@pytest.mark.parametrize("fault", [*LOSSES, faults.rate_limited(5)], ids=name_of)
def test_listing_that_fails_on_its_second_page_is_no_listing(it: Bench, fault: Fault) -> None:
    it.register(150)
    client = it.client(request_timeout=TIMEOUT)
    known = client.runners(it.org, None, []).pages

    def spoil_the_rest(request: Request, _: Response) -> None:
        if request.path.endswith("/runners") and "page" not in request.query:
            it.world.faults.always("github.list_org_runners", fault)

    it.world.server.observers.append(spoil_the_rest)
    for pages in ([], known):
        it.world.faults.clear()
        it.world.time.step(60)
        with pytest.raises(TransientError):
            client.runners(it.org, None, pages)


def test_deletion_that_was_done_and_not_said_is_a_success(it: Bench) -> None:
    client = prepare(it)
    runner = it.world.github.runners.all()[0]
    it.world.faults.next("github.delete_org_runner", faults.reset(after_effect=True))
    assert client.delete_runner(it.org, runner.id) is True
    assert it.counted("delete_org_runner") == 2


def test_server_that_is_not_there_is_transient_also_for_writes(it: Bench) -> None:
    saved = it.client()
    it.group(saved)
    client = it.client(saved.credentials(), base_url="http://127.0.0.1:1")
    with pytest.raises(TransientError, match="could not be reached"):
        client.runners(it.org, None, [])
    with pytest.raises(TransientError, match="could not be reached") as caught:
        client.create_jit_config(it.org, 1, "runner-1", [LABEL])
    assert not isinstance(caught.value, UncertainError)
    assert len(it.sleeps) == 2, "only the read was repeated"


def test_run_whose_time_is_over_sends_nothing(it: Bench) -> None:
    client = it.client(deadline=Deadline(0))
    with pytest.raises(DeadlineError):
        client.runners(it.org, None, [])
    assert not it.world.server.calls


def test_nothing_is_repeated_past_the_deadline(it: Bench) -> None:
    first = it.client()
    first.runners(it.org, None, [])
    client = it.client(first.credentials(), deadline=Deadline(0.15))
    it.world.faults.always("github.list_org_runners", faults.status(503))
    with pytest.raises(TransientError, match="503"):
        client.runners(it.org, None, [])
    assert it.sleeps == []


def test_failed_calls_use_up_no_connections(it: Bench) -> None:
    """There are only as many as may be used at once, and who waits for one waits for long."""
    client = it.client(budget=GitHubBudget(parallel=1), request_timeout=TIMEOUT)
    for fault in LOSSES:
        it.world.faults.next("github.list_org_runners", fault)
        assert client.runners(it.org, None, []).items == []


# Secrets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [*LOSSES, faults.status(418)], ids=name_of)
def test_no_error_shows_a_secret(it: Bench, fault: Fault) -> None:
    secrets: list[str] = []

    def observe(request: Request, response: Response) -> None:
        secrets.append(request.headers["authorization"].removeprefix("Bearer "))
        if b"encoded_jit_config" in response.body:
            secrets.append(response.body.decode().split('"encoded_jit_config":"')[1][:40])

    it.world.server.observers.append(observe)
    client = it.client(request_timeout=TIMEOUT)
    jit = client.create_jit_config(it.org, 1, "first", [LABEL])
    it.world.faults.always("github.create_jit_config_org", fault)
    with pytest.raises(Exception) as caught:  # noqa: PT011 whatever it is
        client.create_jit_config(it.org, 1, "second", [LABEL])
    assert len(secrets) >= 3
    said = "".join(traceback.format_exception(caught.value))
    said += "".join(f"{each!r} {each}" for each in chain(caught.value))
    saved = client.credentials()
    said += f"{jit} {jit!r} {client!r} {it.apps!r} {saved!r} {by_key(saved, 'app')}"
    for secret in secrets:
        assert secret not in said
        assert secret.encode() not in b"".join(each.token or b"" for each in saved)
