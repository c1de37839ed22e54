"""Workflow runs: from a push to jobs, from finished jobs to the jobs that needed them.

Runs are kept for as long as the world is.
"""

from collections import defaultdict
from datetime import timedelta
from enum import Enum, auto

from ..timeline import Timeline
from . import payloads
from .accounts import Accounts
from .deliveries import Deliveries
from .dispatch import Dispatch
from .ids import Ids
from .model import Account, Attempt, Conclusion, Job, Repository, Run, Siblings, Status
from .runners import Runners
from .workflow import JobSpec, Workflow

QUEUE_LIMIT = timedelta(hours=24)  # a job that no runner took by then is cancelled


class Decision(Enum):
    """What becomes of a job to be."""

    WAIT = auto()
    QUEUE = auto()
    SKIP = auto()
    CANCEL = auto()


class Engine:
    def __init__(
        self,
        timeline: Timeline,
        ids: Ids,
        accounts: Accounts,
        runners: Runners,
        deliveries: Deliveries,
    ) -> None:
        self._timeline = timeline
        self._ids = ids
        self._accounts = accounts
        self._deliveries = deliveries
        self.runs: dict[int, Run] = {}
        self.jobs: dict[int, Job] = {}
        self.dispatch = Dispatch(timeline, runners, self._job_started, self._job_ended)
        self._numbers: dict[tuple[int, str], tuple[int, int]] = {}  # workflow id, runs so far

    def push(
        self,
        repository: Repository,
        workflow: Workflow,
        *,
        actor: Account | None = None,
        event: str = "push",
        branch: str = "main",
    ) -> Run:
        with self._timeline.lock:
            workflow_id, number = self._number(repository, workflow)
            run = Run(
                id=self._ids.next("run"),
                number=number,
                repository=repository,
                workflow=workflow,
                workflow_id=workflow_id,
                actor=actor or self._accounts.octocat,
                event=event,
                head_sha=self._ids.sha(),
                head_branch=branch,
                created_at=self._timeline.now(),
            )
            self.runs[run.id] = run
            self._begin(run)
            return run

    def cancel(self, run: Run) -> None:
        with self._timeline.lock:
            attempt = run.attempt
            attempt.cancelled = True
            for job in list(attempt.jobs):
                if job.status is not Status.COMPLETED:
                    self.dispatch.cancel(job)
            self._advance(run, attempt)

    def rerun(self, run: Run) -> None:
        """All jobs anew, as the next attempt."""
        with self._timeline.lock:
            if run.status is not Status.COMPLETED:
                raise ValueError(f"Run {run.id} is not over.")
            self._begin(run)

    def delete(self, run: Run) -> None:
        """The run and its jobs were never there, as far as the API is concerned."""
        with self._timeline.lock:
            del self.runs[run.id]
            for job in run.jobs:
                del self.jobs[job.id]

    # From one state to the next -------------------------------------------------------------

    def _begin(self, run: Run) -> None:
        now = self._timeline.now()
        by_key: dict[str, Siblings] = defaultdict(Siblings)
        for spec in run.workflow.jobs:
            by_key[spec.key].planned += 1
        attempt = Attempt(
            number=len(run.attempts) + 1,
            started_at=now,
            updated_at=now,
            to_do=list(run.workflow.jobs),
            by_key=dict(by_key),
        )
        run.attempts.append(attempt)
        self._advance(run, attempt)

    def _advance(self, run: Run, attempt: Attempt) -> None:
        """Make every job that can be made now, and see whether the run is over."""
        made = True
        while made:  # A skipped job may decide the fate of those that needed it.
            made = False
            specs, attempt.to_do = attempt.to_do, []
            for spec in specs:
                decision = _decide(attempt, spec)
                if decision is Decision.WAIT:
                    attempt.to_do.append(spec)
                else:
                    self._make(run, attempt, spec, decision)
                    made = True
        self._summarise(attempt)

    def _make(self, run: Run, attempt: Attempt, spec: JobSpec, decision: Decision) -> None:
        now = self._timeline.now()
        job = Job(
            id=self._ids.next("job"),
            run=run,
            attempt=attempt,
            spec=spec,
            created_at=now,
            wanted=frozenset(label.lower() for label in spec.labels),
        )
        siblings = attempt.by_key[spec.key]
        attempt.jobs.append(job)
        siblings.jobs.append(job)
        self.jobs[job.id] = job
        if decision is not Decision.QUEUE:
            skipped = decision is Decision.SKIP
            job.status, job.completed_at = Status.COMPLETED, now
            job.conclusion = Conclusion.SKIPPED if skipped else Conclusion.CANCELLED
            self._tell("completed", job)
            return
        siblings.unfinished += 1
        self._tell("queued", job)
        job.appointment = self._timeline.at(now + QUEUE_LIMIT, lambda: self.dispatch.cancel(job))
        self.dispatch.enqueue(job)

    def _job_started(self, job: Job) -> None:
        self._tell("in_progress", job)
        if job.attempt.status is Status.QUEUED:
            job.attempt.status, job.attempt.updated_at = Status.IN_PROGRESS, self._timeline.now()

    def _job_ended(self, job: Job) -> None:
        siblings = job.attempt.by_key[job.spec.key]
        siblings.unfinished -= 1
        self._tell("completed", job)
        if _is_fatal(job):
            for other in list(siblings.jobs):
                if other.status is not Status.COMPLETED:
                    self.dispatch.cancel(other)
        self._advance(job.run, job.attempt)

    def _summarise(self, attempt: Attempt) -> None:
        over = not attempt.to_do and all(each.over for each in attempt.by_key.values())
        if over and attempt.status is not Status.COMPLETED:
            attempt.status, attempt.conclusion = Status.COMPLETED, _conclusion(attempt.jobs)
            attempt.updated_at = self._timeline.now()

    def _tell(self, action: str, job: Job) -> None:
        repository = job.repository
        for installation in self._accounts.installations_of(repository.owner):
            if installation.hears_of("workflow_job", "actions", repository):
                payload = payloads.workflow_job(action, job, installation, self._timeline.now())
                self._deliveries.send(
                    installation.app, "workflow_job", payload, installation.id, repository.id
                )

    def _number(self, repository: Repository, workflow: Workflow) -> tuple[int, int]:
        key = (repository.id, workflow.path)
        workflow_id, runs = self._numbers.get(key) or (self._ids.next("workflow"), 0)
        self._numbers[key] = (workflow_id, runs + 1)
        return workflow_id, runs + 1


def _decide(attempt: Attempt, spec: JobSpec) -> Decision:
    parents = [attempt.by_key[key] for key in spec.needs]
    siblings = attempt.by_key[spec.key]
    if not all(parent.over for parent in parents):
        return Decision.WAIT
    if not _condition_holds(attempt, spec, parents):
        return Decision.SKIP
    if attempt.cancelled and spec.condition != "always":
        return Decision.CANCEL
    if spec.fail_fast and any(_is_fatal(job) for job in siblings.jobs):
        return Decision.CANCEL
    if spec.max_parallel is not None and siblings.unfinished >= spec.max_parallel:
        return Decision.WAIT
    return Decision.QUEUE


def _condition_holds(attempt: Attempt, spec: JobSpec, parents: list[Siblings]) -> bool:
    if spec.condition == "always":
        return True
    if spec.condition == "failure":
        return any(
            job.conclusion is Conclusion.FAILURE
            for key in _ancestors(attempt, spec)
            for job in attempt.by_key[key].jobs
        )
    return all(_counts_as_success(job) for parent in parents for job in parent.jobs)


def _ancestors(attempt: Attempt, spec: JobSpec) -> set[str]:
    found: set[str] = set()
    ahead = list(spec.needs)
    while ahead:
        key = ahead.pop()
        if key not in found:
            found.add(key)
            ahead += attempt.by_key[key].jobs[0].spec.needs
    return found


def _is_fatal(job: Job) -> bool:
    """Whether it takes the rest of its matrix with it."""
    failed = job.conclusion is Conclusion.FAILURE
    return failed and job.spec.fail_fast and not job.spec.continue_on_error


def _counts_as_success(job: Job) -> bool:
    return job.conclusion is Conclusion.SUCCESS or (
        job.spec.continue_on_error and job.conclusion is Conclusion.FAILURE
    )


def _conclusion(jobs: list[Job]) -> Conclusion:
    conclusions = {job.conclusion for job in jobs if not _counts_as_success(job)}
    for worst in (Conclusion.FAILURE, Conclusion.CANCELLED):
        if worst in conclusions:
            return worst
    everything = all(job.conclusion is Conclusion.SKIPPED for job in jobs)
    return Conclusion.SKIPPED if everything else Conclusion.SUCCESS
