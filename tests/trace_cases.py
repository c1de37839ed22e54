"""What the rules of the trace look at, made by hand: a job that waits, and what is known of it."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.trace_events import APP, ENTITY, INSTALLATION, NAME, World, moment
from webhook_fn.events import Apps, Outcome
from webhook_fn.routes import Accounts, Route, Routes
from webhook_fn.trace.case import Case
from webhook_fn.trace.facts import (
    Boards,
    DeliveryLog,
    Event,
    FailedDelivery,
    FailedWorker,
    JobEvent,
    JobFacts,
    JobRow,
    JobWorker,
    Limit,
    Queue,
    QueuedDemand,
    Run,
    Supply,
    Trouble,
    Wait,
)
from webhook_fn.trace.finding import Finding, Kind
from webhook_fn.trace.rules import diagnose
from webhook_fn.trace.state import fold

OTHER_APP = 2
APPS = Apps(organization=APP, personal=OTHER_APP)
JOB = 41
LABELS = ("ubuntu-24.04-riscv",)
POOL = "scw-em-rv1"
REPOSITORY = f"{NAME}/linux"
SENDER = "octocat"
# Of the clock of `moment`: the job comes at 1000, and somebody asks a minute later.
CAME, PLANNED, NOW = 1000, 1050, 1060

ABOUT_ACCESS = {
    Kind.UNINSTALLED,
    Kind.SUSPENDED,
    Kind.REPOSITORY_REMOVED,
    Kind.REPOSITORY_NOT_SELECTED,
    Kind.NO_ACCESS,
    Kind.WRONG_APP,
}

ROUTE = Route(LABELS, POOL, "registry.example/good:1")


def routes(*more: Route, **lists: Iterable[int | str]) -> Routes:
    return Routes(
        (ROUTE, *more), **{name: Accounts(frozenset(them)) for name, them in lists.items()}
    )


def row(
    name: str = "workflow_job.queued",
    outcome: str = Outcome.JOB_STORED,
    *,
    at: float = CAME,
    number: int = 100,
    installation: int | None = INSTALLATION,
    app: int | None = APP,
    entity: str | None = NAME,
    kind: str | None = "Organization",
) -> Event:
    return Event(
        id=number,
        at=moment(at),
        source="webhook",
        event=name,
        outcome=outcome,
        installation_id=installation,
        app_id=app,
        entity_id=ENTITY,
        entity_name=entity,
        entity_type=kind,
        job_id=JOB,
    )


def delivery(
    name: str = "workflow_job.queued", outcome: str = Outcome.JOB_STORED, **more: Any
) -> JobEvent:
    """Of the job; what is not a column of the log says what it carries."""
    said = {
        "labels": more.pop("labels", LABELS),
        "repository": more.pop("repository", REPOSITORY),
        "sender_id": more.pop("sender_id", 9),
        "sender_name": more.pop("sender_name", SENDER),
        "runner": more.pop("runner", None),
        "conclusion": more.pop("conclusion", None),
    }
    return JobEvent(row(name, outcome, **more), **said)


def a_job(**changes: Any) -> JobRow:
    waiting = JobRow(
        job_id=JOB,
        status="pending",
        conclusion=None,
        failure_reason=None,
        failure_message=None,
        entity_id=ENTITY,
        entity_name=NAME,
        entity_type="Organization",
        repository=REPOSITORY,
        installation_id=INSTALLATION,
        labels=LABELS,
        pool=POOL,
        image="registry.example/good:1",
        pod=None,
        html_url=None,
        job_name="build",
        workflow_name="CI",
        sender_id=9,
        sender_name=SENDER,
        created_at=moment(CAME),
        queued_at=moment(CAME),
        started_at=None,
        completed_at=None,
        updated_at=moment(CAME),
    )
    return replace(waiting, **changes)


def a_wait(waiting_for: str | None = None, **changes: Any) -> Wait:
    planned = Wait(1, 0, waiting_for, None, 20, moment(PLANNED))
    return replace(planned, **changes)


def some_boards(**changes: Any) -> Boards:
    busy = Boards(POOL, 4, 3, 3, 0, "fifo", moment(PLANNED))
    return replace(busy, **changes)


def own_demand(**changes: Any) -> QueuedDemand:
    return replace(QueuedDemand(ENTITY, True, 1, 0, 0, "no_board"), **changes)


def a_queue(waiting_for: str | None = None, **changes: Any) -> Queue:
    made = Queue(
        wait=a_wait(waiting_for),
        trouble=None,
        boards=some_boards(),
        demands=(own_demand(waiting_for=waiting_for),),
        supply=Supply(0, {}, 600.0, 10),
        limits=(a_limit(), a_limit(f"app:{APP}")),
    )
    return replace(made, **changes)


def a_limit(key: str = f"installation:{INSTALLATION}", **changes: Any) -> Limit:
    return replace(Limit(key, None, None, None, None, None, None), **changes)


def trouble(**changes: Any) -> Trouble:
    failed = Trouble(2, "pod_failed", moment(PLANNED - 10), moment(NOW + 300), parked=False)
    return replace(failed, **changes)


def failed_worker(**changes: Any) -> FailedWorker:
    it = FailedWorker(
        "rise-riscv-runner-1", "pod_failed", "It crashed.", "board-1", moment(1001), moment(1040)
    )
    return replace(it, **changes)


def a_worker(**changes: Any) -> JobWorker:
    it = JobWorker(
        "rise-riscv-runner-1", "running", None, None, "board-1", moment(1001), moment(1010), None
    )
    return replace(it, **changes)


def runs(*statuses: str, at: float = NOW - 5, **changes: Any) -> tuple[Run, ...]:
    """The latest first, 15 seconds apart."""
    return tuple(
        replace(
            Run(90 - place, moment(at - 15 * place - 2), moment(at - 15 * place), status, None, ()),
            **changes,
        )
        for place, status in enumerate(statuses)
    )


def failed_delivery(**changes: Any) -> FailedDelivery:
    it = FailedDelivery(
        APP, "guid-1", "workflow_job.queued", INSTALLATION, JOB, 503, moment(CAME), 0, None
    )
    return replace(it, **changes)


def facts(**changes: Any) -> JobFacts:
    """Of a job that waits, and of which all is well."""
    known = JobFacts(
        job_id=JOB,
        job=a_job(),
        events=(delivery(),),
        queue=a_queue(),
        failures=(),
        worker=None,
        runs=runs("completed", "completed", "completed"),
        deliveries=DeliveryLog({APP: moment(NOW - 60), OTHER_APP: moment(NOW - 50)}),
    )
    return replace(known, **changes)


def unknown(**changes: Any) -> JobFacts:
    """Of one that nothing was heard of."""
    return facts(**{"job": None, "events": (), "queue": None, "runs": (), **changes})


def of_job(world: World | None = None, *, known: JobFacts | None = None, **changes: Any) -> Case:
    """A case of the account that the world has; without one, the App is installed on all of it."""
    given = known or facts()
    made = Case(
        now=moment(NOW),
        apps=APPS,
        routes=routes(),
        account=fold((world or installed()).log()),
        facts=given,
        repository=REPOSITORY,
    )
    return replace(made, **changes)


def waiting(waiting_for: str | None, world: World | None = None, **changes: Any) -> Case:
    """A job that waits for that, with changes to its queue."""
    return of_job(world, known=facts(queue=a_queue(waiting_for, **changes)))


def of_account(world: World | None = None, **changes: Any) -> Case:
    return of_job(world, **{"facts": None, "repository": None, **changes})


def installed(**options: Any) -> World:
    world = World()
    world.install(**options)
    return world


def refused_token(status: str, at: int = CAME + 10) -> World:
    """A run was told so."""
    world = installed()
    world.wait(at)
    world.fail_to_authenticate(INSTALLATION, status)
    return world


def kinds(case: Case) -> list[Kind]:
    return [each.kind for each in diagnose(case)]


def first(case: Case, kind: Kind) -> Finding:
    """The answer, which must be of that kind."""
    found = diagnose(case)
    assert found[0].kind is kind, [f"{each.kind}: {each.summary}" for each in found]
    return found[0]


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)
