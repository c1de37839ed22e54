"""Files that loads are read from: what they may be, and what is said of those that are not."""

import gzip
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reconcile.demo.planning import files
from reconcile.demo.planning.files import read
from reconcile.demo.planning.load import LoadJob
from reconcile.errors import ConfigError
from tests.site_samples import sites

HEADER = "created_at,entity,pool,labels,seconds"
LINE = "2026-11-18T12:00:05Z,rise,rv1,ubuntu riscv,90"


def row(job_id: int = 1, **fields: Any) -> dict[str, Any]:
    """As the site has them, as far as it is looked at."""
    ran = {"queued_at": "2026-11-18T12:00:05Z", "run_seconds": 90, "status": "completed"}
    place = {"entity": "rise", "labels": ["riscv"], "pool": "rv1", "private": True}
    return {"id": job_id, **place, "repository": None, **ran, **fields}


def page(*rows: Any, **fields: Any) -> str:
    return json.dumps({"list_name": "jobs", "day": None, "page": 1, "rows": rows, **fields})


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    def write(content: str | bytes, name: str = "load") -> Path:
        made = tmp_path / name
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_bytes(content if isinstance(content, bytes) else content.encode())
        return made

    return write


Write = Callable[..., Path]


def refusal(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        read([path])
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message.replace(str(path), "FILE")


# What is read ------------------------------------------------------------------------------------


def test_page_of_jobs_is_read(file: Write) -> None:
    given = row(repository="rise/code", labels=["riscv", "Ubuntu"], private=False)
    loaded = read([file(page(given))])
    assert loaded.jobs == [
        LoadJob(
            entity="rise",
            repository=None,
            labels=("riscv", "ubuntu"),
            pool="rv1",
            created_at=datetime(2026, 11, 18, 12, 0, 5, tzinfo=UTC),
            seconds=90.0,
        )
    ]
    assert (loaded.left_out, loaded.supposed) == ({}, 0)


def test_own_file_is_read(file: Write) -> None:
    text = (
        f"{HEADER},repository\r\n{LINE},\r\n\r\n2026-11-18T13:00:05+01:00,me,rv1,x,0.5,me/toys\r\n"
    )
    first, second = read([file(text)]).jobs
    assert (first.entity, first.repository, first.labels) == ("rise", None, ("riscv", "ubuntu"))
    assert (second.entity, second.repository, second.seconds) == ("me", "me/toys", 0.5)
    assert first.created_at == second.created_at


def test_columns_may_come_in_any_order(file: Write) -> None:
    [job] = read(
        [file("pool,seconds,labels,entity,created_at\np,1,x,e,2026-11-18T12:00:05Z\n")]
    ).jobs
    assert (job.pool, job.seconds, job.entity) == ("p", 1, "e")


def test_jobs_of_all_files_come_in_their_order(file: Write) -> None:
    one = file(f"{HEADER}\n{LINE}\n", "one")
    other = file(page(row(7, queued_at="2026-11-18T11:00:00Z", entity="early")), "other")
    assert [job.entity for job in read([one, other]).jobs] == ["early", "rise"]


def test_what_a_bucket_holds_compressed_is_read(file: Write) -> None:
    assert len(read([file(gzip.compress(page(row()).encode()))]).jobs) == 1


def test_byte_order_mark_of_other_programs_is_passed_over(file: Write) -> None:
    assert len(read([file(b"\xef\xbb\xbf" + f"{HEADER}\n{LINE}\n".encode())]).jobs) == 1


def test_directory_is_looked_through_for_pages_of_jobs(file: Write, tmp_path: Path) -> None:
    file(page(row(1)), "jobs.json")
    file(page(row(2)), "jobs.2.json")
    file(page(row(3), row(1)), "days/2026-11-18/jobs.json")
    file("no page", "jobs.html")
    file('{"days": []}', "days.json")
    file("no page", "workers/jobs.1x.json")
    assert len(read([tmp_path]).jobs) == 3


def test_whole_published_site_is_read_and_no_job_twice(file: Write, tmp_path: Path) -> None:
    for path, content in sites()["busy"].files():
        file(content, path.lstrip("/"))
    ids = {
        job["id"]
        for path in tmp_path.rglob("jobs*.json")
        for job in json.loads(path.read_text())["rows"]
    }
    loaded = read([tmp_path])
    assert len(loaded.jobs) + sum(loaded.left_out.values()) == len(ids)
    assert loaded.supposed > 0
    assert [job.created_at for job in loaded.jobs] == sorted(job.created_at for job in loaded.jobs)


def test_later_of_two_pages_counts_for_a_job_on_both(file: Write) -> None:
    late = file(page(row(1, run_seconds=50)), "late")
    early = file(page(row(1, status="running", run_seconds=None)), "early")
    for order in ([late, early], [early, late]):
        loaded = read(order)
        assert [job.seconds for job in loaded.jobs] == [50]
        assert loaded.supposed == 0


# Jobs without a length ---------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_job_that_ended_before_it_ran_is_left_out(file: Write, status: str) -> None:
    loaded = read([file(page(row(1), row(2, status=status, run_seconds=None)))])
    assert len(loaded.jobs) == 1
    assert loaded.left_out == {"ended before it ran": 1}


@pytest.mark.parametrize("status", ["pending", "running"])
def test_job_that_has_not_ended_is_as_long_as_usual_in_its_account(
    file: Write, status: str
) -> None:
    ended = [row(n, run_seconds=seconds) for n, seconds in enumerate([10, 30, 500])]
    others = [row(9, entity="other", run_seconds=7)]
    open_one = row(10, status=status, run_seconds=None, queued_at="2026-11-18T13:00:00Z")
    loaded = read([file(page(*ended, *others, open_one))])
    assert loaded.jobs[-1].seconds == 30
    assert (loaded.supposed, loaded.left_out) == (1, {})


def test_account_without_history_is_as_long_as_all_others(file: Write) -> None:
    open_one = row(2, entity="new", status="pending", run_seconds=None)
    loaded = read([file(page(row(1, run_seconds=40), open_one))])
    assert [job.seconds for job in loaded.jobs] == [40, 40]


def test_where_nothing_ran_no_length_is_made_up(file: Write) -> None:
    loaded = read([file(page(row(1, status="pending", run_seconds=None)))])
    assert loaded.jobs == []
    assert sum(loaded.left_out.values()) == 1


# What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "FILE is empty."),
        (" \n\t\n", "FILE is empty."),
        ("{", "FILE is not JSON that can be read: Expecting property name"),
        ('{"rows": [1, }', "FILE is not JSON that can be read"),
        ("[" * 100_000, "FILE is not JSON that can be read: it is too deep."),
        ("[]", "FILE is no page of /jobs: it has no list of rows."),
        ('{"rows": {}}', "FILE is no page of /jobs: it has no list of rows."),
        ('{"days": []}', "FILE is no page of /jobs: it has no list of rows."),
        ('{"list_name": "workers", "rows": []}', "FILE is no page of /jobs: its list_name"),
        (page(row()).replace("90", "NaN"), "NaN is no number in JSON"),
        (page(row()).replace("90", "-Infinity"), "-Infinity is no number in JSON"),
        (page(row()).replace("90", "9" * 5000), "FILE is not JSON that can be read"),
        (page(row()).replace("90", "9" * 400), "FILE, row 1: run_seconds is no number of seconds"),
        ("<!doctype html>", "FILE is neither a page of /jobs (JSON) nor a CSV file"),
        ("created_at,entity\n", "FILE is neither a page of /jobs (JSON) nor a CSV file"),
        (HEADER.replace(",", ";"), "nor a CSV file whose first line is created_at,entity,pool"),
        (f"{HEADER},seconds\n", "FILE is neither"),
        (f"{HEADER},colour\n", "FILE is neither"),
        (f"{HEADER}\n", "There are no jobs in FILE."),
        (page(), "There are no jobs in FILE."),
        (b"\xff\xfe\x00", "FILE is no text in UTF-8: see byte 1."),
        (b"\x1f\x8b\x08garbage", "FILE is compressed, and damaged."),
        (gzip.compress(page(row()).encode())[:-9], "FILE is compressed, and damaged."),
    ],
)
def test_file_that_is_none_is_refused(file: Write, content: str | bytes, said: str) -> None:
    assert said in refusal(file(content))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"id": None}, "id is missing"),
        ({"id": True}, "id is missing"),
        ({"entity": None}, "entity is missing or no text"),
        ({"entity": ""}, "entity is missing or no text"),
        ({"entity": "\x1b[31mred"}, "entity is too long or has letters that cannot be shown"),
        ({"entity": "a" * 256}, "entity is too long"),
        ({"entity": "\ud800"}, "entity is too long or has letters that cannot be shown"),
        ({"pool": 3}, "pool is missing or no text"),
        ({"labels": None}, "labels is missing or no list"),
        ({"labels": "riscv"}, "labels is missing or no list"),
        ({"labels": {"riscv": 1}}, "labels is missing or no list"),
        ({"labels": []}, "labels is empty"),
        ({"labels": [None]}, "a label is missing or no text"),
        ({"queued_at": None}, "queued_at is no time with its zone"),
        ({"queued_at": 1_700_000_000}, "queued_at is no time with its zone"),
        ({"queued_at": "2026-11-18T12:00:05"}, "queued_at is no time with its zone"),
        ({"queued_at": "2026-11-18"}, "queued_at is no time with its zone"),
        ({"queued_at": "9999-12-31T23:59:59-12:00"}, "queued_at is no time with its zone"),
        ({"queued_at": "0001-01-01T00:00:00+12:00"}, "queued_at is no time with its zone"),
        ({"queued_at": "x" * 999}, "'xxxxx"),
        ({"run_seconds": -1}, "run_seconds is no number of seconds from 0 to 35 days: -1"),
        ({"run_seconds": 1e300}, "run_seconds is no number of seconds from 0 to 35 days: 1e+300"),
        ({"run_seconds": "90"}, "run_seconds is no number of seconds"),
        ({"run_seconds": True}, "run_seconds is no number of seconds"),
        ({"run_seconds": []}, "run_seconds is no number of seconds"),
    ],
)
def test_row_that_is_none_is_refused_with_its_place(
    file: Write, fields: dict[str, Any], said: str
) -> None:
    message = refusal(file(page(row(1), row(2, **fields))))
    assert message.startswith("FILE, row 2: ")
    assert said in message
    assert len(message) < 250


def test_row_that_is_no_object_is_refused(file: Write) -> None:
    assert refusal(file(page(row(), [1]))) == "FILE, row 2: it is no job."


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("2026-11-18T12:00:05Z,rise,rv1,riscv", "it has 4 columns, the first line 5"),
        (f"{LINE},more", "it has 6 columns, the first line 5"),
        ("2026-11-18T12:00:05,rise,rv1,riscv,9", "created_at is no time with its zone"),
        ("yesterday,rise,rv1,riscv,9", "created_at is no time with its zone"),
        ("2026-11-18T12:00:05Z,,rv1,riscv,9", "entity is missing"),
        ("2026-11-18T12:00:05Z,rise,,riscv,9", "pool is missing"),
        ("2026-11-18T12:00:05Z,rise,rv1, ,9", "labels is empty"),
        ("2026-11-18T12:00:05Z,rise,rv1,riscv,nan", "seconds is no number of seconds"),
        ("2026-11-18T12:00:05Z,rise,rv1,riscv,inf", "seconds is no number of seconds"),
        ("2026-11-18T12:00:05Z,rise,rv1,riscv,-3", "seconds is no number of seconds"),
        ("2026-11-18T12:00:05Z,rise,rv1,riscv,1e9", "seconds is no number of seconds"),
        ("2026-11-18T12:00:05Z,rise,rv1,riscv,", "seconds is no number of seconds"),
        ("2026-11-18T12:00:05Z,rise,rv1,riscv,soon", "'soon'"),
        ('2026-11-18T12:00:05Z,"rise,rv1,riscv,9', "unexpected end of data"),
        (f"2026-11-18T12:00:05Z,{'r' * 200_000},rv1,riscv,9", "field larger than field limit"),
    ],
)
def test_line_that_is_none_is_refused_with_its_place(file: Write, line: str, said: str) -> None:
    message = refusal(file(f"{HEADER}\n{LINE}\n{line}\n"))
    assert message.startswith("FILE, line 3: ")
    assert said in message


def test_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none") == "FILE cannot be read: No such file or directory."


def test_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / ("x" * 300)) == "FILE cannot be read: File name too long."


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_that_may_not_be_read_is_refused(file: Write) -> None:
    locked = file(page(row()))
    locked.chmod(0)
    assert refusal(locked) == "FILE cannot be read: Permission denied."


def test_directory_without_pages_of_jobs_is_refused(file: Write, tmp_path: Path) -> None:
    file(page(row()), "2026-11-18.json")
    assert refusal(tmp_path) == "FILE holds no jobs.json, jobs.2.json, ... at any depth."


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_file_beyond_all_measure_is_refused(
    file: Write, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 2**20)
    assert refusal(file(pack(b"\xc3\xa4" * 2**20))).startswith("FILE has more than 1 MiB")
