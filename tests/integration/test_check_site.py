"""`reconcile check` of the place that the site is published to."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.database import Database
from tests.integration.checked import Checked, checked, failed
from tests.published_site import Bucket


@pytest.fixture
def place(
    database: Database, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Checked]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with checked(database, bucket, tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"SITE_URL": "s3://other-bucket/x"}, "bucket other-bucket cannot be found"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "cannot be found: "),
    ],
)
def test_bucket_that_is_not_there(place: Checked, changes: dict[str, str], sentence: str) -> None:
    checks = place.run(**changes)
    assert failed(checks) == {"site"}
    assert sentence in checks["site"].detail
    assert "SITE_URL" in checks["site"].detail


class Guarded(BaseHTTPRequestHandler):
    """A bucket that refuses one thing; moto allows everything."""

    refused = ""

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = "LIST" if "list-type" in self.path else self.command
        body = b"<ListBucketResult/>" if asked == "LIST" else b""
        self.send_response(403 if asked == self.refused else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_HEAD = do_GET = do_PUT = do_DELETE = answer  # noqa: N815 http.server's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as it is named there
        pass


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("HEAD", "cannot be found: "),
        ("LIST", "cannot be listed: "),
        ("PUT", "cannot be written to: "),
        ("GET", "cannot be read from: "),
        ("DELETE", "cannot be deleted from: "),
    ],
)
def test_bucket_that_does_not_let_us(place: Checked, method: str, sentence: str) -> None:
    handler = type("Refusing", (Guarded,), {"refused": method})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        checks = place.run(AWS_ENDPOINT_URL=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        thread.join()
    assert failed(checks) == {"site"}
    assert sentence in checks["site"].detail
    assert "policy" in checks["site"].detail


def test_site_in_a_directory(place: Checked, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "file").touch()
    for name, ok in (("there", True), ("not/yet", True), ("file", False), ("file/below", False)):
        checks = place.run(SITE_URL=f"file://{tmp_path}/{name}")
        assert checks["site"].ok is ok, checks["site"]
        assert failed(checks) <= {"site"}
    assert list((tmp_path / "there").iterdir()) == []
    assert not (tmp_path / "not").exists()
