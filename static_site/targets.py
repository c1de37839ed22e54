"""Where the site is published: what a place must be able to do, and a directory that can."""

import contextlib
import itertools
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .errors import PublishError

WORKSHOP = ".publishing"  # where files are made before they are moved to their place
LEFT_BEHIND_SECONDS = 3600  # after which nobody is at work on a file there any more


@dataclass(frozen=True, slots=True)
class Object:
    path: str  # jobs.2.html
    body: bytes
    cache_control: str
    pages: int = 1  # of the list that it is a page of


class Target(Protocol):
    """A place for objects, each replaced as a whole: who reads sees the old one or the new one.

    A token stands for one state of an object, and is another one as soon as anybody changed it.
    Every method raises PublishError if the place does not do what it is asked. `put` and `get` are
    called from several threads at once.
    """

    def get(self, path: str) -> bytes | None:
        """None if there is no such object."""

    def listing(self, folder: str = "") -> dict[str, str]:
        """The objects right in that folder ("" or "days/2026-11-18/"), with their tokens."""

    def names(self, prefix: str) -> set[str]:
        """All paths that begin so, at any depth."""

    def tokens(self, paths: Sequence[str]) -> dict[str, str]:
        """Of those of these that there are: where listing what is around them would be too much."""

    def put(self, item: Object) -> str:
        """Its token."""

    def holds(self, item: Object, token: str) -> bool:
        """Whether the state of that token is known to be this very object."""

    def delete(self, path: str) -> None:
        """Also if there is none."""


class FileTarget:
    def __init__(self, directory: Path) -> None:
        self._root = directory
        self._workshop = directory / WORKSHOP
        self._numbers = itertools.count()
        with _translated(directory):
            self._workshop.mkdir(parents=True, exist_ok=True)
            self._tidy_up()

    def _tidy_up(self) -> None:
        """What a crash left. Another may be at work: who publishes is settled only later."""
        before = time.time() - LEFT_BEHIND_SECONDS
        for path in self._workshop.iterdir():
            with contextlib.suppress(OSError):  # It does no harm where it is.
                if path.stat().st_mtime < before:
                    path.unlink()

    def get(self, path: str) -> bytes | None:
        with _translated(self._root / path):
            try:
                return (self._root / path).read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                return None

    def listing(self, folder: str = "") -> dict[str, str]:
        found = {}
        with (
            _translated(self._root / folder),
            contextlib.suppress(FileNotFoundError),
            os.scandir(self._root / folder) as entries,
        ):
            for entry in entries:
                if entry.is_file():
                    found[folder + entry.name] = _token(entry.stat())
        return found

    def names(self, prefix: str) -> set[str]:
        top = self._root / prefix.rpartition("/")[0]
        with _translated(top):
            found = (
                (Path(folder) / name).relative_to(self._root).as_posix()
                for folder, _, names in os.walk(top)
                for name in names
            )
            inside = f"{WORKSHOP}/"
            return {
                each for each in found if each.startswith(prefix) and not each.startswith(inside)
            }

    def tokens(self, paths: Sequence[str]) -> dict[str, str]:
        with _translated(self._root):
            found = {path: self._root / path for path in paths}
            return {path: _token(file.stat()) for path, file in found.items() if file.is_file()}

    def put(self, item: Object) -> str:
        goal = self._root / item.path
        made = self._workshop / f"{os.getpid()}-{next(self._numbers)}"
        with _translated(goal):
            try:
                made.write_bytes(item.body)
                goal.parent.mkdir(parents=True, exist_ok=True)
                token = _token(made.stat())
                made.replace(goal)
            finally:
                made.unlink(missing_ok=True)
        return token

    def holds(self, item: Object, token: str) -> bool:  # noqa: ARG002 looking is as cheap
        return self.get(item.path) == item.body

    def delete(self, path: str) -> None:
        with (
            _translated(self._root / path),
            contextlib.suppress(FileNotFoundError, NotADirectoryError),
        ):
            (self._root / path).unlink()


def _token(state: os.stat_result) -> str:
    return f"{state.st_mtime_ns}-{state.st_size}-{state.st_ino}"


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PublishError(f"{path}: {error.strerror or error}") from error
