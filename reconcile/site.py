"""The site's publisher as the run sees it. What it needs is imported only where there is a site:
its templates, and boto3, which takes as long to import as everything else together."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from .config import Config, FileSite, S3Site
from .errors import BusyError, StoreError

if TYPE_CHECKING:
    from static_site.targets import Target

LOCK_SECONDS = 60.0  # A run's publishing is over by then.


@dataclass(frozen=True, slots=True)
class Published:
    uploaded: int
    deleted: int
    problems: tuple[str, ...] = ()  # what could not be published; what there was stays whole


@dataclass(frozen=True, slots=True)
class Publisher:
    """Of one site. Raises StoreError if the database could not be read."""

    config: Config
    site: S3Site | FileSite

    def publish(self, now: datetime, seconds: float, *, from_scratch: bool = False) -> Published:
        """Raises BusyError if another publisher is at work."""
        from static_site import errors, publish

        order = publish.Order(
            conninfo=self.config.conninfo,
            schema=self.config.schema,
            environment=self.config.environment,
            now=now,
            seconds=seconds,
            from_scratch=from_scratch,
        )
        try:
            with _target(self.site, self.config.aws_endpoint_url) as target:
                report = publish.publish(order, target)
        except errors.BusyError as error:
            raise BusyError(str(error)) from error
        except errors.DatabaseError as error:
            raise StoreError(str(error)) from error
        except errors.PublishError as error:
            return Published(error.uploaded, 0, (str(error),))
        return Published(len(report.uploaded), len(report.deleted), tuple(report.problems))

    def publish_everything(
        self, now: Callable[[], datetime], seconds: float, sleep: Callable[[float], None]
    ) -> Published:
        """From scratch, after a run's publishing if one is under way. Raises as above."""
        give_up = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                return self.publish(now(), seconds, from_scratch=True)
            except BusyError:
                if time.monotonic() >= give_up:
                    raise
                sleep(0.5)


def publisher(config: Config) -> Publisher | None:
    return None if config.site is None else Publisher(config, config.site)


def warm_up(config: Config) -> None:
    """Everything a publishing imports and compiles, for whoever forks for each."""
    if config.site is None:
        return
    from static_site import publish, render  # noqa: F401

    render.warm_up()
    if isinstance(config.site, S3Site):
        from static_site import s3

        s3.warm_up(config.aws_endpoint_url)


@contextlib.contextmanager
def _target(site: S3Site | FileSite, endpoint_url: str | None) -> "Iterator[Target]":
    if isinstance(site, FileSite):
        from static_site.targets import FileTarget

        yield FileTarget(site.directory)
        return
    from static_site.s3 import S3Target

    with contextlib.closing(S3Target(site.bucket, site.prefix, endpoint_url)) as target:
        yield target
