"""Workflow runs and their jobs."""

from . import shapes
from .accounts import Accounts
from .api import InstallationCall, Operation, Reply, paged
from .engine import Engine
from .errors import ApiError
from .model import Attempt, Repository, Run, Status


class ActionsApi:
    def __init__(self, accounts: Accounts, engine: Engine) -> None:
        self._accounts = accounts
        self._engine = engine

    def operations(self) -> list[Operation]:
        base = "/repos/{owner}/{repo}/actions"
        run, attempt = (
            f"{base}/runs/{{run_id}}",
            f"{base}/runs/{{run_id}}/attempts/{{attempt_number}}",
        )
        return [
            Operation(name, method, template, handler, "actions")
            for name, method, template, handler in (
                ("get_job", "GET", f"{base}/jobs/{{job_id}}", self._job),
                ("list_runs", "GET", f"{base}/runs", self._runs),
                ("get_run", "GET", run, self._run),
                ("delete_run", "DELETE", run, self._delete_run),
                ("list_run_jobs", "GET", f"{run}/jobs", self._run_jobs),
                ("get_run_attempt", "GET", attempt, self._attempt),
                ("list_attempt_jobs", "GET", f"{attempt}/jobs", self._attempt_jobs),
                ("cancel_run", "POST", f"{run}/cancel", self._cancel),
                ("rerun", "POST", f"{run}/rerun", self._rerun),
            )
        ]

    def _job(self, call: InstallationCall) -> Reply:
        job = self._engine.jobs.get(call.number("job_id"))
        if job is None or job.repository is not self._repository(call):
            raise ApiError(404, "Not Found")
        return Reply(200, shapes.job(job, call.now))

    def _runs(self, call: InstallationCall) -> Reply:
        repository, status = self._repository(call), call.request.query.get("status")
        runs = [
            run
            for run in reversed(self._engine.runs.values())
            if run.repository is repository
            and (status is None or status in (run.status, run.conclusion))
        ]
        return paged(call, "workflow_runs", runs, shapes.run)

    def _run(self, call: InstallationCall) -> Reply:
        return Reply(200, shapes.run(self._find(call)))

    def _delete_run(self, call: InstallationCall) -> Reply:
        run = self._find(call)
        if run.status is not Status.COMPLETED:
            raise ApiError(403, "Could not delete the workflow run.")
        self._engine.delete(run)
        return Reply(204)

    def _run_jobs(self, call: InstallationCall) -> Reply:
        run = self._find(call)
        every = call.request.query.get("filter", "latest") == "all"
        jobs = run.jobs if every else run.attempt.jobs
        return paged(call, "jobs", jobs, lambda job: shapes.job(job, call.now))

    def _attempt(self, call: InstallationCall) -> Reply:
        run = self._find(call)
        return Reply(200, shapes.run(run, self._find_attempt(call, run)))

    def _attempt_jobs(self, call: InstallationCall) -> Reply:
        attempt = self._find_attempt(call, self._find(call))
        return paged(call, "jobs", attempt.jobs, lambda job: shapes.job(job, call.now))

    def _cancel(self, call: InstallationCall) -> Reply:
        run = self._find(call)
        if run.status is Status.COMPLETED:
            raise ApiError(409, "Cannot cancel a workflow run that is completed.")
        self._engine.cancel(run)
        return Reply(202, {})

    def _rerun(self, call: InstallationCall) -> Reply:
        run = self._find(call)
        if run.status is not Status.COMPLETED:
            raise ApiError(403, "This workflow is already running")
        self._engine.rerun(run)
        return Reply(201, {})

    def _repository(self, call: InstallationCall) -> Repository:
        return call.covering(self._accounts.repository_at(call.request.parameters))

    def _find_attempt(self, call: InstallationCall, run: Run) -> Attempt:
        number = call.number("attempt_number")
        if not 1 <= number <= len(run.attempts):
            raise ApiError(404, "Not Found")
        return run.attempts[number - 1]

    def _find(self, call: InstallationCall) -> Run:
        run = self._engine.runs.get(call.number("run_id"))
        if run is None or run.repository is not self._repository(call):
            raise ApiError(404, "Not Found")
        return run
