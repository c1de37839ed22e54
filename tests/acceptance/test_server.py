"""`python -m webhook_fn`: the function as a process of its own, over HTTP."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
import requests

from tests import github
from tests.database import Database
from tests.function import environment
from tests.server import server
from webhook_fn.http import BODY_LIMIT


@pytest.fixture
def url(database: Database) -> Iterator[str]:
    with server(environment(database.role_url("prod_webhook_fn"))) as url:
        yield url


def test_delivery_over_http_becomes_a_row(url: str, database: Database) -> None:
    body = github.encode(github.WorkflowJob().payload("queued"))
    headers = github.headers("workflow_job", body)
    answer = requests.post(f"{url}/", data=body, headers=headers, timeout=10)

    assert (answer.status_code, answer.json()["outcome"]) == (200, "job_stored")
    assert answer.headers["content-type"] == "application/json"
    assert len(database.rows("SELECT * FROM jobs")) == 1


def test_health_and_refusals_over_http(url: str, database: Database) -> None:
    assert requests.get(f"{url}/health", timeout=10).json() == {"status": "ok"}
    assert requests.get(f"{url}/", timeout=10).status_code == 405
    assert requests.get(f"{url}/none", timeout=10).status_code == 404
    assert requests.post(f"{url}/", data=b"{}", timeout=10).status_code == 401
    assert database.rows("SELECT * FROM installation_events") == []


def test_trace_over_http(database: Database) -> None:
    token = "a-token-of-24-characters"
    settings = environment(database.role_url("prod_webhook_fn")) | {"TRACE_API_SECRET": token}
    with server(settings) as url:
        body = github.encode(github.installation("created"))
        headers = github.headers("installation", body)
        assert requests.post(url, data=body, headers=headers, timeout=10).ok

        bearer = {"Authorization": f"Bearer {token}"}
        path = f"{url}/trace/entity/rise%70roject?limit=1&at="
        answer = requests.get(f"{path}2026-03-02T10:00:00%2B01:00", headers=bearer, timeout=10)
        assert answer.status_code == 404
        answer = requests.get(path.removesuffix("&at="), headers=bearer, timeout=10)
        assert answer.json()["account"]["name"] == "riseproject"
        assert answer.headers["cache-control"] == "no-store"
        head = requests.head(path.removesuffix("&at="), headers=bearer, timeout=10)
        assert (head.status_code, head.content) == (200, b"")
        assert int(head.headers["content-length"]) > 100
        refused = requests.get(path, timeout=10)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        for odd in ("/trace/entity/%ff", "/trace/entity/é", "/trace/entity/a%2Fb", "/trace/job/²"):
            assert requests.get(url + odd, headers=bearer, timeout=10).status_code == 404


def test_setup_page_over_http(url: str) -> None:
    address = f"{url}/setup/org?installation_id=7001&setup_action=install"
    answer = requests.get(address, timeout=10)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["refresh"].endswith("looks=1")
    assert answer.text.startswith("<!DOCTYPE html>")
    head = requests.head(address, timeout=10)
    assert head.headers["content-length"] == str(len(answer.content))
    assert head.content == b""


def test_body_over_the_limit_is_413_over_http(url: str) -> None:
    answer = requests.post(f"{url}/", data=b" " * (BODY_LIMIT + 2), timeout=30)
    assert answer.status_code == 413


def test_path_comes_before_size_over_http(url: str) -> None:
    answer = requests.post(f"{url}/nothing", data=b" " * BODY_LIMIT, timeout=30)
    assert answer.status_code == 404


def test_log_appears_at_once_and_sigterm_is_a_clean_end(database: Database) -> None:
    settings = environment(database.role_url("prod_webhook_fn"))
    buffered = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        [sys.executable, "-m", "webhook_fn", "--port", "0"],
        env={**buffered, **settings},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().removeprefix("Listening on ").strip()
        requests.get(f"{url}health", timeout=10)
        assert json.loads(process.stdout.readline())["path"] == "/health"
    finally:
        process.terminate()
        process.communicate(timeout=10)
    assert process.returncode == 0


def test_chunked_body_is_read_whole(url: str) -> None:
    body = github.encode(github.ping())
    pieces = (body[i : i + 7] for i in range(0, len(body), 7))
    answer = requests.post(f"{url}/", data=pieces, headers=github.headers("ping", body), timeout=10)
    assert answer.json()["outcome"] == "pong"


def run(settings: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k not in environment("")}
    return subprocess.run(
        [sys.executable, "-m", "webhook_fn", *arguments],
        env={**kept, **settings},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_missing_settings_are_one_message_and_exit_2() -> None:
    done = run({})
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    for name in environment(""):
        assert name in done.stderr


def test_port_in_use_is_said_and_exit_2(url: str, database: Database) -> None:
    port = url.rpartition(":")[2]
    done = run(environment(database.url), "--port", port)
    assert done.returncode == 2
    assert f"Cannot listen on 127.0.0.1:{port}" in done.stderr
