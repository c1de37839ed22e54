"""A load of one's own: a CSV file with one job a line."""

import csv
import io

from ...errors import ConfigError
from .rows import Row, RowError, State, labels, length, moment, name

COLUMNS = ("created_at", "entity", "pool", "labels", "seconds")
OPTIONAL = ("repository",)
HEADER = ",".join(COLUMNS)


def read_csv(text: str, place: str) -> list[Row]:
    """`place` is what the file is called in messages."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [column.strip() for column in next(reader, [])]
        if len(set(header)) < len(header) or not (
            set(COLUMNS) <= set(header) <= {*COLUMNS, *OPTIONAL}
        ):
            raise ConfigError(
                f"{place} is neither a page of /jobs (JSON) nor a CSV file whose first line is "
                f"{HEADER} (and, if need be, repository)."
            )
        return [_row(header, line, f"{place}, line {reader.line_num}") for line in reader if line]
    except csv.Error as error:
        raise ConfigError(f"{place}, line {reader.line_num}: {error}.") from error


def _row(header: list[str], line: list[str], place: str) -> Row:
    if len(line) != len(header):
        raise ConfigError(f"{place}: it has {len(line)} columns, the first line {len(header)}.")
    fields = dict(zip(header, (field.strip() for field in line), strict=True))
    try:
        return Row(
            job_id=None,
            entity=name(fields["entity"], "entity"),
            repository=name(fields["repository"], "repository")
            if fields.get("repository")
            else None,
            labels=labels(fields["labels"].split()),
            pool=name(fields["pool"], "pool"),
            created_at=moment(fields["created_at"], "created_at"),
            state=State.RAN,
            seconds=length(_number(fields["seconds"]), "seconds"),
        )
    except RowError as error:
        raise ConfigError(f"{place}: {error}.") from error


def _number(text: str) -> float | str:
    """What is none is said as it stands there."""
    try:
        return float(text)
    except ValueError:
        return text
