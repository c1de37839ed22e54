"""`make fingerprint`: reconcile/store/schema.json, from schema.sql on a PostgreSQL of its own.

`reconcile check` holds databases against it. The role's privileges in it are the reconciler's.
"""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import psycopg

from reconcile.sim import postgres
from reconcile.store.fingerprint import SCHEMA_JSON, Fingerprint, describe

SCHEMA_SQL = Path(__file__).parent.parent / "schema.sql"
SCHEMA = "prod"  # any would do: its name is in no definition


class FingerprintError(Exception):
    """schema.sql could not be applied; the message is psql's."""


def make() -> Fingerprint:
    with postgres.running() as server:
        command = [str(server.binaries / "psql"), "--no-psqlrc", "--quiet", server.url()]
        command += ["-v", f"schema={SCHEMA}", "-f", str(SCHEMA_SQL)]
        applied = subprocess.run(command, capture_output=True, text=True, check=False)
        if applied.returncode != 0:
            raise FingerprintError(f"schema.sql cannot be applied: {applied.stderr.strip()}")
        with psycopg.connect(server.url()) as connection:
            return describe(connection, SCHEMA, f"{SCHEMA}_reconcile")


def text(fingerprint: Fingerprint) -> str:
    return json.dumps(dataclasses.asdict(fingerprint), indent=1) + "\n"


def main() -> None:
    SCHEMA_JSON.write_text(text(make()), encoding="utf-8")
    sys.stdout.write(f"Wrote {SCHEMA_JSON.name}.\n")


if __name__ == "__main__":
    main()
