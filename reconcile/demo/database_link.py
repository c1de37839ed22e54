"""The demo's way to its database, which may be away for a while on purpose: nothing waits for it
longer than a few seconds, and what comes next connects anew."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from psycopg.abc import PQGen

from webhook_fn.store import load_queries

RV = TypeVar("RV")
CONNECT_SECONDS = 2
STATEMENT_SECONDS = 4
EXPORT_SECONDS = 60  # of a table
# A server that was stopped in its tracks keeps no time either.
SILENCE_SECONDS = STATEMENT_SECONDS + 1

QUERIES = load_queries(Path(__file__).with_name("queries.sql"))


class AwayError(Exception):
    """The database could not be reached, or did not answer in time."""


class DatabaseLink:
    """Opened at the first use. Not for more than one thread."""

    def __init__(self, url: str, schema: str) -> None:
        self._url = url
        self.schema = schema
        self._connection: _Connection | None = None

    def rows(self, query: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
        with self._at_hand() as connection:
            return connection.execute(QUERIES[query], parameters).fetchall()

    @contextlib.contextmanager
    def one_moment(self) -> Iterator[None]:
        """All that is read inside is of the same moment, and may take longer."""
        with self._at_hand() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            connection.execute(QUERIES["be_patient"], {"timeout": f"{EXPORT_SECONDS}s"})
            yield

    def copy(self, table: str, columns: Iterable[str], keys: Iterable[str]) -> Iterator[bytes]:
        """The table as CSV, in the order of its keys, piece by piece."""
        statement = sql.SQL(QUERIES["copy_table"].decode()).format(
            table=sql.Identifier(table),
            columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
            keys=sql.SQL(", ").join(map(sql.Identifier, keys)),
        )
        with (
            self._at_hand() as connection,
            connection.cursor() as cursor,
            cursor.copy(statement) as copy,
        ):
            for piece in copy:
                yield bytes(piece)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextlib.contextmanager
    def _at_hand(self) -> Iterator["_Connection"]:
        try:
            if self._connection is None:
                self._connection = self._open()
            yield self._connection
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            self.close()
            told = error.diag.message_primary or str(error).partition("\n")[0]
            raise AwayError(f"The database is away: {told[:300]}") from error

    def _open(self) -> "_Connection":
        connection = _Connection.connect(
            self._url, autocommit=True, connect_timeout=CONNECT_SECONDS
        )
        try:
            connection.execute(
                QUERIES["configure_session"],
                {"schema": self.schema, "timeout": f"{STATEMENT_SECONDS}s"},
            )
        except BaseException:
            connection.close()
            raise
        return connection


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        return super().wait(gen, interval, SILENCE_SECONDS if timeout is None else timeout)
