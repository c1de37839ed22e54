"""What the demo knows of itself, as values: for the screen while it runs, for the summary at the
end. Read by `reading.py`, shown by `screen.py` and `summary.py`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

# While it runs ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PoolNow:
    """A row of `boards`."""

    name: str
    slots: int
    usable: int
    in_use: int


@dataclass(frozen=True, slots=True)
class TenantNow:
    name: str
    waiting: int
    running: int
    ended: int
    oldest_wait: float | None  # seconds that the oldest waiting job has waited
    waits_for: str | None  # the slug of demand_waits that holds up most of its jobs


@dataclass(frozen=True, slots=True)
class RunNow:
    """The newest row of `reconcile_runs`."""

    number: int
    status: str
    started_at: datetime
    seconds: float | None  # of the world; None while it runs
    provisioned: int
    failed: int
    error: str | None


@dataclass(frozen=True, slots=True)
class Happening:
    """Something worth a line: done to the world, or done by the system about it."""

    at: datetime
    text: str
    by_system: bool = False


@dataclass(frozen=True, slots=True)
class Fleet:
    """The database's part of the picture."""

    pools: Sequence[PoolNow] = ()
    tenants: Sequence[TenantNow] = ()  # those with most to do first
    run: RunNow | None = None
    runs: int = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """One screen."""

    now: datetime  # the world's time
    speed: float
    scenario: str
    order: str  # fifo or fair
    elapsed: float  # our seconds since it began
    duration: float | None  # of ours, if it ends by itself
    phase: str  # what it is doing: "running", "settling: 3 jobs left"
    site_url: str
    fleet: Fleet
    happenings: Sequence[Happening] = ()  # the newest last
    trouble: str | None = None  # why the fleet is an old one: the database is away


# At the end ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Waits:
    """From queued to started, in seconds of the world, of jobs that were started."""

    jobs: int
    p50: float
    p95: float
    p99: float
    longest: float


@dataclass(frozen=True, slots=True)
class PoolUse:
    name: str
    boards: int
    used: float  # part of all its boards' time in which a worker had one, 0 to 1


@dataclass(frozen=True, slots=True)
class RunTimes:
    """Of runs that ended, by their status, and how long they took, in seconds of ours."""

    by_status: Mapping[str, int]
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Check:
    name: str  # "pods", "registrations", "jobs"
    ok: bool
    detail: str  # a sentence


@dataclass(frozen=True, slots=True)
class Comparison:
    """What small tenants' waits would have been otherwise, by the planner."""

    of: str  # "7 small accounts"
    measured: Waits
    planned: Mapping[str, Waits]  # by what is different: "fair, without bulkbuild's flood", "fifo"


@dataclass(frozen=True, slots=True)
class Summary:
    scenario: str
    seed: int
    order: str
    seconds: float  # of the world
    jobs: Mapping[str, int]  # by outcome: success, failure, cancelled, failed, pending, running
    workers: Mapping[str, int]  # by status, failed ones by reason ("failed: node_unreachable")
    waits: Waits | None  # None if no job was started
    tenants: Mapping[str, Waits] = field(default_factory=dict)  # the most jobs first
    pools: Sequence[PoolUse] = ()
    runs: RunTimes | None = None
    calls: Mapping[str, int] = field(default_factory=dict)  # to GitHub, to Kubernetes
    refused: Mapping[str, int] = field(default_factory=dict)  # of these, those that failed
    webhooks: int = 0  # rows of installation_events that webhooks left
    happenings: int = 0  # what was done to the world
    comparison: Comparison | None = None
    checks: Sequence[Check] = ()

    @property
    def good(self) -> bool:
        checked = bool(self.checks) and all(check.ok for check in self.checks)
        return checked and self.jobs.get("success", 0) > 0
