"""The demo stops its database on purpose: reading says so, in time, and goes on afterwards."""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconcile.demo import database_link
from reconcile.demo.reading import AwayError, Reading
from reconcile.sim import postgres
from tests.database import Cluster, Database
from tests.site_rows import NOW, SiteRows, ago


def assert_all_say_that_it_is_away(reading: Reading, directory: Path) -> None:
    calls = (
        lambda: reading.fleet(NOW),
        lambda: reading.happenings_since(None),
        lambda: reading.summary("calm", 7, "fair", ago(60), NOW, 1.0),
        lambda: reading.waits(),
        lambda: reading.jobs_for_planning(),
        lambda: reading.export(directory),
    )
    for call in calls:
        with pytest.raises(AwayError, match=r"^The database is away: \S"):
            call()


def test_nobody_at_the_port_is_said_at_once(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # Nobody listens there, and nobody else can.
        url = f"postgresql://postgres@127.0.0.1:{closed.getsockname()[1]}/postgres"
        started = time.monotonic()
        with Reading.connect(url) as reading:
            assert_all_say_that_it_is_away(reading, tmp_path)
        assert time.monotonic() - started < 2


def test_silence_at_the_port_is_not_waited_for(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"postgresql://postgres@127.0.0.1:{silent.getsockname()[1]}/postgres"
        started = time.monotonic()
        with Reading.connect(url) as reading, pytest.raises(AwayError):
            reading.fleet(NOW)
        assert time.monotonic() - started < 5


@contextlib.contextmanager
def own_server() -> Iterator[tuple[postgres.Server, Database]]:
    """To stop and start."""
    with postgres.running() as server:
        cluster = Cluster(server.url(), server.binaries / "psql")
        cluster.make_template()
        with cluster.new_database() as database:
            yield server, database


def test_reading_goes_on_when_the_database_is_back(tmp_path: Path) -> None:
    with own_server() as (server, database), Reading.connect(database.url) as reading:
        rows = SiteRows(database)
        rows.failed_worker(pod_name="rise-a")
        told, marker = reading.happenings_since(None)
        assert len(told) == 1
        with server.stopped():
            assert_all_say_that_it_is_away(reading, tmp_path)
        rows.failed_worker("pod_failed", pod_name="rise-b", k8s_node=None)
        told, _ = reading.happenings_since(marker)
        assert [each.text for each in told] == ["worker failed (pod_failed): rise-b"]
        assert reading.fleet(NOW).runs == 0


def test_database_that_stands_still_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_link, "SILENCE_SECONDS", 0.5)
    with own_server() as (_, database), Reading.connect(database.url) as reading:
        assert reading.fleet(NOW).runs == 0
        backend = "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname ="
        [found] = database.rows(f"{backend} current_database()")
        os.kill(found["pid"], signal.SIGSTOP)
        try:
            started = time.monotonic()
            with pytest.raises(AwayError):
                reading.fleet(NOW)
            assert time.monotonic() - started < 3
            assert reading.fleet(NOW).runs == 0, "another session works"
        finally:
            os.kill(found["pid"], signal.SIGCONT)


def test_statement_that_takes_too_long_is_given_up(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_link, "STATEMENT_SECONDS", 1)
    with Reading.connect(database.url) as reading:
        with database.connect() as other, other.transaction():
            other.execute("LOCK TABLE jobs")
            with pytest.raises(AwayError, match="statement timeout"):
                reading.fleet(NOW)
        assert reading.fleet(NOW).runs == 0
