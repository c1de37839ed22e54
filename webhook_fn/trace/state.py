"""What is installed on an account, put together from the events that tell of it.

Pure: no I/O, no clock. The log is read in its order, but GitHub delivers late, twice and in the
wrong order, and a log may begin in the middle. So of what two events say of the same thing the
one that GitHub dates later counts (`updated_at`, which every event carries with the whole
installation; the later row if both have the same second, or none has one), a delivery that is
there already changes nothing, and an installation is created before everything and deleted after
it: GitHub gives no number twice. What no event says is unknown, not absent.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from .facts import Event, Json, StateEvent
from .words import stamp

T = TypeVar("T")


class Status(StrEnum):
    INSTALLED = "installed"
    SUSPENDED = "suspended"
    DELETED = "deleted"


CREATED = "installation.created"
DELETED = "installation.deleted"
RENAMED = "installation_target.renamed"
AUTH_ATTEMPT = "auth_attempt."  # a run's: those that failed, and the first that did not again
WELL_AGAIN = "auth_attempt.ok"
# These carry the whole installation; a rename and an attempt have only its number.
WHOLE = ("installation.", "installation_repositories.")
# What they make of it, whatever else they carry.
STATUS_AFTER = {
    CREATED: Status.INSTALLED,
    "installation.suspend": Status.SUSPENDED,
    "installation.unsuspend": Status.INSTALLED,
    DELETED: Status.DELETED,
}
# After these an attempt may well succeed.
ACCESS_GIVEN = ("installation.unsuspend", "installation.new_permissions_accepted")
# In the life of an installation, whatever their dates.
PLACE = {CREATED: 0, DELETED: 2}
ELSEWHERE = 1


@dataclass(frozen=True, slots=True)
class Repositories:
    """Which repositories an installation covers, as far as is known."""

    selection: str | None = None  # 'all', 'selected', or unknown
    complete: bool = False  # whether `included` is all there are
    included: dict[str, Event] = field(default_factory=dict)  # by lower-case name without the owner
    removed: dict[str, Event] = field(default_factory=dict)

    def covers(self, full_name: str) -> bool | None:
        """None if nobody knows. Of a deleted installation: whether it did.

        By the name alone: they are all of one account, which may have been renamed since.
        """
        name = _short(full_name)
        if name in self.removed:
            return False
        if name in self.included or self.selection == "all":
            return True
        return False if self.selection == "selected" and self.complete else None

    def removal_of(self, full_name: str) -> Event | None:
        return self.removed.get(_short(full_name))

    def events(self) -> tuple[Event, ...]:
        """That tell which are covered, each once, the latest last."""
        told = {each.id: each for each in self.included.values()}
        return tuple(told[number] for number in sorted(told))

    def document(self) -> Json:
        known = self.complete or self.included
        return {
            "selection": self.selection,
            "repositories": sorted(self.included) if known else None,
            "complete": self.complete,
            "removed": sorted(self.removed),
        }


@dataclass(frozen=True, slots=True)
class Installation:
    id: int
    app_id: int | None
    status: Status
    since: Event  # what the status is known by
    began: bool  # whether the log has its beginning
    repositories: Repositories
    permissions: dict[str, str]
    auth_failure: StateEvent | None  # the last since it was unsuspended or granted more

    def document(self) -> Json:
        failure = self.auth_failure
        return {
            "id": self.id,
            "app_id": self.app_id,
            "status": self.status.value,
            "since": _event(self.since),
            "began": self.began,
            **self.repositories.document(),
            "permissions": dict(self.permissions),
            "auth_failure": failure
            and {**_event(failure.row), "message": _text(failure.said.get("message"))},
        }


@dataclass(frozen=True, slots=True)
class Rename:
    name: str  # what it was called before
    event: Event


@dataclass(frozen=True, slots=True)
class Account:
    id: int  # 0 if no event says
    name: str | None
    type: str | None  # Organization or User
    renames: tuple[Rename, ...]  # in the order in which they were told
    installations: tuple[Installation, ...]  # by number, so oldest first

    def installation(self, installation_id: int) -> Installation | None:
        return next((each for each in self.installations if each.id == installation_id), None)

    @property
    def current(self) -> tuple[Installation, ...]:
        """Those that were not deleted."""
        return tuple(each for each in self.installations if each.status is not Status.DELETED)

    def document(self) -> Json:
        return {
            "id": self.id,
            "name": self.name,
            "type": self.type,
            "former_names": [
                {"name": each.name, "until": stamp(each.event.at), "event_id": each.event.id}
                for each in self.renames
            ],
            "installations": [each.document() for each in self.installations],
        }


def fold(events: Iterable[StateEvent], *, until: datetime | None = None) -> Account | None:
    """The account's state after these, in the log's order; of those written until then. None if
    there are none. All must be of one account."""
    told = list(_once(each for each in events if until is None or each.row.at <= until))
    if not told:
        return None
    of: dict[int, list[StateEvent]] = {}
    for each in told:
        if each.row.installation_id is not None:
            of.setdefault(each.row.installation_id, []).append(each)
    installations = tuple(_installation(number, of[number]) for number in sorted(of))
    gone = {each.id for each in installations if each.status is Status.DELETED}
    # Whoever is told of no more changes is heard first.
    heard = sorted(_heard(told), key=lambda each: each.row.installation_id not in gone)
    return Account(
        id=_last(each.row.entity_id for each in heard) or 0,
        name=_name(heard),
        type=_last(each.row.entity_type for each in heard),
        renames=tuple(_renames(told)),
        installations=installations,
    )


def _once(events: Iterable[StateEvent]) -> Iterator[StateEvent]:
    """Without redeliveries. Two Apps may be told of one thing under one id; a run's have none."""
    seen: set[object] = set()
    for each in events:
        delivery = _text(each.said.get("delivery"))
        known_by = each.row.id if delivery is None else (each.row.installation_id, delivery)
        if known_by not in seen:
            seen.add(known_by)
            yield each


def _as_dated(events: Iterable[StateEvent]) -> list[StateEvent]:
    """In GitHub's order. Of an event without a date all that is known is what came before it: our
    own time of it says nothing, as GitHub may change an installation and not its date.

    A log is nearly in order, which costs the sort next to nothing.
    """
    latest = -math.inf
    dated = []
    for each in events:
        own = _stamp(each.said.get("updated_at"))
        second = latest if own is None else own
        latest = max(latest, second)
        dated.append((second, each))
    dated.sort(key=lambda pair: pair[0])
    return [each for _, each in dated]


def _heard(events: Iterable[StateEvent]) -> list[StateEvent]:
    """GitHub's word after a run's, which repeats what a job's row once said."""
    return sorted(_as_dated(events), key=lambda each: not each.row.event.startswith(AUTH_ATTEMPT))


def _name(heard: Sequence[StateEvent]) -> str | None:
    """As the last one knows it that has a name for it."""
    for last in reversed(heard):
        if last.row.entity_name is not None:
            number = last.row.installation_id
            return _name_in([each for each in heard if each.row.installation_id == number])
    return None


def _name_in(events: Sequence[StateEvent]) -> str | None:
    """The last name told to one installation that was not given up.

    A rename has no date, so it may come to us after a later one, and before what was earlier. But
    an installation is told of all of them: a name that was left as often as it was taken is not
    the name any more, unless an event has it that is dated later than we were told of its end.
    """
    taken = Counter({each.row.entity_name for each in events if each.row.event == CREATED})
    ended: dict[str, float] = {}
    for each in events:
        if (old := _renamed_from(each)) is not None:
            taken.update({each.row.entity_name: 1, old: -1})
            ended[old] = each.row.at.timestamp()
    named = [(each.row.entity_name, each) for each in reversed(events) if each.row.entity_name]
    for name, each in named:
        dated = _stamp(each.said.get("updated_at"))
        if name not in ended or taken[name] > 0 or (dated is not None and dated > ended[name]):
            return name
    # A circle of which the beginning is not known: the order is all there is to go by.
    return named[0][0] if named else None


def _renames(events: Iterable[StateEvent]) -> Iterator[Rename]:
    """Each installation tells of a change; it is another one of the same names if one of them
    tells of it again."""
    told: Counter[tuple[int | None, str, str | None]] = Counter()
    seen = set()
    for each in events:
        row, old = each.row, _renamed_from(each)
        if old is None:
            continue
        told[row.installation_id, old, row.entity_name] += 1
        change = (old, row.entity_name, told[row.installation_id, old, row.entity_name])
        if change not in seen:
            seen.add(change)
            yield Rename(old, row)


def _renamed_from(it: StateEvent) -> str | None:
    return _text(it.said.get("renamed_from")) if it.row.event == RENAMED else None


def _installation(number: int, told: Sequence[StateEvent]) -> Installation:
    events = sorted(_as_dated(told), key=lambda each: PLACE.get(each.row.event, ELSEWHERE))
    draft = _Draft()
    for each in events:
        draft.hear(each)
    return Installation(
        id=number,
        app_id=_last(each.row.app_id for each in _heard(told)),
        # Somebody heard of it, and nobody said that it is suspended or gone.
        status=draft.status or Status.INSTALLED,
        since=draft.since or events[0].row,
        began=events[0].row.event == CREATED,
        repositories=draft.repositories,
        permissions=draft.permissions,
        auth_failure=draft.auth_failure,
    )


@dataclass(slots=True)
class _Draft:
    """What is known so far. Each event overwrites what it speaks of."""

    status: Status | None = None
    since: Event | None = None
    repositories: Repositories = field(default_factory=Repositories)
    permissions: dict[str, str] = field(default_factory=dict)
    auth_failure: StateEvent | None = None

    def hear(self, it: StateEvent) -> None:
        if it.row.event.startswith(AUTH_ATTEMPT):
            self.auth_failure = None if it.row.event == WELL_AGAIN else it
        elif it.row.event in ACCESS_GIVEN:
            self.auth_failure = None
        if it.row.event.startswith(WHOLE):
            self._hear_status(it)
            self._hear_permissions(it.said.get("permissions"))
            self.repositories = _covering(self.repositories, it)

    def _hear_status(self, it: StateEvent) -> None:
        plainly = STATUS_AFTER.get(it.row.event)
        seen = Status.SUSPENDED if it.said.get("suspended_at") else Status.INSTALLED
        # What only shows the same status again is not what it is known by.
        if plainly or seen is not self.status:
            self.status, self.since = plainly or seen, it.row

    def _hear_permissions(self, said: Any) -> None:
        if isinstance(said, dict):
            self.permissions = {
                name: level for name, level in said.items() if isinstance(level, str)
            }


def _covering(known: Repositories, it: StateEvent) -> Repositories:
    """After this event. The dicts of what was known are used on."""
    selection = _text(it.said.get("selection"))
    if selection is not None and selection != known.selection:
        known = _selecting(selection, known)
    listed = it.said.get("repositories")
    if it.row.event == CREATED and known.selection == "selected" and isinstance(listed, list):
        known = replace(known, complete=len(_names(listed)) == len(listed))
    for name in (*_names(listed), *_names(it.said.get("added"))):
        known.removed.pop(name, None)
        if known.selection != "all":  # Else it is covered anyway, and not all are told.
            known.included.setdefault(name, it.row)
    for name in _names(it.said.get("removed")):  # Of all, one that was deleted or given away.
        known.included.pop(name, None)
        known.removed.setdefault(name, it.row)
    return known


def _selecting(selection: str, known: Repositories) -> Repositories:
    """After it became another one."""
    if selection == "all":
        return Repositories("all")
    # Of those that were covered as all were, nobody says which still are.
    return replace(known, selection="selected" if selection == "selected" else None, complete=False)


def _names(listed: Any) -> list[str]:
    if not isinstance(listed, list):
        return []
    each_name = (
        _text(each.get("full_name")) or _text(each.get("name"))
        for each in listed
        if isinstance(each, dict)
    )
    return [_short(name) for name in each_name if name is not None]


def _short(full_name: str) -> str:
    return full_name.rpartition("/")[2].lower()


def _stamp(said: Any) -> int | None:
    """In whole seconds: GitHub writes a time as text or as those, depending on the event."""
    try:
        if isinstance(said, str):
            moment = datetime.fromisoformat(said)
            said = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        if isinstance(said, int | float) and not isinstance(said, bool):
            return math.floor(said)
    except (ValueError, OverflowError):
        pass  # As good as none.
    return None


def _text(said: Any) -> str | None:
    return said if isinstance(said, str) and said else None


def _last(values: Iterable[T | None]) -> T | None:
    found = None
    for value in values:
        found = found if value is None else value
    return found


def _event(row: Event) -> Json:
    return {"event_id": row.id, "at": stamp(row.at), "event": row.event}
