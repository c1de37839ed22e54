"""Which runner gets which job, and what becomes of both. This is the broker that runners see.

A queued job goes to an idle runner of its scope whose labels cover the job's, first come, first
served. A runner that takes a job holds it by a lease: if it is not heard of for that long, the
job has failed. A runner that worked through its job is deregistered with it; one that was lost
stays registered, offline, for a day.
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
OFFLINE_SECONDS = 60.0  # until a silent runner is seen to be offline
CANCEL_SECONDS = 3.0  # until a runner has stopped a cancelled job

QueueKey = tuple[int, frozenset[str]]  # a repository and labels: such jobs suit the same runners
JobChange = Callable[[Job], None]


class RunnerSession:
    """One runner's line to GitHub. A process that vanishes and a line that is cut look alike."""

    def __init__(self, dispatch: "Dispatch", runner: Runner, listener: Listener) -> None:
        self._dispatch = dispatch
        self.runner = runner
        self.listener = listener
        self.heard = True

    def lose(self) -> None:
        if self.heard:
            self.heard = False
            self._dispatch.line_lost(self)

    def resume(self) -> None:
        if not self.heard:
            self.heard = True
            self._dispatch.line_back(self)

    def stop(self) -> None:
        if self.heard:  # Nobody hears a goodbye over a dead line.
            self.heard = False
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
        self._idle: dict[int, dict[Runner, RunnerSession]] = {}  # by account id, longest idle first
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
        elif not job.cancelling:
            job.cancelling = True
            session = self._session_of(job)
            if session is not None and session.heard:
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
            session = next((s for s in idle.values() if _suits(s.runner, job)), None)
            if session is None:
                continue  # Nor does any suit the jobs behind it, which are of the same kind.
            queues[key].popleft()
            del idle[session.runner]
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

    def _start(self, job: Job, session: RunnerSession) -> None:
        session.runner.used = True
        session.runner.job = job
        job.status = Status.IN_PROGRESS
        job.started_at = self._timeline.now()
        job.runner = session.runner
        self._await_end(job)
        session.listener.job_started(job.spec.name)
        self._on_started(job)

    def _await_end(self, job: Job) -> None:
        if job.cancelling:
            moment, conclusion = self._in(CANCEL_SECONDS), Conclusion.CANCELLED
        else:
            moment, conclusion = job.expected_end()
        self._appoint(job, moment, lambda: self._finish(job, conclusion))

    def _finish(self, job: Job, conclusion: Conclusion) -> None:
        """The runner reports the end, and its registration ends with it."""
        session = self._session_of(job)
        self._end(job, conclusion)
        if session is not None:
            self._forget(session)
            session.listener.job_finished(job.spec.name, conclusion)

    def _end(self, job: Job, conclusion: Conclusion) -> None:
        job.forget_appointment()
        if job.runner is not None:
            job.runner.job = None
        job.status, job.conclusion = Status.COMPLETED, conclusion
        job.completed_at = self._timeline.now()
        self._on_ended(job)

    # Runners -------------------------------------------------------------------------------

    def connect(self, jit_config: str, listener: Listener) -> RunnerSession:
        runner = self._runners.by_secret(read_jit_config(jit_config))
        if runner is None:
            raise RefusedError("The runner registration has been deleted from the server.")
        if runner.used or (runner.session is not None and runner.session.heard):
            raise RefusedError("A session for this runner already exists.")
        session = runner.session = RunnerSession(self, runner, listener)
        self._make_idle(session)
        return session

    def deregister(self, runner: Runner) -> None:
        """Deleted through the API: not while it is busy, which is for the caller to check."""
        session = runner.session
        if session is None:
            self._runners.remove(runner)
            return
        self._forget(session)
        if session.heard:
            session.listener.deregistered()

    def line_lost(self, session: RunnerSession) -> None:
        if not self._is_current(session):
            return
        runner = session.runner
        self._not_idle(runner)
        if (job := runner.job) is not None:
            self._appoint(job, self._in(LEASE_SECONDS), lambda: self._lease_over(job))

        def seen_offline() -> None:
            runner.online = False
            self._runners.expect_connection(runner)

        runner.appoint(self._timeline.after(OFFLINE_SECONDS, seen_offline))

    def line_back(self, session: RunnerSession) -> None:
        runner = session.runner
        if not self._is_current(session) or (runner.used and runner.job is None):
            session.listener.deregistered()  # Its job was given up, or it was deleted.
            self._forget(session)
        elif runner.job is not None:
            self._is_online(runner)
            self._await_end(runner.job)
        else:
            self._make_idle(session)

    def stopped(self, session: RunnerSession) -> None:
        if not self._is_current(session):
            return
        runner = session.runner
        self._not_idle(runner)
        if runner.job is not None:
            self._end(runner.job, _given_up(runner.job))
        runner.online = False
        self._runners.expect_connection(runner)

    def _lease_over(self, job: Job) -> None:
        self._end(job, _given_up(job))

    def _make_idle(self, session: RunnerSession) -> None:
        account = _account(session.runner)
        self._is_online(session.runner)
        self._idle.setdefault(account.id, {})[session.runner] = session
        self._look_soon(account)

    def _is_online(self, runner: Runner) -> None:
        runner.appoint(None)
        runner.online = True

    def _not_idle(self, runner: Runner) -> None:
        self._idle.get(_account(runner).id, {}).pop(runner, None)

    def _is_current(self, session: RunnerSession) -> bool:
        runner = session.runner
        return runner.session is session and self._runners.is_registered(runner)

    def _forget(self, session: RunnerSession) -> None:
        if session.runner.session is session:
            session.runner.session = None
            self._not_idle(session.runner)
            self._runners.remove(session.runner)

    def _session_of(self, job: Job) -> RunnerSession | None:
        return None if job.runner is None else job.runner.session

    def _appoint(self, job: Job, moment: datetime, action: Callable[[], None]) -> None:
        job.forget_appointment()
        job.appointment = self._timeline.at(moment, action)

    def _in(self, seconds: float) -> datetime:
        return self._timeline.now() + timedelta(seconds=seconds)


def _suits(runner: Runner, job: Job) -> bool:
    here = runner.scope is job.repository or runner.scope is job.repository.owner
    return here and runner.takes(job)


def _given_up(job: Job) -> Conclusion:
    """How a job ends whose runner did not get to its end."""
    return Conclusion.CANCELLED if job.cancelling else Conclusion.FAILURE


def _account(runner: Runner) -> Account:
    return runner.scope.owner if isinstance(runner.scope, Repository) else runner.scope
