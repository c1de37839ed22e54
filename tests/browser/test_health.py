"""Warnings: shown when what is seen may be old, or runs fail, and gone when that is over."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import Open
from tests.browser.serving import Served

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

POLL_MS = 15_000
AGO = re.compile(r"\d+ s ago")


def polled(page: Any) -> None:
    with page.expect_response(lambda answer: answer.url.endswith("/health.json")):
        page.clock.run_for(POLL_MS)


def test_calm_page_has_no_warning(serve: Callable[[str], Served], open_page: Open) -> None:
    page = open_page(f"{serve('calm').url}/")
    page.wait_for_load_state("networkidle")
    expect(page.locator("#warning")).to_be_hidden()
    expect(page.locator("#as-of")).to_have_text("as of 12:00:05 UTC")
    expect(page.locator("#as-of time")).to_have_attribute("data-rel", AGO)


def test_warning_appears_when_nothing_is_published_and_goes_when_it_is(
    busy: Served, open_page: Open
) -> None:
    old = "2026-11-18T11:58:20Z"  # 113 s ago: not too old yet
    busy.tell(as_of=old, last_worked_at=old, boards_observed_at=old)
    page = open_page(f"{busy.url}/")
    page.wait_for_load_state("networkidle")
    expect(page.locator("#warning")).to_be_hidden()
    # What is fetched meanwhile comes to its end first, else it is taken for the next poll.
    with page.expect_response(lambda answer: answer.url.endswith("/health.json")) as looked:
        page.clock.fast_forward(75_000)
    looked.value.finished()
    said = "Nothing was published since 11:58:20 UTC: what you see is old."
    expect(page.get_by_role("alert").first).to_have_text(said)
    now = "2026-11-18T12:01:20Z"
    busy.tell(as_of=now, last_worked_at=now, boards_observed_at=now)
    polled(page)
    expect(page.locator("#warning")).to_be_hidden()


def test_warning_appears_when_health_cannot_be_fetched_twice(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/usage")
    page.wait_for_load_state("networkidle")
    busy.failing.add("/health.json")
    polled(page)
    expect(page.locator("#warning")).to_be_hidden()
    with page.expect_response(lambda answer: answer.url.endswith("/health.json")):
        page.clock.run_for(2_000)
    expect(page.locator("#warning")).to_contain_text("The site cannot be reached")
    busy.failing.clear()
    polled(page)
    expect(page.locator("#warning")).to_be_hidden()


def test_trouble_of_the_system_is_told(busy: Served, open_page: Open) -> None:
    page = open_page(busy.url)
    old = "2026-11-18T11:40:00Z"
    told: list[tuple[dict[str, Any], str]] = [
        ({"last_run": {"id": 1, "status": "failed"}}, "The last run failed. Runs last did"),
        ({"last_worked_at": old}, "Runs do not get their work done."),
        ({"boards_observed_at": old}, "The boards could not be listed since 11:40:00 UTC."),
    ]
    for health, words in told:
        busy.tell(**health)
        page.goto(f"{busy.url}/runs")
        expect(page.locator("#warning")).to_contain_text(words)


def test_hidden_tab_asks_for_nothing_and_looks_at_once_when_it_is_seen(
    busy: Served, open_page: Open
) -> None:
    page = open_page(f"{busy.url}/")
    page.wait_for_load_state("networkidle")
    see = """state => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => state });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(see, True)
    before = len(busy.asked)
    page.clock.run_for(10 * POLL_MS)
    assert len(busy.asked) == before
    with page.expect_response(lambda answer: answer.url.endswith("/health.json")):
        page.evaluate(see, False)


def test_page_works_where_storage_is_denied(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs")
    page.add_init_script(
        "for (const name of ['localStorage', 'sessionStorage'])"
        "  Object.defineProperty(window, name, { get() { throw new Error('denied'); } });"
    )
    page.reload()
    expect(page.locator("#count")).to_have_text("100 on this page")
