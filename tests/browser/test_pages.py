"""Every page, as people see it: on a desk, in the dark, on a phone. Screenshots go to
build/screenshots."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import DESKTOP, PHONE, Open
from tests.browser.serving import Served

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
expect = playwright.expect

SHOTS = Path(__file__).parent.parent.parent / "build" / "screenshots"
FORMS: dict[str, dict[str, bool]] = {"light": {}, "dark": {"dark": True}, "phone": {"phone": True}}
PAGES = {
    "overview": "/",
    "usage": "/usage",
    "jobs": "/jobs",
    "workers": "/workers",
    "runs": "/runs",
    "day": "/jobs?start=2026-11-17&end=2026-11-17&page=2",
    "worker": "/workers/{worker}",
    "missing": "/nothing",
}
ROWS = 3  # are enough for axe: they are all made alike, and it looks at every one


def address(served: Served, name: str) -> str:
    failed = [file for file in served.site.pages if file.startswith("/workers/")]
    worker = failed[0].removesuffix(".html").removeprefix("/workers/") if failed else "none"
    return served.url + PAGES[name].format(worker=worker)


def overflow(page: Any) -> int:
    wider: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return wider


def violations(page: Any) -> list[str]:
    page.eval_on_selector_all(
        f":is(.rows tr, .heat-map tr, .group, .log span):nth-child(n + {ROWS + 1})",
        "rows => rows.forEach(row => row.remove())",
    )
    found = axe.Axe().run(page)
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found.response["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("form", FORMS)
def test_pages_are_accessible_and_fit(busy: Served, open_page: Open, form: str) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    page = open_page(busy.url, **FORMS[form])
    size = PHONE if form == "phone" else DESKTOP
    for name in PAGES:
        page.goto(address(busy, name))
        expect(page.locator("h1")).to_have_count(1)
        assert overflow(page) == 0, name
        # Of a list its beginning shows enough.
        whole = page.evaluate("document.documentElement.scrollHeight") < 6 * size["height"]
        page.screenshot(path=SHOTS / f"{name}-{form}.png", full_page=whole)
        assert violations(page) == [], name


@pytest.mark.parametrize("kind", ["calm", "broken", "empty", "hostile"])
def test_pages_of_every_kind_of_site_fit_a_phone(
    serve: Callable[[str], Served], open_page: Open, kind: str
) -> None:
    served = serve(kind)
    page = open_page(served.url, phone=True)
    for name in PAGES:
        page.goto(address(served, name))
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert overflow(page) == 0, name


def test_markup_in_names_is_never_markup_in_the_page(
    serve: Callable[[str], Served], open_page: Open
) -> None:
    """Nor when the script filters, suggests and refreshes: no dialog opens, nothing is fetched."""
    hostile = serve("hostile")
    page = open_page(hostile.url)
    page.on("dialog", lambda _: pytest.fail("a name was run"))
    for name in ("overview", "usage", "jobs", "workers", "runs", "worker"):
        page.goto(address(hostile, name))
        if name in ("usage", "jobs"):
            page.fill("#f-text", "<script>")
            expect(page.locator("#count")).to_contain_text(" shown.")
        page.clock.run_for(15_000)
        assert page.locator("main script, main img, main iframe, main style").count() == 0


# Keyboard --------------------------------------------------------------------------------------


def test_keyboard_leads_through_the_page_in_order(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    focused = []
    for _ in range(13):
        page.keyboard.press("Tab")
        focused.append(
            page.evaluate("document.activeElement.id || document.activeElement.textContent")
        )
    assert focused == [
        *("RISC-V runners", "Overview", "Usage", "Jobs", "Workers", "Runs"),
        *("f-text", "f-status", "f-entity", "f-pool", "f-start", "f-end"),
        page.locator("tbody a").first.text_content(),
    ]


def test_skip_link_leads_to_the_content(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_what_has_the_focus_is_seen(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/usage")
    for _ in range(14):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", page.evaluate("document.activeElement.outerHTML.slice(0, 80)")


def test_groups_and_errors_unfold_by_keyboard(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/usage")
    group = page.locator(".group").first
    group.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(group.locator(".items").first).to_be_visible()


def test_line_of_a_log_can_be_linked_to(serve: Callable[[str], Served], open_page: Open) -> None:
    page = open_page(address(serve("broken"), "worker") + "#l1-7")
    expect(page.locator("#l1-7")).to_be_in_viewport()
    assert "step 6" in (page.locator("#l1-7").text_content() or "")


@pytest.mark.parametrize("phone", [False, True])
def test_page_is_whole_without_script(busy: Served, open_page: Open, phone: bool) -> None:
    page = open_page(f"{busy.url}/", phone=phone, java_script_enabled=False)
    expect(page.locator("#as-of")).to_have_text("as of 12:00:05 UTC")
    expect(page.locator(".chart")).to_have_count(3)
    page.goto(f"{busy.url}/jobs")
    expect(page.locator("tbody tr")).to_have_count(100)
