"""A dying connection, a failing database, a faulty setting: a clear answer and nothing lost."""

import json

import psycopg
import pytest

from tests import github
from tests.function import Function
from webhook_fn import app

KILL_THE_FUNCTIONS_CONNECTION = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'webhook_fn'
"""


def test_one_connection_is_reused(function: Function) -> None:
    for job_id in range(1, 6):
        function.deliver("workflow_job", github.WorkflowJob(job_id=job_id).payload("queued"))
    backends = function.database.rows(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'webhook_fn'"
        " AND datname = current_database()"
    )
    assert len(backends) == 1


@pytest.mark.parametrize("event", ["ping", "workflow_job"])
def test_connection_killed_between_two_invocations_is_reopened(
    function: Function, event: str
) -> None:
    payload = github.ping() if event == "ping" else github.WorkflowJob().payload("queued")
    assert function.deliver("ping", github.ping()).outcome == "pong"
    assert len(function.database.rows(KILL_THE_FUNCTIONS_CONNECTION)) == 1

    assert function.deliver(event, payload).status == 200
    assert len(function.events()) == 2


def test_connection_that_dies_during_a_statement_is_reopened(function: Function) -> None:
    """The socket gave no sign beforehand: the statement itself finds out."""
    function.deliver("ping", github.ping())
    store = app._receiver().store
    connection = store._connection
    assert connection is not None
    connection.pgconn.finish()

    assert function.deliver("ping", github.ping()).outcome == "pong"
    assert len(function.events()) == 2


def test_session_has_its_schema_and_its_limits(function: Function) -> None:
    function.deliver("ping", github.ping())
    connection = app._receiver().store._connection
    assert connection is not None
    settings = [
        row[0]
        for name in ("search_path", "statement_timeout", "lock_timeout")
        for row in connection.execute(f"SHOW {name}".encode())
    ]
    assert settings == ["prod", "3s", "3s"]


def test_locked_table_is_500_not_a_hang(function: Function) -> None:
    function.deliver("ping", github.ping())
    app._receiver().store._connection.execute("SET lock_timeout = '50ms'")  # type: ignore[union-attr]
    with function.database.connect() as other, other.transaction():
        other.execute("LOCK TABLE jobs IN EXCLUSIVE MODE")
        answer = function.deliver("workflow_job", github.WorkflowJob().payload("queued"))
        assert answer.status == 500

    assert function.deliver("workflow_job", github.WorkflowJob().payload("queued")).status == 200


def test_unreachable_database_is_500_and_health_503(function: Function) -> None:
    function.configure(POSTGRES_URL="postgresql://nobody@127.0.0.1:1/none")

    answer = function.deliver("ping", github.ping())
    assert answer.status == 500
    assert "database" in answer.body["error"]
    health = function.post(b"", {}, method="GET", path="/health")
    assert health.status == 503


def test_failed_log_write_is_500_and_the_redelivery_converges(function: Function) -> None:
    payload = github.WorkflowJob().payload("queued")
    function.database.execute("ALTER TABLE installation_events RENAME TO elsewhere")
    assert function.deliver("workflow_job", payload).status == 500
    assert len(function.jobs()) == 1, "the side effect has its own transaction"

    function.database.execute("ALTER TABLE elsewhere RENAME TO installation_events")
    assert function.deliver("workflow_job", payload).outcome == "job_already_exists"
    assert len(function.jobs()) == len(function.events()) == 1


def test_event_is_logged_after_the_side_effect(function: Function) -> None:
    function.database.execute("ALTER TABLE jobs RENAME TO elsewhere")
    payload = github.WorkflowJob().payload("queued")
    assert function.deliver("workflow_job", payload).status == 500
    assert function.events() == []


def test_faulty_settings_are_answered_and_logged_all_at_once(
    function: Function, capsys: pytest.CaptureFixture[str]
) -> None:
    function.configure(RUNNERS_ENV="production", GHAPP_ORG_ID="x", POSTGRES_URL="")
    answer = function.deliver("ping", github.ping())
    assert answer.status == 500
    line = json.loads(capsys.readouterr().out)
    assert line["event"] == "config_error"
    for name in ("RUNNERS_ENV", "GHAPP_ORG_ID", "POSTGRES_URL"):
        assert name in line["error"]


def test_log_lines_are_json_and_hold_no_secret(
    function: Function, capsys: pytest.CaptureFixture[str]
) -> None:
    payload = github.WorkflowJob().payload("queued")
    function.deliver("workflow_job", payload)
    function.post(b"{}", {"x-hub-signature-256": "sha256=00"})
    function.configure(POSTGRES_URL="postgresql://someone:hunter2@127.0.0.1:1/none")
    function.deliver("ping", github.ping())

    output = capsys.readouterr().out
    lines = [json.loads(line) for line in output.splitlines()]
    assert [line["event"] for line in lines] == ["request", "request", "database_error", "request"]
    assert lines[0]["outcome"] == "job_stored"
    assert lines[0]["github_event"] == "workflow_job.queued"
    assert lines[1]["status"] == 401
    for secret in (github.SECRET, "hunter2", "sha256=", payload["repository"]["description"]):
        assert secret not in output


def test_deliveries_of_one_job_at_the_same_moment_make_one_row(function: Function) -> None:
    """The in_progress finds no row, and its own insert finds one: another came in between."""
    job = github.WorkflowJob()
    function.database.execute("""
        CREATE FUNCTION insert_first() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF pg_trigger_depth() = 1 THEN
                NEW.status := 'pending'; NEW.k8s_pod := NULL; NEW.started_at := NULL;
                INSERT INTO jobs SELECT NEW.*;
                NEW.status := 'running';
            END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER insert_first BEFORE INSERT ON jobs
            FOR EACH ROW EXECUTE FUNCTION insert_first();
    """)
    answer = function.deliver("workflow_job", job.payload("in_progress"))
    assert answer.outcome == "job_marked_running"
    [row] = function.jobs()
    assert (row["status"], row["k8s_pod"]) == ("running", job.runner)


def test_function_role_is_what_the_tests_use(function: Function) -> None:
    function.deliver("ping", github.ping())
    connection = app._receiver().store._connection
    assert isinstance(connection, psycopg.Connection)
    assert connection.info.user == "prod_webhook_fn_login"
