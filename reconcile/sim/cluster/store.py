"""The objects of the cluster. A stored object is a value: it is replaced, never changed, so that
whoever holds one, or a whole list of them, holds a consistent picture for as long as they like.
"""

import random
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cached_property
from typing import Any

from ..http import encode
from ..timeline import Timeline
from .resources import ALL, Resource

Object = dict[str, Any]
# Told of what was and what is: no `old` for a new object, no `new` for one that is gone. A
# watcher takes note and acts by appointment: it changes nothing while it is being told.
Watcher = Callable[[Object | None, Object | None], None]

FIRST_VERSION = 1000


def key_of(namespace: str, name: str) -> str:
    """What objects are sorted by, as etcd does."""
    return f"{namespace}/{name}" if namespace else name


def timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class Stored:
    """One object as it was at one version, with its bytes once somebody asked for them."""

    def __init__(self, key: str, value: Object) -> None:
        self.key = key
        self.value = value

    @cached_property
    def bytes(self) -> bytes:
        return encode(self.value)


class Table:
    """All objects of one resource."""

    def __init__(self, resource: Resource, store: "Store") -> None:
        self.resource = resource
        self.watchers: list[Watcher] = []
        self._store = store
        self._rows: dict[str, Stored] = {}
        self._sorted: list[Stored] | None = []

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Object]:
        return (row.value for row in self.rows())

    def get(self, namespace: str, name: str) -> Object | None:
        row = self._rows.get(key_of(namespace, name))
        return row.value if row else None

    def row(self, value: Object) -> Stored:
        """The object with its bytes, whether it is stored or about to be."""
        row = self._rows.get(key := self.key(value))
        return row if row is not None and row.value is value else Stored(key, value)

    def rows(self) -> list[Stored]:
        """In the order of their keys. The list is never changed, only replaced."""
        if self._sorted is None:
            self._sorted = [self._rows[key] for key in sorted(self._rows)]
        return self._sorted

    @staticmethod
    def key(value: Object) -> str:
        metadata = value["metadata"]
        return key_of(metadata.get("namespace", ""), metadata["name"])

    def add(self, value: Object) -> Object:
        """The new object as it is stored."""
        value = self._store.versioned(value)
        self._rows[self.key(value)] = Stored(self.key(value), value)
        self._store.uids[value["metadata"]["uid"]] = value
        self._changed(None, value)
        return value

    def replace(self, old: Object, new: Object) -> Object:
        """What is stored now. A change that changes nothing makes no new version."""
        if new == old:
            return old
        new = self._store.versioned(new)
        self._rows[self.key(new)] = Stored(self.key(new), new)
        self._store.uids[new["metadata"]["uid"]] = new
        self._changed(old, new)
        return new

    def remove(self, value: Object) -> None:
        old = self._rows.pop(self.key(value)).value
        del self._store.uids[old["metadata"]["uid"]]
        self._store.version += 1
        self._changed(old, None)

    def _changed(self, old: Object | None, new: Object | None) -> None:
        self._sorted = None
        for watcher in self.watchers:
            watcher(old, new)


class Store:
    """Every table, one version counter over all of them, and all that is drawn by lot."""

    def __init__(self, timeline: Timeline, seed: int) -> None:
        self.timeline = timeline
        self.version = FIRST_VERSION
        self.uids: dict[str, Object] = {}
        self._seed = seed
        self._named: Counter[str] = Counter()
        self.random = random.Random(f"cluster:{seed}")  # noqa: S311 a seed must replay
        self.tables = {resource.plural: Table(resource, self) for resource in ALL}
        self.pods = self.tables["pods"]
        self.nodes = self.tables["nodes"]
        self.secrets = self.tables["secrets"]
        self.events = self.tables["events"]
        self.namespaces = self.tables["namespaces"]

    def stamp(self) -> str:
        """Now, as objects carry it: in whole seconds."""
        return timestamp(self.timeline.now())

    def versioned(self, value: Object) -> Object:
        self.version += 1
        return value | {"metadata": value["metadata"] | {"resourceVersion": str(self.version)}}

    def new_metadata(self, metadata: Object) -> Object:
        """The metadata of an object that is being created. Its uid depends on its name and on how
        often that was used, not on who else creates something."""
        key = key_of(metadata.get("namespace", ""), metadata.get("name", ""))
        self._named[key] += 1
        return self.stamped(metadata, f"{key}:{self._named[key]}")

    def stamped(self, metadata: Object, subject: str) -> Object:
        """With a uid that depends on the subject, and the time."""
        uid = _uid(self.lot(f"uid:{subject}"))
        return metadata | {"uid": uid, "creationTimestamp": self.stamp()}

    def new_uid(self) -> str:
        return _uid(self.random)

    def lot(self, subject: str) -> random.Random:
        return random.Random(f"cluster:{self._seed}:{subject}")  # noqa: S311 a seed must replay


def _uid(lot: random.Random) -> str:
    return str(uuid.UUID(int=lot.getrandbits(128), version=4))
