"""A page keeps itself up to date, and leaves alone what somebody is doing with it."""

from datetime import timedelta
from typing import Any

import pytest

from static_site import render
from tests.browser.conftest import Open
from tests.browser.serving import Served
from tests.site_sample_rows import NOW, job

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

LATER = "2026-11-18T12:00:20Z"
POLL_MS = 15_000
# Counts elements that come or go; `changed` are the ids, or the tags, of those that came.
OBSERVE = """() => {
  window.changed = [];
  new MutationObserver((found) => {
    for (const each of found) for (const node of [...each.addedNodes, ...each.removedNodes])
      window.changed.push(node.id || node.nodeName);
  }).observe(document.body, { childList: true, subtree: true });
}"""


def poll(page: Any, path: str) -> None:
    with page.expect_response(lambda answer: answer.url.endswith(path)):
        page.clock.run_for(POLL_MS)


def begin(model: Any) -> None:
    """The first job that waits begins, and another one comes."""
    model["rows"][0] |= {"status": "running", "waiting": None, "wait_seconds": 15}
    model["rows"].insert(0, job(90_000, LATER, "pending", name="brand new"))


def test_what_changed_on_the_server_appears_and_nothing_else_is_touched(
    busy: Served, open_page: Open
) -> None:
    page = open_page(f"{busy.url}/jobs")
    page.wait_for_load_state("networkidle")  # Its first look at health.json is over.
    first = page.locator("tbody tr").first.get_attribute("id")
    busy.change("/jobs.html", begin, LATER)
    page.evaluate(OBSERVE)
    poll(page, "/jobs")
    expect(page.locator("#j90000")).to_contain_text("brand new")
    expect(page.locator(f"#{first} .pill")).to_have_text("running")
    expect(page.locator("#as-of time")).to_have_text("12:00:20 UTC")
    changed = set(page.evaluate("changed")) - {"#text", "OPTION"}
    assert changed == {"j90000", first}


def test_nothing_is_replaced_when_nothing_changed(busy: Served, open_page: Open) -> None:
    page = open_page(busy.url)
    for second, path in enumerate(("/", "/usage", "/jobs", "/workers", "/runs"), 20):
        page.goto(f"{busy.url}{path}")
        page.wait_for_load_state("networkidle")
        page.evaluate(OBSERVE)
        busy.tell(as_of=f"2026-11-18T12:00:{second}Z")
        poll(page, path)
        expect(page.locator("#as-of time")).to_have_text(f"12:00:{second} UTC")
        assert page.evaluate("changed") == [], path


def test_page_is_not_fetched_again_while_nothing_was_published(
    busy: Served, open_page: Open
) -> None:
    page = open_page(f"{busy.url}/runs")
    page.wait_for_load_state("networkidle")
    before = busy.asked.count("/runs")
    poll(page, "/health.json")
    poll(page, "/health.json")
    assert busy.asked.count("/runs") == before


def test_focus_open_details_and_filters_are_kept(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/usage")
    page.wait_for_load_state("networkidle")
    page.fill("#f-entity", "riseproject-dev")
    group = page.locator(".group").first
    name = group.get_attribute("id")
    group.locator("summary").click()
    group.locator(".items a").first.focus()
    focused = page.evaluate("document.activeElement.textContent")

    def more(model: Any) -> None:
        for each in model["groups"]:
            each["more_jobs"] += 7
            each["pending"] += 7

    busy.change("/usage.html", more, LATER)
    poll(page, "/usage")
    expect(page.locator(f"#{name} .more").first).to_contain_text("more")
    expect(page.locator("#as-of time")).to_have_text("12:00:20 UTC")
    assert page.evaluate("document.activeElement.textContent") == focused
    assert page.evaluate(f"document.activeElement.closest('#{name}') !== null")
    assert page.evaluate(f"document.getElementById('{name}').open")
    expect(page.locator("#f-entity")).to_have_value("riseproject-dev")
    accounts = page.eval_on_selector_all(".group", "all => all.map(each => each.dataset.entity)")
    assert set(accounts) == {"riseproject-dev"}


def test_scroll_and_text_being_typed_are_kept(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs")
    page.wait_for_load_state("networkidle")
    page.focus("#f-text")
    page.evaluate("scrollTo(0, 1500)")
    busy.change("/jobs.html", lambda model: model["rows"][-1].update(name="changed"), LATER)
    poll(page, "/jobs")
    expect(page.locator("tbody tr").last).to_contain_text("changed")
    assert page.evaluate("document.activeElement.id") == "f-text"
    assert page.evaluate("scrollY") == 1500


def test_selected_text_is_left_alone_until_it_is_not_selected(
    busy: Served, open_page: Open
) -> None:
    page = open_page(f"{busy.url}/jobs")
    page.wait_for_load_state("networkidle")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('tbody tr th'))")
    selected = page.evaluate("getSelection().toString()")
    busy.change("/jobs.html", begin, LATER)
    poll(page, "/jobs")
    expect(page.locator("#pager")).to_be_visible()
    assert page.evaluate("getSelection().toString()") == selected
    assert page.locator("#j90000").count() == 0
    page.evaluate("getSelection().removeAllRanges()")
    poll(page, "/jobs")
    expect(page.locator("#j90000")).to_be_visible()


def test_search_over_all_pages_is_refreshed_too(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs?text=brand")
    expect(page.locator("#count")).to_have_text("0 of 1,000 shown.")
    busy.change("/jobs.html", begin, LATER)
    poll(page, "/jobs")
    expect(page.locator("#count")).to_have_text("1 of 1,001 shown.")
    expect(page.locator("#j90000")).to_be_visible()


def test_failed_refresh_leaves_everything_without_a_warning(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs")
    page.wait_for_load_state("networkidle")
    busy.change("/jobs.html", begin, LATER)
    busy.failing.add("/jobs")
    poll(page, "/jobs")
    page.clock.run_for(5_000)
    expect(page.locator("#as-of time")).to_have_text("12:00:05 UTC")
    assert page.locator("tbody tr").count() == 100
    expect(page.locator("#warning")).to_be_hidden()
    busy.failing.clear()
    poll(page, "/jobs")
    expect(page.locator("#j90000")).to_be_visible()


def test_new_version_reloads_the_page_but_not_again_and_again(
    busy: Served, open_page: Open
) -> None:
    page = open_page(f"{busy.url}/jobs?entity=llvm")
    page.wait_for_load_state("networkidle")
    script = next(name for name in render.assets() if name.endswith(".js"))
    newer = script.replace("site.", "site.0")
    busy.write(newer, render.assets()[script])
    old, new = (busy.site.html("/jobs.html").replace(script, name) for name in (script, newer))

    def published(html: str, as_of: str) -> None:
        busy.write("/jobs.html", html.encode())
        busy.tell(as_of=as_of)

    loads: list[str] = []
    page.on("load", lambda _: loads.append(page.url))
    published(new, LATER)
    page.clock.run_for(POLL_MS)
    page.wait_for_selector(f"script[src='/{newer}']", state="attached")
    page.wait_for_load_state("networkidle")
    expect(page.locator("#f-entity")).to_have_value("llvm")
    assert len(loads) == 1
    # A cache may have it both ways for a while: the same version is not reloaded for twice.
    page.evaluate(
        "history.replaceState(arguments[0], '')".replace(
            "arguments[0]", repr(page.evaluate("history.state").replace(newer, script))
        )
    )
    published(old, "2026-11-18T12:00:35Z")
    poll(page, "/jobs")
    page.wait_for_load_state("networkidle")
    assert len(loads) == 1


def test_settled_day_is_never_fetched_again(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs?start=2026-11-16&end=2026-11-16")
    page.wait_for_load_state("networkidle")
    expect(page.locator("#as-of")).to_have_text("will not change any more")
    before = len([path for path in busy.asked if path.startswith("/jobs")])
    busy.tell(as_of=LATER)
    poll(page, "/health.json")
    assert len([path for path in busy.asked if path.startswith("/jobs")]) == before


def test_page_lives_in_the_time_of_a_simulated_world(busy: Served, open_page: Open) -> None:
    """And looks more often, for things happen faster there."""
    busy.headers = [("Simulated-Time", f"{(NOW + timedelta(hours=1)).isoformat()} 30")]
    busy.tell(as_of=(NOW + timedelta(minutes=58)).isoformat())
    page = open_page(busy.url)
    expect(page.locator("#as-of time")).to_have_attribute("data-rel", "2 min ago")
    page.wait_for_load_state("networkidle")
    with page.expect_response(lambda answer: answer.url.endswith("/health.json")):
        page.clock.run_for(POLL_MS // 4)
