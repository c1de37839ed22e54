"""What the pages are made of, read from the database."""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from .errors import BusyError, DatabaseError
from .model import ListName
from .rows import (
    BoardsRow,
    Ended,
    FailedWorkerRow,
    Failure,
    FigureRows,
    HourWaits,
    JobRow,
    LastRunRow,
    Live,
    LiveCount,
    Place,
    ReasonCount,
    RunRow,
    SpanWaits,
    TenantEnds,
    TenantRow,
    TenantWait,
    WaitRow,
    WorkerCount,
    WorkerRow,
)

R = TypeVar("R", bound=tuple[Any, ...])
STATEMENT_SECONDS = 60  # Figures of a busy week, or a day's files: minutes would be a fault.
THE_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
FIRST: dict[ListName, Place] = {
    "jobs": (THE_BEGINNING, 0),
    "workers": (THE_BEGINNING, ""),
    "runs": (THE_BEGINNING, 0),
}
ROWS: dict[ListName, Callable[..., Any]] = {
    "jobs": JobRow._make,
    "workers": WorkerRow._make,
    "runs": RunRow._make,
}


def load_queries(path: Path) -> dict[str, bytes]:
    """The statements by the name above each, with the parts put in."""
    blocks = re.split(r"^-- (name|part): (\w+)\n", path.read_text(), flags=re.MULTILINE)[1:]
    parts: dict[str, str] = {}
    queries = {}
    for kind, name, block in zip(blocks[::3], blocks[1::3], blocks[2::3], strict=True):
        text = re.sub(r"^--.*\n", "", block, flags=re.MULTILINE).strip()
        if kind == "part":
            parts[name] = text
        else:
            queries[name] = re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], text).encode()
    return queries


QUERIES = load_queries(Path(__file__).with_name("queries.sql"))


class Reader:
    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._connection = connection

    @contextlib.contextmanager
    def one_moment(self) -> Iterator[None]:
        """All that is read inside is of the same moment."""
        with _translated("snapshot"), self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield

    def live(self, now: datetime, jobs_of_group: int, workers: int) -> Live:
        last_run = self._rows("last_run", LastRunRow._make)
        last_worked = self._rows("last_worked", tuple)
        [(backing_off,)] = self._rows("backing_off", tuple, now=now)
        return Live(
            jobs=self._rows("live_jobs", JobRow._make, limit=jobs_of_group),
            job_counts=self._rows("live_counts", LiveCount._make),
            workers=self._rows("live_workers", WorkerRow._make, limit=workers),
            worker_counts=self._rows("worker_counts", WorkerCount._make),
            boards=self._rows("boards", BoardsRow._make),
            waits=self._rows("waits", WaitRow._make),
            covered=frozenset(job_id for (job_id,) in self._rows("covered_jobs", tuple)),
            backing_off=backing_off,
            last_run=last_run[0] if last_run else None,
            last_worked_at=last_worked[0][0] if last_worked else None,
        )

    def newest(self, name: ListName, after: Place, limit: int) -> list[Any]:
        """Rows of the list after that place, the newest first."""
        return self._rows(
            f"newest_{name}", ROWS[name], after_at=after[0], after_id=after[1], limit=limit
        )

    def of_day(self, name: ListName, day: date, after: Place, limit: int) -> list[Any]:
        """Rows of the list from that day and after that place, the oldest first."""
        start, end = span(day)
        return self._rows(
            f"{name}_of_day",
            ROWS[name],
            start=start,
            end=end,
            after_at=after[0],
            after_id=after[1],
            limit=limit,
        )

    def count(self, name: ListName, day: date) -> tuple[int, int]:
        """How many rows that day has, and how many of them may still change."""
        start, end = span(day)
        [(count, active)] = self._rows(f"count_{name}", tuple, start=start, end=end)
        return count, active

    def day_before(self, day: date) -> date | None:
        """The last day before that one of which there is anything to tell."""
        [(found,)] = self._rows("day_before", tuple, start=span(day)[0])
        return found  # type: ignore[no-any-return]

    def failed_since(self, since: datetime, now: datetime, names: Iterable[str]) -> list[Failure]:
        """And those of these names."""
        return self._rows("failed_since", Failure._make, since=since, now=now, names=list(names))

    def failed_of_day(self, day: date) -> list[str]:
        start, end = span(day)
        return [name for (name,) in self._rows("failed_of_day", tuple, start=start, end=end)]

    def failed_after(self, name: str, limit: int) -> list[str]:
        return [each for (each,) in self._rows("failed_after", tuple, name=name, limit=limit)]

    def failed_workers(self, names: Sequence[str]) -> list[FailedWorkerRow]:
        def row(columns: Sequence[Any]) -> FailedWorkerRow:
            *worker, image, failure_info = columns
            return FailedWorkerRow(WorkerRow._make(worker), image, failure_info)

        return self._rows("failed_workers", row, names=list(names))

    def figures(
        self,
        at: datetime,
        hours_since: datetime,
        label_sets: int,
        tenants: int,
        failures: Sequence[str],
    ) -> FigureRows:
        spans = {
            "at": at,
            "day": at - timedelta(days=1),
            "week": at - timedelta(days=7),
            "since": hours_since,
        }
        busiest = self._rows("figure_tenants", TenantRow._make, **spans, limit=tenants)
        of_them = spans | {"entities": [each.entity_id for each in busiest]}
        return FigureRows(
            waits=self._rows("figure_waits", SpanWaits._make, **spans, limit=label_sets + 1),
            hours=self._rows("figure_hours", HourWaits._make, **spans),
            ended=self._rows("figure_ended", Ended._make, **spans),
            given_up=self._rows("figure_given_up", ReasonCount._make, **spans),
            failed_workers=self._rows("figure_failed_workers", ReasonCount._make, **spans),
            tenants=busiest,
            tenant_waits=self._rows("figure_tenant_waits", TenantWait._make, **of_them),
            tenant_ends=self._rows(
                "figure_tenant_ends", TenantEnds._make, **of_them, failures=list(failures)
            ),
        )

    def _rows(self, query: str, make: Callable[..., R], **parameters: Any) -> list[R]:
        with _translated(query):
            found = self._connection.execute(QUERIES[query], parameters or None).fetchall()
        return [make(row) for row in found]


def span(day: date) -> tuple[datetime, datetime]:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return start, start + timedelta(days=1)


@contextlib.contextmanager
def connect(conninfo: str, schema: str, seconds: float = STATEMENT_SECONDS) -> Iterator[Reader]:
    """For one publisher alone, who has so much time for a statement. Raises BusyError if there is
    another."""
    with _translated("The database cannot be reached"):
        connection = psycopg.connect(conninfo, autocommit=True)
    with contextlib.closing(connection):
        _execute(
            connection,
            "configure_session",
            schema=schema,
            timeout=f"{max(1.0, min(seconds, STATEMENT_SECONDS)):.3f}s",
        )
        [(taken,)] = _execute(connection, "take_lock", schema=schema)
        if not taken:
            raise BusyError("Another publisher is at work.")
        try:
            yield Reader(connection)
        finally:
            if not connection.closed:
                with contextlib.suppress(DatabaseError):  # Then it goes with the session.
                    _execute(connection, "release_lock", schema=schema)


def _execute(
    connection: psycopg.Connection[tuple[Any, ...]], query: str, **parameters: Any
) -> list[tuple[Any, ...]]:
    with _translated(query):
        return connection.execute(QUERIES[query], parameters).fetchall()


@contextlib.contextmanager
def _translated(what: str) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        told = error.diag.message_primary or str(error).partition("\n")[0]
        raise DatabaseError(f"{what}: {told[:300]}") from error
