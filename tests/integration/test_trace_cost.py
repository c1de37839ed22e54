"""A trace costs what it tells, not what the log has become: each of its statements reads a bounded
number of rows through an index, as the role of the function and as that of a run, for what is asked
and when it was prepared for whatever may be asked."""

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests import trace_history as history
from tests.database import Cluster, Database, Row
from tests.function import environment
from tests.integration.plans import STATISTICS, assert_plan_is_bounded
from tests.waiting import wait_until
from webhook_fn import app, config
from webhook_fn.http import Request
from webhook_fn.trace.reading import FOR_EVER, QUERIES

SIZE = history.Size(
    events=150_000,
    changes=1_500,
    pending=3_000,
    workers=25_000,
    runs=50_000,
    failed_deliveries=20_000,
)
LARGE = {*history.LARGE, "webhook_redeliveries"}
ROLES = ["prod_webhook_fn", "prod_reconcile"]
PREPARED = ["once", "prepared"]
NOBODY = 987_654_321_987
LONG_AGO = history.NOW - timedelta(days=9)
MIDDLE = 75_001  # an event
PAGE = 51
STATE = 500  # of the latest changes
CHANGES = SIZE.changes + 10  # which are perhaps sorted first, but no other's
NAMES = ("tenant-1", "OLD-tenant-1", "tenant-2400", "nobody")
ACCOUNTS = (history.BIGGEST, history.RESTLESS, history.MIDDLING, history.SMALLEST)
ENTITIES = [*map(history.entity, ACCOUNTS), NOBODY]
INSTALLATIONS = [*map(history.installation, ACCOUNTS), history.NAMELESS, NOBODY]


@dataclass(frozen=True)
class Case:
    """A statement, and how many rows it may read of any large table at one place."""

    name: str
    most: int
    parameters: Mapping[str, Any]


def _demand(account: int, **others: Any) -> dict[str, Any]:
    labels = json.dumps(history.LABELS)
    demand = {"entity_id": history.entity(account), "repository": "", "labels": labels}
    return {**demand, "pool": history.POOL, **others}


def _of_a_job() -> Iterator[Case]:
    for job in (9, SIZE.last_job + 7, NOBODY):
        yield Case("job", 1, {"job_id": job})
        yield Case("events_of_job", 3, {"job_id": job, "at": FOR_EVER, "most": 200})
        for place in (*INSTALLATIONS, None):
            asked = {"job_id": job, "installation_id": place, "at": FOR_EVER, "most": 100}
            yield Case("failed_deliveries", 100, asked)
    yield Case("cursors", 0, {})


def _of_an_account() -> Iterator[Case]:
    """Of the biggest, of small ones, and of such as there are not."""
    for at, before in itertools.product((FOR_EVER, LONG_AGO), (None, MIDDLE, NOBODY)):
        state = {"at": at, "most": STATE}
        part = {"at": at, "before": before, "limit": PAGE}
        for number in ENTITIES:
            yield Case("state_of_entity", CHANGES, {"entity_id": number, **state})
            yield Case("log_of_entity", PAGE + 1, {"entity_id": number, **part})
        for number in INSTALLATIONS:
            yield Case("state_of_installation", CHANGES, {"installation_id": number, **state})
            yield Case("log_of_installation", PAGE + 1, {"installation_id": number, **part})
    for number in INSTALLATIONS:
        yield Case("entity_of_installation", 1, {"installation_id": number})
    for number in ENTITIES:
        yield Case("entity_is_known", 1, {"entity_id": number})
    for name in ("tenant-1", "OLD-tenant-1", "tenant-2400", "nobody"):
        yield Case("entities_named", 1, {"name": name})
    for event in (MIDDLE, NOBODY):
        yield Case("payload", 1, {"event_id": event})


def _of_the_queue() -> Iterator[Case]:
    for account in (1, 3, 1000, 2400):
        entity = {"entity_id": history.entity(account), "repository": ""}
        own = {**entity, "labels": json.dumps(history.LABELS), "pool": history.POOL}
        for name in ("wait", "trouble", "boards"):
            yield Case(name, 0, own)
        older = {"created_at": history.NOW, "job_id": SIZE.last_job + 7}
        yield Case("queue", SIZE.pending, own | older)
        yield Case("supply", 300, own)
        # A job waits for a day at most. Of a day all that ended may be looked at.
        window = {"since": history.NOW - timedelta(days=1), "until": history.NOW, "most": 20}
        for labels in (history.LABELS, ["another"], ["never"]):
            asked = own | window | {"labels": json.dumps(labels)}
            yield Case("failed_workers", 3_100, asked)
    for pool in (history.POOL, "nowhere"):
        yield Case("held", 1000, {"pool": pool, "at": history.NOW})
    yield Case("limits", 0, {"keys": ["installation:50000001", "app:1001", "app:1002"]})
    for pod in (f"rise-riscv-runner-{SIZE.last_job - 100:x}", "nobody"):
        yield Case("worker", 1, {"pod_name": pod})
    for at in (FOR_EVER, LONG_AGO):
        yield Case("runs", 25, {"at": at, "most": 5})


CASES = [*_of_a_job(), *_of_an_account(), *_of_the_queue()]


@pytest.fixture(scope="module", params=STATISTICS)
def filled(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Database]:
    """Autovacuum comes when it likes: a table may be large before anything is known of it."""
    with cluster.new_database() as database:
        for table in sorted(LARGE):
            database.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
        history.add_history(database, SIZE)
        if request.param == "with statistics":
            database.execute("ANALYZE")
        yield database


def test_every_statement_is_looked_at_here() -> None:
    assert {each.name for each in CASES} == set(QUERIES)


@pytest.mark.parametrize("prepared", PREPARED)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", QUERIES)
def test_statement_reads_a_bounded_number_of_rows_through_an_index(
    filled: Database, name: str, role: str, prepared: str
) -> None:
    explain = _explain_prepared if prepared == "prepared" else _explain
    with filled.connect(role=role) as connection:
        for each in CASES:
            if each.name == name:
                plan = explain(connection, QUERIES[name], each.parameters)
                assert_plan_is_bounded(plan, dict.fromkeys(LARGE, each.most))


def _explain(
    connection: psycopg.Connection[Row], statement: bytes, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    explained = b"EXPLAIN (ANALYZE, FORMAT JSON) " + statement
    return _plan(connection.execute(explained, parameters or None))


def _explain_prepared(
    connection: psycopg.Connection[Row], statement: bytes, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """As psycopg prepares it after a few times, and PostgreSQL then may plan it once for all."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement.decode())))
    text = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", statement.decode())
    connection.prepare_threshold = None  # psycopg counts too
    connection.execute("SET plan_cache_mode = force_generic_plan")
    connection.execute("DEALLOCATE ALL")
    connection.execute(f"PREPARE asked AS {text.replace('%%', '%')}".encode())
    values = sql.SQL(", ").join(sql.Literal(parameters[name]) for name in names)
    given = sql.SQL("({})").format(values) if names else sql.SQL("")
    return _plan(
        connection.execute(sql.SQL("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked {}").format(given))
    )


def _plan(told: psycopg.Cursor[Row]) -> dict[str, Any]:
    [row] = told.fetchall()
    [document] = row["QUERY PLAN"]
    plan: dict[str, Any] = document["Plan"]
    return plan


# As it is asked ----------------------------------------------------------------------------------

TOKEN = "ask-and-it-shall-be-told"
PATHS = (
    f"job/{SIZE.last_job + 7}",
    "job/9",
    f"job/{NOBODY}",
    f"entity/{history.entity(1)}",
    f"entity/tenant-{history.RESTLESS}",
    "entity/nobody",
    f"installation/{history.installation(1000)}",
    f"installation/{history.NAMELESS}",
    f"payload/{MIDDLE}",
)


def _usage(database: Database) -> dict[str, tuple[int, int]]:
    """Of each table so far: how often it was read from end to end, and rows by index."""
    rows = database.rows(
        "SELECT relname, seq_scan, COALESCE(idx_tup_fetch, 0) AS fetched"
        "  FROM pg_stat_user_tables WHERE schemaname = 'prod'"
    )
    return {row["relname"]: (row["seq_scan"], row["fetched"]) for row in rows}


def _nobody_is_there(database: Database) -> bool:
    """And has told what it did."""
    return not database.rows(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
        "   AND usename = 'prod_webhook_fn_login'"
    )


def test_asking_again_and_again_stays_as_cheap(filled: Database) -> None:
    """A statement that is repeated is prepared, and may get another plan then."""
    times = 20
    settings = environment(filled.role_url("prod_webhook_fn")) | {"TRACE_API_SECRET": TOKEN}
    receiver = app.make_receiver(config.from_environment(settings), lambda: history.NOW)
    headers = {"authorization": f"Bearer {TOKEN}"}
    before = _usage(filled)
    for path in PATHS * times:
        answer = receiver.respond(Request("GET", f"/trace/{path}", headers, lambda: b""))
        assert answer.status == (404 if str(NOBODY) in path or "nobody" in path else 200), path
    receiver.store.close()
    wait_until(lambda: _nobody_is_there(filled))
    after = _usage(filled)
    for table in LARGE:
        assert after[table][0] == before[table][0], f"{table} was read from end to end"
        read = after[table][1] - before[table][1]
        # All that waits, the last workers that ended, and the changes of the most restless.
        assert 0 < read <= times * 1.2 * SIZE.pending, table
