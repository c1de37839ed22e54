"""Every statement of docs/install.md and docs/operations.md, typed into a database in which all
that they look for is there: each runs, and each finds or changes something."""

from typing import Any, NamedTuple

import psycopg
import pytest

from tests.database import Database
from tests.documents import ROOT, Document

DOCUMENTS = [Document(ROOT / "docs" / name) for name in ("install.md", "operations.md")]
# What the examples of the documents are about.
JOB, ENTITY, INSTALLATION = 41234567890, 21003710, 4711
POD = "rise-riscv-runner-0123456789"
IMAGE = "registry.example/ubuntu-24.04:prod"
FAILED = """{"version": 2, "reason": "pod_failed", "message": "The pod failed (Evicted).",
             "logs": {"runner": "no space left on device"}}"""
# Only who may create schemas and roles may do these.
FOR_ADMINISTRATORS = ("CREATE USER", "DROP USER", "DROP SCHEMA")

Connection = psycopg.Connection[tuple[Any, ...]]


class Block(NamedTuple):
    document: str
    number: int
    sql: str


BLOCKS = [
    Block(document.path.name, number, sql)
    for document in DOCUMENTS
    for number, sql in enumerate(document.blocks("sql"), start=1)
]


def each(blocks: list[Block]) -> pytest.MarkDecorator:
    ids = [f"{block.document}-{block.number}" for block in blocks]
    return pytest.mark.parametrize("block", blocks, ids=ids)


FILL = f"""
INSERT INTO prod.jobs (job_id, status, failure_info, provider, entity_id, entity_name, entity_type,
       repo_full_name, installation_id, job_labels, k8s_pool, k8s_image, k8s_pod)
SELECT job_id, status::prod.status_enum, failure_info::jsonb, 'github', {ENTITY}, 'riseproject',
       'Organization', 'riseproject/llvm', {INSTALLATION}, '["ubuntu-24.04-riscv"]', 'scw-em-rv1',
       '{IMAGE}', pod
  FROM (VALUES ({JOB}, 'pending', NULL, NULL), ({JOB} + 1, 'running', NULL, '{POD}'),
               ({JOB} + 2, 'failed', '{{"reason": "job_gone", "message": "It is gone."}}', NULL))
       AS given(job_id, status, failure_info, pod);

INSERT INTO prod.workers (pod_name, provider, entity_id, entity_name, entity_type, installation_id,
       job_labels, k8s_pool, k8s_image, k8s_node, status, failure_info, completed_at)
SELECT pod_name, 'github', {ENTITY}, 'riseproject', 'Organization', {INSTALLATION},
       '["ubuntu-24.04-riscv"]', 'scw-em-rv1', '{IMAGE}', 'rv1-01', status::prod.status_enum,
       failure_info::jsonb, completed_at
  FROM (VALUES ('{POD}', 'failed', '{FAILED}', now()),
               ('rise-riscv-runner-aaaaaaaaaa', 'running', NULL, NULL))
       AS given(pod_name, status, failure_info, completed_at);

INSERT INTO prod.boards VALUES ('scw-em-rv1', 12, 11, 10, 1, now());

INSERT INTO prod.demand_waits
VALUES ({ENTITY}, '', '["ubuntu-24.04-riscv"]', 'scw-em-rv1', 1, 0, 'no_board', NULL, now());

INSERT INTO prod.installation_events (source, event, outcome, installation_id, app_id, entity_type,
       entity_id, entity_name, payload)
VALUES ('webhook', 'workflow_job.queued', 'job_stored', {INSTALLATION}, 1, 'Organization', {ENTITY},
        'riseproject', '{{"workflow_job": {{"id": {JOB}}}}}'),
       ('scheduler', 'auth_attempt.404', 'auth_failed', {INSTALLATION}, 1, 'Organization', {ENTITY},
        'riseproject', '{{}}');

INSERT INTO prod.reconcile_runs (started_at, completed_at, status) VALUES (now(), now(), 'partial');
INSERT INTO prod.reconcile_phases (run_id, phase, success, error, elapsed_seconds)
SELECT id, phase, false, 'TransientError: no answer', 1.5
  FROM prod.reconcile_runs, unnest(ARRAY['demand_match', 'retention', 'publish']) AS phase;

INSERT INTO prod.demand_back_off
VALUES ({ENTITY}, '', '["ubuntu-24.04-riscv"]', 5, 'pod_failed', now(),
        now() + interval '1 hour', true);
INSERT INTO prod.github_scopes (entity_id, installation_id, entity_name, entity_type, used_at)
VALUES ({ENTITY}, {INSTALLATION}, 'riseproject', 'Organization', now());
INSERT INTO prod.github_credentials (key, rate_limit, rate_remaining, rate_resets_at, updated_at)
VALUES ('installation:{INSTALLATION}', 5000, 100, now() + interval '1 hour', now()),
       ('app:1', NULL, NULL, now() + interval '1 hour', now());
INSERT INTO prod.webhook_redeliveries VALUES (1, 'a-guid', 1, 1, NULL, now());
"""


def results(connection: Connection, sql: str) -> list[int]:
    """Of each statement, the rows that it found or changed; -1 for those that define something."""
    cursor = connection.execute(sql.encode())
    counts = [cursor.rowcount]
    while cursor.nextset():
        counts.append(cursor.rowcount)
    return counts


@pytest.fixture
def filled(database: Database) -> Database:
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(FILL.encode())
    return database


@each(BLOCKS)
def test_every_statement_runs_and_finds_something(filled: Database, block: Block) -> None:
    """By itself: nothing that is typed before it, and no search path, makes it work. All of it
    is taken back, for users are the whole server's."""
    with psycopg.connect(filled.url) as connection:
        take_lock(connection)
        counts = results(connection, block.sql)
        connection.rollback()
    assert len(counts) == block.sql.count(";\n") + block.sql.endswith(";")
    assert 0 not in counts, block.sql


@each(
    [
        block
        for block in BLOCKS
        if block.document == "operations.md" and not block.sql.startswith(FOR_ADMINISTRATORS)
    ]
)
def test_the_reconcilers_login_may_run_all_but_what_makes_and_drops_users(
    filled: Database, block: Block
) -> None:
    with psycopg.connect(filled.role_url("prod_reconcile")) as connection:
        results(connection, block.sql)
        connection.rollback()


def take_lock(connection: Connection) -> None:
    """As a run does."""
    statement = "SELECT pg_advisory_xact_lock(hashtext('riscv-runners run'), hashtext('prod'))"
    connection.execute(statement.encode())


def test_whoever_has_the_runs_lock_is_found_and_nobody_else(database: Database) -> None:
    [query] = [block.sql for block in BLOCKS if "pg_locks" in block.sql]
    with psycopg.connect(database.url) as holder, psycopg.connect(database.url) as other:
        with psycopg.connect(database.url) as asking:
            assert asking.execute(query.encode()).fetchall() == []
            holder.execute(
                b"SELECT pg_advisory_lock(hashtext('riscv-runners run'), hashtext('prod'))"
            )
            other.execute(
                b"SELECT pg_advisory_lock(hashtext('riscv-runners run'), hashtext('staging'))"
            )
            [found] = asking.execute(query.encode()).fetchall()
        assert found[0] == holder.info.backend_pid


def test_a_demand_that_is_to_be_retried_at_once_is_due(filled: Database) -> None:
    [statement] = [block.sql for block in BLOCKS if "SET retry_at" in block.sql]
    filled.execute(statement)
    [row] = filled.rows(
        "SELECT retry_at <= clock_timestamp() AS due, failures FROM demand_back_off"
    )
    assert row == {"due": True, "failures": 5}


def test_the_notification_is_the_one_that_the_controller_listens_to(database: Database) -> None:
    [statement] = [block.sql for block in BLOCKS if "pg_notify" in block.sql]
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(b"LISTEN prod_queue_event")
        connection.execute(statement.encode())
        [heard] = connection.notifies(timeout=5, stop_after=1)
    assert heard.channel == "prod_queue_event"


def test_there_is_sql_in_both() -> None:
    assert {block.document for block in BLOCKS} == {document.path.name for document in DOCUMENTS}
