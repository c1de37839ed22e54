"""`python -m static_site`: the site from a directory, as a process of its own, over HTTP."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest

from static_site import headers
from static_site.routing import NOWHERE, pages
from static_site.server import application
from tests.site_server import COMMAND, Site, serving
from tests.unit.test_site_routing import BASE, TABLE, shown

# The same command with another clock: what day it is, is in a file.
ON_A_DAY = """
import sys, datetime, pathlib
from static_site.__main__ import main
today = pathlib.Path(sys.argv[1])
sys.exit(main(sys.argv[2:], lambda: datetime.date.fromisoformat(today.read_text())))
"""
HOST = BASE.removeprefix("https://")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "site").mkdir()
    with serving(tmp_path / "site") as site:
        yield site


# The table ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    directory = tmp_path_factory.mktemp("site")
    today = tmp_path_factory.mktemp("clock") / "today"
    with serving(directory, sys.executable, "-c", ON_A_DAY, str(today)) as site:
        yield site, today


# A request has a path.
CASES = [case for case in TABLE["cases"] if case["path"]]


@pytest.mark.parametrize("case", CASES, ids=shown)
def test_server_answers_as_the_table_says(dated: tuple[Site, Path], case: dict[str, Any]) -> None:
    site, today = dated
    shutil.rmtree(site.directory)
    site.directory.mkdir()
    today.write_text(case.get("today", TABLE["today"]))
    file = case.get("file", NOWHERE)
    for each in {file, *islice(pages(file), case.get("pages", 0))} - {NOWHERE}:
        site.write(each, f"This is {each}")
    answer = site.ask(f"{case['path']}?{case['query']}", host=HOST)
    if "error" in case:
        assert (answer.status, answer.headers["content-type"]) == (400, "application/json")
        assert json.loads(answer.body) == {"error": TABLE["errors"][case["error"]]}
    elif file == NOWHERE:
        assert answer.status == 404
    else:
        assert (answer.status, answer.body.decode()) == (200, f"This is {file}")
        if "pages" in case:
            link = case["link"] and case["link"].replace("https:", "http:")
            assert answer.headers.get("link") == link


def test_days_are_counted_from_today_in_utc(site: Site) -> None:
    now = datetime.now(UTC).date()
    around = [now - timedelta(days=1), now, now + timedelta(days=1)]
    for day in around:
        site.write(f"/days/{day}/jobs.json", str(day))
    answer = site.ask("/jobs.json?start=-0d")
    assert answer.body.decode() in {str(day) for day in around[1:]}, "it may be midnight"


# Headers -----------------------------------------------------------------------------------------


def test_every_answer_has_the_security_headers(site: Site) -> None:
    site.write("jobs.html")
    for path, method, status in (
        ("/jobs", "GET", 200),
        ("/none", "GET", 404),
        ("/jobs.json?end=x", "GET", 400),
        ("/jobs", "POST", 405),
    ):
        answer = site.ask(path, method)
        assert answer.status == status
        for name, value in headers.SECURITY.items():
            assert answer.headers[name.lower()] == value


@pytest.mark.parametrize("extension", headers.CONTENT_TYPES)
def test_content_type_is_that_of_the_extension(site: Site, extension: str) -> None:
    site.write(f"assets/it.0a1b2c3d.{extension}", "x")
    answer = site.ask(f"/assets/it.0a1b2c3d.{extension}")
    assert answer.headers["content-type"] == headers.CONTENT_TYPES[extension]
    assert answer.headers["cache-control"] == headers.ASSET


def test_what_may_change_is_asked_for_each_time(site: Site) -> None:
    site.write("jobs.html")
    site.write("days/2026-11-17/jobs.html")
    assert site.ask("/jobs").headers["cache-control"] == "no-cache"
    assert site.ask("/days/2026-11-17/jobs").headers["cache-control"] == "no-cache"


def test_client_that_has_the_file_is_not_sent_it_again(site: Site) -> None:
    site.write("jobs.json", "[1]")
    site.write("jobs.2.json", "[2]")
    first = site.ask("/jobs.json")
    tag = first.headers["etag"]
    for known in (tag, f'"other", {tag}', tag.removeprefix("W/"), "*"):
        again = site.ask("/jobs.json", if_none_match=known)
        assert (again.status, again.body) == (304, b"")
        assert again.headers["etag"] == tag
        assert again.headers["link"] == first.headers["link"]
        assert "content-length" not in again.headers
    assert site.ask("/jobs.json", if_none_match='"other"').status == 200
    site.write("jobs.json", "[3]")
    assert site.ask("/jobs.json", if_none_match=tag).body == b"[3]"
    assert site.ask("/none", if_none_match="*").status == 404


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5", True),
        ("*", True),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("br", False),
        ("", False),
    ],
)
def test_large_file_is_compressed_for_who_accepts_it(
    site: Site, accepted: str, compressed: bool
) -> None:
    content = b"all the same " * 1000
    site.write("jobs.html", content)
    answer = site.ask("/jobs", accept_encoding=accepted)
    assert answer.headers.get("content-encoding") == ("gzip" if compressed else None)
    assert answer.headers["vary"] == "Accept-Encoding"
    assert (gzip.decompress(answer.body) if compressed else answer.body) == content
    assert int(answer.headers["content-length"]) == len(answer.body)
    head = site.ask("/jobs", "HEAD", accept_encoding=accepted)
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == answer.headers["content-length"]


def test_compressing_what_does_not_get_smaller_is_not_worth_it(site: Site) -> None:
    for name, content in (("small.html", b"x" * 999), ("noise.ico", os.urandom(5000))):
        site.write(name, content)
        answer = site.ask(f"/{name}", accept_encoding="gzip")
        assert "content-encoding" not in answer.headers
        assert answer.body == content


def test_only_asking_is_allowed(site: Site) -> None:
    site.write("jobs.html")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        answer = site.ask("/jobs", method)
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_link_is_to_this_server_if_the_host_is_no_host(site: Site) -> None:
    site.write("jobs.json")
    site.write("jobs.2.json")
    for host in ('x"><script>', "a b", "x/y", "user@host", ""):
        sent = f"GET /jobs.json HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        answer = site.raw(sent.encode())
        assert b" 200 OK" in answer
        assert f":{site.port}/jobs.json?page=2>".encode() in answer


# Files that are missing, odd, or replaced --------------------------------------------------------


def test_missing_page_is_the_sites_own_404(site: Site) -> None:
    plain = site.ask("/none")
    assert (plain.status, plain.body) == (404, b"There is no such page.\n")
    assert plain.headers["content-type"] == "text/plain; charset=utf-8"
    site.write("404.html", "<h1>Not here</h1>")
    own = site.ask("/none.json")
    assert (own.status, own.body) == (404, b"<h1>Not here</h1>")
    assert own.headers["content-type"] == "text/html; charset=utf-8"
    assert "etag" not in own.headers


def test_directory_pipe_or_broken_link_is_a_404(site: Site) -> None:
    (site.directory / "jobs.html").mkdir()
    os.mkfifo(site.directory / "pipe.html")
    (site.directory / "broken.html").symlink_to("nothing.html")
    (site.directory / "loop.html").symlink_to("loop.html")
    site.write("file.html")
    for path in ("/jobs", "/pipe", "/broken", "/loop", "/file.html/x", "/" + "x" * 260):
        assert site.ask(path).status == 404, path


def test_link_within_the_site_is_followed_and_one_out_of_it_is_not(site: Site) -> None:
    outside = site.directory.parent / "outside"
    outside.mkdir()
    (outside / "secret.html").write_text("secret")
    # A neighbour whose name begins with the directory's.
    (site.directory.parent / "site-other.html").write_text("secret")
    site.write("jobs.html", "jobs")
    (site.directory / "within.html").symlink_to("jobs.html")
    (site.directory / "out.html").symlink_to(outside / "secret.html")
    (site.directory / "away").symlink_to(outside)
    (site.directory / "next.html").symlink_to(site.directory.parent / "site-other.html")
    assert site.ask("/within").body == b"jobs"
    for path in ("/out", "/away/secret", "/next"):
        assert site.ask(path).status == 404, path


def test_unreadable_file_is_said_to_be(tmp_path: Path) -> None:
    """In this process, which can make itself somebody who may not read it."""
    (tmp_path / "jobs.html").write_text("secret")
    (tmp_path / "jobs.html").chmod(0)
    said = []
    environ: dict[str, Any] = {"PATH_INFO": "/jobs"}
    setup_testing_defaults(environ)
    serve = application(tmp_path, lambda: date(2026, 11, 18))
    was = os.geteuid()
    os.seteuid(65534 if was == 0 else was)
    try:
        body = b"".join(serve(environ, lambda status, *_: said.append(status)))  # type: ignore[arg-type]
    finally:
        os.seteuid(was)
    assert said == ["403 Forbidden"]
    assert json.loads(body) == {"error": "The server cannot read this file."}


def test_file_that_is_replaced_meanwhile_is_one_or_the_other_whole(site: Site) -> None:
    versions = [bytes([letter]) * 300_000 for letter in b"ab"]
    site.write("jobs.html", versions[0])
    done = threading.Event()

    def replace() -> None:
        while not done.is_set():
            for version in versions:
                site.write("next.html", version).replace(site.directory / "jobs.html")

    publisher = threading.Thread(target=replace)
    publisher.start()
    try:
        bodies = [site.ask("/jobs").body for _ in range(200)]
    finally:
        done.set()
        publisher.join()
    assert set(bodies) <= set(versions)


def test_directory_may_be_replaced_as_a_whole(site: Site) -> None:
    site.write("jobs.html", "old")
    assert site.ask("/jobs").body == b"old"
    shutil.rmtree(site.directory)
    assert site.ask("/jobs").status == 404
    site.write("jobs.html", "new")
    assert site.ask("/jobs").body == b"new"


# Paths that lead elsewhere, as bytes: clients would tidy them up ---------------------------------


@pytest.mark.parametrize(
    "path",
    [
        b"/../secret.html",
        b"/../../../../../../../../etc/passwd",
        b"/assets/../../secret.html",
        b"/assets/..%2f..%2fsecret.html",
        b"/%2e%2e/secret.html",
        b"/%2e%2e%2fsecret.html",
        b"/..%5csecret.html",
        b"/..\\secret.html",
        b"/..%c0%afsecret.html",
        b"/%252e%252e/secret.html",
        b"/.../secret.html",
        b"/./secret.html",
        b"//../secret.html",
        b"/.secret.html",
        b"/%2esecret.html",
        b"/.git/config",
        b"/secret.html%00.html",
        b"/..%00/secret.html",
        b"/jobs%00",
        b"/jobs%0d%0aX-Injected:%20yes",
        b"/jobs\xff\xfe",
        b"/C:/secret.html",
        b"/~root",
        b"/%",
    ],
)
def test_no_path_leads_out_of_the_directory(site: Site, path: bytes) -> None:
    (site.directory.parent / "secret.html").write_text("secret")
    site.write(".secret.html", "secret")
    site.write(".git/config", "secret")
    site.write("assets/site.0a1b2c3d.css")
    site.write("jobs.html", "jobs")
    answer = site.raw(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 400 ")), answer
    assert b"secret" not in answer
    assert b"x-injected: yes" not in answer.lower()


def test_whole_url_is_its_path(site: Site) -> None:
    (site.directory.parent / "secret.html").write_text("secret")
    site.write("jobs.html", "jobs")
    rest = b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert b"\r\n\r\njobs" in site.raw(b"GET http://x/jobs" + rest)
    assert b" 404 " in site.raw(b"GET http://x/../secret.html" + rest)
    assert b"secret" not in site.raw(b"GET ../secret.html" + rest)


# The command -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
def test_signal_is_a_clean_end(site: Site, ending: signal.Signals) -> None:
    assert site.ask("/none").status == 404
    site.process.send_signal(ending)
    assert site.process.wait(timeout=10) == 0


def refused(*arguments: str) -> str:
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def test_what_cannot_be_served_is_one_line_and_exit_2(site: Site, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    (tmp_path / "file").touch()
    assert refused(str(missing)) == f"There is no directory {missing}\n"
    assert refused(str(tmp_path / "file")) == f"There is no directory {tmp_path / 'file'}\n"
    taken = refused(str(tmp_path), "--port", str(site.port))
    assert taken.startswith(f"Cannot listen on 127.0.0.1:{site.port}: ")
    for arguments in (
        ("--port", "70000"),
        ("--host", "192.0.2.1"),
        ("--host", "\u00ad"),
        ("--host", "a:b"),
    ):
        said = refused(str(tmp_path), *arguments)
        assert said.startswith("Cannot listen on ")
        assert said.count("\n") == 1
