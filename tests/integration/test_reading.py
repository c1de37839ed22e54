"""Reading for a trace: one moment, nothing written, a dead connection re-opened."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.database import Database
from tests.function import environment
from webhook_fn import config, store
from webhook_fn.http import RequestError
from webhook_fn.store import Store

COUNT = b"SELECT count(*) FROM installation_events"
EVENT = (
    "INSERT INTO installation_events (source, event, outcome, payload) VALUES ('s', 'e', 'o', '{}')"
)
KILL = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'webhook_fn'
"""


@pytest.fixture
def it(database: Database) -> Iterator[Store]:
    settings = config.from_environment(environment(database.role_url("prod_webhook_fn")))
    it = Store(settings.conninfo, "prod", config.STATEMENT_TIMEOUT_SECONDS)
    yield it
    it.close()


def in_transaction(it: Store) -> bool:
    assert it._connection is not None
    return it._connection.info.transaction_status is not psycopg.pq.TransactionStatus.IDLE


def test_all_that_is_read_is_of_one_moment(it: Store, database: Database) -> None:
    with it.reading() as source:
        assert source.read(COUNT, {}) == [(0,)]
        database.execute(EVENT)
        assert source.read(COUNT, {}) == [(0,)]
    assert it.read(COUNT, {}) == [(1,)]


def test_nothing_can_be_written(it: Store) -> None:
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), it.reading() as source:
        source.read(EVENT.encode(), {})
    assert it.read(COUNT, {}) == [(0,)]


@pytest.mark.parametrize("query", [b"SELECT 1", b"SELECT 1/0", b"nonsense"])
def test_reading_ends_with_its_block(it: Store, query: bytes) -> None:
    for _ in range(8):  # psycopg prepares what it has seen five times
        try:
            with it.reading() as source:
                source.read(query, {})
        except psycopg.Error:
            assert query != b"SELECT 1"
        assert not in_transaction(it)
    it.ping()


def test_exception_of_the_caller_ends_it_too(it: Store) -> None:
    def fail() -> None:
        with it.reading() as source:
            source.read(COUNT, {})
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not in_transaction(it)


def test_one_connection_serves_all(it: Store) -> None:
    it.ping()
    first = it._connection
    with it.reading() as source:
        source.read(COUNT, {})
    it.ping()
    assert it._connection is first


@pytest.mark.parametrize("reading", [True, False])
def test_connection_that_died_before_is_reopened(
    it: Store, database: Database, reading: bool
) -> None:
    it.ping()
    assert len(database.rows(KILL)) == 1
    if reading:
        with it.reading() as source:
            assert source.read(COUNT, {}) == [(0,)]
    else:
        assert it.read(COUNT, {}) == [(0,)]


def test_connection_that_dies_meanwhile_is_an_error_and_not_kept(
    it: Store, database: Database
) -> None:
    with it.reading() as source:
        database.rows(KILL)
        with pytest.raises(psycopg.OperationalError):
            source.read(COUNT, {})
    with it.reading() as source:
        assert source.read(COUNT, {}) == [(0,)]


def test_reading_that_takes_too_long_is_given_up(
    it: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each statement has its limit, but a trace has many statements, and Lambda ends at 10 s."""
    assert store.READING_SECONDS + config.STATEMENT_TIMEOUT_SECONDS < 9
    monkeypatch.setattr(store, "READING_SECONDS", -1)
    with pytest.raises(RequestError) as refusal, it.reading() as source:
        source.read(COUNT, {})
    assert refusal.value.response.status == 503
    assert not in_transaction(it)


def test_statement_that_takes_too_long_is_ended(it: Store) -> None:
    it.ping()
    assert it._connection is not None
    it._connection.execute("SET statement_timeout = '50ms'")
    with pytest.raises(psycopg.errors.QueryCanceled), it.reading() as source:
        source.read(b"SELECT pg_sleep(5)", {})
    assert not in_transaction(it)
