"""Garbage collection: what belongs only to owners that do not exist goes after them."""

from collections import defaultdict

from .deletion import Deleter, Options
from .store import Object, Store, Table

COLLECT_SECONDS = 1


class Collector:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._deleter = Deleter(store)
        self._dependents: defaultdict[str, set[str]] = defaultdict(set)
        for table in (store.pods, store.secrets):
            self._watch(table)
        store.nodes.watchers.append(self._owner_gone)

    def _watch(self, table: Table) -> None:
        def changed(old: Object | None, new: Object | None) -> None:
            before, after = _owners(old), _owners(new)
            value = new if new is not None else old
            if value is None:
                return
            uid = value["metadata"]["uid"]
            for owner in before - after:
                self._dependents[owner].discard(uid)
                if not self._dependents[owner]:
                    del self._dependents[owner]
            for owner in after - before:
                self._dependents[owner].add(uid)
            if after != before and after:
                self._plan(table, uid)
            self._owner_gone(old, new)

        table.watchers.append(changed)

    def _owner_gone(self, old: Object | None, new: Object | None) -> None:
        if old is None or new is not None:
            return
        for uid in sorted(self._dependents.get(old["metadata"]["uid"], ())):
            for table in (self._store.pods, self._store.secrets):
                self._plan(table, uid)

    def _plan(self, table: Table, uid: str) -> None:
        self._store.timeline.after(COLLECT_SECONDS, lambda: self._look_at(table, uid))

    def _look_at(self, table: Table, uid: str) -> None:
        value = self._store.uids.get(uid)
        if value is None or table.get(*_place(value)) is not value:
            return
        if "deletionTimestamp" in value["metadata"]:
            return
        namespace = value["metadata"]["namespace"]
        owners = _owners(value)
        if owners and not any(self._exists(owner, namespace) for owner in owners):
            self._deleter.delete(table, value, Options())

    def _exists(self, uid: str, namespace: str) -> bool:
        """An owner is in the same namespace or in none."""
        owner = self._store.uids.get(uid)
        return owner is not None and owner["metadata"].get("namespace", namespace) == namespace


def _owners(value: Object | None) -> frozenset[str]:
    if value is None:
        return frozenset()
    return frozenset(owner["uid"] for owner in value["metadata"].get("ownerReferences", ()))


def _place(value: Object) -> tuple[str, str]:
    return value["metadata"].get("namespace", ""), value["metadata"]["name"]
