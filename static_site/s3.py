"""A bucket to publish to: Amazon's, or any that speaks its language. Alone imports boto3, which
takes as long to import as everything else of a run together."""

import contextlib
import functools
import gzip
import hashlib
import time
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

from .errors import PublishError
from .headers import PAGES_METADATA, content_type
from .targets import Object

# Short: a run that waits for its site does not look after jobs.
CONNECT_SECONDS = 3
READ_SECONDS = 10
ATTEMPTS = 2
PARALLEL = 8
PIECE = 65_536  # bytes


@functools.cache
def _session() -> Any:
    """Kept: what a client is made of is read from large files, once for each session."""
    return boto3.Session()


def warm_up(endpoint_url: str | None) -> None:
    """Whoever forks for each publishing does the slow part once. With keys that open nothing: to
    look for real ones is to ask the network."""
    nobody = {"aws_access_key_id": "nobody", "aws_secret_access_key": "nobody"}
    with contextlib.suppress(BotoCoreError):  # Whoever publishes is told.
        _client(endpoint_url, **nobody).close()


def _client(endpoint_url: str | None, **keys: str) -> Any:
    limits = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        max_pool_connections=PARALLEL,
        # Not every place that speaks S3 knows the newer checksums.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return _session().client("s3", endpoint_url=endpoint_url, config=limits, **keys)


class S3Target:
    def __init__(self, bucket: str, prefix: str, endpoint_url: str | None = None) -> None:
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""
        with _translated(self._address("")):
            self._client = _client(endpoint_url)

    def close(self) -> None:
        self._client.close()

    def get(self, path: str) -> bytes | None:
        with _translated(self._address(path)):
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=self._prefix + path)
                with contextlib.closing(answer["Body"]) as body:
                    stored = self._whole(path, body)
            except ClientError as error:
                if _is_missing(error):
                    return None
                raise
        return _decoded(stored)

    def _whole(self, path: str, body: Any) -> bytes:
        """Piece by piece, for each may be in time and all of them not."""
        until = time.monotonic() + READ_SECONDS
        pieces = []
        for piece in body.iter_chunks(PIECE):
            if time.monotonic() > until:
                raise PublishError(
                    f"{self._address(path)}: it was not sent within {READ_SECONDS} s."
                )
            pieces.append(piece)
        return b"".join(pieces)

    def listing(self, folder: str = "") -> dict[str, str]:
        asked = {"Prefix": self._prefix + folder, "Delimiter": "/"}
        return {self._path(each): _token(each) for each in self._keys(asked)}

    def names(self, prefix: str) -> set[str]:
        return {self._path(each) for each in self._keys({"Prefix": self._prefix + prefix})}

    def tokens(self, paths: Sequence[str]) -> dict[str, str]:
        with ThreadPoolExecutor(PARALLEL) as pool:
            found = zip(paths, pool.map(self._token_of, paths), strict=True)
            return {path: token for path, token in found if token is not None}

    def _token_of(self, path: str) -> str | None:
        with _translated(self._address(path)):
            try:
                return _token(
                    self._client.head_object(Bucket=self._bucket, Key=self._prefix + path)
                )
            except ClientError as error:
                if _is_missing(error):
                    return None
                raise

    def put(self, item: Object) -> str:
        body = _encoded(item.body)
        with _translated(self._address(item.path)):
            answer = self._client.put_object(
                Bucket=self._bucket,
                Key=self._prefix + item.path,
                Body=body,
                ContentType=content_type(item.path),
                ContentEncoding="gzip",
                CacheControl=item.cache_control,
                Metadata={PAGES_METADATA: str(item.pages)} if item.pages > 1 else {},
            )
        return _token(answer)

    def holds(self, item: Object, token: str) -> bool:
        """An ETag is the body's MD5, unless the bucket is encrypted with a key of its owner's: then
        it never looks the same, and is only written once too often."""
        digest = hashlib.md5(_encoded(item.body), usedforsecurity=False).hexdigest()
        return token == digest

    def delete(self, path: str) -> None:
        with _translated(self._address(path)):
            self._client.delete_object(Bucket=self._bucket, Key=self._prefix + path)

    def _keys(self, asked: dict[str, str]) -> Iterator[dict[str, Any]]:
        pages = self._client.get_paginator("list_objects_v2")
        with _translated(self._address("")):
            for page in pages.paginate(Bucket=self._bucket, **asked):
                yield from page.get("Contents", ())

    def _address(self, path: str) -> str:
        return f"s3://{self._bucket}/{self._prefix}{path}"

    def _path(self, entry: dict[str, Any]) -> str:
        return str(entry["Key"]).removeprefix(self._prefix)


def _is_missing(error: ClientError) -> bool:
    return error.response.get("Error", {}).get("Code") in ("NoSuchKey", "404")


def _token(answer: dict[str, Any]) -> str:
    return str(answer["ETag"]).strip('"')


def _encoded(body: bytes) -> bytes:
    """The same for the same, whenever it is made."""
    return gzip.compress(body, compresslevel=6, mtime=0)


def _decoded(stored: bytes) -> bytes:
    """Some places unpack what they hand out, some do not. What is damaged says nothing, and is
    made anew by whoever reads it."""
    if not stored.startswith(b"\x1f\x8b"):
        return stored
    try:
        return gzip.decompress(stored)
    except (OSError, EOFError, zlib.error):
        return b""


@contextlib.contextmanager
def _translated(what: str) -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise PublishError(f"{what}: {error}") from error
