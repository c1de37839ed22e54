"""Asks and answers: what the function and `reconcile trace` call."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..events import Apps, Outcome
from ..fields import LARGEST_ID
from ..job import Status
from ..routes import Routes
from . import timeline
from .case import Case
from .facts import Event, JobEvent, JobFacts, JobRow, JobWorker, Json, Limit, StateEvent
from .reading import Reader, Source
from .rules import diagnose
from .state import Account, fold
from .trace import Trace
from .words import stamp

USUAL = 50

PAST = "The queue of that time is not known: what was planned, held back or allowed is not kept."
NO_RUNS = "The runs of that time are not kept any more: whether there were any is not known."
NO_ROUTES = "The routes are not known here (ROUTES_FILE): whether one fits now was not looked at."
NO_BEGINNING = "The log begins after the installation did: what was not told since is unknown."


@dataclass(frozen=True, slots=True)
class Page:
    """Which events of a list: those before one, the latest first."""

    before: int | None = None
    limit: int = USUAL


@dataclass(frozen=True, slots=True)
class Asked:
    """When it is asked, and about when."""

    now: datetime
    at: datetime | None = None  # None: now
    repository: str | None = None  # owner/name, if whoever asks knows it

    @property
    def moment(self) -> datetime:
        return self.at or self.now


@dataclass(frozen=True, slots=True)
class Tracer:
    source: Source
    apps: Apps
    routes: Routes | None  # None: whoever asks does not know them

    def job(self, job_id: int, asked: Asked) -> Trace:
        """Also of a job that nothing is known of: that is an answer too (`known` is False)."""
        reader = Reader(self.source, asked.at)
        events, stored = reader.events_of_job(job_id), reader.job(job_id)
        job = _as_of(stored, events, asked.at)
        repository = job.repository if job else _last_repository(events) or asked.repository
        state = self._state(reader, job, events, repository)
        account = fold(state)
        facts = self._facts(reader, job_id, job, events, account, asked)
        case = Case(
            asked.moment,
            self.apps,
            self.routes,
            account,
            facts,
            repository,
            past=asked.at is not None,
            comes_at=stored.created_at if stored is not None and job is None else None,
        )
        return Trace(
            subject=f"job {job_id}",
            at=asked.moment,
            known=bool(job or events or facts.deliveries.of_the_job),
            findings=diagnose(case),
            account=account,
            job=_told(job) if job is not None else None,
            timeline=timeline.of_job(facts, state, asked.at),
            notes=self._notes(asked, case),
        )

    def installation(self, installation_id: int, asked: Asked, page: Page = Page()) -> Trace | None:
        """None if nothing is known of it."""
        reader = Reader(self.source, asked.at)
        entity_id = reader.entity_of_installation(installation_id)
        if entity_id is None:
            state = reader.state_of_installation(installation_id)
        else:
            state = reader.state_of_entity(entity_id)
        events = reader.log_of_installation(installation_id, page.before, page.limit + 1)
        of_it = any(each.row.installation_id == installation_id for each in state)
        if not of_it and not events and page.before is None:
            return None
        found = _Found(f"installation {installation_id}", state, events, installation_id)
        return self._trace(reader, asked, page, found)

    def entity(self, entity: int | str, asked: Asked, page: Page = Page()) -> Trace | None:
        """By its number, or by a name that it has or had; text of digits may be either."""
        reader = Reader(self.source, asked.at)
        number = _number(reader, entity)
        if number is None:
            return None
        state = reader.state_of_entity(number)
        events = reader.log_of_entity(number, page.before, page.limit + 1)
        if asked.at is not None and not state and not events and page.before is None:
            return None
        known_as = entity if isinstance(entity, str) and entity != str(number) else None
        found = _Found(f"account {number}", state, events, known_as=known_as)
        return self._trace(reader, asked, page, found)

    def payload(self, event_id: int) -> Json | None:
        """One row of the log, with its payload."""
        found = Reader(self.source, None).payload(event_id)
        if found is None:
            return None
        event, payload = found
        return {**_row(event), "payload": payload}

    def _trace(self, reader: Reader, asked: Asked, page: Page, found: "_Found") -> Trace:
        account = fold(found.state)
        named = (each.entity_name for each in found.events if each.entity_name)
        case = Case(
            asked.moment,
            self.apps,
            self.routes,
            account,
            repository=asked.repository if _may_be_of(asked.repository, account) else None,
            of_installation=found.installation,
            known_as=next(named, found.known_as),
            limits=self._limits(reader, account, asked),
            past=asked.at is not None,
        )
        shown = found.events[: page.limit]
        name = f" ({account.name})" if account is not None and account.name else ""
        return Trace(
            subject=found.subject + name,
            at=asked.moment,
            known=True,
            findings=diagnose(case),
            account=account,
            timeline=timeline.of_log(shown),
            older=shown[-1].id if len(found.events) > page.limit else None,
            notes=self._notes(asked, case),
        )

    def _limits(self, reader: Reader, account: Account | None, asked: Asked) -> tuple[Limit, ...]:
        """Of what is installed there now."""
        if account is None or asked.at is not None:
            return ()
        return reader.limits([each.id for each in account.current], ())

    def _state(
        self,
        reader: Reader,
        job: JobRow | None,
        events: tuple[JobEvent, ...],
        repository: str | None,
    ) -> tuple[StateEvent, ...]:
        """What the log has of the account whose job it is."""
        if job is not None:
            return reader.state_of_entity(job.entity_id)
        known = [each.row.entity_id for each in events if each.row.entity_id is not None]
        if not known and repository:
            known = _named(reader, repository.partition("/")[0])
        return reader.state_of_entity(known[0]) if known else ()

    def _facts(
        self,
        reader: Reader,
        job_id: int,
        job: JobRow | None,
        events: tuple[JobEvent, ...],
        account: Account | None,
        asked: Asked,
    ) -> JobFacts:
        waits = job is not None and job.status == Status.PENDING
        present = waits and asked.at is None
        until = asked.moment
        if job is not None and not waits:
            until = job.started_at or job.completed_at or job.updated_at
        numbers = [job.installation_id] if job is not None else []
        numbers += [each.row.installation_id for each in events if each.row.installation_id]
        if not numbers and account is not None:
            numbers = [each.id for each in account.current]
        apps = (self.apps.organization, self.apps.personal)
        return JobFacts(
            job_id=job_id,
            job=job,
            events=events,
            queue=reader.queue(job, apps, asked.now) if present and job else None,
            failures=reader.failed_workers(job, until) if job is not None else (),
            worker=_worker_as_of(reader.worker(job.pod), asked.at) if job and job.pod else None,
            runs=reader.runs() if waits else (),
            deliveries=reader.deliveries(job_id, numbers[0] if numbers else None),
        )

    def _notes(self, asked: Asked, case: Case) -> tuple[str, ...]:
        notes = []
        if case.past and case.pending:
            notes.append(PAST)
        if case.past and case.facts is not None and case.pending and not case.facts.runs:
            notes.append(NO_RUNS)
        if self.routes is None:
            notes.append(NO_ROUTES)
        it = case.installation
        if it is not None and not it.began:
            notes.append(NO_BEGINNING)
        if not _may_be_of(asked.repository, case.account):
            notes.append(f"{asked.repository} is no repository of {case.name}: it was left out.")
        return tuple(notes)


@dataclass(frozen=True, slots=True)
class _Found:
    """What there is of an account, or of one of its installations."""

    subject: str
    state: tuple[StateEvent, ...]
    events: list[Event]  # of one page and, if there are more, one more
    installation: int | None = None
    known_as: str | None = None


def _may_be_of(repository: str | None, account: Account | None) -> bool:
    """By its owner's name, or one that it had."""
    if repository is None or account is None or account.name is None:
        return True
    names = {account.name.lower(), *(each.name.lower() for each in account.renames)}
    return repository.partition("/")[0].lower() in names


def _number(reader: Reader, entity: int | str) -> int | None:
    if isinstance(entity, int) or (entity.isascii() and entity.isdigit()):
        number = int(entity)
        if 0 < number <= LARGEST_ID and reader.entity_is_known(number):
            return number
    if isinstance(entity, int):
        return None
    return next(iter(_named(reader, entity)), None)


def _named(reader: Reader, name: str) -> list[int]:
    """The latest first. Of a shell an argument may be bytes that are no text: nobody's name."""
    readable = name.encode("utf-8", "replace").decode() == name
    return reader.entities_named(name) if readable else []


def _as_of(job: JobRow | None, events: tuple[JobEvent, ...], at: datetime | None) -> JobRow | None:
    """As far as its times tell. What was said of it while it waited is not kept."""
    if job is None or at is None:
        return job
    if job.created_at > at:
        return None
    ended = _ended_at(job, events)
    if ended is not None and ended <= at:
        return job
    running = job.started_at is not None and job.started_at <= at
    return replace(
        job,
        status=Status.RUNNING if running else Status.PENDING,
        started_at=job.started_at if running else None,
        pod=job.pod if running else None,
        completed_at=None,
        conclusion=None,
        failure_reason=None,
        failure_message=None,
    )


def _ended_at(job: JobRow, events: tuple[JobEvent, ...]) -> datetime | None:
    """None of one that waits or runs. One that was given up may have heard from GitHub since."""
    if job.status == Status.COMPLETED:
        return job.completed_at or job.updated_at
    if job.status != Status.FAILED:
        return None
    since = [each.row.at for each in events if each.row.outcome == Outcome.JOB_ALREADY_FAILED]
    return min([job.updated_at, *since])


def _worker_as_of(worker: JobWorker | None, at: datetime | None) -> JobWorker | None:
    if worker is None or at is None or (worker.completed_at and worker.completed_at <= at):
        return worker
    return replace(worker, status=Status.RUNNING, reason=None, message=None, completed_at=None)


def _last_repository(events: tuple[JobEvent, ...]) -> str | None:
    return next((each.repository for each in reversed(events) if each.repository), None)


def _told(job: JobRow) -> Json:
    return {
        "id": job.job_id,
        "status": job.status,
        "conclusion": job.conclusion,
        "reason": job.failure_reason,
        "message": job.failure_message,
        "name": job.job_name,
        "workflow": job.workflow_name,
        "account": job.entity_name,
        "repository": job.repository,
        "installation_id": job.installation_id,
        "labels": list(job.labels),
        "pool": job.pool,
        "image": job.image,
        "runner": job.pod,
        "url": job.html_url,
        "started_by": job.sender_name,
        "created_at": stamp(job.created_at),
        "queued_at": job.queued_at and stamp(job.queued_at),
        "started_at": job.started_at and stamp(job.started_at),
        "completed_at": job.completed_at and stamp(job.completed_at),
    }


def _row(event: Event) -> dict[str, Any]:
    return {
        "event_id": event.id,
        "at": stamp(event.at),
        "source": event.source,
        "event": event.event,
        "outcome": event.outcome,
        "installation_id": event.installation_id,
        "app_id": event.app_id,
        "entity_id": event.entity_id,
        "entity_name": event.entity_name,
        "entity_type": event.entity_type,
        "job_id": event.job_id,
    }
