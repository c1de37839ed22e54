"""Databases for tests: cloned from a template, dropped afterwards."""

import contextlib
import os
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row

SCHEMA_SQL = Path(__file__).parent.parent / "schema.sql"
TEMPLATE = "riscv_runners_template"
SCHEMAS = ("prod", "staging")

Row = dict[str, Any]


@dataclass(frozen=True)
class Database:
    url: str
    psql: Path

    def role_url(self, role: str) -> str:
        """The same database for the login that has just that role (say, prod_webhook_fn)."""
        return make_conninfo(self.url, user=f"{role}_login")

    @contextlib.contextmanager
    def connect(
        self, schema: str = "prod", role: str | None = None
    ) -> Iterator[psycopg.Connection[Row]]:
        url = self.url if role is None else self.role_url(role)
        with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
            connection.execute("SELECT set_config('search_path', %s, false)", [schema])
            yield connection

    def rows(self, query: str, *parameters: Any, schema: str = "prod") -> list[Row]:
        with self.connect(schema) as connection:
            return connection.execute(query.encode(), parameters or None).fetchall()

    def execute(self, statement: str, *parameters: Any, schema: str = "prod") -> None:
        with self.connect(schema) as connection:
            connection.execute(statement.encode(), parameters or None)

    def apply_schema(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """schema.sql as operators apply it, with the real psql."""
        return subprocess.run(
            [self.psql, "--no-psqlrc", self.url, *arguments, "-f", SCHEMA_SQL],
            capture_output=True,
            text=True,
            check=False,
        )


@dataclass(frozen=True)
class Cluster:
    url: str  # of a superuser
    psql: Path

    def database(self, name: str) -> Database:
        return Database(make_conninfo(self.url, dbname=name), self.psql)

    def make_template(self) -> None:
        with self._connect() as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {TEMPLATE}".encode())
            connection.execute(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0".encode())
        template = self.database(TEMPLATE)
        for schema in SCHEMAS:
            applied = template.apply_schema("-v", f"schema={schema}")
            if applied.returncode != 0:
                raise RuntimeError(f"schema.sql failed: {applied.stderr}")
            for role in (f"{schema}_webhook_fn", f"{schema}_reconcile"):
                with (
                    self._connect() as connection,
                    contextlib.suppress(psycopg.errors.DuplicateObject),
                ):
                    connection.execute(f"CREATE USER {role}_login IN ROLE {role}".encode())

    @contextlib.contextmanager
    def new_database(self, template: str = TEMPLATE) -> Iterator[Database]:
        name = f"test_{os.getpid()}_{uuid.uuid4().hex[:8]}"
        with self._connect() as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
        try:
            yield self.database(name)
        finally:
            with self._connect() as connection:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        assert conninfo_to_dict(self.url), "the cluster has a URL"
        return psycopg.connect(self.url, autocommit=True)
