"""One load under one order or more: what is told of it, as values."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...settings import Scheduling, Settings
from ..figures import Waits
from .engine import Planned, simulate
from .load import LoadJob
from .series import Moment, in_steps
from .waits import waits_of

MOST_ACCOUNTS = 15  # that are told of one by one


@dataclass(frozen=True, slots=True)
class Account:
    """Or several, if there are too many."""

    name: str
    jobs: int
    waits: Mapping[Scheduling, Waits | None]


@dataclass(frozen=True, slots=True)
class Comparison:
    jobs: Sequence[LoadJob]
    boards: Mapping[str, int]
    planned: Mapping[Scheduling, Planned]

    @property
    def start(self) -> datetime:
        return self.jobs[0].created_at

    @property
    def end(self) -> datetime:
        """Of the order that takes longest."""
        return max(each.series[-1].at for each in self.planned.values())

    def waits(self, order: Scheduling) -> Waits | None:
        return waits_of(self.planned[order].waits)

    def steps(self, order: Scheduling, count: int) -> list[Moment]:
        return in_steps(self.planned[order].series, self.start, self.end, count)

    def accounts(self) -> list[Account]:
        """Those with most jobs, and the rest as one."""
        counts = Counter(job.entity for job in self.jobs)
        names = sorted(counts, key=lambda name: (-counts[name], name))
        # One more is as short as what would be said instead.
        shown = names if len(names) <= MOST_ACCOUNTS + 1 else names[:MOST_ACCOUNTS]
        found = [self._account(name, {name}) for name in shown]
        rest = set(names[len(shown) :])
        return [*found, self._account(f"{len(rest)} others", rest)] if rest else found

    def _account(self, name: str, members: set[str]) -> Account:
        places = [place for place, job in enumerate(self.jobs) if job.entity in members]
        waits = {
            order: waits_of(planned.waits[place] for place in places)
            for order, planned in self.planned.items()
        }
        return Account(name, len(places), waits)


def compare(
    jobs: Sequence[LoadJob],
    boards: Mapping[str, int],
    orders: Sequence[Scheduling],
    max_workers: int,
    caps: Mapping[str, int],
) -> Comparison:
    """`jobs` has at least one, the oldest first."""
    planned = {
        order: simulate(
            jobs,
            boards,
            Settings(scheduling=order, default_max_workers=max_workers),
            caps=caps,
        )
        for order in orders
    }
    return Comparison(jobs, boards, planned)
