"""Rows for the site to show, one by one."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb

from tests.database import Database

NOW = datetime(2026, 11, 18, 12, 0, 7, tzinfo=UTC)
POOL = "scw-em-rv1"
LABELS = ("ubuntu-24.04-riscv",)
ENTITY = {"entity_id": 1, "entity_name": "riseproject", "entity_type": "Organization"}
COMMON = {"provider": "github", "installation_id": 11, "k8s_image": "registry.example/ubuntu:prod"}


def ago(seconds: float = 0, *, minutes: float = 0, hours: float = 0, days: float = 0) -> datetime:
    return NOW - timedelta(seconds=seconds, minutes=minutes, hours=hours, days=days)


class SiteRows:
    def __init__(self, database: Database) -> None:
        self.database = database
        self._number = 0

    def job(self, **columns: Any) -> int:
        """A public one that waits, unless it is told otherwise; its number."""
        self._number += 1
        created = columns.get("created_at", ago(minutes=5))
        row = {
            **COMMON,
            **ENTITY,
            "job_id": 10_000_000 + self._number,
            "repo_full_name": "riseproject/firmware",
            "repo_private": False,
            "job_labels": LABELS,
            "k8s_pool": POOL,
            "job_name": "build",
            "workflow_name": "ci",
            "run_attempt": 1,
            "html_url": f"https://github.com/riseproject/firmware/actions/runs/7/job/{self._number}",
            "created_at": created,
            "queued_at": created,
            "updated_at": created,
            **columns,
        }
        self.insert("jobs", row)
        return int(row["job_id"])

    def ended_job(
        self, *, ended: datetime, took: float = 300, waited: float = 60, **columns: Any
    ) -> int:
        started = ended - timedelta(seconds=took)
        return self.job(
            **{
                "status": "completed",
                "conclusion": "success",
                "created_at": started - timedelta(seconds=waited),
                "started_at": started,
                "completed_at": ended,
                "updated_at": ended,
                **columns,
            }
        )

    def worker(self, **columns: Any) -> str:
        """One that runs, unless it is told otherwise; its name."""
        self._number += 1
        created = columns.get("created_at", ago(minutes=4))
        row = {
            **COMMON,
            **ENTITY,
            "pod_name": f"rise-riscv-runner-{self._number:010x}",
            "job_labels": LABELS,
            "k8s_pool": POOL,
            "k8s_node": "scw-em-rv1-001",
            "status": "running",
            "created_at": created,
            "updated_at": created,
            **columns,
        }
        self.insert("workers", row)
        return str(row["pod_name"])

    def failed_worker(
        self,
        reason: str = "runner_never_registered",
        *,
        failed: datetime | None = None,
        **columns: Any,
    ) -> str:
        info = {
            "version": 2,
            "reason": reason,
            "message": "It did not come.",
            **columns.pop("info", {}),
        }
        at = failed or ago(minutes=2)
        return self.worker(
            **{
                "status": "failed",
                "failure_info": info,
                "created_at": at - timedelta(minutes=3),
                "running_at": at - timedelta(minutes=2),
                "completed_at": at,
                "updated_at": at,
                **columns,
            }
        )

    def run(self, *, phases: Sequence[Mapping[str, Any]] = (), **columns: Any) -> int:
        """One that did something, unless it is told otherwise; its number."""
        started = columns.get("started_at", ago(seconds=10))
        row = {
            "started_at": started,
            "completed_at": started + timedelta(seconds=1),
            "status": "completed",
            "jobs_updated": 1,
            **columns,
        }
        names = sql.SQL(", ").join(map(sql.Identifier, row))
        values = sql.SQL(", ").join([sql.Placeholder()] * len(row))
        with self.database.connect() as connection:
            [found] = connection.execute(
                sql.SQL("INSERT INTO reconcile_runs ({}) VALUES ({}) RETURNING id").format(
                    names, values
                ),
                list(row.values()),
            ).fetchall()
        for phase in phases:
            self.insert("reconcile_phases", {"run_id": found["id"], "success": True, **phase})
        return int(found["id"])

    def boards(
        self, pool: str = POOL, *, slots: int = 10, usable: int = 10, in_use: int = 4
    ) -> None:
        self.insert(
            "boards",
            {
                "k8s_pool": pool,
                "slots": slots,
                "usable": usable,
                "in_use": in_use,
                "free": max(0, usable - in_use),
                "observed_at": NOW,
            },
        )

    def waits(self, waiting_for: str | None, **columns: Any) -> None:
        row = {
            "entity_id": 1,
            "repo_full_name": "",
            "job_labels": LABELS,
            "k8s_pool": POOL,
            "pending": 1,
            "covered": 0,
            "waiting_for": waiting_for,
            "planned_at": NOW,
            **columns,
        }
        self.insert("demand_waits", row)

    def insert(self, table: str, row: Mapping[str, Any]) -> None:
        names = sql.SQL(", ").join(map(sql.Identifier, row))
        values = sql.SQL(", ").join([sql.Placeholder()] * len(row))
        with self.database.connect() as connection:
            connection.execute(
                sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
                    sql.Identifier(table), names, values
                ),
                [_stored(value) for value in row.values()],
            )

    def update(self, table: str, key: str, which: Any, **columns: Any) -> None:
        sets = sql.SQL(", ").join(
            sql.SQL("{} = {}").format(sql.Identifier(name), sql.Placeholder()) for name in columns
        )
        with self.database.connect() as connection:
            connection.execute(
                sql.SQL("UPDATE {} SET {} WHERE {} = {}").format(
                    sql.Identifier(table), sets, sql.Identifier(key), sql.Placeholder()
                ),
                [*map(_stored, columns.values()), which],
            )


def _stored(value: Any) -> Any:
    return Jsonb(value) if isinstance(value, dict | tuple | list) else value
