"""From a plan to runner pods: the row, the group, the registration, the pod, its configuration.

The row comes first, so that whatever happens next is known to the next run; the Secret comes last
and belongs to the pod, so that none is ever left over. All rows are written by this thread; the
calls outside are made by others.
"""

from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import timedelta

from .. import log, store
from ..errors import (
    DeadlineError,
    NameTakenError,
    NotFoundError,
    PermanentError,
    RateLimitedError,
    TransientError,
    UncertainError,
)
from ..model import Failure, JitConfig, Reason, Scope, Status, Worker
from ..policy.plan import PendingJob
from ..policy.waiting import Place
from .context import OUTSIDE_ERRORS, Context, OutsideError
from .ledger import Ledger
from .outcome import Outcome

NAME_ATTEMPTS = 3
_A_DAY = timedelta(days=1)
Key = tuple[int, str]  # of a scope


@dataclass(frozen=True, slots=True)
class Group:
    """Where a scope's runners are registered; None for a repository, which has only one."""

    id: int | None


class UnsettledError(Exception):
    """Whether the pod was made, or its configuration arrived, was not told in time, or it did all
    the same: its row waits for the next run to see."""


@dataclass(slots=True)
class Account:
    """What comes of it."""

    outcome: Outcome
    ledger: Ledger
    on_their_way: Counter[Place] = field(default_factory=Counter)


def provision(context: Context, jobs: Sequence[PendingJob], account: Account) -> None:
    now = context.now()
    scopes = {job.scope.key: job.scope for job in jobs}
    with context.database.transaction():
        store.github.use_scopes(context.database, scopes.values(), now)
        workers = _reserve(context, jobs, account.outcome)
    account.on_their_way.update((worker.demand, worker.pool) for worker in workers)
    groups = _groups(context, list(scopes.values()))
    ready = []
    for worker in workers:
        group = groups[worker.scope.key]
        if isinstance(group, Group):
            ready.append(Attempt(worker, group))
        else:
            _failed(context, worker, group, account)
    _make_all(context, ready, account)


def _reserve(context: Context, jobs: Sequence[PendingJob], outcome: Outcome) -> list[Worker]:
    reserved: list[Worker] = []
    left = list(jobs)
    for _ in range(NAME_ATTEMPTS):
        wanted = [_worker(context, job) for job in left]
        free = store.workers.reserve(context.database, wanted, context.now())
        reserved += [worker for worker in wanted if worker.pod_name in free]
        left = [
            job for job, worker in zip(left, wanted, strict=True) if worker.pod_name not in free
        ]
        if not left:
            break
    if left:
        outcome.problem(f"no free name was found for {len(left)} workers")
    return reserved


def _worker(context: Context, job: PendingJob) -> Worker:
    return Worker(
        pod_name=context.identity.new_name(),
        scope=job.scope,
        labels=job.key.labels,
        pool=job.pool,
        image=job.image,
        node=None,
        status=Status.PENDING,
        created_at=context.now(),
        running_at=None,
        completed_at=None,
    )


def _groups(context: Context, scopes: list[Scope]) -> dict[Key, Group | OutsideError]:
    """Looked up once, and again only if the setting changed."""
    setting = context.settings.runner_group.allows_public_repositories
    known = {
        each.scope.key: each
        for each in store.github.load_scopes(context.database, context.now() - _A_DAY)
    }
    groups: dict[Key, Group | OutsideError] = {}
    missing = []
    for scope in scopes:
        there = known.get(scope.key)
        if not scope.is_organization:
            groups[scope.key] = Group(None)
        elif there and there.group_id is not None and there.group_setting == setting:
            groups[scope.key] = Group(there.group_id)
        else:
            missing.append(scope)
    found = {}
    for scope, answer in context.at_once(lambda each: _ensure(context, each), missing):
        groups[scope.key] = Group(answer) if isinstance(answer, int) else answer
        if isinstance(answer, int):
            found[scope] = answer, setting
    if found:
        store.github.save_groups(context.database, found)
    return groups


def _ensure(context: Context, scope: Scope) -> int:
    return context.github.ensure_group(
        scope,
        context.identity.group_name,
        allows_public_repositories=context.settings.runner_group.allows_public_repositories,
    )


@dataclass(frozen=True, slots=True)
class Attempt:
    worker: Worker
    group: Group
    number: int = 1


def _make_all(context: Context, attempts: list[Attempt], account: Account) -> None:
    threads = min(context.settings.run.provision_parallel, len(attempts))
    if not threads:
        return
    left = deque(attempts)
    under_way: dict[Future[None], Attempt] = {}
    with ThreadPoolExecutor(threads) as pool:
        while left or under_way:
            # No more than can be worked on: if the database is lost, and with it the lock, what
            # was not begun is not begun.
            context.database.keep_alive()
            while left and len(under_way) < threads:
                attempt = left.popleft()
                under_way[pool.submit(_make, context, attempt)] = attempt
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                attempt = under_way.pop(future)
                again = _settle(context, attempt, future.exception(), account)
                if again is not None:
                    left.append(again)


def _settle(
    context: Context, attempt: Attempt, error: BaseException | None, account: Account
) -> Attempt | None:
    """Write down what came of it; if its name was taken, the attempt under another name."""
    worker = attempt.worker
    if error is None:
        _made(worker, account.outcome)
    elif isinstance(error, NameTakenError) and attempt.number < NAME_ATTEMPTS:
        name = context.identity.new_name()
        if store.workers.rename(context.database, worker.pod_name, name, context.now()):
            log.emit("name_taken", worker=worker.pod_name, new_name=name)
            return Attempt(replace(worker, pod_name=name), attempt.group, attempt.number + 1)
        _failed(context, worker, error, account)
    elif isinstance(error, UnsettledError):
        account.outcome.problem(f"{worker.pod_name}: {error}")
    elif isinstance(error, OUTSIDE_ERRORS):
        _failed(context, worker, error, account)
    else:
        raise error
    return None


def _make(context: Context, attempt: Attempt) -> None:
    worker = attempt.worker
    if context.deadline.passed:
        raise DeadlineError("The run's time was over before it was made.")
    jit = context.github.create_jit_config(
        worker.scope, attempt.group.id, worker.pod_name, worker.labels
    )
    uid = None
    try:
        uid = _create_pod(context, worker)
        _hand_over(context, worker, uid, jit)
    except OUTSIDE_ERRORS as error:
        if not _take_back(context, worker, jit, uid):
            raise UnsettledError(f"its runner took a job all the same: {error}") from error
        raise


def _create_pod(context: Context, worker: Worker) -> str:
    try:
        return context.cluster.create_pod(
            worker.pod_name,
            worker.pool,
            worker.image,
            context.settings.storage(worker.pool),
            int(context.settings.timeouts.pod_active_deadline),
        )
    except UncertainError as error:
        try:
            pod = context.cluster.find_pod(worker.pod_name)
        except (TransientError, PermanentError) as second:
            raise UnsettledError(f"its pod may have been made: {error}") from second
        if pod is None:
            raise
        return pod.uid


def _hand_over(context: Context, worker: Worker, uid: str, jit: JitConfig) -> None:
    try:
        context.cluster.hand_over(worker.pod_name, uid, jit)
    except UncertainError:
        try:
            context.cluster.hand_over(worker.pod_name, uid, jit)
        except NameTakenError:
            return  # It was handed over; only the answer was lost.
    except NameTakenError as error:
        # The pod is new, so this is another's: the pod would start with a configuration not its.
        raise PermanentError(str(error)) from error


def _take_back(context: Context, worker: Worker, jit: JitConfig, uid: str | None) -> bool:
    """The registration, and the pod if it was made: at once where that works; the next run finds
    what is left. A pod of the same name that is not this one's is somebody else's.

    False: the configuration did arrive, and its runner is busy. Then nothing is touched.
    """
    try:
        if not context.github.delete_runner(worker.scope, jit.runner_id):
            return False
        pod = context.cluster.find_pod(worker.pod_name) if uid else None
        if pod is not None and pod.uid == uid:
            context.cluster.delete_pod(pod)
    except OUTSIDE_ERRORS as error:
        log.emit("left_for_the_next_run", worker=worker.pod_name, error=str(error))
    return True


def _made(worker: Worker, outcome: Outcome) -> None:
    outcome.workers_provisioned += 1
    outcome.did["workers provisioned"] += 1
    log.emit(
        "worker_provisioned",
        worker=worker.pod_name,
        entity=worker.scope.entity_name,
        repository=worker.scope.repo_full_name,
        pool=worker.pool,
        labels=",".join(worker.labels),
    )


def _failed(context: Context, worker: Worker, error: OutsideError, account: Account) -> None:
    now = context.now()
    outcome, ledger = account.outcome, account.ledger
    limited = isinstance(error, RateLimitedError)
    reason = Reason.RATE_LIMITED if limited else Reason.PROVISION_FAILED
    with context.database.transaction():
        store.workers.fail(context.database, Failure(worker, reason, str(error)), None, now)
        if not isinstance(error, DeadlineError):  # That was our own doing.
            outage = isinstance(error, TransientError)
            ledger.note_failure(context, worker, reason, now, outage=outage)
            ledger.save(context)
        if isinstance(error, NotFoundError):  # Perhaps the group is: it is looked up anew.
            store.github.save_groups(context.database, {worker.scope: (None, None)})
    account.on_their_way[worker.demand, worker.pool] -= 1
    outcome.workers_failed += 1
    outcome.did[f"workers failed ({reason})"] += 1
    if not limited:
        outcome.problem(f"{worker.pod_name} could not be provisioned: {error}")
    log.emit(
        "worker_failed",
        worker=worker.pod_name,
        reason=reason,
        message=str(error),
        entity=worker.scope.entity_name,
        pool=worker.pool,
    )
