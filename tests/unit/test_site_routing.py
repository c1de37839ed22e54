"""Requests to files: every case of the table, and what holds for any request at all."""

import json
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from static_site import headers
from static_site.routing import DATES, NOWHERE, ONE_DAY, Found, link, pages, resolve

TABLE = json.loads((Path(__file__).parent.parent / "site_routing.json").read_text())
BASE = "https://riscv.example"


def shown(case: dict[str, Any]) -> str:
    asked = case.get("file") if "path" not in case else f"{case['path']}?{case['query']}"
    return f"{asked} {case.get('pages', '')}".strip()


def found(case: dict[str, Any]) -> Found:
    today = date.fromisoformat(case.get("today", TABLE["today"]))
    return resolve(case["path"], case["query"], today)


@pytest.mark.parametrize("case", TABLE["cases"], ids=shown)
def test_request_is_answered_by_the_file_of_the_table(case: dict[str, Any]) -> None:
    assert found(case) == Found(case.get("file"), TABLE["errors"].get(case.get("error")))


@pytest.mark.parametrize("case", TABLE["cases"], ids=shown)
def test_file_of_the_table_answers_for_itself(case: dict[str, Any]) -> None:
    """Also with the parameters that led to it: the CDN's function may meet it that way."""
    if (file := found(case).file) is not None:
        assert found({**case, "path": file}).file == file
        assert found({**case, "path": file, "query": ""}).file == file


LINKED = [case for case in TABLE["cases"] if "pages" in case] + TABLE["links"]


@pytest.mark.parametrize("case", LINKED, ids=shown)
def test_list_links_to_its_other_pages(case: dict[str, Any]) -> None:
    assert link(case["file"], case["pages"], BASE) == case["link"]


@pytest.mark.parametrize("number", [1, 0, -1])
def test_list_without_other_pages_links_to_none(number: int) -> None:
    assert link("/jobs.json", number, BASE) is None


def test_table_knows_each_error_and_says_it_once() -> None:
    assert TABLE["errors"] == {"one day": ONE_DAY, "dates": DATES}
    asked = [(case["path"], case["query"], case.get("today")) for case in TABLE["cases"]]
    plain = [each for each, case in zip(asked, TABLE["cases"], strict=True) if "pages" not in case]
    assert len(plain) == len(set(plain)) > 80


def test_pages_of_a_list_are_what_its_requests_lead_to() -> None:
    for path, file in (("/jobs.json", "/jobs.7.json"), ("/runs", "/runs.html")):
        asked = [resolve(path, f"page={n}", date(2026, 11, 18)).file for n in range(1, 13)]
        assert list(islice(pages(file), 12)) == asked
    part = "/days/2026-11-17/workers.2.html"
    assert list(islice(pages(part), 2)) == ["/days/2026-11-17/workers.html", part]
    assert list(pages("/usage.html")) == list(pages("/workers/jobs.html")) == []


# Requests such as people and scanners make, and any text at all.
NAMES = ["jobs", "history", "workers", "runs", "days", "health", "index", "2026-11-17", "..", ""]
PATHS = st.one_of(
    st.text(),
    st.lists(st.sampled_from([*NAMES, ".html", ".json", ".2", "/", "%2F", "%00", "%", "ö"])).map(
        lambda pieces: "/" + "".join(pieces)
    ),
)
VALUES = st.one_of(
    st.text(),
    st.dates().map(date.isoformat),
    st.integers().map(str),
    st.integers(0, 20000).map(lambda days: f"-{days}d"),
    st.sampled_from(["2026-02-30", "-0d", "%32", "2%0A", "+1"]),
)
QUERIES = st.one_of(
    st.text(),
    st.lists(st.tuples(st.sampled_from(["page", "start", "end", "q", ""]), VALUES)).map(
        lambda pairs: "&".join(f"{name}={value}" for name, value in pairs)
    ),
)
TODAYS = st.dates(date(2000, 1, 1), date(2999, 12, 31))


@given(PATHS, QUERIES, TODAYS)
def test_any_request_has_a_plain_file_or_a_reason(path: str, query: str, today: date) -> None:
    answer = resolve(path, query, today)
    assert (answer.file is None) != (answer.error is None)
    if answer.file is not None:
        assert answer.file.startswith("/")
        assert answer.file.isascii()
        assert not set(answer.file) & set("?#%\\ &=+\0\n")
        assert not any(name.startswith(".") for name in answer.file.split("/"))
        assert "" not in answer.file.split("/")[1:]
        assert answer.file.rpartition(".")[2] in headers.CONTENT_TYPES


@given(PATHS, QUERIES, TODAYS)
def test_resolving_twice_changes_nothing(path: str, query: str, today: date) -> None:
    once = resolve(path, query, today)
    if once.file is not None:
        assert resolve(once.file, query, today) == once
        assert resolve(once.file, "", today) == once


@given(PATHS, QUERIES, TODAYS)
def test_only_data_is_refused(path: str, query: str, today: date) -> None:
    if resolve(path, query, today).error is not None:
        assert path.endswith((".json", "/")) or "%" in path


@given(st.integers(0, 10**30), st.sampled_from(["/jobs", "/runs.json"]))
def test_page_that_cannot_be_is_nowhere_and_never_another(number: int, path: str) -> None:
    file = resolve(path, f"page={number}", date(2026, 11, 18)).file
    assert file is not None
    if number > 9999:
        assert file == NOWHERE
    elif number > 1:
        assert f".{number}." in file


@given(PATHS, st.integers(-5, 10**5))
def test_link_is_of_pages_that_exist(path: str, number: int) -> None:
    """Each of them a request that leads to a page of the same list."""
    file = resolve(path, "", date(2026, 11, 18)).file
    assert file is not None
    related = link(file, min(number, 9999), BASE)
    assert (related is not None) == (number > 1 and any(True for _ in pages(file)))
    for each in related.split(", ") if related else []:
        target = each[1:].partition(">")[0].removeprefix(BASE)
        asked, _, query = target.partition("?")
        assert resolve(asked, query, date(2026, 11, 18)).file in set(pages(file))
