"""schema.sql against its specification: the catalogue, re-application, guards."""

import subprocess

import psycopg
import pytest

from tests.database import Database, Row

# The specification's tables, column by column: type, NOT NULL, default.
SPECIFIED = {
    "jobs": """
        job_id          bigint not null
        status          status_enum not null 'pending'::status_enum
        failure_info    jsonb
        provider        provider_enum not null
        entity_id       bigint not null
        entity_name     text not null
        entity_type     text not null
        repo_full_name  text not null
        installation_id bigint not null
        job_labels      jsonb not null '[]'::jsonb
        k8s_pool        text not null
        k8s_image       text not null
        k8s_pod         text
        html_url        text
        created_at      timestamptz not null now()
        updated_at      timestamptz not null now()
    """,
    "workers": """
        pod_name        text not null
        provider        provider_enum not null
        entity_id       bigint not null
        entity_name     text not null
        entity_type     text not null
        installation_id bigint not null
        repo_full_name  text
        job_labels      jsonb not null '[]'::jsonb
        k8s_pool        text not null
        k8s_image       text not null
        k8s_node        text
        status          status_enum not null 'pending'::status_enum
        failure_info    jsonb
        created_at      timestamptz not null now()
        running_at      timestamptz
        completed_at    timestamptz
        updated_at      timestamptz not null now()
    """,
    "installation_events": """
        id              bigint not null nextval('installation_events_id_seq'::regclass)
        source          text not null
        event           text not null
        outcome         text not null
        installation_id bigint
        app_id          bigint
        entity_type     entity_type_enum
        entity_id       bigint
        entity_name     text
        payload         jsonb not null
        received_at     timestamptz not null now()
    """,
}

SPECIFIED_ENUMS = {
    "status_enum": ["pending", "running", "completed", "failed"],
    "provider_enum": ["github", "gitlab", "azdo"],
    "entity_type_enum": ["Organization", "User"],
}

SPECIFIED_INDEXES = {
    "idx_jobs_active": "jobs USING btree (entity_id, job_labels, created_at)"
    " WHERE (status <> 'completed'::status_enum)",
    "idx_jobs_reconcile": "jobs USING btree (installation_id)"
    " WHERE (status <> 'completed'::status_enum)",
    "idx_jobs_created": "jobs USING btree (created_at DESC)",
    "idx_workers_active": "workers USING btree (entity_id, job_labels, k8s_pool)"
    " WHERE (status <> 'completed'::status_enum)",
    "idx_install_events_installation": "installation_events USING btree"
    " (installation_id, entity_id)",
    "idx_install_events_entity": "installation_events USING btree (entity_id, received_at DESC)",
}

# The specification's DDL of jobs, as an operator applied it before this project existed.
OLDER_DATABASE = """
    CREATE SCHEMA prod;
    SET search_path = prod;
    CREATE TYPE status_enum      AS ENUM ('pending', 'running', 'completed', 'failed');
    CREATE TYPE provider_enum    AS ENUM ('github', 'gitlab', 'azdo');
    CREATE TABLE jobs (
        job_id          BIGINT PRIMARY KEY,
        status          status_enum NOT NULL DEFAULT 'pending',
        failure_info    JSONB,
        provider        provider_enum NOT NULL,
        entity_id       BIGINT NOT NULL,
        entity_name     TEXT NOT NULL,
        entity_type     TEXT NOT NULL,
        repo_full_name  TEXT NOT NULL,
        installation_id BIGINT NOT NULL,
        job_labels      JSONB NOT NULL DEFAULT '[]',
        k8s_pool        TEXT NOT NULL,
        k8s_image       TEXT NOT NULL,
        k8s_pod         TEXT,
        html_url        TEXT,
        created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
        updated_at      TIMESTAMPTZ NOT NULL DEFAULT now()
    );
    INSERT INTO jobs (job_id, provider, entity_id, entity_name, entity_type, repo_full_name,
                      installation_id, k8s_pool, k8s_image)
    VALUES (1, 'github', 1, 'o', 'Organization', 'o/r', 1, 'p', 'i');
"""

COLUMNS = """
    SELECT a.attname AS name,
           concat_ws(' ', CASE format_type(a.atttypid, a.atttypmod)
                          WHEN 'timestamp with time zone' THEN 'timestamptz'
                          ELSE format_type(a.atttypid, a.atttypmod) END,
                     CASE WHEN a.attnotnull THEN 'not null' END,
                     pg_get_expr(d.adbin, d.adrelid)) AS definition
      FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY a.attnum
"""


def columns(database: Database, table: str) -> dict[str, str]:
    return {row["name"]: row["definition"] for row in database.rows(COLUMNS, table)}


def specified(table: str) -> dict[str, str]:
    lines = [line.split() for line in SPECIFIED[table].strip().splitlines()]
    return {name: " ".join(definition) for name, *definition in lines}


@pytest.mark.parametrize("table", SPECIFIED)
def test_columns_are_the_specifications(database: Database, table: str) -> None:
    actual = columns(database, table)
    assert list(actual.items())[: len(specified(table))] == list(specified(table).items())


ADDED = {
    "workers": set(),
    "installation_events": {"job_id"},
    "jobs": {
        *("run_id", "run_attempt", "job_name", "workflow_name", "conclusion", "steps"),
        *("queued_at", "started_at", "completed_at", "repo_private"),
        *("sender_id", "sender_name", "missing_since"),
    },
}


@pytest.mark.parametrize("table", SPECIFIED)
def test_further_columns_are_few_and_may_be_left_out(database: Database, table: str) -> None:
    added = columns(database, table).keys() - specified(table).keys()
    assert added == ADDED[table]
    for name in added:
        assert "not null" not in columns(database, table)[name]


def test_enums_are_the_specifications(database: Database) -> None:
    for name, values in SPECIFIED_ENUMS.items():
        rows = database.rows(f"SELECT unnest(enum_range(NULL::{name}))::text AS v")
        assert [row["v"] for row in rows] == values


def test_indexes_are_the_specifications(database: Database) -> None:
    rows = database.rows("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'prod'")
    actual = {
        row["indexname"]: row["indexdef"].partition(" ON prod.")[2].replace("prod.", "")
        for row in rows
    }
    for name, definition in SPECIFIED_INDEXES.items():
        assert actual[name] == definition
    assert {name for name in actual if not name.endswith("_pkey")} == {
        *SPECIFIED_INDEXES,
        *("idx_reconcile_runs_started", "idx_reconcile_runs_open", "idx_reconcile_runs_told"),
        "idx_reconcile_phases_run",
        *("idx_jobs_live", "idx_jobs_told", "idx_jobs_pod", "idx_jobs_started", "idx_jobs_ended"),
        *("idx_jobs_account", "idx_workers_trouble", "idx_webhook_redeliveries_job"),
        *("idx_install_events_job", "idx_install_events_log", "idx_install_events_name"),
        *("idx_install_events_state", "idx_install_events_state_of"),
        *("idx_install_events_age", "idx_install_events_over"),
        *("idx_webhook_redeliveries_state", "idx_webhook_redeliveries_unseen"),
        *("idx_workers_live", "idx_workers_ended", "idx_workers_failed", "idx_workers_created"),
        *("idx_github_polls_checked", "idx_github_scopes_used"),
    }


def test_primary_keys(database: Database) -> None:
    rows = database.rows(
        "SELECT conrelid::regclass::text AS name, pg_get_constraintdef(oid) AS key"
        "  FROM pg_constraint WHERE contype = 'p' AND connamespace = 'prod'::regnamespace"
    )
    assert {row["name"]: row["key"] for row in rows} == {
        "jobs": "PRIMARY KEY (job_id)",
        "workers": "PRIMARY KEY (pod_name)",
        "boards": "PRIMARY KEY (k8s_pool)",
        "demand_waits": "PRIMARY KEY (entity_id, repo_full_name, job_labels, k8s_pool)",
        "installation_events": "PRIMARY KEY (id)",
        "reconcile_runs": "PRIMARY KEY (id)",
        "reconcile_phases": "PRIMARY KEY (id)",
        "github_credentials": "PRIMARY KEY (key)",
        "github_polls": "PRIMARY KEY (installation_id, target)",
        "github_scopes": "PRIMARY KEY (entity_id, repo_full_name)",
        "demand_back_off": "PRIMARY KEY (entity_id, repo_full_name, job_labels)",
        "webhook_cursors": "PRIMARY KEY (app_id)",
        "webhook_redeliveries": "PRIMARY KEY (app_id, guid)",
    }


def dump(database: Database) -> str:
    """All that pg_dump knows of the database: definitions, grants, rows."""
    done = subprocess.run(
        [database.psql.with_name("pg_dump"), database.url],
        capture_output=True,
        text=True,
        check=True,
    )
    # Newer releases frame the dump with a random key.
    return "\n".join(line for line in done.stdout.splitlines() if "restrict" not in line)


def test_applying_again_changes_nothing_and_fails_nothing(database: Database) -> None:
    insert_job(database, "running")
    before = dump(database)
    again = database.apply_schema("-v", "schema=prod")
    assert (again.returncode, again.stderr) == (0, "")
    assert dump(database) == before


def test_older_database_gets_what_is_missing_and_keeps_its_rows(
    empty_database: Database, database: Database
) -> None:
    with empty_database.connect() as connection:
        connection.execute(OLDER_DATABASE.encode())
    applied = empty_database.apply_schema("-v", "schema=prod")
    assert applied.returncode == 0, applied.stderr
    for table in SPECIFIED:
        assert columns(empty_database, table) == columns(database, table)
    assert [row["job_id"] for row in empty_database.rows("SELECT job_id FROM jobs")] == [1]


def test_failure_on_the_way_leaves_nothing_behind(empty_database: Database) -> None:
    empty_database.execute("CREATE SCHEMA prod; CREATE VIEW prod.workers AS SELECT 1 AS a")
    applied = empty_database.apply_schema("-v", "schema=prod")
    assert applied.returncode == 3
    tables = empty_database.rows("SELECT relname FROM pg_class WHERE relname = 'jobs'")
    assert tables == []


def test_schema_must_be_named(empty_database: Database) -> None:
    applied = empty_database.apply_schema()
    assert applied.returncode == 3
    assert "-v schema=prod" in applied.stderr


def test_schemas_name_must_leave_room_for_channel_and_roles(empty_database: Database) -> None:
    assert empty_database.apply_schema("-v", f"schema={'x' * 50}").returncode == 0
    assert empty_database.apply_schema("-v", f"schema={'x' * 50}").returncode == 0
    insert_job(empty_database, "pending", schema="x" * 50)
    applied = empty_database.apply_schema("-v", f"schema={'x' * 51}")
    assert applied.returncode == 3
    assert "at most 50 characters" in applied.stderr


def test_schema_of_an_unusual_name(empty_database: Database) -> None:
    applied = empty_database.apply_schema("-v", 'schema=it\'s "Prod", né -x')
    assert applied.returncode == 0, applied.stderr


def test_applying_gives_up_before_deliveries_would(database: Database) -> None:
    with database.connect() as reader, reader.transaction():
        reader.execute("SELECT FROM jobs")
        applied = database.apply_schema("-v", "schema=prod")
    assert applied.returncode == 3
    assert "lock timeout" in applied.stderr


def insert_job(database: Database, status: str, job_id: int = 1, schema: str = "prod") -> None:
    database.execute(
        "INSERT INTO jobs (job_id, status, provider, entity_id, entity_name, entity_type,"
        " repo_full_name, installation_id, k8s_pool, k8s_image)"
        " VALUES (%s, %s, 'github', 1, 'o', 'Organization', 'o/r', 1, 'p', 'i')",
        job_id,
        status,
        schema=schema,
    )


def insert_worker(database: Database, status: str) -> None:
    database.execute(
        "INSERT INTO workers (pod_name, status, provider, entity_id, entity_name, entity_type,"
        " installation_id, k8s_pool, k8s_image)"
        " VALUES ('w', %s, 'github', 1, 'o', 'Organization', 1, 'p', 'i')",
        status,
    )


STATUSES = SPECIFIED_ENUMS["status_enum"]
FORWARD = {
    *(("pending", later) for later in ("running", "completed", "failed")),
    *(("running", later) for later in ("completed", "failed")),
}


@pytest.mark.parametrize("table", ["jobs", "workers"])
@pytest.mark.parametrize("before", STATUSES)
@pytest.mark.parametrize("after", STATUSES)
def test_status_moves_forward_only(database: Database, table: str, before: str, after: str) -> None:
    (insert_job if table == "jobs" else insert_worker)(database, before)
    update = f"UPDATE {table} SET status = %s, updated_at = now()"
    if before == after or (before, after) in FORWARD:
        database.execute(update, after)
    else:
        with pytest.raises(
            psycopg.errors.CheckViolation, match=f"{table}.status cannot go from {before}"
        ):
            database.execute(update, after)


@pytest.mark.parametrize("schema", ["prod", "staging"])
def test_lesson_10_insert_notifies_the_schemas_channel(database: Database, schema: str) -> None:
    with database.connect(schema) as listener, database.connect(schema) as writer:
        for channel in ("prod_queue_event", "staging_queue_event"):
            listener.execute(f"LISTEN {channel}".encode())
        with writer.transaction():
            for job_id in (1, 2):
                writer.execute(
                    "INSERT INTO jobs (job_id, provider, entity_id, entity_name, entity_type,"
                    " repo_full_name, installation_id, k8s_pool, k8s_image)"
                    " VALUES (%s, 'github', 1, 'o', 'Organization', 'o/r', 1, 'p', 'i')",
                    [job_id],
                )
        writer.execute("UPDATE jobs SET status = 'running'")
        received = [n.channel for n in listener.notifies(timeout=1, stop_after=1)]
        received += [n.channel for n in listener.notifies(timeout=0.2)]
    assert received == [f"{schema}_queue_event"]


def plan(database: Database, query: str, parameters: Row) -> str:
    with database.connect() as connection:
        rows = connection.execute(f"EXPLAIN {query}".encode(), parameters).fetchall()
    return "\n".join(row["QUERY PLAN"] for row in rows)


@pytest.mark.parametrize(
    ("table", "index"), [("jobs", "idx_jobs_active"), ("workers", "idx_workers_active")]
)
def test_demand_and_supply_are_counted_by_the_partial_indexes(
    database: Database, table: str, index: str
) -> None:
    with database.connect() as connection:
        common = (
            "'github', n %% 50, 'o', 'Organization', 'o/r', 1, jsonb_build_array('l' || n %% 7)"
        )
        status = "(CASE WHEN n %% 20 = 0 THEN 'pending' ELSE 'completed' END)::status_enum"
        connection.execute(
            f"INSERT INTO {table} ({'job_id' if table == 'jobs' else 'pod_name'}, provider,"
            " entity_id, entity_name, entity_type, repo_full_name, installation_id, job_labels,"
            " k8s_pool, k8s_image, status)"
            f" SELECT n, {common}, 'p', 'i', {status}"
            "   FROM generate_series(1, 20000) n WHERE %s".encode(),
            [True],
        )
        connection.execute(f"ANALYZE {table}".encode())
    explained = plan(
        database,
        f"SELECT COUNT(*) FROM {table} WHERE entity_id = %(entity)s AND job_labels = %(labels)s"
        " AND status IN ('pending', 'running')",
        {"entity": 20, "labels": '["l3"]'},
    )
    assert index in explained, explained
    assert "Seq Scan" not in explained
