"""Demand, supply, and the demand whose workers fail."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from ..model import ORGANIZATION, USER, Boards, DemandKey, JobReason, Json, Reason, Scope
from ..policy.back_off import Trouble
from ..policy.plan import PendingJob
from ..policy.waiting import DemandWait, Group
from ..settings import Scheduling
from .database import Database, as_json, joined


@dataclass(frozen=True, slots=True)
class Supply:
    """Active workers of one demand in one pool."""

    key: DemandKey
    pool: str
    workers: int
    spare: int  # took no job yet
    unseen: int  # their pods are not in the cluster's list


def groups(database: Database) -> list[Group]:
    def group(
        entity_id: int,
        repo: str,
        labels: list[str],
        pool: str,
        pending: int,
        installation_id: int,
        entity_name: str,
    ) -> Group:
        kind = USER if repo else ORGANIZATION
        scope = Scope(installation_id, entity_id, entity_name, kind, repo or None)
        return Group(DemandKey(entity_id, repo, tuple(labels)), pool, pending, scope)

    return database.fetch("demand_groups", None, group)


def unconfirmed(database: Database, since: datetime) -> set[DemandKey]:
    """Demand of which some pending job may have been taken since then, for all that is known."""

    def row(entity_id: int, repo: str, labels: list[str]) -> DemandKey:
        return DemandKey(entity_id, repo, tuple(labels))

    return set(database.fetch("unconfirmed", {"since": since}, row))


def oldest_pending(database: Database) -> dict[DemandKey, datetime]:
    """Since when each demand waits."""

    def row(
        entity_id: int, repo: str, labels: list[str], since: datetime
    ) -> tuple[DemandKey, datetime]:
        return DemandKey(entity_id, repo, tuple(labels)), since

    return dict(database.fetch("oldest_pending", None, row))


def supply(database: Database, pod_names: Sequence[str], busy: Iterable[str]) -> list[Supply]:
    """`busy`: workers that are known to work, though no job says so."""

    def row(
        entity_id: int,
        repo: str,
        labels: list[str],
        pool: str,
        workers: int,
        spare: int,
        unseen: int,
    ) -> Supply:
        return Supply(DemandKey(entity_id, repo, tuple(labels)), pool, workers, spare, unseen)

    return database.fetch(
        "supply_groups", {"pod_names": joined(pod_names), "busy": joined(busy)}, row
    )


def oldest_jobs(
    database: Database, wanted: Mapping[tuple[DemandKey, str], int]
) -> list[PendingJob]:
    """Of each demand in each pool that many, oldest first over all."""
    rows = [_key(key) | {"k8s_pool": pool, "take": take} for (key, pool), take in wanted.items()]
    return database.fetch("oldest_jobs", {"wanted": as_json(rows)}, _pending_job)


def load_trouble(database: Database) -> dict[DemandKey, Trouble]:
    def row(
        entity_id: int,
        repo: str,
        labels: list[str],
        failures: int,
        reason: str,
        failed_at: datetime,
        retry_at: datetime,
        parked: bool,
    ) -> tuple[DemandKey, Trouble]:
        key = DemandKey(entity_id, repo, tuple(labels))
        return key, Trouble(failures, Reason(reason), failed_at, retry_at, parked)

    return dict(database.fetch("load_trouble", None, row))


def save_trouble(database: Database, troubles: Mapping[DemandKey, Trouble]) -> None:
    rows = [
        _key(key)
        | {
            "failures": trouble.failures,
            "reason": trouble.reason,
            "failed_at": trouble.failed_at,
            "retry_at": trouble.retry_at,
            "parked": trouble.parked,
        }
        for key, trouble in troubles.items()
    ]
    database.execute("save_trouble", {"troubles": as_json(rows)})


def forget_trouble(database: Database, keys: Iterable[DemandKey]) -> None:
    database.execute("forget_trouble", {"keys": as_json([_key(key) for key in keys])})


def save_plan(
    database: Database,
    waits: Sequence[DemandWait],
    boards: Sequence[Boards],
    scheduling: Scheduling,
    now: datetime,
) -> None:
    """What waits, and the boards there are, given in that order: these, and no others."""
    rows = [
        _key(each.key)
        | {
            "k8s_pool": each.pool,
            "pending": each.pending,
            "covered": each.covered,
            "waiting_for": each.obstacle and each.obstacle.wait,
            "wait_until": each.obstacle and each.obstacle.until,
            "max_workers": each.max_workers,
        }
        for each in waits
    ]
    parameters = {
        "waits": as_json(rows),
        "boards": as_json([asdict(each) for each in boards]),
        "scheduling": scheduling,
        "now": now,
    }
    database.execute("save_plan", parameters)


def tell_jobs_parked(
    database: Database, parked: Mapping[DemandKey, Trouble], now: datetime
) -> None:
    rows = [_key(key) | {"failure_info": _parked(trouble)} for key, trouble in parked.items()]
    database.execute("tell_jobs_parked", {"parked": as_json(rows), "now": now})


def tell_jobs_unparked(database: Database, now: datetime) -> None:
    database.execute("tell_jobs_unparked", {"now": now})


def _parked(trouble: Trouble) -> Json:
    return {
        "version": 2,
        "reason": JobReason.DEMAND_PARKED,
        "message": f"{trouble.failures} attempts in a row failed ({trouble.reason}); "
        f"the next is at {trouble.retry_at:%Y-%m-%d %H:%M:%S} UTC.",
        "at": trouble.failed_at.isoformat(timespec="seconds"),
        "retry_at": trouble.retry_at.isoformat(timespec="seconds"),
        "failures": trouble.failures,
        "last_reason": trouble.reason,
    }


def _key(key: DemandKey) -> Json:
    return {
        "entity_id": key.entity_id,
        "repo_full_name": key.repo_full_name,
        "job_labels": key.labels,
    }


def _pending_job(
    job_id: int,
    entity_id: int,
    repo_key: str,
    labels: list[str],
    installation_id: int,
    entity_name: str,
    entity_type: str,
    repo_full_name: str,
    pool: str,
    image: str,
    created_at: datetime,
) -> PendingJob:
    scope = Scope(
        installation_id,
        entity_id,
        entity_name,
        entity_type,
        repo_full_name if entity_type == USER else None,
    )
    key = DemandKey(entity_id, repo_key, tuple(labels))
    return PendingJob(job_id, key, scope, pool, image, created_at)
