"""What is kept of GitHub between runs: tokens and limits, scopes, webhook logs."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..github.state import WELL_AGAIN, AuthFailure, Credential
from ..model import Delivery, Json, Pages, Scope
from .database import Database, as_json

JOB_EVENTS = "workflow_job."


@dataclass(frozen=True, slots=True)
class KnownScope:
    """A scope runners were registered in, with what GitHub said of it last."""

    scope: Scope
    group_id: int | None
    group_setting: bool | None
    pages: Pages
    used_at: datetime
    swept_at: datetime | None


@dataclass(frozen=True, slots=True)
class Redelivery:
    app_id: int
    guid: str
    delivery_id: int
    attempts: int  # asked for so far
    event: str | None  # None if it was found before events were noted
    job_id: int | None

    @property
    def of_unknown_job(self) -> bool:
        return self.job_id is None and (self.event or "").startswith(JOB_EVENTS)


def load_credentials(database: Database) -> list[Credential]:
    return database.fetch("load_credentials", None, Credential)


def save_credentials(
    database: Database,
    credentials: Sequence[Credential],
    failures: Sequence[AuthFailure],
    now: datetime,
) -> None:
    """Both or neither: a failure that is remembered has its event."""
    if credentials or failures:
        database.execute(
            "save_credentials",
            {
                "credentials": as_json([_credential_row(each) for each in credentials]),
                "failures": as_json([_event_row(each) for each in failures]),
                "now": now,
            },
        )


def load_scopes(database: Database, since: datetime) -> list[KnownScope]:
    return database.fetch("load_scopes", {"since": since}, _known_scope)


def use_scopes(database: Database, scopes: Iterable[Scope], now: datetime) -> None:
    rows = [
        _scope_key(scope)
        | {
            "installation_id": scope.installation_id,
            "entity_name": scope.entity_name,
            "entity_type": scope.entity_type,
        }
        for scope in scopes
    ]
    database.execute("use_scopes", {"scopes": as_json(rows), "now": now})


def save_groups(database: Database, groups: Mapping[Scope, tuple[int | None, bool | None]]) -> None:
    rows = [
        _scope_key(scope) | {"group_id": group_id, "group_setting": setting}
        for scope, (group_id, setting) in groups.items()
    ]
    database.execute("save_groups", {"groups": as_json(rows)})


def save_listings(
    database: Database, listings: Mapping[Scope, tuple[Pages, datetime | None]]
) -> None:
    rows = [
        _scope_key(scope) | {"pages": pages, "swept_at": swept_at}
        for scope, (pages, swept_at) in listings.items()
    ]
    database.execute("save_listings", {"listings": as_json(rows)})


def make_sweep_due(database: Database, scopes: Iterable[Scope]) -> None:
    """Something may be left over there: its registrations are looked through next time."""
    keys = as_json([_scope_key(scope) for scope in scopes])
    database.execute("make_sweep_due", {"scopes": keys})


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far an App's webhook log was read."""

    app_id: int
    delivery_id: int | None  # the newest that failed
    read_at: datetime
    redeliveries_due: bool


def load_cursors(database: Database, now: datetime) -> dict[int, Cursor]:
    """By App."""
    cursors = database.fetch("load_cursors", {"now": now}, Cursor)
    return {cursor.app_id: cursor for cursor in cursors}


def save_cursor(database: Database, app_id: int, delivery_id: int | None, now: datetime) -> None:
    parameters = {"app_id": app_id, "delivery_id": delivery_id, "now": now}
    database.execute("save_cursor", parameters)


def note_failed(
    database: Database,
    app_id: int,
    deliveries: Iterable[Delivery],
    *,
    attempts: int,
    interval: float,
) -> None:
    latest = {each.guid: each for each in deliveries}  # oldest first: the last attempt stays
    rows = [
        {
            "guid": each.guid,
            "delivery_id": each.id,
            "failed_at": each.delivered_at,
            "event": each.qualified_event,
            "installation_id": each.installation_id,
            "status_code": each.status_code,
        }
        for each in latest.values()
    ]
    parameters: dict[str, Any] = {
        "app_id": app_id,
        "deliveries": as_json(rows),
        "attempts": attempts,
        "interval": interval,
        "job_events": JOB_EVENTS,
    }
    database.execute("note_failed_deliveries", parameters)


def due_redeliveries(database: Database, now: datetime, most: int) -> list[Redelivery]:
    return database.fetch("due_redeliveries", {"now": now, "most": most}, Redelivery)


def looked_into(
    database: Database, jobs: Mapping[Redelivery, int | None], *, attempts: int
) -> None:
    """Which job each is about, as far as it is told. Those that are not to be asked for are done
    with."""
    rows = [
        {"app_id": each.app_id, "guid": each.guid, "job_id": job_id}
        for each, job_id in jobs.items()
    ]
    database.execute("looked_into", {"deliveries": as_json(rows), "attempts": attempts})


def redelivered(database: Database, app_id: int, guids: Sequence[str]) -> None:
    database.execute("redelivered", {"app_id": app_id, "guids": list(guids)})


def _credential_row(credential: Credential) -> Json:
    token = credential.token
    return {
        "key": credential.key,
        "token": None if token is None else base64.b64encode(token).decode(),
        "token_expires_at": credential.token_expires_at,
        "auth_failure": credential.auth_failure,
        "auth_failed_at": credential.auth_failed_at,
        "rate_limit": credential.rate_limit,
        "rate_remaining": credential.rate_remaining,
        "rate_resets_at": credential.rate_resets_at,
        "blocked_until": credential.blocked_until,
        "recent": credential.recent,
    }


def _event_row(failure: AuthFailure) -> Json:
    scope = failure.scope
    return {
        "event": failure.event,
        "outcome": "auth_restored" if failure.event == WELL_AGAIN else "auth_failed",
        "installation_id": failure.installation_id,
        "app_id": failure.app_id,
        "entity_type": scope.entity_type,
        "entity_id": scope.entity_id,
        "entity_name": scope.entity_name,
        "payload": {"status": failure.status, "message": failure.message},
    }


def _known_scope(
    entity_id: int,
    repo_full_name: str,
    installation_id: int,
    entity_name: str,
    entity_type: str,
    group_id: int | None,
    group_setting: bool | None,
    pages: Pages,
    used_at: datetime,
    swept_at: datetime | None,
) -> KnownScope:
    scope = Scope(installation_id, entity_id, entity_name, entity_type, repo_full_name or None)
    return KnownScope(scope, group_id, group_setting, pages, used_at, swept_at)


def _scope_key(scope: Scope) -> Json:
    entity_id, repo_full_name = scope.key
    return {"entity_id": entity_id, "repo_full_name": repo_full_name}
