"""The setup pages, as somebody sees them who has just clicked Install. Screenshots go to
build/screenshots."""

from collections.abc import Iterator

import pytest
import requests

from tests import github
from tests.browser.conftest import Open
from tests.browser.test_pages import FORMS, SHOTS, overflow, violations
from tests.database import Database
from tests.function import environment
from tests.server import server
from webhook_fn.setup import LOOKS
from webhook_fn.setup_words import PAGES, Verdict

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

USER = github.account(583231, "octocat", "User")


@pytest.fixture
def url(database: Database) -> Iterator[str]:
    with server(environment(database.role_url("prod_webhook_fn"))) as url:
        yield url


def deliver(url: str, number: int, owner: github.Payload, *actions: str) -> None:
    for action in actions:
        body = github.encode(github.installation(action, owner, number))
        headers = github.headers("installation", body)
        assert requests.post(url, data=body, headers=headers, timeout=10).status_code == 200


@pytest.mark.parametrize("form", FORMS)
def test_pages_are_accessible_and_fit(url: str, open_page: Open, form: str) -> None:
    deliver(url, 7001, github.account(), "created")
    deliver(url, 7002, USER, "created")
    queries = {
        Verdict.GENERAL: "",
        Verdict.REQUESTED: "setup_action=request",
        Verdict.INSTALLED: "installation_id=7001",
        Verdict.UPDATED: "installation_id=7001&setup_action=update",
        Verdict.WRONG_ACCOUNT: "installation_id=7002",
        Verdict.WAITING: "installation_id=7003",
        Verdict.SILENT: f"installation_id=7003&looks={LOOKS}",
    }
    SHOTS.mkdir(parents=True, exist_ok=True)
    page = open_page(f"{url}/setup/personal?setup_action=request", **FORMS[form])
    for verdict, query in queries.items():
        page.goto(f"{url}/setup/org?{query}")
        expect(page.locator("h1")).to_have_text(
            PAGES[verdict].title.format(account="an organization")
        )
        colour = "getComputedStyle(document.querySelector('main')).borderTopWidth"
        assert page.evaluate(colour) == "4px", "the policy lets the style through"
        assert overflow(page) == 0, verdict
        page.screenshot(path=SHOTS / f"setup-{verdict}-{form}.png", full_page=True)
        assert violations(page) == [], verdict


def test_page_looks_by_itself_until_the_webhook_is_there(url: str, open_page: Open) -> None:
    page = open_page(f"{url}/setup/org?installation_id=7001&setup_action=install")
    expect(page.locator("h1")).to_have_text(PAGES[Verdict.WAITING].title)
    page.wait_for_url("**looks=1")
    deliver(url, 7001, github.account(), "created")
    expect(page.locator("h1")).to_have_text(PAGES[Verdict.INSTALLED].title)
    assert "installation_id=7001&setup_action=install&looks=" in page.url


def test_link_looks_at_once(url: str, open_page: Open) -> None:
    page = open_page(f"{url}/setup/org?installation_id=7001&looks={LOOKS}")
    expect(page.locator("h1")).to_have_text(PAGES[Verdict.SILENT].title)
    deliver(url, 7001, github.account(), "created")
    page.get_by_role("link").click()
    expect(page.locator("h1")).to_have_text(PAGES[Verdict.INSTALLED].title)
