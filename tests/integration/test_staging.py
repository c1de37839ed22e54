"""Prod hands the deliveries of staging's accounts on, over HTTP, to another function."""

from pathlib import Path

import pytest

from tests import github
from tests.database import Database
from tests.function import Function, environment
from tests.server import server

ROUTES = """
staging_entities = ["riseproject"]
[[route]]
labels = ["ubuntu-24.04-riscv"]
pool = "scw-em-rv1"
image = "registry.example/ubuntu-24.04:prod"
"""


@pytest.fixture
def routes_file(tmp_path: Path) -> str:
    path = tmp_path / "routes.toml"
    path.write_text(ROUTES)
    return str(path)


def staging_settings(database: Database, **changed: str) -> dict[str, str]:
    settings = environment(database.role_url("staging_webhook_fn"))
    return settings | {"RUNNERS_ENV": "staging"} | changed


def test_delivery_of_a_staging_account_is_stored_by_staging(
    function: Function, database: Database, routes_file: str
) -> None:
    with server(staging_settings(database, ROUTES_FILE=routes_file)) as url:
        function.configure(ROUTES_FILE=routes_file, STAGING_URL=f"{url}/webhook")
        answer = function.deliver("workflow_job", github.WorkflowJob().payload("queued"))
        other = github.WorkflowJob(job_id=2, owner=github.account(5, "someone-else"))
        assert function.deliver("workflow_job", other.payload("queued")).outcome == "job_stored"

    assert answer.outcome == "proxied_to_staging"
    assert [job["job_id"] for job in function.jobs()] == [2]
    staged = database.rows("SELECT * FROM jobs", schema="staging")
    assert [job["job_id"] for job in staged] == [41000000001]
    [event] = database.rows("SELECT * FROM installation_events", schema="staging")
    assert event["outcome"] == "job_stored"
    assert [e["outcome"] for e in function.events()] == ["proxied_to_staging", "job_stored"]


def test_refusal_by_staging_is_502_and_writes_nothing(
    function: Function, database: Database, routes_file: str
) -> None:
    with server(staging_settings(database, GHAPP_WEBHOOK_SECRET="another secret")) as url:
        function.configure(ROUTES_FILE=routes_file, STAGING_URL=url)
        answer = function.deliver("workflow_job", github.WorkflowJob().payload("queued"))
    assert (answer.status, answer.body["error"]) == (502, "Staging answered 401.")
    assert function.events() == []


def test_staging_that_does_not_answer_is_502(function: Function, routes_file: str) -> None:
    function.configure(ROUTES_FILE=routes_file, STAGING_URL="http://127.0.0.1:1/")
    answer = function.deliver("workflow_job", github.WorkflowJob().payload("queued"))
    assert (answer.status, answer.body["error"]) == (502, "Staging did not answer.")
    assert function.events() == []


@pytest.mark.parametrize("agent", ["☃", "a\r\nb", "\x00"])
def test_header_that_http_cannot_carry_is_left_out(
    function: Function, database: Database, routes_file: str, agent: str
) -> None:
    body = github.encode(github.WorkflowJob().payload("queued"))
    headers = github.headers("workflow_job", body) | {"user-agent": agent}
    with server(staging_settings(database, ROUTES_FILE=routes_file)) as url:
        function.configure(ROUTES_FILE=routes_file, STAGING_URL=url)
        assert function.post(body, headers).outcome == "proxied_to_staging"


def test_what_was_stored_before_a_ban_still_comes_to_its_end(
    function: Function, tmp_path: Path
) -> None:
    job = github.WorkflowJob()
    function.deliver("workflow_job", job.payload("queued"))
    banned = tmp_path / "banned.toml"
    banned.write_text(ROUTES.replace("staging_entities", "banned_entities"))
    function.configure(ROUTES_FILE=str(banned))

    assert (
        function.deliver("workflow_job", job.payload("completed")).outcome == "job_marked_completed"
    )
    another = github.WorkflowJob(job_id=2)
    assert function.deliver("workflow_job", another.payload("queued")).outcome == "banned_entity"
    assert function.deliver("workflow_job", another.payload("completed")).outcome == "job_not_found"
    assert [row["job_id"] for row in function.jobs()] == [job.job_id]
