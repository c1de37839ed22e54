"""Least privilege: what each role's statements may do, and what is refused."""

import psycopg
import pytest

from tests.database import Database

JOB = (
    "INSERT INTO jobs (job_id, provider, entity_id, entity_name, entity_type, repo_full_name,"
    " installation_id, k8s_pool, k8s_image)"
    " VALUES (1, 'github', 1, 'o', 'Organization', 'o/r', 1, 'p', 'i')"
)
WORKER = (
    "INSERT INTO workers (pod_name, provider, entity_id, entity_name, entity_type,"
    " installation_id, k8s_pool, k8s_image)"
    " VALUES ('w', 'github', 1, 'o', 'Organization', 1, 'p', 'i')"
)
EVENT = (
    "INSERT INTO installation_events (source, event, outcome, payload) VALUES ('s', 'e', 'o', '{}')"
)
RUN = "INSERT INTO reconcile_runs (started_at) VALUES (now())"

ALLOWED = {
    "webhook_fn": [
        JOB,
        EVENT,
        "UPDATE jobs SET status = 'running' WHERE job_id = 1",
        "SELECT * FROM jobs",
        "SELECT * FROM installation_events",
        "SELECT * FROM workers_told",
        "SELECT * FROM reconcile_runs JOIN reconcile_phases ON run_id = reconcile_runs.id",
        "SELECT * FROM demand_back_off",
        "SELECT * FROM demand_waits",
        "SELECT key, auth_failure FROM github_credentials",
    ],
    "reconcile": [
        "SELECT * FROM jobs",
        "UPDATE jobs SET status = 'failed', failure_info = '{}'",
        WORKER,
        "UPDATE workers SET status = 'running'",
        "BEGIN; LOCK TABLE workers IN EXCLUSIVE MODE; COMMIT",
        EVENT,
        "SELECT * FROM installation_events",
        RUN,
        "UPDATE reconcile_runs SET status = 'completed'",
        "SELECT * FROM reconcile_phases",
        "DELETE FROM github_polls",
        "DELETE FROM demand_waits",
        "DELETE FROM jobs WHERE created_at < now()",
        "DELETE FROM workers WHERE completed_at < now()",
        "DELETE FROM reconcile_runs WHERE started_at < now()",
        "DELETE FROM installation_events WHERE received_at < now()",
        "LISTEN prod_queue_event",
        "SELECT pg_advisory_lock(1)",
    ],
}

FORBIDDEN = {
    "webhook_fn": [
        "SELECT * FROM workers",
        "SELECT failure_info FROM workers",
        "SELECT token FROM github_credentials",
        "SELECT * FROM github_polls",
        "SELECT * FROM github_scopes",
        "UPDATE demand_back_off SET retry_at = now()",
        "DELETE FROM jobs",
        "DELETE FROM installation_events",
        "UPDATE installation_events SET outcome = 'x'",
        "UPDATE jobs SET entity_id = 2",
        "UPDATE jobs SET failure_info = '{}'",
        "TRUNCATE jobs",
        WORKER,
        RUN,
        "DROP TABLE jobs",
        "ALTER TABLE jobs DISABLE TRIGGER ALL",
        "CREATE TABLE mine ()",
        "BEGIN; LOCK TABLE workers IN EXCLUSIVE MODE",
        EVENT.replace("installation_events", "staging.installation_events"),
    ],
    "reconcile": [
        JOB,
        "DELETE FROM reconcile_phases",
        "UPDATE installation_events SET outcome = 'x'",
        "TRUNCATE workers",
        "DROP TABLE workers",
        "ALTER TABLE workers ADD COLUMN mine int",
        "CREATE TABLE mine ()",
        "SELECT * FROM staging.jobs",
    ],
}


@pytest.mark.parametrize("role", ["webhook_fn", "reconcile"])
def test_role_can_do_its_work(database: Database, role: str) -> None:
    with database.connect(role=f"prod_{role}") as connection:
        for statement in ALLOWED[role]:
            connection.execute(statement.encode())


@pytest.mark.parametrize(
    ("role", "statement"), [(role, text) for role, texts in FORBIDDEN.items() for text in texts]
)
def test_lesson_22_role_can_do_nothing_else(database: Database, role: str, statement: str) -> None:
    with (
        database.connect(role=f"prod_{role}") as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(statement.encode())


def test_neither_role_owns_anything_or_logs_in(database: Database) -> None:
    owned = database.rows(
        "SELECT relname FROM pg_class JOIN pg_roles r ON r.oid = relowner"
        " WHERE rolname LIKE 'prod\\_%' OR rolname LIKE 'staging\\_%'"
    )
    logins = database.rows(
        "SELECT rolname FROM pg_roles WHERE rolcanlogin AND rolname ~ '^(prod|staging)_[a-z_]+$'"
        " AND rolname !~ '_login$'"
    )
    assert (owned, logins) == ([], [])


def test_applying_the_schema_takes_back_what_was_given_by_hand(database: Database) -> None:
    database.execute("GRANT ALL ON jobs, workers TO prod_webhook_fn")
    database.execute("GRANT CREATE ON SCHEMA prod TO prod_webhook_fn")
    database.apply_schema("-v", "schema=prod")
    for statement in ("DELETE FROM workers", "CREATE TABLE mine ()"):
        with (
            database.connect(role="prod_webhook_fn") as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(statement.encode())
