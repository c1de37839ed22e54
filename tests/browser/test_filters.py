"""Filters: found in the rows of the page, of all live pages, or of days."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from static_site.views.status import CHOICES
from tests.browser.conftest import Open
from tests.browser.serving import Served
from tests.site_samples import sites

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

LIVE = [
    row
    for number in range(1, 11)
    for row in sites()["busy"].pages[f"/jobs{f'.{number}' * (number > 1)}.html"].model["rows"]
]


def ids(page: Any) -> list[str]:
    found: list[str] = page.eval_on_selector_all("tbody tr", "rows => rows.map(row => row.id)")
    return found


def ids_of(rows: list[Any]) -> list[str]:
    return [f"j{row['id']}" for row in rows]


def asked(page: Any) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_page_without_filters_is_as_it_was_sent(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs?page=2")
    expect(page.locator("#count")).to_have_text("100 on this page")
    assert ids(page) == ids_of(LIVE[100:200])
    assert asked(page) == {"page": ["2"]}
    expect(page.locator("#clear")).to_be_hidden()


MATCHES: dict[tuple[str, str], Callable[[Any], bool]] = {
    ("text", "nightly STAGE2"): lambda row: (
        "stage2" in str(row["name"]) and row["workflow"] == "Nightly"
    ),
    ("entity", "LLVM"): lambda row: row["entity"] == "llvm",
    ("pool", "jupiter"): lambda row: row["pool"] == "cloudv10x-jupiter",
    ("status", "pending"): lambda row: row["status"] == "pending",
    ("status", "completed"): lambda row: row["status"] == "completed",
    ("status", "failure"): lambda row: row["conclusion"] == "failure",
    ("status", "failed"): lambda row: row["status"] == "failed",
}


def test_each_filter_searches_all_live_pages(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs")
    offered = [choice for choice, _ in CHOICES["jobs"]]
    for (field, value), matches in MATCHES.items():
        wanted = [row for row in LIVE if matches(row)]
        assert 0 < len(wanted) < len(LIVE)
        if field == "status":
            # By its place: a value is also looked for among the words, where it may be another.
            page.select_option("#f-status", index=offered.index(value) + 1)
        else:
            page.fill(f"#f-{field}", value)
        expect(page.locator("#count")).to_have_text(f"{len(wanted)} of 1,000 shown.")
        assert ids(page) == ids_of(wanted), (field, value)
        assert asked(page) == {field: [value]}
        expect(page.locator("#pager")).to_be_hidden()
        page.click("#clear")
        expect(page.locator("#count")).to_have_text("100 on this page")


def test_filters_are_used_together(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs?entity=llvm&pool=rv1")
    page.fill("#f-text", "nightly")
    wanted = [row for row in LIVE if (row["entity"], row["pool"]) == ("llvm", "scw-em-rv1")]
    wanted = [row for row in wanted if row["workflow"] == "Nightly"]
    expect(page.locator("#count")).to_have_text(f"{len(wanted)} of 1,000 shown.")
    assert ids(page) == ids_of(wanted)


def test_filters_are_restored_from_the_address_and_cleared(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs?page=3&entity=llvm&status=success")
    wanted = [row for row in LIVE if row["entity"] == "llvm" and row["conclusion"] == "success"]
    expect(page.locator("#count")).to_have_text(f"{len(wanted)} of 1,000 shown.")
    expect(page.locator("#f-entity")).to_have_value("llvm")
    expect(page.locator("#f-status")).to_have_value("success")
    page.click("#clear")
    expect(page.locator("#count")).to_have_text("100 on this page")
    assert ids(page) == ids_of(LIVE[200:300])
    assert asked(page) == {"page": ["3"]}
    expect(page.locator("#pager")).to_be_visible()


def test_row_that_moved_to_the_next_page_is_shown_once(busy: Served, open_page: Open) -> None:
    repeated = LIVE[99]

    def repeat(model: Any) -> None:
        model["rows"].insert(0, repeated)

    busy.change("/jobs.2.html", repeat, busy.site.health["as_of"])
    page = open_page(f"{busy.url}/jobs?status=pending&text={repeated['pool']}")
    page.select_option("#f-status", value="")
    expect(page.locator("#count")).to_contain_text("of 1,000 shown")
    assert len(ids(page)) == len(set(ids(page)))


def test_suggestions_come_from_the_rows_there_are(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs")
    values = "options => options.map(option => option.value)"
    here = sorted({row["entity"] for row in LIVE[:100]})
    assert page.eval_on_selector_all("#accounts option", values) == here
    pools = sorted({row["pool"] for row in LIVE[:100]})
    assert page.eval_on_selector_all("#pools option", values) == pools


def test_nothing_found_is_said(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs")
    page.fill("#f-text", "no such thing")
    expect(page.locator("#empty")).to_have_text("Nothing here matches.")
    expect(page.locator("#count")).to_have_text("0 of 1,000 shown.")


# Days ------------------------------------------------------------------------------------------


def rows_of(served: Served, *days: str) -> list[Any]:
    """All parts of the days, in the order of the pages."""
    pages = served.site.pages
    found = []
    for day in days:
        files = [file for file in pages if file.startswith(f"/days/{day}/jobs")]
        found += [row for file in files for row in pages[file].model["rows"]]
    return found


def test_days_are_put_together_from_all_their_parts(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs?start=2026-11-16&end=2026-11-17")
    wanted = rows_of(busy, "2026-11-17", "2026-11-16")
    said = f"{len(wanted):,} of {len(wanted):,} shown, the first 1,000 here."
    expect(page.locator("#count")).to_have_text(said)
    assert ids(page) == ids_of(wanted[:1000])
    page.select_option("#f-status", value="cancelled")
    wanted = [row for row in wanted if row["conclusion"] == "cancelled"]
    expect(page.locator("#count")).to_contain_text(f"{len(wanted)} of ")
    assert ids(page) == ids_of(wanted)


def test_days_ago_count_from_today(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs")
    page.fill("#f-start", "-1d")
    page.fill("#f-end", "-1d")
    page.press("#f-end", "Enter")
    wanted = rows_of(busy, "2026-11-17")
    expect(page.locator("#count")).to_contain_text(f"{len(wanted):,} of ")
    assert asked(page) == {"start": ["-1d"], "end": ["-1d"]}


def test_filter_on_the_page_of_a_day_searches_its_other_parts(
    busy: Served, open_page: Open
) -> None:
    page = open_page(f"{busy.url}/jobs?start=2026-11-17&end=2026-11-17&page=2")
    expect(page.locator("#count")).to_have_text("100 on this page")
    page.fill("#f-entity", "numpy")
    wanted = [row for row in rows_of(busy, "2026-11-17") if row["entity"] == "numpy"]
    expect(page.locator("#count")).to_contain_text(f"{len(wanted)} of ")
    assert ids(page) == ids_of(wanted)


def test_clearing_the_page_of_a_day_leads_to_the_newest(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs?start=2026-11-17&end=2026-11-17")
    page.click("#clear")
    page.wait_for_url(f"{busy.url}/jobs")
    expect(page.locator("#count")).to_have_text("100 on this page")
    assert ids(page) == ids_of(LIVE[:100])


def test_what_is_no_day_is_told(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs")
    for start, end, wrong in (
        ("yesterday", "", "“yesterday” is not a day."),
        ("2026-02-30", "", "“2026-02-30” is not a day."),
        ("-7", "", "“-7” is not a day."),
        ("2026-11-18", "2026-11-17", "The first day is after the last."),
    ):
        page.fill("#f-end", end)
        page.fill("#f-start", start)
        page.press("#f-start", "Enter")
        expect(page.locator("#f-wrong")).to_contain_text(wrong)
        assert len(ids(page)) == 100
    page.click("#clear")
    expect(page.locator("#f-wrong")).to_be_empty()


def test_more_days_than_are_searched_are_told(busy: Served, open_page: Open) -> None:
    template = busy.site.days["days"][1]
    none = {"rows": 0, "pages": 0}
    days = [
        {**template, "day": f"2026-{month:02}-{day:02}", "jobs": none if day else template["jobs"]}
        for month in (10, 9)
        for day in range(28, 0, -1)
    ]
    busy.write("/days.json", json.dumps({"days": days}).encode())
    page = open_page(f"{busy.url}/jobs?end=2026-10-28")
    expect(page.locator("#count")).to_contain_text("Only the last 31 of 56 days were searched.")


def test_pages_that_cannot_be_fetched_are_told(busy: Served, open_page: Open) -> None:
    busy.failing.add("/days.json")
    page = open_page(f"{busy.url}/jobs?start=-1d")
    expect(page.locator("#count")).to_contain_text("Some pages could not be fetched.")


def test_neighbours_of_a_day_are_those_that_exist(busy: Served, open_page: Open) -> None:
    days = [each for each in busy.site.days["days"] if each["day"] != "2026-11-17"]
    far = {**days[-1], "day": "2026-11-02"}
    busy.write("/days.json", json.dumps({"days": [*days, far]}).encode())
    page = open_page(f"{busy.url}/jobs?start=2026-11-16&end=2026-11-16")
    newer, older = page.locator("#day-newer"), page.locator("#day-older")
    expect(newer).to_have_attribute("href", "/jobs?start=2026-11-18&end=2026-11-18")
    expect(older).to_have_attribute("href", "/jobs?start=2026-11-02&end=2026-11-02")
    page = open_page(f"{busy.url}/jobs?start=2026-11-18&end=2026-11-18")
    expect(page.locator("#day-newer")).to_be_hidden()


def test_one_day_works_without_script(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/jobs", java_script_enabled=False)
    page.fill("#f-start", "2026-11-17")
    page.fill("#f-end", "2026-11-17")
    page.click("#filters button")
    expect(page.locator("h1")).to_contain_text("17 Nov 2026")
    assert len(page.query_selector_all("tbody tr")) == 100


def test_usage_is_filtered_by_account_and_text(busy: Served, open_page: Open) -> None:
    page = open_page(f"{busy.url}/usage")
    groups = busy.site.pages["/usage.html"].model["groups"]
    expect(page.locator("#count")).to_have_text(f"{len(groups)} on this page")
    page.fill("#f-entity", "llvm")
    wanted = sum(group["entity"] == "llvm" for group in groups)
    expect(page.locator("#count")).to_have_text(f"{wanted} of {len(groups)} shown.")
    expect(page.locator(".group")).to_have_count(wanted)
