"""Believable sites of every kind: calm, busy, broken, empty, and one full of markup.

A sample is what would be published: every page with its model, by the file's path.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

from static_site import model, render
from tests import site_figures, site_hostile, site_live
from tests.site_sample_rows import NOW, TODAY, ago, job, run, runner_of, stamp, worker

ROWS = 100  # of a live page


class Page(NamedTuple):
    template: str
    model: dict[str, Any]
    as_of: str | None


@dataclass
class Site:
    environment: str
    pages: dict[str, Page]
    health: model.Health
    days: model.Days

    def html(self, file: str) -> str:
        page = self.pages[file]
        return render.html(
            page.template, page.model, environment=self.environment, as_of=page.as_of
        )

    def files(self) -> Iterator[tuple[str, bytes]]:
        for file, page in self.pages.items():
            yield file, self.html(file).encode()
            yield file.replace(".html", ".json"), json.dumps(page.model).encode()
        yield "/health.json", json.dumps(self.health).encode()
        yield "/days.json", json.dumps(self.days).encode()
        yield from ((f"/{path}", content) for path, content in render.assets().items())


# Pages -----------------------------------------------------------------------------------------


def listed(name: model.ListName, rows: list[Any], day: str | None = None) -> dict[str, Page]:
    """All pages of a list; a day's parts are as long as a page here, to have several."""
    pages = max(1, -(-len(rows) // ROWS))
    settled = None if day is None else day < str(TODAY - timedelta(days=1))
    found = {}
    for page in range(1, pages + 1):
        made = {"list_name": name, "day": day, "settled": settled, "page": page, "pages": pages}
        some = rows[(page - 1) * ROWS : page * ROWS]
        came = [row.get("queued_at") or row.get("created_at") or row["started_at"] for row in some]
        made["oldest_day"] = min(came)[:10] if came else None
        stem = f"/days/{day}/{name}" if day else f"/{name}"
        file = f"{stem}.html" if page == 1 else f"{stem}.{page}.html"
        found[file] = Page("list", {**made, "rows": some}, None if settled else stamp(NOW))
    return found


def history(
    waiting: int, running: int, ended: int, broken: bool
) -> dict[model.ListName, list[Any]]:
    """Rows of the lists, the newest first; one every 80 s, so a hundred are two hours."""
    states = ["pending"] * waiting + ["running"] * running
    ends = ["completed"] * 9 + ["failed"]
    states += [ends[(7 * n) % 10] for n in range(ended)]
    jobs = [
        job(70_000 - n, ago(minutes=max(2, 80 * n / 60)), state) for n, state in enumerate(states)
    ]
    ends = ["completed", "failed"] if broken else ["completed"] * 11 + ["failed"]
    states = ["pending"] * min(3, waiting) + [ends[(5 * n) % len(ends)] for n in range(ended)]
    workers = [worker(9_000 - n, ago(minutes=2 + n), state) for n, state in enumerate(states)]
    workers[min(3, waiting) : min(3, waiting)] = [
        runner_of(each) for each in jobs if each["status"] == "running"
    ]
    ends = ["failed", "partial"] if broken else ["completed"] * 19 + ["partial"]
    states = ["running"] + [ends[(3 * n) % len(ends)] for n in range(ended and 250)]
    runs = [run(41_000 - n, ago(seconds=15 * n), state) for n, state in enumerate(states)]
    return {"jobs": jobs, "workers": workers, "runs": runs if ended else []}


def site(kind: str, waiting: int, running: int, ended: int, environment: str = "prod") -> Site:
    broken = kind == "broken"
    lists = history(waiting, running, ended, broken)
    overview = site_figures.overview(kind, lists["jobs"])
    usage = site_live.usage(lists["jobs"], lists["workers"])
    pages = {
        "/index.html": Page("overview", {**overview}, stamp(NOW)),
        "/usage.html": Page("usage", {**usage}, stamp(NOW)),
        "/404.html": Page("missing", {}, None),
    }
    counts: dict[str, dict[str, model.DayCount]] = {}
    for name, rows in lists.items():
        pages |= listed(name, rows[: 10 * ROWS])
        key = {"jobs": "queued_at", "workers": "created_at", "runs": "started_at"}[name]
        for day in sorted({row[key][:10] for row in rows}):
            parts = listed(name, [row for row in rows if row[key][:10] == day], day)
            pages |= parts
            number = sum(len(part.model["rows"]) for part in parts.values())
            counts.setdefault(day, {})[name] = {"rows": number, "pages": len(parts)}
    failed = [each for each in lists["workers"] if each["status"] == "failed"]
    for number, each in enumerate(failed[:3]):
        diagnosis = {**site_live.failed_worker(each, number)}
        pages[f"/workers/{each['name']}.html"] = Page("worker", diagnosis, stamp(NOW))
    none: model.DayCount = {"rows": 0, "pages": 0}
    days: list[model.DayEntry] = [
        {
            "day": day,
            "settled": day < str(TODAY - timedelta(days=1)),
            "jobs": found.get("jobs", none),
            "workers": found.get("workers", none),
            "runs": found.get("runs", none),
        }
        for day, found in sorted(counts.items(), reverse=True)
    ]
    return Site(environment, pages, site_live.health(environment, kind), {"days": days})


@cache
def sites() -> dict[str, Site]:
    """Nobody changes them: a test that needs another copies what it changes."""
    return {
        "calm": site("calm", 0, 5, 160),
        "busy": site("busy", 46, 22, 1900),
        "broken": site("broken", 31, 4, 300, environment="staging"),
        "empty": site("empty", 0, 0, 0),
        "hostile": site_hostile.hostile(site("busy", 3, 3, 12)),
    }
