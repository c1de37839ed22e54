"""What statements read of tables with a long history, as PostgreSQL itself tells it."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.database import Cluster, Database

STATISTICS = ["without statistics", "with statistics"]


@contextlib.contextmanager
def with_history(
    cluster: Cluster, history: str, big: Iterable[str], known: str
) -> Iterator[Database]:
    """Autovacuum comes when it likes: a table may be large before anything is known of it."""
    with cluster.new_database() as database:
        for table in sorted(big):
            database.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
        database.execute(history)
        if known == "with statistics":
            database.execute("ANALYZE")
        yield database


def assert_bounded(
    database: Database, statement: bytes, parameters: Mapping[str, Any], most: Mapping[str, int]
) -> None:
    """It reads so many rows of these tables at most, and none of them from end to end."""
    explain = b"EXPLAIN (ANALYZE, FORMAT JSON) " + statement
    with database.connect() as connection:
        [row] = connection.execute(explain, parameters or None).fetchall()
    [document] = row["QUERY PLAN"]
    assert_plan_is_bounded(document["Plan"], most)


def assert_plan_is_bounded(plan: dict[str, Any], most: Mapping[str, int]) -> None:
    """The same of a plan that was carried out."""
    for scan in _scans(plan):
        table = scan["Relation Name"]
        if table in most:
            told = json.dumps(scan, indent=1)
            assert scan["Node Type"] != "Seq Scan", told
            assert _rows_read(scan) <= most[table], told


def _scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "Relation Name" in plan:
        yield plan
    for each in plan.get("Plans", []):
        yield from _scans(each)


def _rows_read(scan: dict[str, Any]) -> float:
    """Also those that it had no use for."""
    removed = ("Rows Removed by Filter", "Rows Removed by Index Recheck")
    each = scan["Actual Rows"] + sum(scan.get(name, 0) for name in removed)
    return float(each * scan["Actual Loops"])
