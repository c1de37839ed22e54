"""What the simulated GitHub knows. Mutable, and changed under the world's lock only."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from ..timeline import Appointment
from .workflow import JobSpec, Workflow

if TYPE_CHECKING:
    from .dispatch import RunnerSession

ORGANIZATION = "Organization"
USER = "User"


@dataclass(eq=False)
class Account:
    id: int
    login: str
    type: str  # ORGANIZATION or USER


@dataclass(eq=False)
class Repository:
    id: int
    owner: Account
    name: str
    private: bool
    created_at: datetime

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"


@dataclass(eq=False)
class App:
    id: int
    slug: str
    owner: Account
    public_key: str  # PEM
    permissions: dict[str, str]
    events: list[str]
    webhook_url: str | None
    webhook_secret: str
    created_at: datetime

    @property
    def client_id(self) -> str:
        return f"Iv23li{self.id:014d}"


@dataclass(eq=False)
class Installation:
    id: int
    app: App
    account: Account
    permissions: dict[str, str]
    created_at: datetime
    updated_at: datetime
    selected: set[int] | None = None  # repository ids; None is all of them
    suspended_at: datetime | None = None
    suspended_by: Account | None = None

    def covers(self, repository: Repository) -> bool:
        return repository.owner is self.account and (
            self.selected is None or repository.id in self.selected
        )

    def hears_of(self, event: str, permission: str, repository: Repository) -> bool:
        """Whether its App is sent such an event of that repository."""
        return (
            self.app.webhook_url is not None
            and self.suspended_at is None
            and event in self.app.events
            and permission in self.permissions
            and self.covers(repository)
        )


@dataclass(frozen=True, eq=False)
class Token:
    value: str
    installation: Installation
    permissions: dict[str, str]
    repositories: frozenset[int] | None  # None is all that the installation covers
    expires_at: datetime

    def covers(self, repository: Repository) -> bool:
        return self.installation.covers(repository) and (
            self.repositories is None or repository.id in self.repositories
        )


@dataclass(eq=False)
class RunnerGroup:
    id: int
    organization: Account
    name: str
    default: bool = False
    visibility: str = "all"  # all, private or selected
    allows_public_repositories: bool = False
    selected: set[int] = field(default_factory=set)

    def admits(self, repository: Repository) -> bool:
        """Whether jobs of that repository may run on this group's runners."""
        if not repository.private and not self.allows_public_repositories:
            return False
        if self.visibility == "selected":
            return repository.id in self.selected
        return self.visibility == "all" or repository.private


Scope = Account | Repository  # where a runner is registered: an organization or a repository


@dataclass(eq=False)
class Runner:
    id: int
    name: str
    scope: Scope
    group: RunnerGroup | None  # None: a repository's runner, in its default group
    labels: tuple[str, ...]
    secret: str  # what its JIT configuration proves itself with
    online: bool = False
    job: "Job | None" = None
    used: bool = False  # it was given its one job
    session: "RunnerSession | None" = None  # its latest line to GitHub
    appointment: Appointment | None = None  # its next change, if nothing else happens

    def appoint(self, appointment: Appointment | None) -> None:
        """This is its next change now, and what was to be is off."""
        if self.appointment is not None:
            self.appointment.cancel()
        self.appointment = appointment

    @property
    def busy(self) -> bool:
        return self.job is not None

    def takes(self, job: "Job") -> bool:
        """Whether GitHub would give it that job: its labels cover the job's, in any case."""
        mine = {label.lower() for label in self.labels}
        return job.wanted <= mine and (self.group is None or self.group.admits(job.repository))


class Status(StrEnum):
    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class Conclusion(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


@dataclass(eq=False)
class Job:
    id: int
    run: "Run"
    attempt: "Attempt"
    spec: JobSpec
    created_at: datetime
    status: Status = Status.QUEUED
    conclusion: Conclusion | None = None
    started_at: datetime | None = None  # when a runner took it
    completed_at: datetime | None = None
    runner: Runner | None = None
    cancelling: bool = False  # it is to end, once its runner can be told
    wanted: frozenset[str] = frozenset()  # its labels in lower case
    appointment: Appointment | None = None  # its next change, if nothing else happens

    @property
    def repository(self) -> Repository:
        return self.run.repository

    def expected_end(self) -> tuple[datetime, Conclusion]:
        """When and how it ends on a runner that works through it undisturbed."""
        begun = self.started_at or self.created_at
        if self.spec.seconds > self.spec.timeout_seconds:
            return begun + timedelta(seconds=self.spec.timeout_seconds), Conclusion.CANCELLED
        conclusion = Conclusion.FAILURE if self.spec.fails else Conclusion.SUCCESS
        return begun + timedelta(seconds=self.spec.seconds), conclusion

    def forget_appointment(self) -> None:
        if self.appointment is not None:
            self.appointment.cancel()
            self.appointment = None


@dataclass(eq=False)
class Siblings:
    """The jobs of one key in one attempt: one job, or those of a matrix."""

    planned: int = 0
    unfinished: int = 0
    jobs: list[Job] = field(default_factory=list)

    @property
    def over(self) -> bool:
        return len(self.jobs) == self.planned and self.unfinished == 0


@dataclass(eq=False)
class Attempt:
    number: int
    started_at: datetime
    updated_at: datetime
    to_do: list[JobSpec]  # what is not a job yet
    by_key: dict[str, Siblings]
    jobs: list[Job] = field(default_factory=list)
    status: Status = Status.QUEUED
    conclusion: Conclusion | None = None
    cancelled: bool = False


@dataclass(eq=False)
class Run:
    id: int
    number: int
    repository: Repository
    workflow: Workflow
    workflow_id: int
    actor: Account
    event: str
    head_sha: str
    head_branch: str
    created_at: datetime
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def attempt(self) -> Attempt:
        """The latest."""
        return self.attempts[-1]

    @property
    def jobs(self) -> list[Job]:
        """Of all attempts, in order of creation."""
        return [job for attempt in self.attempts for job in attempt.jobs]

    @property
    def status(self) -> Status:
        return self.attempt.status

    @property
    def conclusion(self) -> Conclusion | None:
        return self.attempt.conclusion
