"""What is installed on an account, put together from the events that tell of it.

Pure: no I/O, no clock. The log is read in its order, but GitHub delivers late, twice and in the
wrong order, and a log may begin in the middle. So of what two events say of the same thing the
one that GitHub dates later counts (`updated_at`, which every event carries with the whole
installation; the later row if both have the same or none has one), a delivery that is there
already changes nothing, and an installation that was deleted stays so: GitHub gives no number
twice. What no event says is unknown, not absent.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from .facts import Event, Json, StateEvent


class Status(StrEnum):
    INSTALLED = "installed"
    SUSPENDED = "suspended"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Repositories:
    """Which repositories an installation covers, as far as is known."""

    selection: str | None = None  # 'all', 'selected', or unknown
    complete: bool = False  # whether `included` is all there are
    included: dict[str, Event] = field(default_factory=dict)  # by lower-case name without the owner
    removed: dict[str, Event] = field(default_factory=dict)

    def covers(self, full_name: str) -> bool | None:
        """None if nobody knows. By the name alone: they are all of one account, which may have
        been renamed since."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Installation:
    id: int
    app_id: int | None
    status: Status
    since: Event  # what the status is known by
    began: bool  # whether the log has its beginning
    repositories: Repositories
    permissions: dict[str, str]
    auth_failure: StateEvent | None  # the last one since it was installed, unsuspended or granted more


@dataclass(frozen=True, slots=True)
class Rename:
    name: str  # what it was called before
    event: Event


@dataclass(frozen=True, slots=True)
class Account:
    id: int
    name: str | None
    type: str | None  # Organization or User
    renames: tuple[Rename, ...]  # oldest first
    installations: tuple[Installation, ...]  # by number, so oldest first

    def installation(self, installation_id: int) -> Installation | None:
        return next((each for each in self.installations if each.id == installation_id), None)

    @property
    def current(self) -> tuple[Installation, ...]:
        """Those that were not deleted."""
        return tuple(each for each in self.installations if each.status is not Status.DELETED)

    def document(self) -> Json:
        raise NotImplementedError


def fold(events: Iterable[StateEvent], *, until: datetime | None = None) -> Account | None:
    """The account's state after these, in the log's order; of those written until then. None if
    there are none. All must be of one account."""
    raise NotImplementedError
