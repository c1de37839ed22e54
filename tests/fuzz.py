"""Throw mutants at the function and keep the books: used by the test and by the bench."""

import contextlib
import io
from collections import Counter
from dataclasses import dataclass, field, replace

import psycopg

from tests.database import Database
from tests.function import environment
from tests.mutations import STAGED, mutants
from webhook_fn import app, config
from webhook_fn.routes import Accounts

PASSABLE = {200, 400, 401, 404, 405, 413}
STAGING_IS_DOWN = 502  # what mutants of a staging account are answered here
ROWS_NOBODY_ACCOUNTS_FOR = """
    SELECT job_id FROM prod.jobs WHERE NOT EXISTS (
        SELECT FROM prod.installation_events
         WHERE outcome LIKE 'job_%'
           AND jsonb_typeof(payload -> 'workflow_job' -> 'id') = 'number'
           AND (payload -> 'workflow_job' -> 'id')::numeric = jobs.job_id)
"""


@dataclass
class Books:
    statuses: Counter[int] = field(default_factory=Counter)
    accepted: int = 0
    complaints: list[str] = field(default_factory=list)

    def __add__(self, other: "Books") -> "Books":
        return Books(
            self.statuses + other.statuses,
            self.accepted + other.accepted,
            self.complaints + other.complaints,
        )


def fuzz(database: Database, seed: int, count: int) -> Books:
    """No exception escapes, no 5xx for bad input, one event row for each accepted delivery and
    none for any other, nothing accepted without a valid signature."""
    books = Books()
    settings = config.from_environment(environment(database.role_url("prod_webhook_fn")))
    settings = replace(
        settings,
        routes=replace(settings.routes, staging_entities=Accounts(frozenset({STAGED["id"]}))),
        staging_url="http://127.0.0.1:1/",
    )
    receiver = app.make_receiver(settings)
    with psycopg.connect(database.url) as watcher, contextlib.redirect_stdout(io.StringIO()):
        rows_before = _event_rows(watcher)
        for number, mutant in enumerate(mutants(seed, count)):
            try:
                response = app.write_response(app.respond(mutant.event, receiver))
            except Exception as error:  # noqa: BLE001 any exception at all is a finding
                books.complaints.append(f"seed {seed}, mutant {number}: {error!r} escaped")
                continue
            status = response["statusCode"]
            books.statuses[status] += 1
            if status not in PASSABLE and not (status == STAGING_IS_DOWN and mutant.staged):
                books.complaints.append(
                    f"seed {seed}, mutant {number}: {status} {response['body']}"
                )
            if status == 200 and "outcome" in response["body"]:  # and no mere health check
                books.accepted += 1
                if not mutant.signed:
                    books.complaints.append(f"seed {seed}, mutant {number}: accepted unsigned")
        written = _event_rows(watcher) - rows_before
        strays = watcher.execute(ROWS_NOBODY_ACCOUNTS_FOR.encode()).fetchall()
    receiver.store.close()
    if written != books.accepted:
        books.complaints.append(
            f"seed {seed}: {written} event rows for {books.accepted} accepted deliveries"
        )
    if strays:
        books.complaints.append(f"seed {seed}: jobs {strays[:5]} without an accepted delivery")
    return books


def _event_rows(connection: psycopg.Connection[tuple[int, ...]]) -> int:
    connection.rollback()  # a new snapshot
    row = connection.execute("SELECT count(*) FROM prod.installation_events").fetchone()
    assert row is not None
    return row[0]
