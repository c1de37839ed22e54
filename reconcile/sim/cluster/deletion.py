"""How objects go: at once, with time to stop, or when their finalizers let them."""

from dataclasses import dataclass
from datetime import datetime

from ..clock import span
from ..http import Request
from . import decoding
from .status import conflict, invalid, unsupported
from .store import Object, Store, Table, timestamp
from .strategies import STRATEGIES

POLICIES = ("Orphan", "Background", "Foreground")


@dataclass(frozen=True)
class Options:
    grace: int | None = None
    policy: str = "Background"
    uid: str | None = None
    version: str | None = None
    dry_run: bool = False


def check_dry_run(values: list[str], kind: str) -> bool:
    for value in values:
        if value != "All":
            raise invalid(kind, "", [unsupported("dryRun", value, ("All",))])
    return bool(values)


def options(request: Request) -> Options:
    """From the body if there is one, else from the query."""
    if request.body:
        given = decoding.typed(decoding.parsed(request), "DeleteOptions", decoding.DELETE_OPTIONS)
    else:
        given = {
            name: value
            for name, value in request.query.items()
            if name in ("gracePeriodSeconds", "propagationPolicy")
        }
        if "gracePeriodSeconds" in given:
            given["gracePeriodSeconds"] = decoding.number(given["gracePeriodSeconds"])
    queried = [request.query["dryRun"]] if "dryRun" in request.query else []
    dry_run = given.get("dryRun", []) or queried
    policy = given.get("propagationPolicy", "Background")
    if policy not in POLICIES:
        error = unsupported("propagationPolicy", policy, POLICIES)
        raise invalid("DeleteOptions", "", [error])
    preconditions = given.get("preconditions", {})
    return Options(
        grace=given.get("gracePeriodSeconds"),
        policy="Orphan" if given.get("orphanDependents") else policy,
        uid=preconditions.get("uid"),
        version=preconditions.get("resourceVersion"),
        dry_run=check_dry_run(dry_run, "DeleteOptions.meta.k8s.io"),
    )


class Deleter:
    def __init__(self, store: Store) -> None:
        self._store = store

    def delete(self, table: Table, value: Object, options: Options) -> Object:
        """The object as it is now, or as it last was if it is gone."""
        self._check_preconditions(table, value, options)
        grace = STRATEGIES[table.resource.plural].grace(value, options.grace)
        if options.dry_run:
            return value
        if options.policy == "Orphan":
            self._let_go(value["metadata"]["uid"])
        if grace > 0:
            return self._mark(table, value, grace)
        return self.finish(table, value)

    def finish(self, table: Table, value: Object) -> Object:
        """There is nothing left to wait for, unless a finalizer says so."""
        if value["metadata"].get("finalizers"):
            return self._mark(table, value, 0)
        table.remove(value)
        return value

    def _mark(self, table: Table, value: Object, grace: int) -> Object:
        metadata = value["metadata"]
        now = self._store.timeline.now()
        if "deletionTimestamp" in metadata:
            if grace >= metadata["deletionGracePeriodSeconds"]:
                return value
            # A shorter time counts from when the deletion began, not from now.
            already = metadata["deletionGracePeriodSeconds"]
            end = datetime.fromisoformat(metadata["deletionTimestamp"])
            end += span(grace - already)
        else:
            end = now + span(grace)
        changed = {"deletionTimestamp": timestamp(end), "deletionGracePeriodSeconds": grace}
        if "generation" in metadata:
            changed["generation"] = metadata["generation"] + 1
        return table.replace(value, value | {"metadata": metadata | changed})

    def _check_preconditions(self, table: Table, value: Object, options: Options) -> None:
        metadata = value["metadata"]
        plural, name = table.resource.plural, metadata["name"]
        if options.uid is not None and options.uid != metadata["uid"]:
            raise conflict(
                plural,
                name,
                f"the UID in the precondition ({options.uid}) does not match the UID in record "
                f"({metadata['uid']}). The object might have been deleted and then recreated",
            )
        if options.version is not None and options.version != metadata["resourceVersion"]:
            raise conflict(
                plural,
                name,
                f"the ResourceVersion in the precondition ({options.version}) does not match the "
                f"ResourceVersion in record ({metadata['resourceVersion']}). The object might "
                "have been modified",
            )

    def _let_go(self, uid: str) -> None:
        for table in self._store.tables.values():
            for value in list(table):
                owners = value["metadata"].get("ownerReferences", [])
                left = [owner for owner in owners if owner["uid"] != uid]
                if len(left) != len(owners):
                    metadata = value["metadata"] | {"ownerReferences": left}
                    table.replace(value, value | {"metadata": metadata})
