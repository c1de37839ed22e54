"""Asking a log of five million events: each kind of question, through the function and its role."""

import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from tests import github
from tests import trace_history as history
from tests.bench.figures import Figure, milliseconds
from tests.bench.world import fresh_cluster
from tests.database import Database
from tests.function import environment
from webhook_fn import app, config

LONG = history.Size()
SHORT = history.Size(events=LONG.events // 10, workers=LONG.workers // 10, runs=LONG.runs // 10)
ROUNDS = 30
PROCESSES = 7
MOST_MILLISECONDS = 200
GROWTH_COST = 1.5
PAGES = 100
TOKEN = "ask-and-it-shall-be-told"
UNKNOWN = 987_654_321_987

Question = tuple[str, str]  # a path and its query


def run() -> Iterator[Figure]:
    with (
        fresh_cluster(in_memory=False) as cluster,
        cluster.new_database() as large,
        cluster.new_database() as small,
    ):
        for name, database, size in (("log", large, LONG), ("a shorter one", small, SHORT)):
            started = time.perf_counter()
            history.add_long_history(database, size)
            told = f"{time.perf_counter() - started:.0f} s, {_gigabytes(database):.1f} GB"
            yield Figure(f"{name} of {size.events:,} events made", told)
        long, short = Asking(large), Asking(small)
        yield from _questions(long, short)
        yield from _command(large, long.jobs["job that waits, of 10,000"])


class Asking:
    """A warm function, and what it is asked."""

    def __init__(self, database: Database) -> None:
        settings = environment(database.role_url("prod_webhook_fn"))
        read = config.from_environment(settings | {"TRACE_API_SECRET": TOKEN})
        self._receiver = app.make_receiver(read, lambda: history.NOW)
        self.jobs = _jobs(database)
        self.questions = self._questions(database)

    def ask(self, question: Question) -> dict[str, Any]:
        """From Lambda's event to Lambda's answer, the JSON in it."""
        path, query = question
        headers = {"authorization": f"Bearer {TOKEN}"}
        event = github.lambda_event(b"", headers, method="GET", path=path, query=query)
        with contextlib.redirect_stdout(io.StringIO()):
            return app.write_response(app.respond(event, self._receiver))

    def _questions(self, database: Database) -> dict[str, Question]:
        entity, biggest = history.entity, f"/trace/entity/{history.entity(history.BIGGEST)}"
        [created] = database.rows(
            "SELECT id FROM installation_events"
            " WHERE entity_id = %s AND event = 'installation.created'",
            entity(history.BROAD),
        )
        middling = history.installation(history.MIDDLING)
        return {
            **{name: (f"/trace/job/{number}", "") for name, number in self.jobs.items()},
            "unknown job, of a repository": (f"/trace/job/{UNKNOWN}", "repository=tenant-1/a"),
            "installation": (f"/trace/installation/{middling}", ""),
            "biggest account, a fifth of the log": (biggest, ""),
            f"  its page {PAGES}": (biggest, self._page(biggest, PAGES)),
            "  as of a month ago": (biggest, "at=2026-02-01T00:00Z"),
            "smallest account, one event": (f"/trace/entity/{entity(history.SMALLEST)}", ""),
            "account by its name": (f"/trace/entity/tenant-{history.MIDDLING}", ""),
            "account by a name that nobody has": ("/trace/entity/nobody", ""),
            f"account that changed {LONG.changes:,} times": (
                f"/trace/entity/{entity(history.RESTLESS)}",
                "",
            ),
            f"account of {history.REPOSITORIES:,} repositories": (
                f"/trace/entity/{entity(history.BROAD)}",
                "",
            ),
            "payload, the longest": (f"/trace/payload/{created['id']}", ""),
        }

    def _page(self, path: str, number: int) -> str:
        query = ""
        for _ in range(number - 1):
            answer = self.ask((path, query))
            query = json.loads(answer["body"])["next"].removeprefix("?")
        return query


def _jobs(database: Database) -> dict[str, int]:
    found = {"unknown job": UNKNOWN}
    for name, status, order in (
        ("job that waits, of 10,000", "pending", "DESC"),
        ("job that ended long ago", "completed", "ASC"),
    ):
        [row] = database.rows(
            "SELECT job_id FROM jobs WHERE status = %s AND entity_id = %s"
            f" ORDER BY job_id {order} LIMIT 1",
            status,
            history.entity(history.BIGGEST),
        )
        found[name] = row["job_id"]
    return found


def _questions(long: Asking, short: Asking) -> Iterator[Figure]:
    samples: dict[str, tuple[list[float], list[float]]] = {}
    for name, question in long.questions.items():
        both = [(long, question), (short, short.questions[name])]
        for asking, asked in both:
            answer = asking.ask(asked)
            assert answer["statusCode"] == (404 if "unknown" in name or "nobody" in name else 200)
        samples[name] = [], []
        for _ in range(ROUNDS):
            for found, (asking, asked) in zip(samples[name], both, strict=True):
                found.append(milliseconds(lambda: asking.ask(asked)))  # noqa: B023 called at once
    for name, (of_long, of_short) in samples.items():
        median, slowest = statistics.median(of_long), max(of_long)
        yield Figure(
            name,
            f"{median:.1f} ms ({slowest:.1f} at most)",
            f"at most {MOST_MILLISECONDS} ms; {statistics.median(of_short):.1f} of a tenth",
            slowest < MOST_MILLISECONDS,
        )
    # Of the quickest each: of a millisecond and of what came in between there is else more noise.
    grown = {name: min(of_long) / min(of_short) for name, (of_long, of_short) in samples.items()}
    worst = max(grown, key=lambda name: grown[name])
    yield Figure(
        "against a tenth of the log, the worst of these",
        f"{grown[worst]:.2f}x",
        f"at most {GROWTH_COST:g}x ({worst.strip()})",
        grown[worst] <= GROWTH_COST,
    )


def _command(database: Database, job: int) -> Iterator[Figure]:
    """A process of its own. For information: most of it is Python's start."""
    given = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "POSTGRES_URL": database.role_url("prod_reconcile"),
        "RUNNERS_ENV": "prod",
        "GHAPP_ORG_ID": str(github.ORG_APP),
        "GHAPP_PERSONAL_ID": str(github.PERSONAL_APP),
        "RUNNERS_CLOCK": history.NOW.isoformat(),
    }
    for name, words in (
        (
            f"reconcile trace --job {job}, a process",
            ["-m", "reconcile", "trace", "--job", str(job)],
        ),
        ("  its imports", ["-c", "import reconcile.cli, reconcile.tracing"]),
        ("  Python alone", ["-c", ""]),
    ):
        command = [sys.executable, *words]

        def once(command: list[str] = command) -> None:
            subprocess.run(command, env=given, stdout=subprocess.DEVNULL, check=True)

        once()
        median = statistics.median(milliseconds(once) for _ in range(PROCESSES))
        yield Figure(name, f"{median:.0f} ms")


def _gigabytes(database: Database) -> float:
    [row] = database.rows("SELECT pg_database_size(current_database()) AS size")
    return float(row["size"]) / 1e9
