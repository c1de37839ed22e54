"""Which runner gets which job, and what becomes of both. This is the broker that runners see.

A queued job goes to an idle runner of its scope whose labels cover the job's, first come, first
served. A runner that takes a job holds it by a lease: if it is not heard of for that long, the
job has failed.
"""

import heapq
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta

from ..broker import Listener, RefusedError
from ..timeline import Timeline
from .model import Account, Conclusion, Job, Repository, Runner, Status
from .runners import Runners, read_jit_config

ASSIGN_SECONDS = 1.0  # until GitHub has looked for a runner
LEASE_SECONDS = 600.0  # how long a silent runner keeps its job
OFFLINE_SECONDS = 60.0  # until a silent idle runner is seen to be offline
CANCEL_SECONDS = 3.0  # until a runner has stopped a cancelled job

QueueKey = tuple[int, frozenset[str]]  # a repository and labels: such jobs suit the same runners
JobChange = Callable[[Job], None]


class RunnerSession:
    """One runner's line to GitHub."""

    def __init__(self, dispatch: "Dispatch", runner: Runner, listener: Listener) -> None:
        self._dispatch = dispatch
        self.runner = runner
        self.listener = listener
        self.alive = True  # can be heard

    def lose(self) -> None:
        self.alive = False
        self._dispatch.line_lost(self)

    def resume(self) -> None:
        self.alive = True
        self._dispatch.line_back(self)

    def stop(self) -> None:
        self.alive = False
        self._dispatch.stopped(self)

    def vanish(self) -> None:
        self.lose()


class Dispatch:
    def __init__(
        self, timeline: Timeline, runners: Runners, on_started: JobChange, on_ended: JobChange
    ) -> None:
        self._timeline = timeline
        self._runners = runners
        self._on_started = on_started
        self._on_ended = on_ended
        self._queues: dict[int, dict[QueueKey, deque[Job]]] = {}  # by the owner's account id
        self._sessions: dict[int, RunnerSession] = {}  # by runner id
        self._idle: dict[int, dict[int, RunnerSession]] = {}  # by account id, longest idle first
        self._looking: set[int] = set()

    # Jobs ----------------------------------------------------------------------------------

    def enqueue(self, job: Job) -> None:
        account = job.repository.owner
        key = (job.repository.id, job.wanted)
        self._queues.setdefault(account.id, {}).setdefault(key, deque()).append(job)
        self._look_soon(account)

    def cancel(self, job: Job) -> None:
        """A job in the queue is over at once; a running one when its runner has stopped it. A
        runner that cannot be heard does not stop: the lease decides."""
        if job.status is Status.QUEUED:
            self._end(job, Conclusion.CANCELLED)
            return
        job.cancelling = True
        session = self._session_of(job)
        if session is not None and session.alive:
            self._await_end(job)

    def _look_soon(self, account: Account) -> None:
        """One look a moment serves all that changed before it."""
        if account.id in self._looking:
            return
        self._looking.add(account.id)

        def look() -> None:
            self._looking.discard(account.id)
            self._match(account)

        self._timeline.after(ASSIGN_SECONDS, look)

    def _match(self, account: Account) -> None:
        idle = self._idle.get(account.id)
        queues = self._queues.get(account.id)
        if not idle or not queues:
            return
        heads: list[tuple[datetime, int, QueueKey]] = []
        for key in list(queues):
            self._push_head(heads, queues, key)
        while heads and idle:
            _, _, key = heapq.heappop(heads)
            job = queues[key][0]
            session = next((s for s in idle.values() if self._suits(s.runner, job)), None)
            if session is None:
                continue  # Nor does any suit the jobs behind it, which are of the same kind.
            queues[key].popleft()
            del idle[session.runner.id]
            self._start(job, session)
            self._push_head(heads, queues, key)

    def _push_head(
        self,
        heads: list[tuple[datetime, int, QueueKey]],
        queues: dict[QueueKey, deque[Job]],
        key: QueueKey,
    ) -> None:
        queue = queues[key]
        while queue and queue[0].status is not Status.QUEUED:
            queue.popleft()  # Cancelled while it waited.
        if queue:
            heapq.heappush(heads, (queue[0].created_at, queue[0].id, key))
        else:
            del queues[key]

    def _suits(self, runner: Runner, job: Job) -> bool:
        here = runner.scope is job.repository or runner.scope is job.repository.owner
        return here and runner.takes(job)

    def _start(self, job: Job, session: RunnerSession) -> None:
        runner = session.runner
        job.forget_appointment()
        job.status = Status.IN_PROGRESS
        job.started_at = self._timeline.now()
        job.runner_id, job.runner_name = runner.id, runner.name
        job.runner_group = (runner.group.id, runner.group.name) if runner.group else (1, "Default")
        runner.job = job
        self._await_end(job)
        session.listener.job_started(job.spec.name)
        self._on_started(job)

    def _await_end(self, job: Job) -> None:
        if job.cancelling:
            moment, conclusion = self._in(CANCEL_SECONDS), Conclusion.CANCELLED
        else:
            moment = job.ends_at
            conclusion = Conclusion.FAILURE if job.spec.fails else Conclusion.SUCCESS
        self._appoint(job, moment, lambda: self._finish(job, conclusion))

    def _finish(self, job: Job, conclusion: Conclusion) -> None:
        """The runner reports the end, and has no more to do in this world."""
        session = self._session_of(job)
        self._end(job, conclusion)
        if session is not None:
            self._forget(session)
            session.listener.job_finished(job.spec.name, conclusion)

    def _end(self, job: Job, conclusion: Conclusion) -> None:
        job.forget_appointment()
        job.status, job.conclusion = Status.COMPLETED, conclusion
        job.completed_at = self._timeline.now()
        self._on_ended(job)

    # Runners -------------------------------------------------------------------------------

    def connect(self, jit_config: str, listener: Listener) -> RunnerSession:
        runner_id, secret = read_jit_config(jit_config)
        runner = self._runners.runners.get(runner_id)
        if runner is None or runner.secret != secret:
            raise RefusedError("The runner registration has been deleted from the server.")
        session = self._sessions[runner.id] = RunnerSession(self, runner, listener)
        self._make_idle(session)
        return session

    def deregister(self, runner: Runner) -> None:
        """Deleted through the API: not while it is busy, which is for the caller to check."""
        session = self._sessions.get(runner.id)
        self._runners.remove(runner)
        if session is not None:
            self._forget(session)
            if session.alive:
                session.listener.deregistered()

    def line_lost(self, session: RunnerSession) -> None:
        runner = session.runner
        self._idle.get(_account(runner).id, {}).pop(runner.id, None)
        if (job := runner.job) is not None:
            self._appoint(job, self._in(LEASE_SECONDS), lambda: self._lease_over(job))
            return

        def seen_offline() -> None:
            if not session.alive:
                runner.online = False
                self._runners.expect_connection(runner)

        self._timeline.after(OFFLINE_SECONDS, seen_offline)

    def line_back(self, session: RunnerSession) -> None:
        runner = session.runner
        if self._sessions.get(runner.id) is not session:
            session.listener.deregistered()  # Its job was given up, or it was deleted.
        elif runner.job is not None:
            self._await_end(runner.job)
        else:
            self._make_idle(session)

    def stopped(self, session: RunnerSession) -> None:
        runner = session.runner
        self._idle.get(_account(runner).id, {}).pop(runner.id, None)
        if self._sessions.get(runner.id) is not session:
            return
        if runner.job is not None:
            self._end(runner.job, Conclusion.FAILURE)
            self._forget(session)
        else:
            runner.online = False
            self._runners.expect_connection(runner)

    def _lease_over(self, job: Job) -> None:
        session = self._session_of(job)
        self._end(job, Conclusion.CANCELLED if job.cancelling else Conclusion.FAILURE)
        if session is not None:
            self._forget(session)

    def _make_idle(self, session: RunnerSession) -> None:
        account = _account(session.runner)
        session.runner.online = True
        self._idle.setdefault(account.id, {})[session.runner.id] = session
        self._look_soon(account)

    def _forget(self, session: RunnerSession) -> None:
        runner = session.runner
        runner.job = None
        self._sessions.pop(runner.id, None)
        self._idle.get(_account(runner).id, {}).pop(runner.id, None)
        self._runners.remove(runner)

    def _session_of(self, job: Job) -> RunnerSession | None:
        return None if job.runner_id is None else self._sessions.get(job.runner_id)

    def _appoint(self, job: Job, moment: datetime, action: Callable[[], None]) -> None:
        job.forget_appointment()
        job.appointment = self._timeline.at(moment, action)

    def _in(self, seconds: float) -> datetime:
        return self._timeline.now() + timedelta(seconds=seconds)


def _account(runner: Runner) -> Account:
    return runner.scope.owner if isinstance(runner.scope, Repository) else runner.scope
