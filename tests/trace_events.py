"""An account as it truly is, and the log of what GitHub tells of it.

It knows nothing of how a log is read: it is what the reading is held against.
"""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from webhook_fn.trace.facts import Event, StateEvent

BEGINNING = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
ENTITY = 5
NAME = "riseproject"
INSTALLATION = 7
APP = 1
ASKED = {"actions": "read", "administration": "write"}
EASTERN = timedelta(hours=-4)


def moment(second: float) -> datetime:
    return BEGINNING + timedelta(seconds=second)


def event(
    name: str,
    number: int = 1,
    *,
    at: float = 0,
    installation: int | None = INSTALLATION,
    app: int | None = APP,
    entity_id: int | None = ENTITY,
    entity: str | None = NAME,
    kind: str | None = "Organization",
    **said: Any,
) -> StateEvent:
    """A row of the log. Without an `updated_at` among what it says it has no date."""
    by_run = name.startswith("auth_attempt.")
    row = Event(
        id=number,
        at=moment(at),
        source="scheduler" if by_run else "webhook",
        event=name,
        outcome="auth_failed" if by_run else "recorded",
        installation_id=installation,
        app_id=app,
        entity_id=entity_id,
        entity_name=entity,
        entity_type=kind,
        job_id=None,
    )
    return StateEvent(row, said)


def stamp(second: int, style: int = 0) -> str | int:
    """A time as GitHub writes it: one way or another, always in whole seconds."""
    it = moment(second)
    if style % 3 == 0:
        return it.isoformat().replace("+00:00", "Z")
    if style % 3 == 1:
        return int(it.timestamp())
    return (it + EASTERN).replace(tzinfo=None).isoformat(timespec="milliseconds") + "-04:00"


def listed(names: Iterable[str], owner: str = NAME) -> list[dict[str, Any]]:
    return [
        {"id": 1, "name": name, "full_name": f"{owner}/{name}", "private": False}
        for name in sorted(names)
    ]


@dataclass
class Installed:
    """An installation, as GitHub has it."""

    number: int
    app: int
    chosen: set[str] | None  # None: all
    permissions: dict[str, str]
    changed: int  # what its updated_at says
    suspended: int | None = None  # since when
    deleted: bool = False
    narrowed: bool = False  # whether it ever was on all and then on some
    failed: int | None = None  # which telling is of the last failure, if access was not given since

    @property
    def selection(self) -> str:
        return "all" if self.chosen is None else "selected"

    @property
    def status(self) -> str:
        if self.deleted:
            return "deleted"
        return "installed" if self.suspended is None else "suspended"


@dataclass(frozen=True)
class State:
    """Everything that is true at a moment."""

    name: str
    repositories: frozenset[str]
    installations: dict[int, Installed]


@dataclass(frozen=True)
class Telling:
    """A webhook, or what a run writes down."""

    event: str
    second: int  # when it is so
    installation: int
    app: int
    said: dict[str, Any]
    after: State
    settled: bool  # the last of what is told of one change

    @property
    def whole(self) -> bool:
        """Whether it carries the installation, and so a date."""
        return "updated_at" in self.said

    @property
    def renamed(self) -> bool:
        return "renamed_from" in self.said

    def row(self, number: int, at: float) -> StateEvent:
        return event(
            self.event,
            number,
            at=at,
            installation=self.installation,
            app=self.app,
            entity=self.after.name,
            **copy.deepcopy(self.said),
        )


@dataclass
class World:
    """What people do to an account's installations, and what GitHub tells of that."""

    name: str = NAME
    repositories: set[str] = field(default_factory=lambda: {"linux", "qemu", "llvm"})
    now: int = 0
    installations: dict[int, Installed] = field(default_factory=dict)
    told: list[Telling] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # that it gave up

    def wait(self, seconds: int = 1) -> None:
        self.now += seconds

    @property
    def there(self) -> list[Installed]:
        return [each for each in self.installations.values() if not each.deleted]

    def install(self, app: int = APP, chosen: set[str] | None = None) -> int:
        number = INSTALLATION + len(self.installations)
        chosen = None if chosen is None else set(chosen)
        it = Installed(number, app, chosen, dict(ASKED), self.now)
        self.installations[number] = it
        self._tell_change("installation.created", it, repositories=listed(self._covered(it)))
        return number

    def uninstall(self, number: int) -> None:
        """Does not change when it was last changed."""
        it = self.installations[number]
        it.deleted = True
        self._tell_change("installation.deleted", it, repositories=listed(self._covered(it)))

    def suspend(self, number: int) -> None:
        it = self._changing(number)
        it.suspended = self.now
        self._tell_change("installation.suspend", it)

    def unsuspend(self, number: int, *, dated: bool = True) -> None:
        it = self._changing(number, dated=dated)
        it.suspended = it.failed = None
        self._tell_change("installation.unsuspend", it)

    def accept(self, number: int, **permissions: str) -> None:
        it = self._changing(number)
        it.permissions = it.permissions | permissions
        it.failed = None
        self._tell_change("installation.new_permissions_accepted", it)

    def select(self, number: int, chosen: set[str] | None, *, dated: bool = True) -> None:
        it = self._changing(number, dated=dated)
        before = self._covered(it)
        it.narrowed = it.narrowed or (it.chosen is None and chosen is not None)
        it.chosen = None if chosen is None else set(chosen)
        after = self._covered(it)
        self._tell_repositories(it, added=after - before, removed=before - after)

    def create_repository(self, name: str) -> None:
        self.repositories.add(name)
        on_all = [each for each in self.there if each.chosen is None]
        for it in on_all:
            it.changed = self.now
            self._tell_repositories(it, added={name}, settled=it is on_all[-1])

    def delete_repository(self, name: str) -> None:
        """Or give it away."""
        concerned = [
            each
            for each in self.there
            if name in (self.repositories if each.chosen is None else each.chosen)
        ]
        self.repositories.discard(name)
        for it in concerned:
            it.changed = self.now
            it.chosen = None if it.chosen is None else it.chosen - {name}
        for it in concerned:
            self._tell_repositories(it, removed={name}, settled=it is concerned[-1])

    def rename(self, name: str) -> None:
        old, self.name = self.name, name
        self.names.append(old)
        for it in self.there:
            self._tell("installation_target.renamed", it, renamed_from=old)

    def fail_to_authenticate(self, number: int, status: str = "404") -> None:
        it = self.installations[number]
        it.failed = len(self.told)
        self._tell(f"auth_attempt.{status}", it, status=status, message="Not Found")

    def state(self) -> State:
        return State(self.name, frozenset(self.repositories), copy.deepcopy(self.installations))

    def log(self) -> list[StateEvent]:
        """Everything delivered at once."""
        return [each.row(number, each.second + 0.5) for number, each in enumerate(self.told, 1)]

    def delivered(self, delays: Sequence[Sequence[int]]) -> list[StateEvent]:
        """Each so many seconds late; and again later, if there is more than one delay for it."""
        arrivals = sorted(
            (each.second + 0.5 + delay, each.second, place)
            for place, each in enumerate(self.told)
            for delay in (delays[place] if place < len(delays) else [0])
        )
        return [
            self.told[place].row(number, at) for number, (at, _, place) in enumerate(arrivals, 1)
        ]

    def _covered(self, it: Installed) -> set[str]:
        return set(self.repositories if it.chosen is None else it.chosen)

    def _changing(self, number: int, *, dated: bool = True) -> Installed:
        it = self.installations[number]
        if dated:
            it.changed = self.now
        return it

    def _tell_repositories(
        self,
        it: Installed,
        *,
        added: set[str] | None = None,
        removed: set[str] | None = None,
        settled: bool = True,
    ) -> None:
        for action, names in (("added", added), ("removed", removed)):
            if names:
                self._tell_change(
                    f"installation_repositories.{action}",
                    it,
                    settled=settled and (action == "removed" or not removed),
                    added=listed(names if action == "added" else ()),
                    removed=listed(names if action == "removed" else ()),
                )

    def _tell_change(self, name: str, it: Installed, *, settled: bool = True, **more: Any) -> None:
        style = len(self.told)
        whole = {
            "updated_at": stamp(it.changed, style),
            "selection": it.selection,
            "permissions": dict(it.permissions),
            **more,
        }
        if it.suspended is not None:
            whole["suspended_at"] = stamp(it.suspended, style + 1)
        self._tell(name, it, settled=settled, **whole)

    def _tell(self, name: str, it: Installed, *, settled: bool = True, **said: Any) -> None:
        if not name.startswith("auth_attempt."):
            said["delivery"] = f"delivery-{len(self.told)}"
        self.told.append(Telling(name, self.now, it.number, it.app, said, self.state(), settled))


def numbered(events: Sequence[StateEvent]) -> list[StateEvent]:
    """In this order in the log, and all of them late: nobody is told of what is not yet so."""
    return [
        replace(each, row=replace(each.row, id=number, at=moment(1000 + number)))
        for number, each in enumerate(events, 1)
    ]
