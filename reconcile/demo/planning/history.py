"""Pages of `/jobs` as the site publishes them, live or of a day: JSON with `rows` of jobs."""

import json
from typing import Any, NoReturn

from ...errors import ConfigError
from .rows import Row, RowError, State, labels, length, moment, name

_STATES = {"pending": State.WAITING, "running": State.RUNNING}


def read_page(text: str, place: str) -> list[Row]:
    """`place` is what the file is called in messages."""
    try:
        page = json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ConfigError(f"{place} is not JSON that can be read: it is too deep.") from error
    except ValueError as error:
        raise ConfigError(f"{place} is not JSON that can be read: {error}.") from error
    rows = page.get("rows") if isinstance(page, dict) else None
    if not isinstance(rows, list):
        raise ConfigError(f"{place} is no page of /jobs: it has no list of rows.")
    if page.get("list_name") != "jobs":
        raise ConfigError(f"{place} is no page of /jobs: its list_name is another.")
    found = []
    for number, row in enumerate(rows, start=1):
        try:
            found.append(_row(row))
        except RowError as error:
            raise ConfigError(f"{place}, row {number}: {error}.") from error
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON")


def _row(job: Any) -> Row:
    if not isinstance(job, dict):
        raise RowError("it is no job")
    job_id = job.get("id")
    if not isinstance(job_id, int) or isinstance(job_id, bool):
        raise RowError("id is missing or no whole number")
    seconds = job.get("run_seconds")
    ran = seconds is not None
    return Row(
        job_id=job_id,
        entity=name(job.get("entity"), "entity"),
        # A page does not tell personal accounts from organizations: all are taken for these.
        repository=None,
        labels=labels(job.get("labels")),
        pool=name(job.get("pool"), "pool"),
        created_at=moment(job.get("queued_at"), "queued_at"),
        state=State.RAN if ran else _STATES.get(str(job.get("status")), State.NEVER_RAN),
        seconds=length(seconds, "run_seconds") if ran else None,
    )
