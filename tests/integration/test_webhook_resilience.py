"""A dying connection, a failing database, a faulty setting: a clear answer and nothing lost."""

import json
import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random

import psycopg
import pytest

from tests import github
from tests.function import Function
from tests.waiting import wait_until
from webhook_fn import app, config, receiver, store

KILL_THE_FUNCTIONS_CONNECTION = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'webhook_fn'
"""
WAITING = """
    SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'webhook_fn'
       AND wait_event_type = 'Lock'
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
    """The statement waits for a lock when its backend is killed; the repeat goes through."""
    function.deliver("ping", github.ping())
    with function.database.connect() as other, ThreadPoolExecutor() as pool:
        with other.transaction():
            other.execute("LOCK TABLE jobs IN EXCLUSIVE MODE")
            answer = pool.submit(
                function.deliver, "workflow_job", github.WorkflowJob().payload("queued")
            )
            wait_until(lambda: bool(function.database.rows(WAITING)))
            function.database.rows(KILL_THE_FUNCTIONS_CONNECTION)
        assert answer.result().outcome == "job_stored"
    assert len(function.jobs()) == 1


def test_connection_that_could_not_be_set_up_is_not_kept(
    function: Function, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setitem(store.QUERIES, "configure_session", b"SELECT 1/0 FROM jobs, %(schema)s")
        assert function.deliver("ping", github.ping()).status == 500
    assert function.deliver("ping", github.ping()).outcome == "pong"


def test_delivery_that_waited_for_another_sees_what_that_one_did(function: Function) -> None:
    job = github.WorkflowJob()
    function.deliver("workflow_job", job.payload("queued"))
    with function.database.connect() as other, ThreadPoolExecutor() as pool:
        with other.transaction():
            other.execute("UPDATE jobs SET status = 'completed', conclusion = 'failure'")
            answer = pool.submit(function.deliver, "workflow_job", job.payload("completed"))
            wait_until(lambda: bool(function.database.rows(WAITING)))
        assert answer.result().outcome == "job_already_completed"
    [row] = function.jobs()
    assert row["conclusion"] == "failure"
    assert row["k8s_pod"] == job.runner, "what only the late one knew is filled in"


def test_deliveries_from_many_connections_at_once_agree(function: Function) -> None:
    jobs = [github.WorkflowJob(job_id=number) for number in range(1, 41)]
    deliveries = [
        (job, action) for job in jobs for action in ("queued", "in_progress", "completed") * 2
    ]
    Random(7).shuffle(deliveries)
    settings = config.from_environment(os.environ)
    receivers: dict[int, receiver.Receiver] = {}

    def deliver(task: tuple[github.WorkflowJob, str]) -> str:
        mine = receivers.setdefault(threading.get_ident(), app.make_receiver(settings))
        body = github.encode(task[0].payload(task[1]))
        event = github.lambda_event(body, github.headers("workflow_job", body))
        outcome: str = app.respond(event, mine).body["outcome"]
        return outcome

    with ThreadPoolExecutor(6) as pool:
        outcomes = Counter(pool.map(deliver, deliveries))
    for used in receivers.values():
        used.store.close()

    rows = function.jobs()
    assert len(rows) == len(jobs)
    assert {(row["status"], row["k8s_pod"], row["conclusion"]) for row in rows} == {
        ("completed", jobs[0].runner, "success")
    }
    assert len(function.events()) == len(deliveries)
    # Every job was completed by exactly one delivery, whatever else raced it there.
    assert outcomes["job_marked_completed"] == len(jobs)


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
