"""Pages in a real browser. Skipped where there is none."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.serving import Served, served
from tests.site_sample_rows import NOW

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response, ViewportSize

PATIENCE_MS = 10_000
DESKTOP: "ViewportSize" = {"width": 1280, "height": 900}
PHONE: "ViewportSize" = {"width": 390, "height": 844}


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    # Chromium's sandbox needs a user that is not root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=path, args=arguments)
        except playwright.Error as error:
            pytest.skip(f"no Chromium could be started: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("published")


@pytest.fixture
def serve(tmp_path: Path, published: Path) -> Iterator[Callable[[str], Served]]:
    with ExitStack() as stack:
        yield lambda kind: stack.enter_context(served(kind, published / kind, tmp_path / kind))


@pytest.fixture
def busy(serve: Callable[[str], Served]) -> Served:
    return serve("busy")


Open = Callable[..., "Page"]


@pytest.fixture
def open_page(browser: "Browser") -> Iterator[Open]:
    """Opens an address at the time of the samples. At the end of the test nothing may have gone
    wrong in the page, and nothing may have been asked of another host."""
    faults: list[str] = []
    contexts = []

    def opened(address: str, *, phone: bool = False, dark: bool = False, **more: Any) -> "Page":
        context = browser.new_context(
            viewport=PHONE if phone else DESKTOP,
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            **more,
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        host = address.split("/")[2]

        def asked(request: "Request") -> None:
            if request.url.split("/")[2] != host:
                faults.append(request.url)

        def said(message: "ConsoleMessage") -> None:
            # What could not be fetched is told here as well; some tests see to that.
            if message.type == "error" and "Failed to load resource" not in message.text:
                faults.append(message.text)

        def answered(response: "Response") -> None:
            # The page itself may be one that is not there, and looks whether it is still so (a
            # worker's by its name, which in the hostile site is not its file's). What it asks for
            # beside must be: what a test breaks on purpose is answered with 503.
            itself = response.request.resource_type == "document" or response.url == page.url
            if response.status == 404 and not itself and "/workers/" not in response.url:
                faults.append(f"{response.url}: 404")

        page.on("request", asked)
        page.on("response", answered)
        page.on("console", said)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.clock.install(time=NOW + timedelta(seconds=8))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []
