"""The rows that a trace is made of: the only place here that knows how they are stored."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ..routes import normalised_labels
from ..store import load_queries
from .facts import (
    Boards,
    DeliveryLog,
    Event,
    FailedDelivery,
    FailedWorker,
    JobEvent,
    JobRow,
    JobWorker,
    Json,
    Limit,
    Queue,
    QueuedDemand,
    Run,
    StateEvent,
    Supply,
    Trouble,
    Wait,
)

T = TypeVar("T")
Row = Sequence[Any]

# Of everything there is an end. Of an account that was changed more often the beginning is left
# out: what only that would tell is unknown then, as with a log that begins later.
STATE_EVENTS = 2000
JOB_EVENTS = 200
FAILED_WORKERS = 20
RUNS = 5
DELIVERIES = 100
# Its events know their place among other columns by their number.
EVENT_COLUMNS = 11
# The clocks of who wrote a row and of who asks may differ a little.
SKEW = timedelta(seconds=30)
FOR_EVER = "infinity"


class Source(Protocol):
    """Where the rows are."""

    def read(self, query: bytes, parameters: Mapping[str, Any]) -> Sequence[Row]: ...


def _load() -> dict[str, bytes]:
    queries = load_queries(Path(__file__).with_name("queries.sql"))
    parts = {b"{event}": queries.pop("event_columns"), b"{said}": queries.pop("said")}
    for name, query in queries.items():
        for place, part in parts.items():
            query = query.replace(place, part)
        queries[name] = query
    return queries


QUERIES = _load()


@dataclass(frozen=True, slots=True)
class Demand:
    """Whose job it is, as demand is counted: a personal account's is of one repository."""

    entity_id: int
    repository: str
    labels: tuple[str, ...]
    pool: str

    @classmethod
    def of(cls, job: JobRow) -> "Demand":
        repository = job.repository if job.entity_type == "User" else ""
        return cls(job.entity_id, repository, job.labels, job.pool)

    @property
    def parameters(self) -> Json:
        return {
            "entity_id": self.entity_id,
            "repository": self.repository,
            "labels": json.dumps(self.labels),
            "pool": self.pool,
        }


@dataclass(frozen=True, slots=True)
class Reader:
    source: Source
    at: datetime | None  # only what was written until then; None: everything

    def job(self, job_id: int) -> JobRow | None:
        return _first(self._read("job", _job, job_id=job_id))

    def events_of_job(self, job_id: int) -> tuple[JobEvent, ...]:
        return tuple(self._read("events_of_job", _job_event, job_id=job_id, most=JOB_EVENTS))

    def state_of_entity(self, entity_id: int) -> tuple[StateEvent, ...]:
        """In the log's order."""
        return self._state("state_of_entity", entity_id=entity_id)

    def state_of_installation(self, installation_id: int) -> tuple[StateEvent, ...]:
        return self._state("state_of_installation", installation_id=installation_id)

    def entity_of_installation(self, installation_id: int) -> int | None:
        return _first(self._read("entity_of_installation", int, installation_id=installation_id))

    def entities_named(self, name: str) -> list[int]:
        return self._read("entities_named", int, name=name)

    def entity_is_known(self, entity_id: int) -> bool:
        [known] = self._read("entity_is_known", bool, entity_id=entity_id)
        return known

    def log_of_entity(self, entity_id: int, before: int | None, limit: int) -> list[Event]:
        """The latest first."""
        return self._read("log_of_entity", Event, entity_id=entity_id, before=before, limit=limit)

    def log_of_installation(
        self, installation_id: int, before: int | None, limit: int
    ) -> list[Event]:
        number = installation_id
        return self._read(
            "log_of_installation", Event, installation_id=number, before=before, limit=limit
        )

    def payload(self, event_id: int) -> tuple[Event, Any] | None:
        return _first(self._read("payload", _with_payload, event_id=event_id))

    def queue(self, job: JobRow, app_ids: Iterable[int], now: datetime) -> Queue:
        demand = Demand.of(job).parameters
        place = {"created_at": job.created_at, "job_id": job.job_id}
        return Queue(
            wait=_first(self._read("wait", Wait, **demand)),
            trouble=_first(self._read("trouble", Trouble, **demand)),
            boards=_first(self._read("boards", Boards, **demand)),
            demands=tuple(self._read("queue", QueuedDemand, **demand, **place)),
            supply=self._supply(demand, now),
            limits=self.limits([job.installation_id], app_ids),
        )

    def limits(self, installations: Iterable[int], app_ids: Iterable[int]) -> tuple[Limit, ...]:
        keys = [f"installation:{number}" for number in installations]
        keys += [f"app:{number}" for number in app_ids]
        return tuple(self._read("limits", Limit, keys=keys))

    def _supply(self, demand: Json, now: datetime) -> Supply:
        workers = self._read("supply", lambda *columns: columns, **demand)
        [(seconds, sample)] = self._read(
            "held", lambda *columns: columns, pool=demand["pool"], at=now + SKEW
        )
        own = demand["entity_id"]
        return Supply(
            of_entity=sum(count for entity_id, count, _ in workers if entity_id == own),
            in_pool={entity_id: in_pool for entity_id, _, in_pool in workers if in_pool},
            seconds_held=seconds,
            sample=sample,
        )

    def failed_workers(self, job: JobRow, until: datetime) -> tuple[FailedWorker, ...]:
        """Those that failed while the job waited, the latest first."""
        window = {"since": job.created_at, "until": until + SKEW, "most": FAILED_WORKERS}
        demand = Demand.of(job).parameters
        return tuple(self._read("failed_workers", FailedWorker, **demand, **window))

    def worker(self, pod_name: str) -> JobWorker | None:
        return _first(self._read("worker", JobWorker, pod_name=pod_name))

    def runs(self) -> tuple[Run, ...]:
        return tuple(self._read("runs", _run, most=RUNS))

    def deliveries(self, job_id: int | None, installation_id: int | None) -> DeliveryLog:
        found = self._read(
            "failed_deliveries",
            FailedDelivery,
            job_id=job_id,
            installation_id=installation_id,
            most=DELIVERIES,
        )
        return DeliveryLog(
            # Only of the present: a log that was read since says nothing of then.
            read_at={}
            if self.at is not None
            else dict(self._read("cursors", lambda *columns: columns)),
            of_the_job=tuple(each for each in found if job_id and each.job_id == job_id),
            of_the_installation=tuple(
                each
                for each in found
                if each.installation_id == installation_id
                and (each.event or "").startswith("installation")
            ),
            unseen=sum(
                each.job_id is None and (each.event or "").startswith("workflow_job")
                for each in found
            ),
        )

    def _state(self, name: str, **parameters: Any) -> tuple[StateEvent, ...]:
        rows = self._read(name, _state_event, most=STATE_EVENTS, **parameters)
        return tuple(reversed(rows))

    def _read(self, query: str, make: Callable[..., T], /, **parameters: Any) -> list[T]:
        parameters.setdefault("at", self.at or FOR_EVER)
        return [make(*row) for row in self.source.read(QUERIES[query], parameters)]


def _first(rows: list[T]) -> T | None:
    return rows[0] if rows else None


def _with_payload(*columns: Any) -> tuple[Event, Any]:
    return Event(*columns[:-1]), columns[-1]


def _state_event(*columns: Any) -> StateEvent:
    return StateEvent(Event(*columns[:-1]), columns[-1])


def _job(*columns: Any) -> JobRow:
    values = list(columns)
    values[10] = _labels(values[10])
    return JobRow(*values)


def _job_event(*columns: Any) -> JobEvent:
    row, said = columns[:EVENT_COLUMNS], columns[EVENT_COLUMNS:]
    labels, repository, sender_id, sender_name, runner, conclusion = said
    return JobEvent(
        Event(*row),
        labels=_labels(labels),
        repository=repository,
        sender_id=sender_id if type(sender_id) is int else None,
        sender_name=sender_name,
        runner=runner or None,
        conclusion=conclusion or None,
    )


def _labels(value: Any) -> tuple[str, ...]:
    """Of a column or of a payload, where they may be anything."""
    if not isinstance(value, list):
        return ()
    return normalised_labels(each for each in value if isinstance(each, str))


def _run(*columns: Any) -> Run:
    number, started_at, completed_at, status, error, problems = columns
    told = tuple((phase, text or "") for phase, text in problems or ())
    return Run(number, started_at, completed_at, status, error, told)
