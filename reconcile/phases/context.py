"""What every phase is given."""

import random
import secrets
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from ..clock import Clock, Deadline
from ..errors import AccessError, DeadlineError, PermanentError, TransientError
from ..model import DemandKey, Node, Pod
from ..ports import Cluster, GitHub
from ..settings import Settings
from ..store import Database

T = TypeVar("T")
R = TypeVar("R")
OutsideError = TransientError | PermanentError | AccessError  # what the outside may do to us
OUTSIDE_ERRORS = (TransientError, PermanentError, AccessError)


@dataclass(frozen=True, slots=True)
class Identity:
    """Which runners are ours, and what they are called."""

    prefix: str
    group_name: str
    owns: Callable[[str], bool]
    banned_entities: frozenset[int | str] = frozenset()
    banned_senders: frozenset[int | str] = frozenset()

    def new_name(self) -> str:
        return self.prefix + secrets.token_hex(5)


class ClusterView:
    """The cluster's pods and nodes, listed once a run. What could not be listed stays unknown."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._listed: tuple[list[Pod] | OutsideError, list[Node] | OutsideError] | None = None

    def pods(self) -> list[Pod]:
        """Raises what the listing raised."""
        return _or_raise(self._look()[0])

    def nodes(self) -> list[Node]:
        return _or_raise(self._look()[1])

    def _look(self) -> tuple[list[Pod] | OutsideError, list[Node] | OutsideError]:
        if self._listed is None:
            self._listed = _try(self._cluster.pods), _try(self._cluster.nodes)
        return self._listed


@dataclass(slots=True)
class Context:
    database: Database
    github: GitHub
    cluster: Cluster
    settings: Settings
    identity: Identity
    clock: Clock
    deadline: Deadline
    roll: Callable[[], float] = field(default=lambda: random.uniform(-1, 1))  # noqa: S311 jitter
    view: ClusterView = field(init=False)
    started_at: datetime = field(init=False)
    # Workers that have long been at work, and no row tells on what; with their demand.
    busy_without_job: dict[str, DemandKey] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.view = ClusterView(self.cluster)
        self.started_at = self.now()

    def now(self) -> datetime:
        return self.clock.now()

    def at_once(
        self, work: Callable[[T], R], items: Iterable[T], *, share: float = 1.0
    ) -> list[tuple[T, R | OutsideError]]:
        """The work on every item, in parallel, each with what came of it: DeadlineError for those
        that were not begun within that share of the time that is left."""
        given: Sequence[T] = list(items)
        if not given:
            return []
        until = Deadline(self.deadline.remaining() * share)

        def begun(item: T) -> R:
            if until.passed:
                raise DeadlineError("There was no time left for it in this run.")
            return work(item)

        with ThreadPoolExecutor(min(self.settings.github.parallel, len(given))) as pool:
            results = pool.map(lambda item: _try(lambda: begun(item)), given)
            return list(zip(given, results, strict=True))


def _try(work: Callable[[], R]) -> R | OutsideError:
    try:
        return work()
    except OUTSIDE_ERRORS as error:
        return error


def _or_raise(result: R | OutsideError) -> R:
    if isinstance(result, OUTSIDE_ERRORS):
        raise result
    return result
