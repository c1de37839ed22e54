"""A database held against schema.sql: what is missing is found, what was added is no fault."""

import dataclasses
import json

import psycopg
import pytest

from reconcile.errors import TransientError
from reconcile.store.fingerprint import (
    SCHEMA_JSON,
    Fingerprint,
    describe,
    differences,
    expected,
    inspect,
    missing_privileges,
)
from tests.database import Database
from tools import fingerprint as tool


def described(database: Database, schema: str = "prod", role: str | None = None) -> Fingerprint:
    with psycopg.connect(database.url) as connection:
        return describe(connection, schema, role or f"{schema}_reconcile")


def found(database: Database) -> list[str]:
    return differences(expected(), described(database))


@pytest.mark.parametrize("schema", ["prod", "staging"])
def test_committed_description_is_of_this_schema_sql(database: Database, schema: str) -> None:
    """If it is not: `make fingerprint`."""
    assert described(database, schema) == expected()


def test_tool_writes_what_is_committed() -> None:
    assert tool.text(tool.make()) == SCHEMA_JSON.read_text()


def test_description_names_no_schema_and_no_user(database: Database) -> None:
    text = json.dumps(dataclasses.asdict(described(database)))
    for name in ("prod", "staging", "postgres"):
        assert name not in text


def test_user_who_may_not_use_the_schema_sees_the_same(database: Database) -> None:
    seen = inspect(database.role_url("staging_reconcile"), "prod").fingerprint
    assert differences(expected(), seen) == []
    assert missing_privileges(expected(), seen) != []


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ("ALTER TABLE workers DROP COLUMN k8s_image", "table workers has no column k8s_image"),
        ("DROP TABLE reconcile_phases", "table reconcile_phases is missing"),
        (
            "ALTER TABLE jobs ALTER COLUMN html_url TYPE varchar(10)",
            "column jobs.html_url is character varying(10), not text",
        ),
        (
            "ALTER TABLE jobs ALTER COLUMN entity_name DROP NOT NULL",
            "column jobs.entity_name is text, not text not null",
        ),
        ("DROP INDEX idx_jobs_created", "index idx_jobs_created is missing"),
        (
            "DROP INDEX idx_jobs_created; CREATE INDEX idx_jobs_created ON jobs (created_at)",
            (
                "index idx_jobs_created is another one: "
                "CREATE INDEX idx_jobs_created ON jobs USING btree (created_at)"
            ),
        ),
        (
            (
                "UPDATE pg_index SET indisvalid = false"
                " WHERE indexrelid = 'idx_jobs_created'::regclass"
            ),
            "index idx_jobs_created is invalid",
        ),
        ("DROP TRIGGER jobs_forward_only ON jobs", "trigger jobs_forward_only is missing"),
        (
            "ALTER TABLE jobs DISABLE TRIGGER jobs_forward_only",
            "trigger jobs_forward_only is disabled",
        ),
        (
            (
                "CREATE OR REPLACE FUNCTION notify_queue_event() RETURNS trigger LANGUAGE plpgsql"
                " AS 'BEGIN RETURN NULL; END'"
            ),
            "function notify_queue_event is another one",
        ),
        (
            "ALTER TYPE provider_enum RENAME VALUE 'gitlab' TO 'forgejo'",
            "enum provider_enum has no value gitlab",
        ),
        ("DROP TYPE provider_enum CASCADE", "enum provider_enum is missing"),
        (
            (
                "ALTER TABLE installation_events ALTER COLUMN id DROP DEFAULT;"
                " DROP SEQUENCE installation_events_id_seq"
            ),
            "sequence installation_events_id_seq is missing",
        ),
    ],
)
def test_each_difference_is_told_in_plain_words(
    database: Database, change: str, difference: str
) -> None:
    database.execute(change)
    assert difference in found(database)


def test_values_of_an_enum_must_be_in_their_order() -> None:
    """Triggers compare them."""
    swapped = dataclasses.replace(
        expected(), enums=expected().enums | {"status_enum": "running, pending, completed, failed"}
    )
    assert differences(expected(), swapped) == [
        "enum status_enum has its values in another order: running, pending, completed, failed"
    ]


def test_what_the_operator_added_is_no_difference(database: Database) -> None:
    for addition in (
        "CREATE TABLE mine (id bigint)",
        "ALTER TABLE jobs ADD COLUMN mine text",
        "CREATE INDEX mine_idx ON jobs (entity_name)",
        "ALTER TYPE status_enum ADD VALUE 'mine' BEFORE 'completed'",
        "CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "CREATE TRIGGER mine BEFORE INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION mine()",
        "GRANT DELETE ON jobs TO prod_reconcile",
    ):
        database.execute(addition)
    actual = described(database)
    assert differences(expected(), actual) == []
    assert missing_privileges(expected(), actual) == []


def test_schema_that_is_not_there_is_all_missing(empty_database: Database) -> None:
    seen = inspect(empty_database.url, "prod").fingerprint
    assert "table jobs is missing" in differences(expected(), seen)
    assert missing_privileges(expected(), seen) == ["USAGE on the schema"]


def test_reconcilers_role_has_every_privilege(database: Database) -> None:
    seen = inspect(database.role_url("prod_reconcile"), "prod")
    assert missing_privileges(expected(), seen.fingerprint) == []
    assert seen.role == "prod_reconcile_login"
    assert seen.tls is None, "on loopback"
    assert not seen.outdated


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ("REVOKE UPDATE ON jobs FROM prod_reconcile", ["UPDATE on jobs"]),
        (
            (
                "REVOKE INSERT ON workers FROM prod_reconcile;"
                " GRANT INSERT (pod_name) ON workers TO prod_reconcile"
            ),
            ["INSERT on workers"],
        ),
        (
            "REVOKE USAGE ON SEQUENCE installation_events_id_seq FROM prod_reconcile",
            ["USAGE on installation_events_id_seq"],
        ),
        ("REVOKE USAGE ON SCHEMA prod FROM prod_reconcile", ["USAGE on the schema"]),
        ("DROP TABLE installation_events", []),
    ],
)
def test_each_missing_privilege_is_named(
    database: Database, change: str, missing: list[str]
) -> None:
    database.execute(change)
    seen = inspect(database.role_url("prod_reconcile"), "prod").fingerprint
    assert missing_privileges(expected(), seen) == missing


def test_privilege_on_a_column_is_had_by_who_has_it_on_the_table(database: Database) -> None:
    database.execute("REVOKE UPDATE ON jobs FROM prod_reconcile")
    wanted = dataclasses.replace(
        expected(), privileges=["UPDATE jobs.status", "UPDATE jobs.k8s_pod"]
    )
    for change, missing in (
        ("GRANT UPDATE (status) ON jobs TO prod_reconcile", ["UPDATE on jobs.k8s_pod"]),
        ("GRANT UPDATE ON jobs TO prod_reconcile", []),
    ):
        database.execute(change)
        seen = inspect(database.role_url("prod_reconcile"), "prod").fingerprint
        assert missing_privileges(wanted, seen) == missing


def test_database_that_cannot_be_reached_is_an_error_without_the_password() -> None:
    with pytest.raises(TransientError) as refusal:
        inspect("postgresql://me:hunter2@127.0.0.1:1/x", "prod")
    assert "refused" in str(refusal.value)
    assert "hunter2" not in str(refusal.value)
