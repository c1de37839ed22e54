"""The whole way: rows in the database, published to a directory, served, opened in a browser."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.browser.conftest import Open
from tests.database import Database
from tests.published_site import Directory, Site
from tests.site_history import add_history
from tests.site_rows import NOW, SiteRows, ago
from tests.site_server import serving

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect


@pytest.fixture
def site(database: Database, tmp_path: Path) -> Site:
    add_history(database, 900, 4)
    rows = SiteRows(database)
    rows.boards()
    rows.waits("cap_reached")
    rows.run(phases=[{"phase": "sync_jobs", "impact": "jobs advanced: 1"}])
    return Site(rows, Directory(tmp_path / "site"))


@pytest.fixture
def url(site: Site) -> Iterator[str]:
    assert isinstance(site.place, Directory)
    site.publish()
    with serving(site.place.path) as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.mark.parametrize(
    "address", ["/", "/usage", "/jobs", "/history?page=2", "/workers", "/runs"]
)
def test_what_was_published_is_shown(url: str, open_page: Open, address: str) -> None:
    page = open_page(url + address)
    expect(page.locator("h1")).to_have_count(1)
    expect(page.locator("#as-of")).to_contain_text("as of 12:00:07 UTC")


def test_failed_workers_page_is_one_click_away(site: Site, url: str, open_page: Open) -> None:
    name = site.rows.failed_worker(info={"logs": {"runner": "cannot reach github.com"}})
    site.later(15).publish()
    page = open_page(f"{url}/workers?status=failed")
    page.get_by_role("link", name=name).click()
    expect(page.get_by_text("its runner did not come online")).to_be_visible()
    expect(page.get_by_text("cannot reach github.com")).to_be_visible()


def test_new_job_appears_by_itself(site: Site, url: str, open_page: Open) -> None:
    page = open_page(f"{url}/jobs")
    job = site.rows.job(job_name="the newest of all", created_at=NOW)
    site.later(15).publish()
    page.clock.fast_forward(16_000)
    expect(page.get_by_text("the newest of all")).to_be_visible()
    expect(page.get_by_text("as many as it may have at once")).to_be_visible()
    site.rows.update("jobs", "job_id", job, status="running", started_at=ago())
    site.later(15).publish()
    page.clock.fast_forward(16_000)
    expect(page.locator("tr", has_text="the newest of all")).to_contain_text("running")


def test_days_are_put_together(site: Site, url: str, open_page: Open) -> None:
    days = [(NOW - timedelta(days=days)).date().isoformat() for days in (3, 1)]
    expected = sum(
        entry["jobs"]["rows"]
        for entry in site.document("days.json")["days"]
        if days[0] <= entry["day"] <= days[1]
    )
    page = open_page(f"{url}/jobs?start={days[0]}&end={days[1]}")
    expect(page.locator(".rows tbody tr:visible")).to_have_count(expected)
    page = open_page(f"{url}/jobs?start=-3d&end=-1d&entity=tenant-7&status=completed")
    expect(page.locator(".rows tbody tr:visible").first).to_contain_text("tenant-7")
