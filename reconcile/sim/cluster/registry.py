"""Create, read, patch and delete: what all kinds of objects have in common."""

from typing import Any

from ..http import Request, Response, encode
from . import decoding, listing
from .deletion import Deleter, check_dry_run
from .deletion import options as delete_options
from .json_patch import json_patch
from .names import GENERATED, GENERATED_LENGTH, LABEL_LIMIT
from .patch import PatchError, PatchFailedError, merge, strategic_merge
from .status import (
    JSON,
    ApiError,
    FieldError,
    already_exists,
    bad_request,
    forbidden_field,
    invalid,
    invalid_field,
    not_found,
    stale,
    unsupported_media_type,
)
from .store import Object, Store, Table
from .strategies import STRATEGIES

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
PATCHES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)
# Metadata that is the server's own business.
SYSTEM = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
)


class Registry:
    def __init__(self, store: Store) -> None:
        self._store = store
        self.deleter = Deleter(store)

    def read(self, request: Request, table: Table) -> Response:
        return _answer(200, table, self.find(request, table))

    def find(self, request: Request, table: Table) -> Object:
        name = request.parameters["name"]
        found = table.get(request.parameters.get("namespace", ""), name)
        if found is None:
            raise not_found(table.resource.plural, name)
        return found

    def create(self, request: Request, table: Table) -> Response:
        kind = table.resource.kind
        strategy = STRATEGIES[table.resource.plural]
        given = decoding.body(request, kind, strategy.shape)
        dry_run = check_dry_run(_dry_run(request), "CreateOptions.meta.k8s.io")
        metadata = self._given_metadata(request, given.get("metadata", {}))
        value = strategy.prepare(given | {"metadata": metadata})
        if errors := strategy.check(value):
            raise invalid(kind, metadata.get("name", ""), errors)
        name = metadata["name"]
        if table.get(request.parameters["namespace"], name) is not None:
            raise already_exists(table.resource.plural, name)
        if not dry_run:
            value = table.add(value)
        return _answer(201, table, value)

    def _given_metadata(self, request: Request, metadata: Object) -> Object:
        namespace = request.parameters["namespace"]
        if metadata.get("namespace", namespace) != namespace:
            message = "the namespace of the provided object does not match the namespace sent on"
            raise bad_request(f"{message} the request")
        if metadata.get("resourceVersion"):
            raise bad_request("resourceVersion should not be set on objects to be created")
        if self._store.namespaces.get("", namespace) is None:
            raise not_found("namespaces", namespace)
        metadata = {name: value for name, value in metadata.items() if name not in SYSTEM}
        if not metadata.get("name") and metadata.get("generateName"):
            prefix = metadata["generateName"][: LABEL_LIMIT - GENERATED_LENGTH]
            letters = self._store.random.choices(GENERATED, k=GENERATED_LENGTH)
            metadata["name"] = prefix + "".join(letters)
        return self._store.new_metadata(metadata | {"namespace": namespace})

    def patch(self, request: Request, table: Table) -> Response:
        old = self.find(request, table)
        kind, plural = table.resource.kind, table.resource.plural
        strategy = STRATEGIES[plural]
        dry_run = check_dry_run(_dry_run(request), "PatchOptions.meta.k8s.io")
        patched = decoding.typed(_patched(request, old, kind), kind, strategy.shape)
        metadata = patched.get("metadata", {})
        self._check_identity(request, old, metadata)
        if metadata.get("resourceVersion", "") not in ("", old["metadata"]["resourceVersion"]):
            raise stale(plural, old["metadata"]["name"])
        new = {name: one for name, one in patched.items() if name not in ("kind", "apiVersion")}
        new = strategy.normalise(new | {"metadata": _kept(old, metadata)})
        if "status" in old:
            new["status"] = old["status"]
        errors = _check_metadata(old["metadata"], metadata)
        if errors := errors + strategy.check(new) + strategy.check_update(old, new):
            raise invalid(kind, old["metadata"]["name"], errors)
        if "generation" in old["metadata"] and new["spec"] != old["spec"]:
            new["metadata"]["generation"] = old["metadata"]["generation"] + 1
        if not dry_run:
            new = table.replace(old, new)
            self._let_go(table, new)
        return _answer(200, table, new)

    def _check_identity(self, request: Request, old: Object, metadata: Object) -> None:
        for field, known in (("name", old["metadata"]["name"]), ("namespace", "")):
            known = known or request.parameters.get("namespace", "")
            found = metadata.get(field, "")
            if found != known:
                raise bad_request(
                    f"the {field} of the object ({found}) does not match the {field} on the URL "
                    f"({known})"
                )

    def _let_go(self, table: Table, value: Object) -> None:
        """The last finalizer was taken off something that was only waiting for that."""
        metadata = value["metadata"]
        if metadata.get("deletionGracePeriodSeconds") == 0 and not metadata.get("finalizers"):
            table.remove(value)

    def delete(self, request: Request, table: Table) -> Response:
        value = self.find(request, table)
        result = self.deleter.delete(table, value, delete_options(request))
        metadata = result["metadata"]
        if STRATEGIES[table.resource.plural].returns_deleted or metadata.get("deletionTimestamp"):
            return _answer(200, table, result)
        details = {
            "name": metadata["name"],
            "kind": table.resource.plural,
            "uid": metadata["uid"],
        }
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
        return Response(200, encode(status | {"details": details}), JSON)


def _answer(code: int, table: Table, value: Object) -> Response:
    return Response(code, listing.one(table, table.row(value)), JSON)


def _dry_run(request: Request) -> list[str]:
    return [request.query["dryRun"]] if "dryRun" in request.query else []


def _patched(request: Request, old: Object, kind: str) -> Any:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type not in PATCHES:
        raise unsupported_media_type(PATCHES)
    patch = decoding.parsed(request)
    if media_type != JSON_PATCH and not isinstance(patch, dict):
        raise bad_request("json: cannot unmarshal into Go value of type map[string]interface {}")
    document = {"kind": kind, "apiVersion": "v1", **old}
    try:
        if media_type == JSON_PATCH:
            return json_patch(document, patch)
        return (strategic_merge if media_type == STRATEGIC_PATCH else merge)(document, patch)
    except PatchError as error:
        raise bad_request(str(error)) from error
    except PatchFailedError as error:
        message = "the server rejected our request due to an error in our request"
        raise ApiError(422, "Invalid", message, {}) from error


def _kept(old: Object, metadata: Object) -> Object:
    """The metadata with the server's part as it was."""
    mine = {name: value for name, value in metadata.items() if name not in SYSTEM}
    theirs = {name: value for name, value in old["metadata"].items() if name in SYSTEM}
    return mine | theirs


def _check_metadata(old: Object, new: Object) -> list[FieldError]:
    errors = [
        invalid_field(f"metadata.{field}", new.get(field), "field is immutable")
        for field in ("uid", "creationTimestamp")
        if new.get(field) != old[field]
    ]
    added = [one for one in new.get("finalizers", []) if one not in old.get("finalizers", [])]
    if added and "deletionTimestamp" in old:
        shown = ", ".join(f'"{one}"' for one in added)
        detail = "no new finalizers can be added if the object is being deleted, found new "
        errors.append(
            forbidden_field("metadata.finalizers", f"{detail}finalizers []string{{{shown}}}")
        )
    return errors
