"""One PostgreSQL for the whole test run, and a database of its own for every test.

The server is started by the process that collects the tests and shared with the parallel ones;
`TEST_POSTGRES_URL` names another server instead (a superuser's URL; databases come and go there).
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from reconcile.sim import postgres
from tests.database import Cluster, Database
from tests.function import Function

# How long an example takes says more of the machine than of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

_CLUSTER = pytest.StashKey[Cluster]()
_RUNNING = pytest.StashKey[contextlib.ExitStack]()


def pytest_configure(config: pytest.Config) -> None:
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        config.stash[_CLUSTER] = Cluster(worker["cluster_url"], Path(worker["cluster_psql"]))
    elif not config.option.collectonly:
        stack = config.stash[_RUNNING] = contextlib.ExitStack()
        config.stash[_CLUSTER] = stack.enter_context(_prepared_cluster())


def pytest_unconfigure(config: pytest.Config) -> None:
    if _RUNNING in config.stash:
        config.stash[_RUNNING].close()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    cluster = node.config.stash[_CLUSTER]
    node.workerinput["cluster_url"] = cluster.url
    node.workerinput["cluster_psql"] = str(cluster.psql)


@contextlib.contextmanager
def _prepared_cluster() -> Iterator[Cluster]:
    with contextlib.ExitStack() as stack:
        if url := os.environ.get("TEST_POSTGRES_URL"):
            psql = shutil.which("psql") or postgres.find_binaries() / "psql"
            cluster = Cluster(url, Path(psql))
        else:
            server = stack.enter_context(postgres.running())
            cluster = Cluster(server.url(), server.binaries / "psql")
        cluster.make_template()
        yield cluster


@pytest.fixture(scope="session")
def cluster(pytestconfig: pytest.Config) -> Cluster:
    return pytestconfig.stash[_CLUSTER]


@pytest.fixture
def database(cluster: Cluster) -> Iterator[Database]:
    """A fresh database with schemas prod and staging."""
    with cluster.new_database() as database:
        yield database


@pytest.fixture
def empty_database(cluster: Cluster) -> Iterator[Database]:
    """A fresh database with nothing in it."""
    with cluster.new_database(template="template0") as database:
        yield database


@pytest.fixture
def function(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Function]:
    """The function as Lambda runs it, on its own database, with its own role."""
    with Function(database, monkeypatch).started() as function:
        yield function
