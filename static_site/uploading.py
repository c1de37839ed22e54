"""From page models to objects in their place: only what is not there already."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from . import headers, render
from .errors import PublishError
from .memory import Entry, Memory
from .targets import Object, Target

PARALLEL = 8
EXTENSIONS = ("json", "html")


@dataclass(frozen=True)
class Page:
    """A page and its twin."""

    name: str  # the path without extension
    template: str
    model: Mapping[str, Any]
    cache_control: str = headers.LIVE
    pages: int = 1
    timed: bool = True  # whether it says as of when it is; what will not change any more does not

    @cached_property
    def digest(self) -> str:
        """Of what it says, and how."""
        said = json.dumps(self.model, separators=(",", ":"))
        return hashlib.blake2b((render.VERSION + said).encode(), digest_size=12).hexdigest()


@dataclass(slots=True)
class Report:
    uploaded: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # pages that could not be made


class Uploader:
    """`stored` are the tokens of what was found in the place, and are kept up to date."""

    def __init__(
        self,
        target: Target,
        memory: Memory,
        environment: str,
        as_of: str,
        check: Callable[[], None],
        report: Report,
        *,
        from_scratch: bool,
    ) -> None:
        self._target = target
        self._memory = memory
        self._environment = environment
        self._as_of = as_of
        self._check = check  # raises PublishError when the time is over
        self._from_scratch = from_scratch
        self._errors: list[str] = []  # of what is being put
        self._report = report
        self.stored: dict[str, str] = {}

    def changed(self, page: Page) -> bool:
        """Whether the page is to be made: it says something else, or is not as it was left."""
        known = self._memory.pages.get(page.name)
        return (
            known is None
            or known.digest != page.digest
            or any(
                self.stored.get(f"{page.name}.{extension}") != known.tokens.get(extension)
                for extension in EXTENSIONS
            )
        )

    def publish(self, pages: Iterable[Page], *, remember: bool = True) -> None:
        """All of them, several at once: for those that do not depend on each other. Raises
        PublishError if one could not be; the others are done and remembered all the same."""
        wanted = [page for page in pages if self._from_scratch or self.changed(page)]
        if not wanted:
            return
        made = [(page, objects) for page in wanted if (objects := self._made(page))]
        tokens = self._put_all([item for _, objects in made for item in objects])
        for page, objects in made:
            done = [tokens[item.path] for item in objects]
            if remember and None not in done:
                self._memory.pages[page.name] = Entry(
                    page.digest,
                    self._time_of(page),
                    {
                        extension: str(token)
                        for extension, token in zip(EXTENSIONS, done, strict=True)
                    },
                )
        failed = [path for path, token in tokens.items() if token is None]
        if failed:
            raise PublishError(self._told(failed))

    def put(self, items: Sequence[Object], *, in_any_case: bool = False) -> None:
        """Objects that are no pages; in any case, if what was done would else be forgotten."""
        tokens = self._put_all(items, in_any_case=in_any_case)
        failed = [path for path, token in tokens.items() if token is None]
        if failed:
            raise PublishError(self._told(failed))

    def forget(self, name: str) -> None:
        """It is as it will stay: nobody looks at it again."""
        self._memory.pages.pop(name, None)

    def remove(self, name: str) -> None:
        """A page that there is no more."""
        for extension in EXTENSIONS:
            path = f"{name}.{extension}"
            if path in self.stored:
                self._target.delete(path)
                del self.stored[path]
                self._report.deleted.append(path)
        self._memory.pages.pop(name, None)

    def _made(self, page: Page) -> tuple[Object, Object] | None:
        """None, and a problem that is told, if it cannot be made: a fault in one page must not keep
        all others from being shown."""
        try:
            return self._objects(page)
        except Exception as error:  # noqa: BLE001 whatever it is, it is told
            self._report.problems.append(f"{page.name} cannot be made: {error!r}"[:300])
            return None

    def _objects(self, page: Page) -> tuple[Object, Object]:
        as_of = self._time_of(page)
        twin = {"environment": self._environment, "as_of": as_of, **page.model}
        text = render.html(page.template, page.model, environment=self._environment, as_of=as_of)
        return (
            Object(f"{page.name}.json", dumped(twin), page.cache_control, page.pages),
            Object(f"{page.name}.html", text.encode(), page.cache_control, page.pages),
        )

    def _time_of(self, page: Page) -> str | None:
        """Since when it says what it says."""
        if not page.timed:
            return None
        known = self._memory.pages.get(page.name)
        return known.as_of if known and known.digest == page.digest else self._as_of

    def _put_all(
        self, items: Sequence[Object], *, in_any_case: bool = False
    ) -> dict[str, str | None]:
        """The tokens; None for what could not be put."""
        self._errors.clear()
        if len(items) <= 1:
            return {item.path: self._put(item, in_any_case) for item in items}
        with ThreadPoolExecutor(min(PARALLEL, len(items))) as pool:
            tokens = pool.map(lambda item: self._put(item, in_any_case), items)
            return {item.path: token for item, token in zip(items, tokens, strict=True)}

    def _put(self, item: Object, in_any_case: bool) -> str | None:
        stored = self.stored.get(item.path)
        try:
            if not in_any_case:
                self._check()
            if stored is not None and self._target.holds(item, stored):
                return stored
            token = self._target.put(item)
        except PublishError as error:
            self._errors.append(str(error))
            return None
        self.stored[item.path] = token
        self._report.uploaded.append(item.path)
        return token

    def _told(self, failed: Sequence[str]) -> str:
        others = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        return f"{self._errors[0]}{others}"


def dumped(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
