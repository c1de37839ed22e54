"""What the rules look at: one job, or one account, at one moment."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from ..events import Apps, Outcome
from ..job import Entity, Status
from ..routes import Routes
from .facts import JobEvent, JobFacts, JobRow, Limit, Queue, StateEvent
from .place import is_covered
from .state import Account, Installation
from .state import Status as InstallationStatus

GONE = "auth_attempt.404"
REFUSALS = (
    Outcome.IGNORED_NO_LABEL,
    Outcome.BANNED_ENTITY,
    Outcome.BANNED_SENDER,
    Outcome.PROXIED_TO_STAGING,
)
# Of a job that is not ours to take, and that may come all the same.
NOT_IT = (Outcome.IGNORED_WRONG_APP, Outcome.IGNORED_ACTION)
# Of a job that was stored.
OURS = (
    Outcome.JOB_STORED,
    Outcome.JOB_ALREADY_EXISTS,
    Outcome.JOB_MARKED_RUNNING,
    Outcome.JOB_ALREADY_RUNNING,
    Outcome.JOB_MARKED_COMPLETED,
    Outcome.JOB_ALREADY_COMPLETED,
    Outcome.JOB_ALREADY_FAILED,
)
BEGUN = ("workflow_job.in_progress", "workflow_job.completed")


@dataclass(frozen=True, slots=True)
class Case:
    now: datetime  # of when it tells
    apps: Apps
    routes: Routes | None  # None: whoever asks does not know them
    account: Account | None  # None: the log has nothing of what is installed there
    facts: JobFacts | None = None  # of a job
    repository: str | None = None  # owner/name, as far as is known
    of_installation: int | None = None  # if it is asked about that one
    known_as: str | None = None  # the account's name, if no event of what is installed has one
    limits: tuple[Limit, ...] = ()  # of an account's installations, if it is about the present
    past: bool = False  # whether it tells of then and not of now
    comes_at: datetime | None = None  # of a job of which nothing was known then: when it came

    @property
    def job(self) -> JobRow | None:
        return self.facts.job if self.facts else None

    @property
    def events(self) -> tuple[JobEvent, ...]:
        return self.facts.events if self.facts else ()

    @property
    def pending(self) -> bool:
        return self.job is not None and self.job.status == Status.PENDING

    @property
    def refusal(self) -> JobEvent | None:
        """The delivery of a job that was not stored, and not for having come through the wrong
        App: the job might have come through the other one as well."""
        if self.job is not None:
            return None
        refused = (each for each in self.events if each.row.outcome in REFUSALS)
        return next(refused, None)

    @property
    def came_wrong(self) -> tuple[JobEvent, ...]:
        """How it came through the App for the other kind of account."""
        return tuple(each for each in self.events if each.row.outcome == Outcome.IGNORED_WRONG_APP)

    @property
    def was_ours(self) -> bool:
        """Whether it was stored once: what is over is not kept for ever."""
        return any(each.row.outcome in OURS for each in self.events)

    @property
    def late(self) -> JobEvent | None:
        """The first delivery of a job that had begun, and never was here to go on with."""
        if self.job is not None or self.was_ours:
            return None
        missed = (each for each in self.events if each.row.outcome == Outcome.JOB_NOT_FOUND)
        return next(missed, None)

    @property
    def heard_at_its_end(self) -> bool:
        """Whether its end was the first that this system was told of it."""
        first = self.events[0].row if self.job is not None and self.events else None
        return first is not None and (first.event, first.outcome) == (
            "workflow_job.completed",
            Outcome.JOB_MARKED_COMPLETED,
        )

    @property
    def unheard(self) -> bool:
        """Neither stored nor refused, nor begun elsewhere."""
        return self.job is None and all(each.row.outcome in NOT_IT for each in self.events)

    @property
    def queue(self) -> Queue | None:
        """None of a job that does not wait, or of the past."""
        return self.facts.queue if self.pending and self.facts is not None else None

    @property
    def waiting_for(self) -> str | None:
        """What the last plan held to be in the way of those without a runner."""
        wait = self.queue.wait if self.queue is not None else None
        return wait.waiting_for if wait is not None else None

    @property
    def covered(self) -> bool:
        """Whether a runner for the job is there or on its way."""
        if self.facts is None or self.job is None or self.queue is None:
            return False
        return is_covered(self.queue, self.job.created_at, self.facts.failures)

    @property
    def open(self) -> bool:
        """Whether what is installed now can explain it: an account, a job that waits, or one that
        never came."""
        return self.pending or self.unheard

    @property
    def name(self) -> str:
        if self.account is not None and self.account.name:
            return self.account.name
        if self.job is not None:
            return self.job.entity_name
        named = (each.row.entity_name for each in self.events if each.row.entity_name)
        owner = (self.repository or "").partition("/")[0]
        return next(named, None) or self.known_as or owner or "the account"

    @property
    def kind(self) -> str | None:
        """Organization or User."""
        if self.job is not None:
            return self.job.entity_type
        if self.account is not None and self.account.type:
            return self.account.type
        return next((each.row.entity_type for each in self.events if each.row.entity_type), None)

    @property
    def right_app(self) -> int | None:
        """The one that is made for accounts of its kind."""
        candidates = (self.apps.organization, self.apps.personal)
        entity = Entity(0, None, self.kind)
        return next((each for each in candidates if self.apps.serve(each, entity)), None)

    @property
    def installation(self) -> Installation | None:
        """The one that matters: the job's own, or the account's latest of the right App."""
        if self.account is None:
            return None
        number = self.job.installation_id if self.job is not None else self.of_installation
        if number is not None:
            return self.account.installation(number)
        right = [each for each in self.account.installations if self._is_right(each)]
        return _latest(each for each in right if not _gone(each)) or _latest(right)

    @property
    def serving(self) -> Installation | None:
        """Of the right App, and there."""
        if self.account is None:
            return None
        return _latest(each for each in self.account.current if self._is_right(each))

    @property
    def successor(self) -> Installation | None:
        """Of the same App and there, if that one is gone."""
        it = self.installation
        if it is None or it.app_id is None or self.account is None:
            return self.serving
        return _latest(each for each in self.account.current if each.app_id == it.app_id)

    @property
    def wrong(self) -> tuple[Installation, ...]:
        """Of the other App, where that is all there is."""
        if self.account is None or self.serving is not None:
            return ()
        return tuple(each for each in self.account.current if self.is_wrong(each))

    def is_wrong(self, installation: Installation) -> bool:
        ours = (self.apps.organization, self.apps.personal)
        right = self.right_app
        return right is not None and installation.app_id in ours and installation.app_id != right

    @property
    def auth_failure(self) -> StateEvent | None:
        """Why the installation gave no token, unless it is known that it gives one again."""
        it = self.installation
        failure = it.auth_failure if it is not None else None
        if it is None or failure is None:
            return None
        limit = self.limit("installation", it.id)
        if limit is not None and limit.auth_failure is None:
            return None
        heard = any(
            each.row.installation_id == it.id and each.row.at > failure.row.at
            for each in self.events
        )
        return None if heard and failure.row.event == GONE else failure

    def limit(self, of: str, number: int | None) -> Limit | None:
        """What GitHub allows it at present."""
        limits = self.queue.limits if self.queue is not None else self.limits
        return next((each for each in limits if each.key == f"{of}:{number}"), None)

    def _is_right(self, installation: Installation) -> bool:
        return installation.app_id in (self.right_app, None) or self.right_app is None


def _gone(installation: Installation) -> bool:
    return installation.status is InstallationStatus.DELETED


def _latest(installations: Iterable[Installation]) -> Installation | None:
    """GitHub counts them up."""
    return max(installations, key=lambda each: each.id, default=None)
