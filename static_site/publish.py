"""Publishing: read, make what changed, put it in its place.

Every object is replaced as a whole, and what a page leads to is there before the page is. What
cannot be put leaves everything that depends on it as it was, and is made again next time.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from . import headers, live, memory, reading, render
from .archive import ArchivePages
from .errors import PublishError
from .live import LivePages
from .pages import health
from .reading import Reader
from .rows import Live
from .targets import Object, Target
from .uploading import Report, Uploader, dumped
from .words import stamp

HEALTH = "health.json"
ASSETS = "assets/"
BACKFILL_SECONDS = 3.0  # a run's, for days that were never published


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be published, and of what."""

    conninfo: str
    schema: str
    environment: str
    now: datetime
    seconds: float  # that it may take
    from_scratch: bool = False


def publish(order: Order, target: Target) -> Report:
    """Pages that could not be made are problems of the report. Raises PublishError if the database
    or the place fails, BusyError if another publisher is at work."""
    with reading.connect(order.conninfo, order.schema, order.seconds) as reader:
        report = Report()
        try:
            _Publishing(order, target, reader, report).run()
        except PublishError as error:
            error.uploaded = len(report.uploaded)
            raise
        return report


class _Publishing:
    def __init__(self, order: Order, target: Target, reader: Reader, report: Report) -> None:
        self._order = order
        self._target = target
        self._reader = reader
        self._report = report  # of what was done so far
        self._end = time.monotonic() + order.seconds

    def run(self) -> None:
        remembered, published_health, stored = self._look()
        self._memory = memory.load(remembered)
        if self._memory.environment not in (None, self._order.environment):
            raise PublishError(
                f"The site of {self._memory.environment} is there already: each environment needs "
                "a SITE_URL of its own."
            )
        self._memory.environment = self._order.environment
        self._uploader = Uploader(
            self._target,
            self._memory,
            self._order.environment,
            stamp(self._order.now),
            self._check_time,
            self._report,
            from_scratch=self._order.from_scratch,
        )
        self._uploader.stored = stored
        try:
            pages, seen = self._publish_live()
        except PublishError:
            # What was done need not be done again; if nothing was, the place may be out of reach.
            if self._report.uploaded:
                self._remember(remembered)
            raise
        failure = self._publish_archive(pages)
        self._remember(remembered)
        self._tell_health(seen, published_health)
        if failure is not None:
            raise failure

    def _look(self) -> tuple[bytes | None, bytes | None, dict[str, str]]:
        with ThreadPoolExecutor(4) as pool:
            remembered = pool.submit(self._target.get, memory.PATH)
            published_health = pool.submit(self._target.get, HEALTH)
            top = pool.submit(self._target.listing)
            assets = pool.submit(self._target.listing, ASSETS)
            return remembered.result(), published_health.result(), top.result() | assets.result()

    def _publish_live(self) -> tuple[LivePages, Live]:
        snapshot = live.read(self._reader, self._memory, self._order.now)
        self._put_assets()
        pages = LivePages(snapshot, self._memory, self._uploader)
        pages.publish(self._reader, self._order.now)
        return pages, snapshot.live

    def _publish_archive(self, pages: LivePages) -> PublishError | None:
        """Why not all of it could be: what is live is as of now all the same."""
        archive = ArchivePages(
            self._reader, self._target, self._memory, self._uploader, self._order.now
        )
        quiet = not self._report.uploaded
        try:
            if self._order.from_scratch:
                archive.everything(pages.waits)
            elif archive.is_due(pages.live_since, quiet=quiet):
                until = time.monotonic() + BACKFILL_SECONDS
                archive.refresh(pages.waits, lambda: time.monotonic() < min(until, self._end))
        except PublishError as error:
            return error
        return None

    def _put_assets(self) -> None:
        """Old ones stay: a page that somebody has open, or a day that is settled, may use them."""
        missing = [
            Object(path, body, headers.ASSET)
            for path, body in render.assets().items()
            if path not in self._uploader.stored
        ]
        if missing:
            self._uploader.put(missing)

    def _remember(self, remembered: bytes | None) -> None:
        kept = self._memory.dump()
        if kept != remembered:
            self._uploader.put([Object(memory.PATH, kept, headers.LIVE)], in_any_case=True)

    def _tell_health(self, seen: Live, published: bytes | None) -> None:
        """Last of all. Not at every run: it is a sign of life, and once a minute will do."""
        told = health.health(seen, self._order.environment, self._order.now)
        if self._report.uploaded or health.is_due(published, self._order.now):
            self._uploader.put([Object(HEALTH, dumped(told), headers.LIVE)], in_any_case=True)

    def _check_time(self) -> None:
        if time.monotonic() >= self._end:
            raise PublishError(f"It was not done within {self._order.seconds:.0f} s.")
