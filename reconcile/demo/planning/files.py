"""Files that loads are read from: pages of `/jobs`, directories of them, CSV files."""

import gzip
import io
import re
import statistics
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ...errors import ConfigError
from .csv_file import read_csv
from .history import read_page
from .load import LoadJob
from .rows import Row, State

MOST_BYTES = 64 * 2**20  # of one file, also once it is unpacked
_PAGE = re.compile(r"jobs(\.[1-9][0-9]*)?\.json")
_PACKED = b"\x1f\x8b"  # as the site's objects are in a bucket
_LEFT_OUT = {
    State.NEVER_RAN: "ended before it ran",
    State.WAITING: "had not ended, and nothing tells how long it takes",
    State.RUNNING: "had not ended, and nothing tells how long it takes",
}


@dataclass(frozen=True, slots=True)
class Loaded:
    jobs: list[LoadJob]  # the oldest first
    left_out: Mapping[str, int]  # how many, by why: "ended before it ran"
    supposed: int  # of the jobs, those whose length is that of others of their account


def read(paths: Sequence[Path]) -> Loaded:
    """Raises ConfigError, which names the file and the place in it."""
    rows = [row for path in paths for file in _files(path) for row in _rows(file)]
    if not rows:
        raise ConfigError(f"There are no jobs in {', '.join(map(str, paths))}.")
    return _loaded(_without_duplicates(rows))


# Files to rows -----------------------------------------------------------------------------------


def _files(path: Path) -> Iterator[Path]:
    """A directory is a published site, or a part of one."""
    try:
        if not path.is_dir():
            yield path
            return
        found = sorted(file for file in path.rglob("jobs*.json") if _PAGE.fullmatch(file.name))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    if not found:
        raise ConfigError(f"{path} holds no jobs.json, jobs.2.json, ... at any depth.")
    yield from found


def _rows(file: Path) -> list[Row]:
    text = _text(file)
    start = text.lstrip()[:1]
    if not start:
        raise ConfigError(f"{file} is empty.")
    return read_page(text, str(file)) if start in "{[" else read_csv(text, str(file))


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            content = _limited(stream, file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error
    try:
        if content.startswith(_PACKED):
            with gzip.open(io.BytesIO(content)) as packed:
                content = _limited(packed, file)
        return content.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{file} is compressed, and damaged.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is no text in UTF-8: see byte {error.start + 1}.") from error


def _limited(stream: IO[bytes] | gzip.GzipFile, file: Path) -> bytes:
    content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ConfigError(f"{file} has more than {MOST_BYTES // 2**20} MiB: split it by days.")
    return content


# Rows to jobs ------------------------------------------------------------------------------------


def _without_duplicates(rows: Iterable[Row]) -> list[Row]:
    """A job may be on a live page and in its day's file, which are not of the same moment."""
    without_id: list[Row] = []
    by_id: dict[int, Row] = {}
    for row in rows:
        if row.job_id is None:
            without_id.append(row)
        elif row.job_id not in by_id or row.state > by_id[row.job_id].state:
            by_id[row.job_id] = row
    # Of one moment the lower number came first.
    return sorted([*without_id, *by_id.values()], key=lambda row: (row.created_at, row.job_id or 0))


def _loaded(rows: Sequence[Row]) -> Loaded:
    usual = _usual_seconds(rows)
    jobs: list[LoadJob] = []
    left_out: Counter[str] = Counter()
    supposed = 0
    for row in rows:
        seconds = row.seconds
        if row.state in (State.WAITING, State.RUNNING):
            # It needs a board like any other: without it, a long queue would look like none.
            seconds = usual.get(row.entity, usual.get(None))
            supposed += seconds is not None
        if seconds is None:
            left_out[_LEFT_OUT[row.state]] += 1
        else:
            jobs.append(
                LoadJob(row.entity, row.repository, row.labels, row.pool, row.created_at, seconds)
            )
    return Loaded(jobs, dict(left_out), supposed)


def _usual_seconds(rows: Iterable[Row]) -> dict[str | None, float]:
    """The median by account, and under None that of all."""
    lengths: dict[str | None, list[float]] = {}
    for row in rows:
        if row.seconds is not None:
            lengths.setdefault(row.entity, []).append(row.seconds)
            lengths.setdefault(None, []).append(row.seconds)
    return {entity: statistics.median(each) for entity, each in lengths.items()}
