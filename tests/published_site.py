"""A published site under test: rows to show, a place to publish to, and a look at what is there."""

import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import boto3  # type: ignore[import-untyped]

from static_site import publish
from static_site.errors import PublishError
from static_site.s3 import S3Target
from static_site.targets import FileTarget, Object, Target
from static_site.uploading import Report
from tests.site_rows import NOW, SiteRows

BUCKET = "site"
KEYS = {
    "aws_access_key_id": "testing",
    "aws_secret_access_key": "testing",
    "region_name": "us-east-1",
}
_LINK = re.compile(r'(?:href|src)="(/[^"]*)"')


class Place(Protocol):
    """Where it is published to, as somebody else sees it."""

    def target(self) -> Target: ...
    def paths(self) -> set[str]: ...
    def read(self, path: str) -> bytes: ...
    def write(self, path: str, body: bytes) -> None: ...
    def delete(self, path: str) -> None: ...


@dataclass(frozen=True)
class Directory:
    path: Path

    def target(self) -> Target:
        return FileTarget(self.path)

    def paths(self) -> set[str]:
        return {
            each.relative_to(self.path).as_posix()
            for each in self.path.rglob("*")
            if each.is_file()
        }

    def read(self, path: str) -> bytes:
        return (self.path / path).read_bytes()

    def write(self, path: str, body: bytes) -> None:
        (self.path / path).write_bytes(body)

    def delete(self, path: str) -> None:
        (self.path / path).unlink()


@dataclass(frozen=True)
class Bucket:
    endpoint: str
    name: str
    prefix: str = "status"

    @property
    def client(self) -> Any:
        return boto3.client("s3", endpoint_url=self.endpoint, **KEYS)

    def target(self) -> Target:
        return S3Target(self.name, self.prefix, self.endpoint)

    def key(self, path: str) -> str:
        return f"{self.prefix}/{path}" if self.prefix else path

    def paths(self) -> set[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name)
        found = [each["Key"] for page in pages for each in page.get("Contents", ())]
        return {key.removeprefix(self.key("")) for key in found}

    def head(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.head_object(Bucket=self.name, Key=self.key(path))
        return found

    def read(self, path: str) -> bytes:
        got = self.client.get_object(Bucket=self.name, Key=self.key(path))
        body: bytes = got["Body"].read()
        return gzip.decompress(body) if got.get("ContentEncoding") == "gzip" else body

    def write(self, path: str, body: bytes) -> None:
        self.client.put_object(Bucket=self.name, Key=self.key(path), Body=body)

    def delete(self, path: str) -> None:
        self.client.delete_object(Bucket=self.name, Key=self.key(path))


@dataclass
class Faulty:
    """A place that fails at some of the puts, and remembers all of them."""

    target: Target
    fails: Callable[[int, str], bool] = lambda _number, _path: False
    puts: list[str] = field(default_factory=list)

    def get(self, path: str) -> bytes | None:
        return self.target.get(path)

    def listing(self, folder: str = "") -> dict[str, str]:
        return self.target.listing(folder)

    def names(self, prefix: str) -> set[str]:
        return self.target.names(prefix)

    def tokens(self, paths: Sequence[str]) -> dict[str, str]:
        return self.target.tokens(paths)

    def put(self, item: Object) -> str:
        self.puts.append(item.path)
        if self.fails(len(self.puts), item.path):
            raise PublishError(f"{item.path}: no space left")
        return self.target.put(item)

    def holds(self, item: Object, token: str) -> bool:
        return self.target.holds(item, token)

    def delete(self, path: str) -> None:
        self.target.delete(path)


class Site:
    def __init__(self, rows: SiteRows, place: Place) -> None:
        self.rows = rows
        self.place = place
        self.now = NOW

    def later(self, seconds: float = 0, **span: float) -> "Site":
        self.now += timedelta(seconds=seconds, **span)
        return self

    def publish(self, *, from_scratch: bool = False, target: Target | None = None) -> Report:
        order = publish.Order(
            self.rows.database.role_url("prod_reconcile"),
            "prod",
            "prod",
            self.now,
            seconds=300,
            from_scratch=from_scratch,
        )
        return publish.publish(order, target or self.place.target())

    def uploads(self, **options: Any) -> set[str]:
        report = self.publish(**options)
        assert report.problems == []
        assert len(set(report.uploaded)) == len(report.uploaded), "nothing is uploaded twice"
        return set(report.uploaded)

    def document(self, path: str) -> Any:
        return json.loads(self.place.read(path))

    def text(self, path: str) -> str:
        return self.place.read(path).decode()

    def rows_of(self, path: str) -> list[Any]:
        found: list[Any] = self.document(path)["rows"]
        return found

    def contents(self) -> dict[str, bytes]:
        return {path: self.place.read(path) for path in self.place.paths()}


def pages(*names: str) -> set[str]:
    """The objects of these pages: each with its twin."""
    return {f"{name}.{extension}" for name in names for extension in ("html", "json")}


def links(text: str) -> Iterator[str]:
    """Where a page leads to within the site."""
    for found in _LINK.findall(text):
        yield found.partition("#")[0]


def at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
