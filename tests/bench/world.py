"""A database to measure on."""

import contextlib
from collections.abc import Iterator

from reconcile.sim import postgres
from tests.database import Cluster, Database


@contextlib.contextmanager
def fresh_database() -> Iterator[Database]:
    with fresh_cluster() as cluster, cluster.new_database() as database:
        yield database


@contextlib.contextmanager
def fresh_cluster(*, in_memory: bool = True) -> Iterator[Cluster]:
    """In memory where there is room: not for gigabytes."""
    with postgres.running(in_memory=in_memory) as server:
        cluster = Cluster(server.url(), server.binaries / "psql")
        cluster.make_template()
        yield cluster
