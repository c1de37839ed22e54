"""Makes happen what a scenario says, when the world's time comes to it."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import TypeVar

from ..sim.github import workflow
from ..sim.github.model import USER, Repository, Run, Status
from ..sim.timeline import LiveTime
from ..sim.world import World
from .figures import Happening
from .load import Push
from .scenarios import Incident

KEPT = 200
T = TypeVar("T", Push, Incident)


class Director:
    def __init__(
        self, world: World[LiveTime], repositories: dict[tuple[str, str], Repository]
    ) -> None:
        self._timeline = world.time.timeline
        self._engine = world.github.engine
        self._repositories = repositories  # by account and name
        self.stopped = False
        self._lock = threading.Lock()
        self._happenings: deque[Happening] = deque(maxlen=KEPT)
        self.begin = self._timeline.now()
        self.told = 0

    # What happens --------------------------------------------------------------------------------

    def follow(self, items: Iterable[T], do: Callable[[T], None], begin: datetime) -> None:
        """Each at its moment after `begin`, one appointment at a time: some are without end."""
        self._appoint_next(iter(items), do, begin)

    def _appoint_next(self, items: Iterator[T], do: Callable[[T], None], begin: datetime) -> None:
        item = next(items, None)
        if item is None:
            return

        def act() -> None:
            if not self.stopped:
                do(item)
                self._appoint_next(items, do, begin)

        self._timeline.at(begin + timedelta(seconds=item.at), act)

    def push(self, push: Push) -> None:
        repository = self._repositories[push.tenant, push.repository]
        person = repository.owner if repository.owner.type == USER else None
        run = self._engine.push(repository, workflow.parse(push.workflow), actor=person)
        if push.cancelled_after is not None:
            self._timeline.after(push.cancelled_after, lambda: self._cancel(run))

    def _cancel(self, run: Run) -> None:
        if run.status is not Status.COMPLETED:
            self._engine.cancel(run)

    def stop(self) -> None:
        """Nothing new from now on."""
        self.stopped = True

    # What is left to do --------------------------------------------------------------------------

    def all_is_over(self) -> bool:
        """Whether no job is queued or runs at GitHub."""
        with self._timeline.lock:
            return all(job.status is Status.COMPLETED for job in self._engine.jobs.values())

    def cancel_the_rest(self) -> int:
        with self._timeline.lock:
            left = [run for run in self._engine.runs.values() if run.status is not Status.COMPLETED]
            for run in left:
                self._engine.cancel(run)
            return len(left)

    # What was done to the world ------------------------------------------------------------------

    def tell(self, text: str) -> None:
        with self._lock:
            self.told += 1
            self._happenings.append(Happening(self._timeline.now(), text))

    def happenings(self) -> list[Happening]:
        with self._lock:
            return list(self._happenings)
