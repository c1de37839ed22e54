"""Places to publish to: one contract for a directory and for a bucket, and how the first fails."""

import contextlib
import itertools
import os
import resource
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from static_site.errors import PublishError
from static_site.targets import WORKSHOP, FileTarget, Object, Target
from tests.published_site import Bucket, Directory, Place


@pytest.fixture(params=["file", "s3", "s3 without prefix"])
def anywhere(request: pytest.FixtureRequest) -> Place:
    if request.param == "file":
        directory: Place = request.getfixturevalue("directory")
        return directory
    bucket: Bucket = request.getfixturevalue("bucket")
    return bucket if request.param == "s3" else Bucket(bucket.endpoint, bucket.name, prefix="")


@pytest.fixture
def target(anywhere: Place) -> Target:
    return anywhere.target()


def item(path: str, body: bytes = b"{}") -> Object:
    return Object(path, body, "public, max-age=5")


NAMES = [
    "index.html",
    "jobs.2.json",
    "days/2026-11-18/jobs.json",
    "days/2026-11-18/jobs.2.html",
    "workers/rise-riscv-runner-00f3.a-b.html",
    "assets/site.0123456789ab.css",
    "a/b/c/d.txt",
]


# The contract ----------------------------------------------------------------------------------


def test_what_was_put_is_there(target: Target) -> None:
    for number, name in enumerate(NAMES):
        target.put(item(name, f"body {number}".encode()))
    for number, name in enumerate(NAMES):
        assert target.get(name) == f"body {number}".encode()
    assert target.names("") == set(NAMES)


@pytest.mark.parametrize(
    "body", [b"", b"\x1f\x8bno gzip", b"\x00\xff" * 1000, "ünï\r\n".encode(), b"x" * 3_000_000]
)
def test_any_body_comes_back_as_it_is(target: Target, body: bytes) -> None:
    target.put(item("page.html", body))
    assert target.get("page.html") == body


def test_what_is_not_there_is_none(target: Target) -> None:
    target.put(item("days/2026-11-18/jobs.json"))
    assert target.get("missing.html") is None
    assert target.get("days/missing.html") is None
    assert target.get("days/2026-11-18/jobs.json/deeper") is None
    assert target.listing("nowhere/") == {}
    assert target.names("nowhere/") == set()


def test_empty_place_has_nothing(target: Target) -> None:
    assert target.listing() == {}
    assert target.names("") == set()
    assert target.tokens(["index.html"]) == {}


def test_listing_has_what_is_right_in_the_folder_with_its_tokens(target: Target) -> None:
    tokens = {name: target.put(item(name)) for name in NAMES}
    for folder in ("", "days/2026-11-18/", "workers/", "assets/", "a/b/c/"):
        inside = {n for n in NAMES if n.startswith(folder) and "/" not in n[len(folder) :]}
        assert inside
        assert target.listing(folder) == {name: tokens[name] for name in inside}
    assert target.listing("days/") == {}


def test_names_are_by_their_beginning_and_at_any_depth(target: Target) -> None:
    for name in (*NAMES, "days/2026-12-01/jobs.json", "days.json"):
        target.put(item(name))
    november = {"days/2026-11-18/jobs.json", "days/2026-11-18/jobs.2.html"}
    assert target.names("days/2026-11") == november
    assert target.names("days/") == november | {"days/2026-12-01/jobs.json"}
    assert target.names("days") == target.names("days/") | {"days.json"}
    assert target.names("days/2026-11-18/jobs.2") == {"days/2026-11-18/jobs.2.html"}


def test_tokens_are_of_those_that_are_there(target: Target) -> None:
    tokens = {name: target.put(item(name)) for name in NAMES}
    asked = [*NAMES, "jobs.json", "workers", "days/2026-11-18", "workers/other.html"]
    assert target.tokens(asked) == tokens
    assert target.tokens([]) == {}


def test_deleted_is_gone_and_deleting_nothing_is_no_error(target: Target) -> None:
    target.put(item("a/jobs.json"))
    target.put(item("a/jobs.html"))
    for path in ("a/jobs.json", "a/jobs.json", "b/missing.json", "a/jobs.html/deeper"):
        target.delete(path)
    assert target.listing("a/").keys() == {"a/jobs.html"}


def test_token_is_another_once_anybody_changed_the_object(anywhere: Place, target: Target) -> None:
    first = target.put(item("index.html", b"one"))
    assert target.listing()["index.html"] == first
    second = target.put(item("index.html", b"two"))
    assert second != first
    anywhere.write("index.html", b"somebody else's")
    third = target.listing()["index.html"]
    assert third not in (first, second)
    anywhere.delete("index.html")
    assert target.listing() == {}


def test_state_is_known_to_be_an_object_only_if_it_is(anywhere: Place, target: Target) -> None:
    page = item("index.html", b"one")
    token = target.put(page)
    assert target.holds(page, token)
    assert not target.holds(item("index.html", b"two"), token)
    anywhere.write("index.html", b"other")
    assert not target.holds(page, target.listing()["index.html"])


def test_more_than_a_thousand_are_listed_to_the_last(place: Place) -> None:
    target = place.target()
    names = {f"workers/rise-{number:04}.json" for number in range(1_011)}
    with ThreadPoolExecutor(8) as pool:
        tokens = dict(zip(names, pool.map(lambda name: target.put(item(name)), names), strict=True))
    assert target.listing("workers/") == tokens
    assert target.names("workers/rise-") == names


def test_put_and_got_by_several_at_once(target: Target) -> None:
    def work(number: int) -> bool:
        name, body = f"days/{number % 7}/jobs.{number}.json", str(number).encode() * 1000
        token = target.put(item(name, body))
        return target.get(name) == body and target.holds(item(name, body), token)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(60)))
    assert len(target.names("days/")) == 60


def test_same_object_put_by_several_at_once_is_one_of_theirs(target: Target) -> None:
    bodies = [bytes([65 + number]) * 200_000 for number in range(8)]
    for _ in range(5):
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda body: target.put(item("index.html", body)), bodies))
        assert target.get("index.html") in bodies


# A directory -----------------------------------------------------------------------------------


def test_reader_of_a_directory_never_sees_half_a_file(directory: Directory) -> None:
    target = directory.target()
    bodies = [bytes([65 + number]) * (500_000 + number) for number in range(3)]
    target.put(item("days/index.html", bodies[0]))
    over = threading.Event()

    def put() -> None:
        for body in itertools.islice(itertools.cycle(bodies), 150):
            target.put(item("days/index.html", body))
        over.set()

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(put)
        looks = 0
        while not over.is_set():
            assert directory.read("days/index.html") in bodies
            looks += 1
        done.result()
    assert looks > 10


def test_files_are_made_where_nobody_lists_or_serves_them(directory: Directory) -> None:
    target = directory.target()
    left = directory.path / WORKSHOP / "half.html"
    left.write_bytes(b"half")
    assert target.listing() == {}
    assert target.names("") == set()
    assert WORKSHOP.startswith("."), "the server serves nothing that begins with a dot"


def test_what_a_crash_left_behind_is_cleaned_up(directory: Directory) -> None:
    directory.target().put(item("index.html"))
    left = directory.path / WORKSHOP / "half.html"
    left.write_bytes(b"half")
    long_ago = time.time() - 86_400
    os.utime(left, (long_ago, long_ago))
    directory.target()
    assert not left.exists()
    assert directory.paths() == {"index.html"}


def test_another_publisher_that_begins_meanwhile_disturbs_nobody(directory: Directory) -> None:
    """It learns only then that there is one at work, and the command tries again and again."""
    at_work = directory.target()
    over = threading.Event()

    def begin() -> None:
        while not over.is_set():
            directory.target()

    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(begin)
        try:
            for number in range(400):
                at_work.put(item(f"workers/{number}.html", b"x" * 50_000))
        finally:
            over.set()
        begun.result()
    assert len(at_work.listing("workers/")) == 400


def test_put_that_fails_leaves_nothing_behind(directory: Directory) -> None:
    target = directory.target()
    (directory.path / "workers").write_bytes(b"a file in the way")
    with pytest.raises(PublishError):
        target.put(item("workers/rise-1.html"))
    assert directory.paths() == {"workers"}


def test_file_in_the_way_is_told_with_its_path(directory: Directory, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(PublishError, match=str(tmp_path / "file")):
        FileTarget(tmp_path / "file" / "site")
    with pytest.raises(PublishError, match=str(tmp_path / "file")):
        FileTarget(tmp_path / "file")
    target = directory.target()
    (directory.path / "index.html").mkdir(parents=True)
    for fails in (
        lambda: target.put(item("index.html")),
        lambda: target.get("index.html"),
        lambda: target.delete("index.html"),
    ):
        with pytest.raises(PublishError, match=str(directory.path / "index.html")):
            fails()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_directory_that_may_not_be_written_is_told_with_its_path(directory: Directory) -> None:
    target = directory.target()
    target.put(item("index.html"))
    workshop = directory.path / WORKSHOP
    for path in (workshop, directory.path):
        path.chmod(0o555)
    try:
        with pytest.raises(PublishError, match=rf"{directory.path}.*: Permission denied"):
            target.put(item("index.html", b"new"))
    finally:
        for path in (workshop, directory.path):
            path.chmod(0o755)


def test_directory_that_cannot_be_made_is_told_with_its_path() -> None:
    with pytest.raises(PublishError, match=r"/proc/site: "):
        FileTarget(Path("/proc/site"))


@contextlib.contextmanager
def files_no_longer_than(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_write_that_fails_halfway_leaves_the_old_file_whole(directory: Directory) -> None:
    target = directory.target()
    target.put(item("index.html", b"old"))
    with (
        files_no_longer_than(100_000),
        pytest.raises(PublishError, match=str(directory.path / "index.html")),
    ):
        target.put(item("index.html", b"x" * 1_000_000))
    assert target.get("index.html") == b"old"
    assert directory.paths() == {"index.html"}
