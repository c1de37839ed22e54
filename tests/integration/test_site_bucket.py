"""How a bucket fails to be published to: soon, and in words."""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from static_site import s3
from static_site.errors import PublishError
from static_site.s3 import S3Target
from static_site.targets import Object, Target
from tests.published_site import Bucket

QUICKLY = 10.0  # seconds; a run has sixty for all of its publishing


def item(path: str, body: bytes = b"{}") -> Object:
    return Object(path, body, "public, max-age=5")


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    s3._session.cache_clear()
    yield
    s3._session.cache_clear()


@contextlib.contextmanager
def answering(status: int, body: str) -> Iterator[str]:
    """A server that says the same whatever it is asked."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode() if self.command != "HEAD" else b"")

        do_GET = do_PUT = do_HEAD = do_DELETE = answer  # noqa: N815 the library's names

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def everything(target: Target) -> dict[str, Callable[[], object]]:
    return {
        "get": lambda: target.get("index.html"),
        "listing": target.listing,
        "names": lambda: target.names("days/"),
        "put": lambda: target.put(item("index.html")),
        "delete": lambda: target.delete("index.html"),
    }


def failures(target: Target) -> dict[str, str]:
    """What each method says that cannot do its work; all of them do so soon."""
    told = {}
    for name, call in everything(target).items():
        began = time.monotonic()
        with pytest.raises(PublishError) as failure:
            call()
        assert time.monotonic() - began < QUICKLY, name
        told[name] = str(failure.value)
    return told


def test_bucket_that_does_not_exist_is_told(bucket: Bucket) -> None:
    for name, text in failures(S3Target("no-such-bucket", "status", bucket.endpoint)).items():
        assert "NoSuchBucket" in text, name
        assert "\n" not in text


def test_bucket_out_of_reach_is_told_soon(bucket: Bucket) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{unused.getsockname()[1]}"
        told = failures(S3Target(bucket.name, "status", endpoint))
    start = f"s3://{bucket.name}/status/index.html: Could not connect to the endpoint URL: "
    assert told["get"].startswith(start)
    with pytest.raises(PublishError):
        S3Target(bucket.name, "status", endpoint).tokens(["index.html"])


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (403, "AccessDenied", "AccessDenied"),
        (500, "InternalError", "InternalError"),
        (503, "SlowDown", "SlowDown"),
    ],
)
def test_bucket_that_refuses_is_told_in_its_own_words(
    bucket: Bucket, status: int, code: str, expected: str
) -> None:
    body = f"<Error><Code>{code}</Code><Message>Not today.</Message></Error>"
    with answering(status, body) as endpoint:
        target = S3Target(bucket.name, "status", endpoint)
        for name, text in failures(target).items():
            assert expected in text, name
            assert "Not today." in text, name
        with pytest.raises(PublishError):
            target.tokens(["index.html"])


def test_answer_that_is_no_s3_is_told(bucket: Bucket) -> None:
    with answering(502, "<html>Bad gateway</html>") as endpoint:
        assert all("502" in text for text in failures(S3Target(bucket.name, "", endpoint)).values())


def test_missing_credentials_are_told(s3_endpoint: str, no_credentials: None) -> None:
    told = failures(S3Target("site", "status", s3_endpoint))
    assert told["get"] == "s3://site/status/index.html: Unable to locate credentials"


def test_credentials_of_a_profile_that_is_not_there_are_told(
    s3_endpoint: str, no_credentials: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(PublishError, match=r"s3://site/status/: .*nobody"):
        S3Target("site", "status", s3_endpoint)


def test_object_that_somebody_damaged_says_nothing(bucket: Bucket) -> None:
    """And is made anew by whoever reads it: an error would be there again at every run."""
    target = bucket.target()
    target.put(item("manifest.json", b"{}" * 1000))
    stored = bucket.client.get_object(Bucket=bucket.name, Key="status/manifest.json")["Body"].read()
    no_deflate, another = stored[:10] + b"\xff" * 20, stored[:-4] + b"\0\0\0\0"
    for body in (b"\x1f\x8b", b"\x1f\x8bnonsense", stored[:-9], no_deflate, another):
        bucket.write("manifest.json", body)
        assert target.get("manifest.json") == b""


def test_object_that_is_not_packed_is_given_as_it_is(bucket: Bucket) -> None:
    """Somebody put it there, or the place unpacks what it hands out."""
    bucket.write("manifest.json", b"{}")
    assert bucket.target().get("manifest.json") == b"{}"


def test_other_sites_in_the_bucket_are_left_alone(bucket: Bucket) -> None:
    other = Bucket(bucket.endpoint, bucket.name, prefix="status-of-another")
    other.target().put(item("index.html", b"other"))
    target = bucket.target()
    assert target.listing() == {}
    assert target.names("") == set()
    target.put(item("index.html"))
    target.delete("index.html")
    assert other.target().get("index.html") == b"other"
