"""Workflow runs: from a push to jobs, from finished jobs to the jobs that needed them."""

from datetime import timedelta

from ..timeline import Timeline
from . import payloads
from .accounts import Accounts
from .deliveries import Deliveries
from .dispatch import Dispatch
from .ids import Ids
from .model import Account, Conclusion, Job, Repository, Run, Status
from .runners import Runners
from .workflow import JobSpec, Workflow

QUEUE_LIMIT = timedelta(hours=24)  # a job that no runner took by then is cancelled


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
            now = self._timeline.now()
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
                created_at=now,
                updated_at=now,
                started_at=now,
            )
            self.runs[run.id] = run
            self._advance(run)
            return run

    def cancel(self, run: Run) -> None:
        with self._timeline.lock:
            run.cancelled = True
            for job in run.jobs_of(run.attempt):
                if job.status is not Status.COMPLETED:
                    self.dispatch.cancel(job)
            self._advance(run)

    def rerun(self, run: Run) -> None:
        """All jobs anew, as the next attempt."""
        with self._timeline.lock:
            if run.status is not Status.COMPLETED:
                raise ValueError(f"Run {run.id} is not over.")
            run.attempt += 1
            run.status, run.conclusion, run.cancelled = Status.QUEUED, None, False
            run.started_at = run.updated_at = self._timeline.now()
            self._advance(run)

    def delete(self, run: Run) -> None:
        """The run and its jobs were never there, as far as the API is concerned."""
        with self._timeline.lock:
            del self.runs[run.id]
            for job in run.jobs:
                del self.jobs[job.id]

    # From one state to the next -------------------------------------------------------------

    def _advance(self, run: Run) -> None:
        """Make every job that can be made now, and see whether the run is over."""
        made = True
        while made:
            made = False
            latest = run.jobs_of(run.attempt)
            for spec, already in self._missing(run, latest):
                decision = self._decide(run, spec, latest, already)
                if decision is not None:
                    self._make(run, spec, decision)
                    made = True
                    break  # What was just made may matter to the rest.
        self._summarise(run)

    def _missing(self, run: Run, latest: list[Job]) -> list[tuple[JobSpec, list[Job]]]:
        """What is not a job yet, with the jobs of its matrix that are."""
        there = {id(job.spec) for job in latest}
        by_key: dict[str, list[Job]] = {}
        for job in latest:
            by_key.setdefault(job.spec.key, []).append(job)
        return [
            (spec, by_key.get(spec.key, [])) for spec in run.workflow.jobs if id(spec) not in there
        ]

    def _decide(
        self, run: Run, spec: JobSpec, latest: list[Job], already: list[Job]
    ) -> Conclusion | Status | None:
        """Queued, skipped, cancelled, or not yet."""
        parents = [job for job in latest if job.spec.key in spec.needs]
        wanted = sum(1 for other in run.workflow.jobs if other.key in spec.needs)
        if len(parents) < wanted or any(job.status is not Status.COMPLETED for job in parents):
            return None
        went_well = all(_counts_as_success(job) for job in parents)
        runs = {"always": True, "success": went_well, "failure": not went_well}[spec.condition]
        if not runs:
            return Conclusion.SKIPPED
        if run.cancelled and spec.condition != "always":
            return Conclusion.CANCELLED
        if spec.fail_fast and any(job.conclusion is Conclusion.FAILURE for job in already):
            return Conclusion.CANCELLED
        active = sum(1 for job in already if job.status is not Status.COMPLETED)
        if spec.max_parallel is not None and active >= spec.max_parallel:
            return None
        return Status.QUEUED

    def _make(self, run: Run, spec: JobSpec, decision: Conclusion | Status) -> None:
        now = self._timeline.now()
        job = Job(
            id=self._ids.next("job"),
            run=run,
            attempt=run.attempt,
            spec=spec,
            created_at=now,
            wanted=frozenset(label.lower() for label in spec.labels),
        )
        run.jobs.append(job)
        self.jobs[job.id] = job
        if isinstance(decision, Conclusion):
            job.status, job.conclusion, job.completed_at = Status.COMPLETED, decision, now
            self._tell("completed", job)
            return
        self._tell("queued", job)
        job.appointment = self._timeline.at(now + QUEUE_LIMIT, lambda: self.dispatch.cancel(job))
        self.dispatch.enqueue(job)

    def _job_started(self, job: Job) -> None:
        self._tell("in_progress", job)
        self._summarise(job.run)

    def _job_ended(self, job: Job) -> None:
        self._tell("completed", job)
        run = job.run
        if job.conclusion is Conclusion.FAILURE and job.spec.fail_fast:
            for other in run.jobs_of(run.attempt):
                same = other.spec.key == job.spec.key
                if same and other.status is not Status.COMPLETED:
                    self.dispatch.cancel(other)
        self._advance(run)

    def _summarise(self, run: Run) -> None:
        jobs = run.jobs_of(run.attempt)
        before = (run.status, run.conclusion)
        if len(jobs) == len(run.workflow.jobs) and all(
            job.status is Status.COMPLETED for job in jobs
        ):
            run.status, run.conclusion = Status.COMPLETED, _conclusion(jobs)
        elif any(job.status is not Status.QUEUED for job in jobs):
            run.status = Status.IN_PROGRESS
        if (run.status, run.conclusion) != before:
            run.updated_at = self._timeline.now()

    def _tell(self, action: str, job: Job) -> None:
        repository = job.repository
        for installation in self._accounts.installations_of(repository.owner):
            if installation.hears_of(repository):
                payload = payloads.workflow_job(action, job, installation, self._timeline.now())
                self._deliveries.send(
                    installation.app, "workflow_job", payload, installation.id, repository.id
                )

    def _number(self, repository: Repository, workflow: Workflow) -> tuple[int, int]:
        key = (repository.id, workflow.path)
        workflow_id, runs = self._numbers.get(key) or (self._ids.next("workflow"), 0)
        self._numbers[key] = (workflow_id, runs + 1)
        return workflow_id, runs + 1


def _counts_as_success(job: Job) -> bool:
    return job.conclusion is Conclusion.SUCCESS or (
        job.spec.continue_on_error and job.conclusion is Conclusion.FAILURE
    )


def _conclusion(jobs: list[Job]) -> Conclusion:
    conclusions = {job.conclusion for job in jobs if not _counts_as_success(job)}
    for worst in (Conclusion.FAILURE, Conclusion.CANCELLED):
        if worst in conclusions:
            return worst
    if conclusions == {Conclusion.SKIPPED} and all(
        job.conclusion is Conclusion.SKIPPED for job in jobs
    ):
        return Conclusion.SKIPPED
    return Conclusion.SUCCESS
