"""One run: every phase once, each isolated from the others, and a record of what it did."""

import contextlib
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from . import kube, log, site, store
from .clock import Deadline
from .config import Config
from .errors import AccessError, ConfigError, PermanentError, StoreError, TransientError
from .github import App, Apps, GitHubClient
from .phases.context import Context, Identity
from .phases.demand_match import demand_match
from .phases.missed_webhooks import missed_webhooks
from .phases.outcome import Outcome
from .phases.publish import publish
from .phases.retention import RETENTION, retention
from .phases.sync_jobs import sync_jobs
from .phases.sync_workers import sync_workers
from .store.runs import PhaseRecord, Totals

Phase = Callable[[Context], Outcome]
Sleep = Callable[[float], None]
PUBLISH = "publish"
AFTER_THE_WORK = (RETENTION, PUBLISH)


@dataclass(slots=True)
class RunReport:
    started_at: datetime
    run_id: int
    phases: list[PhaseRecord] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    seconds: float = 0
    statements: int = 0
    error: str | None = None  # why the record itself could not be written

    @property
    def status(self) -> str:
        """As in reconcile_runs: partial if some item or phase failed. That nothing could be done is
        no better for having been published, or for what is old having gone."""
        if all(phase.success for phase in self.phases):
            return "completed"
        worked = any(phase.success for phase in self.phases if phase.phase not in AFTER_THE_WORK)
        return "partial" if worked else "failed"

    @property
    def exit_code(self) -> int:
        return 0 if self.status == "completed" and self.error is None else 1

    @property
    def totals(self) -> Totals:
        def total(name: str) -> int:
            return sum(getattr(outcome, name) for outcome in self.outcomes)

        return Totals(
            total("jobs_checked"),
            total("jobs_updated"),
            total("workers_checked"),
            total("workers_failed"),
            total("workers_provisioned"),
            total("objects_published"),
        )


def phases(config: Config) -> tuple[tuple[str, Phase], ...]:
    app_ids = config.organization.id, config.personal.id
    publisher = site.publisher(config)
    work: tuple[tuple[str, Phase], ...] = (
        ("sync_jobs", sync_jobs),
        ("sync_workers", sync_workers),
        ("demand_match", demand_match),
        ("missed_webhooks", lambda context: missed_webhooks(context, app_ids)),
        (RETENTION, retention),
    )
    if publisher is None:
        return work
    return (*work, (PUBLISH, lambda context: publish(context, publisher)))


def run(config: Config, sleep: Sleep = time.sleep) -> RunReport:
    """Raises BusyError, or StoreError or ConfigError if it could not even begin."""
    started = time.monotonic()
    with opened(config, sleep=sleep) as (context, github):
        now = context.now()
        report = RunReport(now, store.runs.start(context.database, now))
        log.bind(config.clock, run_id=report.run_id)
        for name, phase in phases(config):
            _do(context, github, name, phase, report)
        _finish(context, report)
    report.statements = context.database.statements
    report.seconds = time.monotonic() - started
    return report


@contextlib.contextmanager
def opened(
    config: Config, *, read_only: bool = False, sleep: Sleep = time.sleep
) -> Iterator[tuple[Context, GitHubClient]]:
    """Everything a run needs of the outside."""
    limits = config.settings.run
    deadline = Deadline(limits.deadline)
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(
            store.connect(config.conninfo, config.schema, limits, read_only=read_only)
        )
        github = stack.enter_context(
            GitHubClient(
                config.github_api_url,
                _apps(config),
                config.settings.github,
                config.clock,
                deadline,
                limits.request_timeout,
                store.github.load_credentials(database),
                sleep,
            )
        )
        cluster = stack.enter_context(
            kube.connect(
                config.kubeconfig_text,
                config.kubeconfig_path,
                config.namespace,
                deadline=deadline,
                request_timeout=limits.request_timeout,
                parallel=max(limits.provision_parallel, config.settings.github.parallel),
                sleep=sleep,
            )
        )
        context = Context(
            database,
            github,
            cluster,
            config.settings,
            _identity(config),
            config.clock,
            deadline,
        )
        yield context, github


def _apps(config: Config) -> Apps:
    try:
        return Apps(
            App(config.organization.id, config.organization.private_key),
            App(config.personal.id, config.personal.private_key),
        )
    except ValueError as error:
        raise ConfigError(f"Cannot start: {error}") from error


def _identity(config: Config) -> Identity:
    routes = config.routes
    return Identity(
        prefix=config.prefix,
        group_name=config.group_name,
        owns=config.owns,
        banned_entities=routes.banned_entities.members if routes else frozenset(),
        banned_senders=routes.banned_senders.members if routes else frozenset(),
    )


def _do(context: Context, github: GitHubClient, name: str, phase: Phase, report: RunReport) -> None:
    """The phase, and what GitHub told on the way, whatever becomes of the phase."""
    started = time.monotonic()
    outcome, error = Outcome(), None
    try:
        context.deadline.limit(0)  # A phase that the run has no time for is not begun.
        try:
            outcome = phase(context)
        finally:
            _remember(context, github)
    except (TransientError, PermanentError, AccessError, StoreError) as failure:
        error = f"{type(failure).__name__}: {failure}"
    except Exception as failure:  # noqa: BLE001 a fault of ours must not stop the other phases
        error = f"{type(failure).__name__}: {failure}"
        log.emit("phase_crashed", phase=name, traceback=traceback.format_exc(limit=-8))
    error = error or outcome.error
    elapsed = time.monotonic() - started
    report.outcomes.append(outcome)
    report.phases.append(
        PhaseRecord(
            phase=name,
            success=error is None,
            message="done" if error is None else "done in part" if outcome.did else "failed",
            impact=outcome.impact,
            error=error,
            elapsed_seconds=round(elapsed, 3),
        )
    )
    log.emit(
        "phase",
        phase=name,
        success=error is None,
        impact=outcome.impact,
        error=error,
        seconds=round(elapsed, 3),
    )


def _remember(context: Context, github: GitHubClient) -> None:
    store.github.save_credentials(
        context.database, github.credentials(), github.take_auth_failures(), context.now()
    )


def _finish(context: Context, report: RunReport) -> None:
    try:
        store.runs.finish(
            context.database,
            report.run_id,
            report.status,
            None,
            report.phases,
            report.totals,
            context.now(),
        )
        store.runs.forget(context.database, context.now())
    except StoreError as error:
        report.error = str(error)
