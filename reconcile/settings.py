"""What RUNNERS_CONFIG can say, with the defaults of what it leaves out. Times are in seconds unless
their name says days.

Everything here is data; `settings_file.py` reads it from TOML and refuses what does not fit.
"""

import fnmatch
from dataclasses import dataclass, field
from enum import StrEnum


class Scheduling(StrEnum):
    FIFO = "fifo"  # the oldest job first
    FAIR = "fair"  # the next board of a pool to the entity with the fewest boards in it


@dataclass(frozen=True, slots=True)
class Timeouts:
    runner_registration: float = 120  # a running pod's runner must be online by then
    runner_pending: float = 600  # an online runner must have a job by then
    runner_hung: float = 600  # a pod must have ended this long after its job
    pod_pending: float = 600  # a pod must run by then
    pod_visible: float = 60  # a new worker's pod must be in the cluster's list by then
    pod_active_deadline: float = 525_600  # the kubelet ends a pod then (about 6 days)
    pod_delete_grace: float = 21_600  # a terminal pod stays this long for inspection
    job_stuck_queued: float = 600  # a queued job of a completed run is given up then
    job_gone: float = 60  # between the first 404 for a job and the one that is believed


@dataclass(frozen=True, slots=True)
class BackOff:
    first: float = 30  # after one failed attempt; doubled with each further one
    longest: float = 3600
    jitter: float = 0.2  # each wait is longer or shorter by up to this part of it
    park_after: int = 5  # failed attempts in a row; then only the longest interval


@dataclass(frozen=True, slots=True)
class GitHubBudget:
    """How much of GitHub's limits may be used, and by what."""

    points_per_minute: int = 900  # GitHub's secondary limit; 0 is none (some Enterprise Servers)
    points_share: float = 0.9  # of it, what the run uses at most
    polling_points_share: float = 0.35  # of it, what polling uses at most
    polling_requests_share: float = 0.15  # of the hourly requests, what polling uses at most
    reserve_share: float = 0.2  # of the hourly requests: left for provisioning, not for polling
    parallel: int = 16  # requests at once


@dataclass(frozen=True, slots=True)
class RunLimits:
    deadline: float = 120  # a run stops starting things then
    grace: float = 30  # and is ended this long after that: every wait inside is bounded before
    lock_timeout: float = 10  # how long a statement waits for a lock
    statement_timeout: float = 30
    provision_parallel: int = 16
    request_timeout: float = 20  # one request to GitHub or the cluster
    poll_interval: float = 10  # what was confirmed this lately is not asked about; 15 s is a tick
    sweep_interval: float = 600  # how often a scope's registrations are looked through
    webhook_interval: float = 300  # how often the Apps' delivery logs are read
    redelivery_attempts: int = 5


@dataclass(frozen=True, slots=True)
class Retention:
    """How long what is over is kept, in days; 0 is for ever."""

    events_days: int = 365  # the log of webhooks
    history_days: int = 365  # jobs and workers
    runs_days: int = 30  # the record of runs: thousands a day, and the log has them too
    batch: int = 1000  # rows that one statement removes at most


@dataclass(frozen=True, slots=True)
class RunnerGroup:
    """Of the group that organizations' runners are in. None: closed to public repositories when
    it is made, and left as its organization sets it later."""

    allows_public_repositories: bool | None = None


@dataclass(frozen=True, slots=True)
class EphemeralStorage:
    request: str = "40Gi"
    limit: str = "90Gi"


@dataclass(frozen=True, slots=True)
class Pool:
    ephemeral_storage: EphemeralStorage | None = None


STORAGE_POOLS = "scw-em-*"  # whose pods get ephemeral storage unless their pool says otherwise


@dataclass(frozen=True, slots=True)
class Settings:
    scheduling: Scheduling = Scheduling.FIFO
    default_max_workers: int = 20
    max_workers: dict[int, int] = field(default_factory=dict)  # by entity id
    pools: dict[str, Pool] = field(default_factory=dict)
    timeouts: Timeouts = Timeouts()
    back_off: BackOff = BackOff()
    github: GitHubBudget = GitHubBudget()
    run: RunLimits = RunLimits()
    retention: Retention = Retention()
    runner_group: RunnerGroup = RunnerGroup()

    def cap(self, entity_id: int) -> int:
        return self.max_workers.get(entity_id, self.default_max_workers)

    def storage(self, pool: str) -> EphemeralStorage | None:
        if pool in self.pools:
            return self.pools[pool].ephemeral_storage
        return EphemeralStorage() if fnmatch.fnmatchcase(pool, STORAGE_POOLS) else None
