"""The controller's session: it hears of every new job, changes nothing, says when it is lost."""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator

import pytest
from psycopg.conninfo import make_conninfo

from reconcile.errors import StoreError
from reconcile.store import figures, listening
from reconcile.store.listening import Listening
from tests.database import Database
from tests.integration.fleet import NOW, Fleet, fleet
from tests.waiting import wait_until

PATIENCE_SECONDS = 60.0  # It is there long before.
A_MOMENT = 0.3  # in which nothing happens


@contextlib.contextmanager
def listening_to(database: Database, schema: str = "prod") -> Iterator[Listening]:
    with listening.listen(database.role_url(f"{schema}_reconcile"), schema) as session:
        yield session


@pytest.fixture
def f(database: Database) -> Iterator[Fleet]:
    with fleet(database) as made:
        yield made


@pytest.fixture
def session(database: Database) -> Iterator[Listening]:
    with listening_to(database) as session:
        yield session


def sessions(database: Database) -> list[int]:
    """The processes at the server's end."""
    rows = database.rows(
        "SELECT pid FROM pg_stat_activity"
        " WHERE application_name = 'reconcile-controller' AND datname = current_database()"
    )
    return [row["pid"] for row in rows]


# What is heard -----------------------------------------------------------------------------------


def test_job_is_heard_of_as_soon_as_it_is_committed(f: Fleet, session: Listening) -> None:
    heard: list[bool] = []
    waiting = threading.Thread(target=lambda: heard.append(session.heard(2 * PATIENCE_SECONDS)))
    waiting.start()
    f.job()
    waiting.join(PATIENCE_SECONDS)
    assert heard == [True], "and not only when its time is over"


def test_job_that_came_between_two_waits_is_heard_of(f: Fleet, session: Listening) -> None:
    assert not session.heard(0)
    f.job()
    assert session.heard(PATIENCE_SECONDS)


def test_job_that_came_while_figures_were_read_is_heard_of(f: Fleet, session: Listening) -> None:
    """The server tells of it with the next answer, whatever that answers."""
    f.job()
    found = figures.read(session.database, NOW, None)
    assert [each.pending for each in found.live_jobs] == [1]
    assert session.heard(0), "it was told with the figures at the latest"
    assert not session.heard(0)


def test_many_jobs_are_heard_of_until_none_is_left(f: Fleet, session: Listening) -> None:
    for _ in range(50):
        f.job()
    assert session.heard(PATIENCE_SECONDS)
    wait_until(lambda: not session.heard(0))
    f.job()
    assert session.heard(PATIENCE_SECONDS)


def test_job_that_is_not_committed_is_not_heard_of(database: Database, session: Listening) -> None:
    insert = (
        "INSERT INTO jobs (job_id, provider, entity_id, entity_name, entity_type, repo_full_name,"
        " installation_id, k8s_pool, k8s_image)"
        " VALUES (1, 'github', 1, 'o', 'Organization', 'o/r', 1, 'p', 'i')"
    )
    with database.connect() as connection:
        connection.execute("BEGIN")
        connection.execute(insert.encode())
        assert not session.heard(A_MOMENT)
        connection.execute("ROLLBACK")
        assert not session.heard(A_MOMENT)
        connection.execute(insert.encode())
        assert session.heard(PATIENCE_SECONDS)


def test_other_environments_jobs_are_not_heard_of(database: Database, session: Listening) -> None:
    with listening_to(database, "staging") as other, fleet(database, "staging") as staging:
        staging.job()
        assert other.heard(PATIENCE_SECONDS)
        assert not session.heard(0)


def test_what_came_before_is_not_heard_of(database: Database, f: Fleet) -> None:
    """Whoever begins to listen has to look."""
    f.job()
    with listening_to(database) as session:
        assert not session.heard(A_MOMENT)


# What it is --------------------------------------------------------------------------------------


def test_it_is_one_connection_and_leaves_none_behind(database: Database, f: Fleet) -> None:
    with listening_to(database) as session:
        f.job()
        assert session.heard(PATIENCE_SECONDS)
        figures.read(session.database, NOW, None)
        assert len(sessions(database)) == 1
    wait_until(lambda: sessions(database) == [])


def test_it_can_change_nothing(session: Listening) -> None:
    with pytest.raises(StoreError, match="read-only transaction"):
        session.database.execute("forget", {"now": NOW})
    assert not session.database.broken


def test_silence_does_not_end_it(database: Database, f: Fleet) -> None:
    """Whatever the server usually does with who says nothing."""
    f.job()  # Its session is there already, and keeps what it had.
    [row] = database.rows("SELECT current_database() AS name")
    database.execute(f"ALTER DATABASE {row['name']} SET idle_session_timeout = '100ms'")
    with listening_to(database) as session:
        assert not session.heard(3 * A_MOMENT)
        f.job()
        assert session.heard(PATIENCE_SECONDS)


# How it ends -------------------------------------------------------------------------------------


def terminate(database: Database) -> None:
    [pid] = sessions(database)
    database.execute("SELECT pg_terminate_backend(%s)", pid)
    wait_until(lambda: sessions(database) == [])


def test_session_that_the_server_ended_is_said_to_be_lost(
    database: Database, session: Listening
) -> None:
    terminate(database)
    with pytest.raises(StoreError, match=r"^The connection is lost: .+"):
        session.heard(PATIENCE_SECONDS)
    assert session.database.broken


def test_figures_of_a_session_that_is_lost_are_none(database: Database, session: Listening) -> None:
    terminate(database)
    with pytest.raises(StoreError):
        figures.read(session.database, NOW, None)
    assert session.database.broken, "so that whoever reads them knows not to go on"


def test_waiting_ends_with_the_session(database: Database, session: Listening) -> None:
    lost: list[str] = []

    def wait() -> None:
        try:
            session.heard(2 * PATIENCE_SECONDS)
        except StoreError as error:
            lost.append(str(error))

    waiting = threading.Thread(target=wait)
    waiting.start()
    terminate(database)
    waiting.join(PATIENCE_SECONDS)
    assert len(lost) == 1


def test_connection_that_is_cut_without_a_word_is_lost(session: Listening) -> None:
    with socket.socket(fileno=os.dup(session._connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)
    with pytest.raises(StoreError, match=r"^The connection is lost: "):
        session.heard(PATIENCE_SECONDS)
    assert session.database.broken


def test_session_that_is_lost_is_lost_for_good(database: Database, session: Listening) -> None:
    terminate(database)
    with pytest.raises(StoreError):
        session.heard(PATIENCE_SECONDS)
    for _ in range(3):
        with pytest.raises(StoreError):
            session.heard(0)


# Where it connects -------------------------------------------------------------------------------


def test_server_that_is_not_there_is_said_without_the_password() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    conninfo = f"postgresql://somebody:sesame@127.0.0.1:{port}/nowhere"
    unreachable = pytest.raises(StoreError, match=r"^The database cannot be reached: ")
    with unreachable as refused, listening.listen(conninfo, "prod"):
        pass
    assert "sesame" not in str(refused.value)


def test_login_that_is_refused_leaves_no_connection(database: Database) -> None:
    conninfo = make_conninfo(database.url, user="nobody_of_that_name")
    with pytest.raises(StoreError, match="nobody_of_that_name"), listening.listen(conninfo, "prod"):
        pass
    assert sessions(database) == []


def test_tls_that_is_asked_for_is_insisted_on() -> None:
    """A server without it hears nothing else, not even who is there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        said: list[bytes] = []

        def refuse() -> None:
            client, _ = server.accept()
            with client:
                said.append(client.recv(1024))
                client.sendall(b"N")
                said.append(client.recv(1024))

        serving = threading.Thread(target=refuse)
        serving.start()
        port = server.getsockname()[1]
        conninfo = f"host=127.0.0.1 port={port} user=somebody sslmode=require gssencmode=disable"
        with pytest.raises(StoreError, match="SSL"), listening.listen(conninfo, "prod"):
            pass
        serving.join()
    ssl_request = (8).to_bytes(4, "big") + (80877103).to_bytes(4, "big")
    assert said == [ssl_request, b""]
