"""One request is the same to the function, whether Lambda or a WSGI server hands it over."""

import io
from urllib.parse import unquote_to_bytes

import pytest

from tests import github
from webhook_fn.app import read_event
from webhook_fn.http import Request
from webhook_fn.wsgi import read_environ


def from_lambda(path: str, query: str) -> Request:
    """Lambda leaves path and query as they came."""
    return read_event(github.lambda_event(b"", {}, method="GET", path=path, query=query))


def from_server(path: str, query: str) -> Request:
    """A server decodes the path, and writes its bytes as if they were Latin-1."""
    return read_environ(
        {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            "wsgi.input": io.BytesIO(),
        }
    )


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("/trace/job/1", "/trace/job/1"),
        ("/trace/job/%31", "/trace/job/1"),
        ("/trace/entity/a%2Fb", "/trace/entity/a/b"),
        ("/trace/entity/%C3%A9", "/trace/entity/é"),
        ("/trace/entity/%ff", "/trace/entity/\N{REPLACEMENT CHARACTER}"),
        ("/trace/entity/%2541", "/trace/entity/%41"),
        ("/trace/entity/100%", "/trace/entity/100%"),
        ("/trace/job/1%00", "/trace/job/1\x00"),
        ("/trace/job/a+b", "/trace/job/a+b"),
    ],
)
def test_path_is_decoded_once(path: str, read: str) -> None:
    assert from_lambda(path, "").path == from_server(path, "").path == read


@pytest.mark.parametrize("query", ["", "at=2026-03-02T10:00:00%2B01:00", "a=%ff&b=+", "%"])
def test_query_is_left_as_it_came(query: str) -> None:
    assert from_lambda("/", query).query == from_server("/", query).query == query
