"""A session that hears of new jobs, and reads figures in between. The controller's only one.

It needs a session of its own at the other end: through a pooler that lends one for a transaction at
a time nothing is heard.
"""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from ..errors import StoreError
from .database import Database, first_line

APPLICATION_NAME = "reconcile-controller"
STATEMENT_SECONDS = 2
BEGIN_SECONDS = 10.0  # of a server that accepts a connection, and then says nothing


class Listening:
    def __init__(self, connection: "psycopg.Connection[tuple[object, ...]]") -> None:
        self._connection = connection
        self.database = Database(connection)

    def begin(self, schema: str) -> None:
        self.database.execute(
            "configure_session",
            {
                "schema": schema,
                "statement_timeout": f"{STATEMENT_SECONDS}s",
                "lock_timeout": f"{STATEMENT_SECONDS}s",
                "read_only": "on",
                "silence": "0",  # It may be silent for as long as there is nothing to hear.
            },
        )
        channel = sql.Identifier(f"{schema}_queue_event")
        try:
            self._connection.execute(sql.SQL("LISTEN {}").format(channel))
        except psycopg.Error as error:
            raise StoreError(f"LISTEN failed: {first_line(error)}") from error

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """The connection is cut if the block takes longer: a server that stands still keeps no
        time limit of its own, and its kernel goes on answering ours."""
        timer = threading.Timer(seconds, self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _cut(self) -> None:
        with (
            contextlib.suppress(OSError, psycopg.Error),  # It is closed already.
            socket.socket(fileno=os.dup(self._connection.fileno())) as line,
        ):
            line.shutdown(socket.SHUT_RDWR)

    def heard(self, seconds: float) -> bool:
        """Whether there is a new job, as soon as there is one, or after that time. Notifications
        that came while figures were read are not lost. Raises StoreError with the connection."""
        try:
            heard = list(self._connection.notifies(timeout=seconds, stop_after=1))
        except psycopg.Error as error:
            raise StoreError(f"The connection is lost: {first_line(error)}") from error
        return bool(heard)


@contextlib.contextmanager
def listen(conninfo: str, schema: str) -> Iterator[Listening]:
    """Raises StoreError. What was committed before it returns is not heard of. How soon a server
    that is gone without a word is noticed, is the connection string's to say."""
    conninfo = make_conninfo(conninfo, application_name=APPLICATION_NAME)
    try:
        connection = psycopg.connect(conninfo, autocommit=True)
    except psycopg.Error as error:
        raise StoreError(f"The database cannot be reached: {first_line(error)}") from error
    with contextlib.closing(connection):
        listening = Listening(connection)
        with listening.within(BEGIN_SECONDS):
            listening.begin(schema)
        yield listening
