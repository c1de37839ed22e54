"""Whether a database is as schema.sql makes it: its description, and what is missing from it.

`schema.json`, beside this file, describes a fresh schema; `make fingerprint` writes it anew.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.rows import class_row

from webhook_fn.store import load_queries

from ..errors import PermanentError, TransientError

SCHEMA_JSON = Path(__file__).with_name("schema.json")
OLDEST_SERVER = 140_000  # PostgreSQL 14
STATEMENT_TIMEOUT_MILLISECONDS = 10_000
SCHEMA = "schema"  # what a privilege on the schema itself is on
QUERIES = load_queries(Path(__file__).with_name("sql") / "fingerprint.sql")

Connection = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Definitions in PostgreSQL's own words, without the schema's name."""

    tables: dict[str, dict[str, str]]  # column → type, and whether it is not null
    enums: dict[str, str]
    indexes: dict[str, str]
    triggers: dict[str, str]
    functions: dict[str, str]  # a digest of the body
    sequences: list[str]
    privileges: list[str]  # of the role asked for: `UPDATE jobs`, `SELECT jobs.status`


@dataclass(frozen=True, slots=True)
class Inspection:
    role: str
    version: str
    version_number: int
    tls: str | None  # the protocol, if it is used
    fingerprint: Fingerprint

    @property
    def outdated(self) -> bool:
        return self.version_number < OLDEST_SERVER


@dataclass(frozen=True, slots=True)
class _Part:
    kind: str
    parent: str
    name: str
    definition: str


@dataclass(frozen=True, slots=True)
class _Privilege:
    privilege: str
    object: str
    column_name: str | None

    def __str__(self) -> str:
        column = f".{self.column_name}" if self.column_name else ""
        return f"{self.privilege} {self.object}{column}"


@dataclass(frozen=True, slots=True)
class _Server:
    role: str
    version: str
    version_number: int
    tls: str | None


def expected() -> Fingerprint:
    return Fingerprint(**json.loads(SCHEMA_JSON.read_text(encoding="utf-8")))


def inspect(conninfo: str, schema: str) -> Inspection:
    """Of the database as its user sees it. Raises TransientError if it cannot be reached."""
    try:
        with psycopg.connect(conninfo) as connection:
            limit = {"milliseconds": str(STATEMENT_TIMEOUT_MILLISECONDS)}
            connection.execute(QUERIES["limit_statements"], limit)
            with connection.cursor(row_factory=class_row(_Server)) as cursor:
                [server] = cursor.execute(QUERIES["describe_server"]).fetchall()
            described = describe(connection, schema, server.role)
    except psycopg.OperationalError as error:
        raise TransientError(_sentence(error)) from error
    except psycopg.Error as error:
        raise PermanentError(_sentence(error)) from error
    return Inspection(server.role, server.version, server.version_number, server.tls, described)


def describe(connection: Connection, schema: str, role: str) -> Fingerprint:
    """The schema, and what the role may do in it."""
    with connection.cursor(row_factory=class_row(_Part)) as cursor:
        parts = cursor.execute(QUERIES["describe_schema"], {"schema": schema}).fetchall()
    with connection.cursor(row_factory=class_row(_Privilege)) as cursor:
        asked = {"schema": schema, "role": role}
        privileges = cursor.execute(QUERIES["list_privileges"], asked).fetchall()
    tables: dict[str, dict[str, str]] = {}
    for part in parts:
        if part.kind == "column":
            tables.setdefault(part.parent, {})[part.name] = part.definition
    return Fingerprint(
        tables=tables,
        enums=_named(parts, "enum"),
        indexes=_named(parts, "index"),
        triggers=_named(parts, "trigger"),
        functions=_named(parts, "function"),
        sequences=list(_named(parts, "sequence")),
        privileges=[str(privilege) for privilege in privileges],
    )


def differences(expected: Fingerprint, actual: Fingerprint) -> list[str]:
    """What is missing or other than expected. What the operator added is no difference."""
    return [
        *_table_differences(expected.tables, actual.tables),
        *_enum_differences(expected.enums, actual.enums),
        *_definition_differences("index", expected.indexes, actual.indexes),
        *_definition_differences("trigger", expected.triggers, actual.triggers),
        *_definition_differences("function", expected.functions, actual.functions),
        *(
            f"sequence {name} is missing"
            for name in expected.sequences
            if name not in actual.sequences
        ),
    ]


def missing_privileges(expected: Fingerprint, actual: Fingerprint) -> list[str]:
    """Those on what is there; what is not there is a difference already."""
    held = set(actual.privileges)
    there = {SCHEMA, *actual.sequences, *actual.tables}
    there |= {f"{table}.{column}" for table in actual.tables for column in actual.tables[table]}
    missing = []
    for privilege in expected.privileges:
        action, _, place = privilege.partition(" ")
        on_the_whole = f"{action} {place.partition('.')[0]}"
        if place in there and not held & {privilege, on_the_whole}:
            missing.append(f"{action} on {'the schema' if place == SCHEMA else place}")
    return missing


def _named(parts: list[_Part], kind: str) -> dict[str, str]:
    return {part.name: part.definition for part in parts if part.kind == kind}


def _table_differences(
    expected: dict[str, dict[str, str]], actual: dict[str, dict[str, str]]
) -> Iterator[str]:
    for table, columns in expected.items():
        if table not in actual:
            yield f"table {table} is missing"
            continue
        for column, definition in columns.items():
            found = actual[table].get(column)
            if found is None:
                yield f"table {table} has no column {column}"
            elif found != definition:
                yield f"column {table}.{column} is {found}, not {definition}"


def _enum_differences(expected: dict[str, str], actual: dict[str, str]) -> Iterator[str]:
    for name, labels in expected.items():
        if name not in actual:
            yield f"enum {name} is missing"
            continue
        wanted, found = labels.split(", "), actual[name].split(", ")
        missing = [label for label in wanted if label not in found]
        if missing:
            yield f"enum {name} has no value {', '.join(missing)}"
        elif [label for label in found if label in wanted] != wanted:
            yield f"enum {name} has its values in another order: {actual[name]}"


def _definition_differences(
    kind: str, expected: dict[str, str], actual: dict[str, str]
) -> Iterator[str]:
    for name, definition in expected.items():
        found = actual.get(name)
        if found is None:
            yield f"{kind} {name} is missing"
        elif found in (f"{definition} (invalid)", f"{definition} (disabled)"):
            yield f"{kind} {name} is {found.rpartition('(')[2][:-1]}"
        elif found != definition and kind == "function":
            yield f"function {name} is another one"
        elif found != definition:
            yield f"{kind} {name} is another one: {found}"


def _sentence(error: psycopg.Error) -> str:
    """In one line. libpq names host and user in it, never the password."""
    return " ".join(str(error).split()) or type(error).__name__
