"""`make picture`: the README's picture of the overview, from the demo, by a real browser.

Needs Chromium: Debian's `chromium`, or the one that CHROMIUM names.
"""

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

from reconcile.demo.scenarios import SCENARIOS
from reconcile.demo.stage import Options, Stage, started

DOCS = Path(__file__).parent.parent / "docs"
SPEED = 100.0
SECONDS = 600  # more than half a day of the world: charts are to have something to show
SIZE = (1200, 1010)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def main() -> None:
    with started(Options(SCENARIOS["burst"], SPEED, seed=4, order="fair", port=0)) as stage:
        director, begin = stage.director, stage.world.time.timeline.now()
        director.follow(stage.options.scenario.pushes(4), director.push, begin)
        time.sleep(SECONDS)
        with sync_playwright() as driver:
            path = os.environ.get("CHROMIUM") or shutil.which("chromium")
            arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
            with driver.chromium.launch(executable_path=path, args=arguments) as browser:
                for scheme in SCHEMES:
                    _take(browser, stage, scheme)


def _take(browser: Browser, stage: Stage, scheme: Literal["light", "dark"]) -> None:
    file = DOCS / f"overview-{scheme}.png"
    page = browser.new_page(
        viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(stage.site_url, wait_until="networkidle")
    page.screenshot(path=file)
    page.close()
    sys.stdout.write(f"{file.name}: {file.stat().st_size // 1024} KiB\n")


if __name__ == "__main__":
    main()
