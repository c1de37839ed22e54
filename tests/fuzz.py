"""Throw mutants at the function and keep the books: used by the test and by the bench."""

import contextlib
import io
from collections import Counter
from dataclasses import dataclass, field

import psycopg

from tests.database import Database
from tests.function import environment
from tests.mutations import mutants
from webhook_fn import app, config

PASSABLE = {200, 400, 401, 404, 405, 413}


@dataclass
class Books:
    statuses: Counter[int] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)

    def __add__(self, other: "Books") -> "Books":
        return Books(self.statuses + other.statuses, self.complaints + other.complaints)


def fuzz(database: Database, seed: int, count: int) -> Books:
    """No exception escapes, no 5xx for bad input, one event row for each accepted delivery and
    none for any other, nothing accepted without a valid signature."""
    books = Books()
    settings = config.from_environment(environment(database.role_url("prod_webhook_fn")))
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
            if status not in PASSABLE:
                books.complaints.append(
                    f"seed {seed}, mutant {number}: {status} {response['body']}"
                )
            if status == 200 and not mutant.signed and "outcome" in response["body"]:
                books.complaints.append(f"seed {seed}, mutant {number}: accepted unsigned")
            if status == 200 and "outcome" not in response["body"]:
                books.statuses[status] -= 1  # a health check: no delivery, no row
        written = _event_rows(watcher) - rows_before
    receiver.store.close()
    if written != books.statuses[200]:
        books.complaints.append(
            f"seed {seed}: {written} event rows for {books.statuses[200]} accepted deliveries"
        )
    return books


def _event_rows(connection: psycopg.Connection[tuple[int, ...]]) -> int:
    connection.rollback()  # a new snapshot
    row = connection.execute("SELECT count(*) FROM prod.installation_events").fetchone()
    assert row is not None
    return row[0]
