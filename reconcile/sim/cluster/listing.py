"""Lists: selected, in pages over one snapshot, and put together from bytes that are kept."""

import base64
import binascii
import json
from bisect import bisect_left
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Any

from ..http import Request, Response, encode
from . import decoding, selectors
from .status import JSON, ApiError, bad_request
from .store import Store, Stored, Table

# As long as etcd keeps old versions before it compacts them.
SNAPSHOT_SECONDS = 300
SNAPSHOTS_KEPT = 200
INCONSISTENT = -1  # the version in a token that goes on with whatever there is now

TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can "
    "start a new list without the continue parameter, or use the continue token in this response "
    "to retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)

Rows = list[Stored]


class Snapshots:
    """The lists that somebody has begun to read, by their table and version."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[str, int], tuple[datetime, Rows]] = OrderedDict()

    def keep(self, table: Table, version: int, rows: Rows) -> None:
        until = self._store.timeline.now() + timedelta(seconds=SNAPSHOT_SECONDS)
        self._kept.setdefault((table.resource.plural, version), (until, rows))
        while len(self._kept) > SNAPSHOTS_KEPT:
            self._kept.popitem(last=False)

    def find(self, table: Table, version: int) -> Rows | None:
        now = self._store.timeline.now()
        while self._kept and next(iter(self._kept.values()))[0] <= now:
            self._kept.popitem(last=False)
        found = self._kept.get((table.resource.plural, version))
        return found[1] if found else None


class Lister:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._snapshots = Snapshots(store)

    def list(self, request: Request, table: Table) -> Response:
        query = request.query
        if query.get("watch", "false") not in ("false", "0"):
            raise bad_request("watch is not supported by the simulated cluster: list instead")
        limit = decoding.number(query.get("limit", "0"))
        version, rows = self._store.version, table.rows()
        token = query.get("continue", "")
        start = ""
        if token:
            if query.get("resourceVersion"):
                message = "specifying resource version is not allowed when using continue"
                raise bad_request(message)
            version, rows, start = self._continued(table, token)
        chosen = _selected(table, request, rows, start)
        metadata: dict[str, Any] = {"resourceVersion": str(version)}
        if 0 < limit < len(chosen):
            self._snapshots.keep(table, version, rows)
            metadata["continue"] = _token(version, chosen[limit].key)
            # What a selector would still leave of the rest, the real server does not know.
            if not query.get("labelSelector") and not query.get("fieldSelector"):
                metadata["remainingItemCount"] = len(chosen) - limit
            chosen = chosen[:limit]
        return Response(200, _joined(table, metadata, chosen), JSON)

    def _continued(self, table: Table, token: str) -> tuple[int, Rows, str]:
        version, start = _read(token)
        if version == INCONSISTENT:
            return self._store.version, table.rows(), start
        rows = self._snapshots.find(table, version)
        if rows is None:
            metadata = {"continue": _token(INCONSISTENT, start)}
            raise ApiError(410, "Expired", TOO_OLD, metadata=metadata)
        return version, rows, start


def _selected(table: Table, request: Request, rows: Rows, start: str) -> Rows:
    try:
        labels = selectors.label_selector(request.query.get("labelSelector", ""))
        fields = selectors.field_selector(
            request.query.get("fieldSelector", ""), table.resource.selectable
        )
    except selectors.SelectorError as error:
        raise bad_request(str(error)) from error
    if start:
        rows = rows[bisect_left(rows, start, key=lambda row: row.key) :]
    if namespace := request.parameters.get("namespace"):
        prefix = f"{namespace}/"
        rows = [row for row in rows if row.key.startswith(prefix)]
    if labels is not selectors.everything:
        rows = [row for row in rows if labels(row.value["metadata"].get("labels", {}))]
    if fields is not selectors.everything:
        rows = [row for row in rows if fields(table.resource.fields(row.value))]
    return rows


def _joined(table: Table, metadata: dict[str, Any], rows: Rows) -> bytes:
    head = {"kind": table.resource.list_kind, "apiVersion": "v1", "metadata": metadata}
    return b"".join(
        (encode(head)[:-1], b',"items":[', b",".join(row.bytes for row in rows), b"]}\n")
    )


def one(table: Table, row: Stored) -> bytes:
    """An object on its own, which says what it is; in a list the list does."""
    head = {"kind": table.resource.kind, "apiVersion": "v1"}
    return encode(head)[:-1] + b"," + row.bytes[1:] + b"\n"


def _token(version: int, start: str) -> str:
    value = {"v": "meta.k8s.io/v1", "rv": version, "start": start}
    return base64.urlsafe_b64encode(encode(value)).decode().rstrip("=")


def _read(token: str) -> tuple[int, str]:
    try:
        value = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        kind, version, start = value["v"], value["rv"], value["start"]
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        raise bad_request(f"continue key is not valid: {error}") from error
    if kind != "meta.k8s.io/v1":
        text = "continue key is not valid: server does not recognize this encoded version"
        raise bad_request(f"{text} {kind}")
    if not isinstance(version, int) or not version or not isinstance(start, str) or not start:
        text = "continue key is not valid: incorrect encoded start resourceVersion"
        raise bad_request(f"{text} (version meta.k8s.io/v1)")
    return version, start
