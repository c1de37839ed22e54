"""The simulated GitHub and places to publish a site to, for the tests that are about them."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.database import Database
from tests.published_site import BUCKET, Bucket, Directory, Place, Site
from tests.simulated import Client, Simulated
from tests.site_rows import SiteRows

_NUMBERS = itertools.count(1)


@pytest.fixture
def world() -> Iterator[Simulated]:
    with Simulated().started() as world:
        yield world


@pytest.fixture
def client(world: Simulated) -> Client:
    return world.as_installation()


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    from moto.server import ThreadedMotoServer  # Slow, and most tests have no use for it.

    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    made = Bucket(s3_endpoint, f"{BUCKET}-{next(_NUMBERS)}")
    made.client.create_bucket(Bucket=made.name)
    return made


@pytest.fixture
def directory(tmp_path: Path) -> Directory:
    return Directory(tmp_path / "site")


@pytest.fixture(params=["file", "s3"])
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.getfixturevalue({"file": "directory", "s3": "bucket"}[request.param])
    return found


@pytest.fixture
def rows(database: Database) -> SiteRows:
    return SiteRows(database)


@pytest.fixture
def site(rows: SiteRows, place: Place) -> Site:
    return Site(rows, place)


@pytest.fixture
def file_site(rows: SiteRows, directory: Directory) -> Site:
    """Where it does not matter to which place."""
    return Site(rows, directory)


@pytest.fixture
def s3_site(rows: SiteRows, bucket: Bucket) -> Site:
    return Site(rows, bucket)
