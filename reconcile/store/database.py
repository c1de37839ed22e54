"""The run's one connection: where the statements are, how they are run and counted."""

import contextlib
import json
import re
import select
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.rows import args_row
from psycopg.types.json import Jsonb

from webhook_fn.store import load_queries

from ..errors import BusyError, StoreError
from ..settings import RunLimits

T = TypeVar("T")
SILENCE_SECONDS = 5
DEAD_SESSION_SECONDS = 120  # beyond a run's deadline
# NUL and halves of surrogate pairs are no text to PostgreSQL. Escaped, whole pairs look alike.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_PERHAPS_UNSTORABLE = re.compile(r"\\u(?:0000|d[89a-f])")
Parameters = Mapping[str, Any]

QUERIES = {
    name: query
    for path in sorted((Path(__file__).parent / "sql").glob("*.sql"))
    for name, query in load_queries(path).items()
}


class Database:
    """Each statement commits by itself unless it is inside `transaction()`."""

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._connection = connection
        self._spoke_at = 0.0
        self.statements = 0

    def execute(self, name: str, parameters: Parameters | None = None) -> int:
        """How many rows it touched."""
        self._count()
        with _translated(name):
            return self._connection.execute(QUERIES[name], parameters).rowcount

    def fetch(self, name: str, parameters: Parameters | None, row: Callable[..., T]) -> list[T]:
        """Every row as `row(*columns)`, which fails on a column too many."""
        self._count()
        with _translated(name), self._connection.cursor(row_factory=args_row(row)) as cursor:
            return cursor.execute(QUERIES[name], parameters).fetchall()

    def read(self, query: bytes, parameters: Parameters) -> list[tuple[Any, ...]]:
        """A statement that somebody else brings: the trace's."""
        self._count()
        with _translated("trace"):
            return self._connection.execute(query, parameters).fetchall()

    @contextlib.contextmanager
    def one_moment(self) -> Iterator[None]:
        """Whatever is read within agrees with itself."""
        with self.transaction():
            self.execute("one_moment")
            yield

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; inside another one, a savepoint."""
        self.statements += 2
        with _translated("transaction"), self._connection.transaction():
            yield

    def _count(self) -> None:
        self.statements += 1
        self._spoke_at = time.monotonic()

    @property
    def broken(self) -> bool:
        """Whether there is nothing more to be done with it."""
        return self._connection.closed

    def keep_alive(self) -> None:
        """Raises StoreError if the connection is lost, and the run's lock with it, which a server
        says unasked. Asked now and then, while other things take long."""
        if self._connection.closed:
            raise StoreError("The connection to the database is lost.")
        unasked, _, _ = select.select([self._connection.fileno()], [], [], 0)
        if unasked or time.monotonic() - self._spoke_at > SILENCE_SECONDS:
            self.execute("ping")

    def close(self) -> None:
        self._connection.close()


@contextlib.contextmanager
def connect(
    conninfo: str, schema: str, limits: RunLimits, *, read_only: bool = False
) -> Iterator[Database]:
    """The schema's database, for this run alone. Raises BusyError if another run has the lock,
    which is the session's: it ends with this connection, however that ends.

    A read-only session cannot change anything and needs no lock.
    """
    try:
        connection = psycopg.connect(conninfo, autocommit=True)
    except psycopg.Error as error:
        raise StoreError(f"The database cannot be reached: {first_line(error)}") from error
    database = Database(connection)
    try:
        database.execute(
            "configure_session",
            {
                "schema": schema,
                "statement_timeout": f"{limits.statement_timeout}s",
                "lock_timeout": f"{limits.lock_timeout}s",
                "read_only": "on" if read_only else "off",
                # A machine that died says no goodbye: the server ends its session, and its locks.
                "silence": f"{limits.deadline + DEAD_SESSION_SECONDS}s",
            },
        )
        if read_only:
            yield database
            return
        [taken] = database.fetch("take_lock", {"schema": schema}, bool)
        if not taken:
            raise BusyError("Another run holds the lock.")
        try:
            yield database
        finally:
            _release(database, schema)
    finally:
        database.close()


def _release(database: Database, schema: str) -> None:
    """The server takes a moment to notice that a session is over, and the next run may come
    before: it must not find the lock taken by one that has ended."""
    if not database.broken:
        with contextlib.suppress(StoreError):  # Then it goes with the session.
            database.fetch("release_lock", {"schema": schema}, bool)


@contextlib.contextmanager
def _translated(what: str) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise StoreError(f"{what}: {first_line(error)}") from error


def first_line(error: psycopg.Error) -> str:
    """Without what PostgreSQL quotes of a row, or libpq of a connection string."""
    return (error.diag.message_primary or str(error).partition("\n")[0])[:300]


def joined(names: Iterable[str]) -> str:
    """Pods' names, which have no comma, for string_to_array: an array of thousands of texts is slow
    to write."""
    return ",".join(names)


def as_json(value: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> Jsonb:
    """A document, or rows for a statement that reads them with jsonb_to_recordset. Whatever text
    the outside sent: what PostgreSQL cannot store is replaced."""
    return Jsonb(value, dumps=_dumps)


def _dumps(value: Any) -> str:
    text = json.dumps(value, default=str)
    if _PERHAPS_UNSTORABLE.search(text):
        text = json.dumps(_storable(value), default=str)
    return text


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, Mapping):
        return {_storable(name): _storable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(each) for each in value]
    return value
