"""Asks and answers: what the function and `reconcile trace` call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from ..events import Apps
from ..routes import Routes
from .facts import Json
from .trace import Trace

MOST = 100  # events of one answer
USUAL = 50


class Source(Protocol):
    """Where the rows are."""

    def read(self, query: bytes, parameters: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]: ...


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


@dataclass(frozen=True, slots=True)
class Tracer:
    source: Source
    apps: Apps
    routes: Routes | None  # None: whoever asks does not know them

    def job(self, job_id: int, asked: Asked) -> Trace:
        """Also of a job that nothing is known of: that is an answer too (`known` is False)."""
        raise NotImplementedError

    def installation(self, installation_id: int, asked: Asked, page: Page = Page()) -> Trace | None:
        """None if nothing is known of it."""
        raise NotImplementedError

    def entity(self, entity: int | str, asked: Asked, page: Page = Page()) -> Trace | None:
        """By its number, or by a name that it has or had."""
        raise NotImplementedError

    def payload(self, event_id: int) -> Json | None:
        """One row of the log, with its payload."""
        raise NotImplementedError
