"""What each event means: from a delivery to a decision. Pure: no I/O, no clock, no log."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from . import fields
from .http import RequestError, malformed
from .job import STATUS_AFTER, Entity, Job, Status, read_job
from .payload import Payload, parse
from .routes import Route, Routes


class Outcome(StrEnum):
    """What became of an accepted delivery: the `outcome` of its row in installation_events."""

    JOB_STORED = "job_stored"
    JOB_ALREADY_EXISTS = "job_already_exists"
    JOB_MARKED_RUNNING = "job_marked_running"
    JOB_ALREADY_RUNNING = "job_already_running"
    JOB_MARKED_COMPLETED = "job_marked_completed"
    JOB_ALREADY_COMPLETED = "job_already_completed"
    JOB_ALREADY_FAILED = "job_already_failed"
    JOB_NOT_FOUND = "job_not_found"
    IGNORED_ACTION = "ignored_action"
    IGNORED_NO_LABEL = "ignored_no_label"
    IGNORED_WRONG_APP = "ignored_wrong_app"
    BANNED_ENTITY = "banned_entity"
    BANNED_SENDER = "banned_sender"
    PROXIED_TO_STAGING = "proxied_to_staging"
    RECORDED = "recorded"
    PONG = "pong"
    UNHANDLED_EVENT = "unhandled_event"


@dataclass(frozen=True, slots=True)
class Apps:
    """The two GitHub Apps: an account is served by the one made for its type."""

    organization: int
    personal: int

    def serve(self, app_id: int, entity: Entity) -> bool:
        """Both Apps on one account deliver each job twice; only one of them can run it."""
        wanted = {"Organization": self.organization, "User": self.personal}
        return wanted.get(entity.type or "") == app_id


@dataclass(frozen=True, slots=True)
class Delivery:
    id: str
    event: str  # X-GitHub-Event
    action: str | None
    app_id: int
    installation_id: int | None
    entity: Entity | None
    job_id: int | None
    payload: Payload

    @property
    def qualified_event(self) -> str:
        return f"{self.event}.{self.action}" if self.action else self.event


@dataclass(frozen=True, slots=True)
class Record:
    """Nothing to do but to write it down."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class StoreJob:
    """Demand. The route is None for a job that may only be updated if it is there already:

    routes and bans may have changed since it was stored, and it must still come to its end.
    """

    job: Job
    route: Route | None


@dataclass(frozen=True, slots=True)
class HandToStaging:
    """The account belongs to staging: its deliveries go there as they came."""


Decision = Record | StoreJob | HandToStaging

_NAME = re.compile(r"[a-z_]{1,64}")
_DELIVERY_ID = re.compile(r"[0-9A-Za-z-]{1,64}")


INSTALLATION_EVENTS = ("installation", "installation_repositories", "installation_target")
# Where an event may keep the account it is about, the likeliest first.
ACCOUNTS = (("installation", "account"), ("account",), ("organization",), ("repository", "owner"))


def read_delivery(headers: Mapping[str, str], body: bytes, apps: Apps) -> Delivery:
    """The headers first, then the body."""
    event = headers.get("x-github-event", "")
    delivery_id = headers.get("x-github-delivery", "")
    target = headers.get("x-github-hook-installation-target-id", "")
    if not _NAME.fullmatch(event):
        raise malformed("The header X-GitHub-Event does not name an event.")
    if not _DELIVERY_ID.fullmatch(delivery_id):
        raise malformed("The header X-GitHub-Delivery does not hold a delivery's id.")
    if target not in (str(apps.organization), str(apps.personal)):
        raise malformed(
            "The header X-GitHub-Hook-Installation-Target-ID names neither of our GitHub Apps."
        )
    payload = parse(body)
    action = payload.get("action")
    if not isinstance(action, str) or not _NAME.fullmatch(action):
        action = None
    if action is None and event in ("workflow_job", *INSTALLATION_EVENTS):
        raise malformed("The payload has no action.")
    if event in INSTALLATION_EVENTS:
        fields.identifier(payload, "installation", "id")
    return Delivery(
        id=delivery_id,
        event=event,
        action=action,
        app_id=int(target),
        installation_id=_identifier_if_there(payload, "installation", "id"),
        entity=_owner(payload) if event == "workflow_job" else _account_if_there(payload),
        job_id=_identifier_if_there(payload, "workflow_job", "id"),
        payload=payload,
    )


def decide(delivery: Delivery, routes: Routes, apps: Apps, *, proxying: bool) -> Decision:
    entity = delivery.entity
    if proxying and entity and routes.staging_entities.include(entity.id, entity.name):
        return HandToStaging()
    if delivery.event == "workflow_job" and entity is not None:
        return _decide_job(delivery, entity, routes, apps)
    if delivery.event in INSTALLATION_EVENTS:
        return Record(Outcome.RECORDED)
    if delivery.event == "ping":
        return Record(Outcome.PONG)
    return Record(Outcome.UNHANDLED_EVENT)


def _decide_job(delivery: Delivery, entity: Entity, routes: Routes, apps: Apps) -> Decision:
    status = STATUS_AFTER.get(delivery.action or "")
    if status is None:
        return Record(Outcome.IGNORED_ACTION)
    job = read_job(delivery.payload, status, entity)
    route = routes.find(job.labels, entity.id, entity.name, job.repo_full_name)
    refusal = _refusal(delivery, job, route, routes, apps)
    if refusal is None:
        return StoreJob(job, route)
    if status is Status.PENDING:
        return Record(refusal)
    return StoreJob(job, route=None)


def _refusal(
    delivery: Delivery, job: Job, route: Route | None, routes: Routes, apps: Apps
) -> Outcome | None:
    """Why the job may not be stored. A job that is not ours is told so before anything else."""
    if route is None:
        return Outcome.IGNORED_NO_LABEL
    if routes.banned_entities.include(job.entity.id, job.entity.name):
        return Outcome.BANNED_ENTITY
    if routes.banned_senders.include(job.sender_id, job.sender_name):
        return Outcome.BANNED_SENDER
    if not apps.serve(delivery.app_id, job.entity):
        return Outcome.IGNORED_WRONG_APP
    return None


def _owner(payload: Payload) -> Entity:
    return Entity(
        id=fields.identifier(payload, "repository", "owner", "id"),
        name=fields.text(payload, "repository", "owner", "login"),
        type=fields.text(payload, "repository", "owner", "type"),
    )


def _account_if_there(payload: Payload) -> Entity | None:
    """Nothing is asked of an event that is only written down: what it says of its account.

    An enterprise has a slug for a login; `organization` has no type, being one.
    """
    for path in ACCOUNTS:
        account_id = _identifier_if_there(payload, *path, "id")
        if account_id is not None:
            name = _text_if_there(payload, *path, "login") or _text_if_there(payload, *path, "slug")
            kind = _text_if_there(payload, *path, "type") or _target_type(payload)
            if path == ("organization",):
                kind = "Organization"
            return Entity(account_id, name, kind)
    target_id = _identifier_if_there(payload, "installation", "target_id")
    return None if target_id is None else Entity(target_id, None, _target_type(payload))


def _target_type(payload: Payload) -> str | None:
    own = _text_if_there(payload, "target_type")
    return own or _text_if_there(payload, "installation", "target_type")


def _identifier_if_there(payload: Payload, *path: str) -> int | None:
    try:
        return fields.optional_identifier(payload, *path)
    except RequestError:
        return None


def _text_if_there(payload: Payload, *path: str) -> str | None:
    value = fields.optional(payload, *path)
    return value if isinstance(value, str) and value else None
