"""Anything that may be known of a job or an account: likely, odd, or contradicting itself."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from tests import trace_cases as some
from tests.trace_events import ENTITY, INSTALLATION, NAME, event, listed, moment
from webhook_fn.events import Outcome
from webhook_fn.job import Status
from webhook_fn.routes import Accounts, Route
from webhook_fn.trace.case import Case
from webhook_fn.trace.facts import (
    Boards,
    DeliveryLog,
    FailedDelivery,
    FailedWorker,
    JobEvent,
    JobFacts,
    JobWorker,
    Limit,
    Queue,
    QueuedDemand,
    Run,
    StateEvent,
    Supply,
    Trouble,
    Wait,
)
from webhook_fn.trace.state import fold

# Values of what is known, most of them likely and some of them odd.
moments = st.integers(min_value=-90_000, max_value=90_000).map(lambda each: moment(some.NOW + each))
perhaps_moments = st.none() | moments
counts = st.integers(min_value=0, max_value=3)
perhaps_counts = st.none() | counts
numbers = st.sampled_from([INSTALLATION, INSTALLATION + 1, 99])
names = st.sampled_from([NAME, "risen", "octocat"])
perhaps_names = st.none() | names
reasons = st.sampled_from(
    ["installation_gone", "banned", "job_gone", "stuck_queued", "demand_parked", "new_one"]
)
texts = st.none() | st.sampled_from(["", "It crashed.", "403 suspended", "two\nlines"])
waits = st.none() | st.sampled_from(
    [
        *("runner", "backing_off", "parked", "rate_limited", "no_access", "cap_reached"),
        *("no_board", "of_next_year", ""),
    ]
)
labels = st.sampled_from([some.LABELS, ("limited",), ("riscv",), ()])
apps = st.sampled_from([1, 2, 3, None])
types = st.sampled_from(["Organization", "User", None])
conclusions = st.none() | st.sampled_from(["success", "cancelled", "skipped"])
repositories = st.none() | st.sampled_from([some.REPOSITORY, "risen/linux", "riseproject/qemu"])

job_rows = st.builds(
    replace,
    st.just(some.a_job()),
    status=st.sampled_from([*Status, "of_next_year"]),
    conclusion=conclusions,
    failure_reason=st.none() | reasons,
    failure_message=texts,
    entity_type=st.sampled_from(["Organization", "User"]),
    installation_id=numbers,
    repository=repositories.filter(bool),
    pod=st.none() | st.just("rise-riscv-runner-1"),
    sender_name=perhaps_names,
    created_at=moments,
    queued_at=perhaps_moments,
    started_at=perhaps_moments,
    completed_at=perhaps_moments,
    updated_at=moments,
)
job_events: st.SearchStrategy[JobEvent] = st.builds(
    lambda name, outcome, more: some.delivery(f"workflow_job.{name}", outcome, **more),
    st.sampled_from(["queued", "in_progress", "completed", "waiting", "of_next_year"]),
    st.sampled_from([*Outcome, "of_next_year"]),
    st.fixed_dictionaries(
        {
            "at": st.integers(min_value=0, max_value=2000),
            "installation": st.none() | numbers,
            "app": apps,
            "entity": perhaps_names,
            "kind": types,
            "labels": labels,
            "repository": repositories,
            "sender_name": perhaps_names,
            "runner": st.none() | st.just("laptop"),
            "conclusion": conclusions,
        }
    ),
)
limits = st.lists(
    st.builds(
        Limit,
        st.sampled_from(["installation:7", "installation:8", "app:1", "app:2"]),
        st.sampled_from([None, "404", "other_error"]),
        perhaps_moments,
        perhaps_counts,
        perhaps_counts,
        perhaps_moments,
        perhaps_moments,
    )
).map(tuple)
failed_workers = st.lists(
    st.builds(
        FailedWorker,
        st.just("rise-riscv-runner-2"),
        st.none() | reasons,
        texts,
        st.none() | st.just("board-1"),
        moments,
        moments,
    ),
    max_size=2,
).map(tuple)
queues = st.builds(
    Queue,
    wait=st.none()
    | st.builds(Wait, counts, counts, waits, perhaps_moments, perhaps_counts, moments),
    trouble=st.none() | st.builds(Trouble, counts, reasons, moments, moments, st.booleans()),
    boards=st.none()
    | st.builds(
        Boards,
        st.just(some.POOL),
        *(counts, counts, counts, counts),
        st.sampled_from(["fifo", "fair", None, "of_next_year"]),
        moments,
    ),
    demands=st.lists(
        st.builds(QueuedDemand, numbers, st.booleans(), counts, counts, counts, waits), max_size=3
    ).map(tuple),
    supply=st.builds(
        Supply,
        counts,
        st.dictionaries(numbers, counts, max_size=2),
        st.none() | st.floats(min_value=0, max_value=1e6),
        counts,
    ),
    limits=limits,
)
deliveries = st.lists(
    st.builds(
        FailedDelivery,
        *(st.just(1), st.just("guid"), st.none() | st.just("workflow_job.queued")),
        *(st.none() | numbers, st.just(some.JOB), st.none() | st.just(503)),
        *(moments, counts, perhaps_moments),
    ),
    max_size=2,
).map(tuple)
logs = st.builds(
    DeliveryLog,
    st.dictionaries(st.sampled_from([1, 2]), moments),
    *(deliveries, deliveries, counts),
)
all_facts = st.builds(
    JobFacts,
    st.just(some.JOB),
    st.none() | job_rows,
    st.lists(job_events, max_size=4).map(tuple),
    st.none() | queues,
    failed_workers,
    st.none()
    | st.builds(
        JobWorker,
        st.just("rise-riscv-runner-1"),
        st.sampled_from([*Status]),
        *(st.none() | reasons, texts, st.none() | st.just("board-1")),
        *(moments, perhaps_moments, perhaps_moments),
    ),
    st.lists(
        st.builds(
            Run,
            *(counts, moments, perhaps_moments),
            st.sampled_from(["running", "completed", "partial", "failed"]),
            texts,
            st.lists(
                st.tuples(
                    st.sampled_from(["demand_match", "sync_workers", "publish"]), st.just("x")
                )
            ).map(tuple),
        ),
        max_size=4,
    ).map(tuple),
    logs,
)


def told_of(
    number: int, name: str, installation: int, app: int | None, kind: str | None, entity: str | None
) -> StateEvent:
    said: dict[str, Any] = {"selection": "selected", "repositories": listed({"linux"})}
    if name.endswith("removed"):
        said["removed"] = listed({"linux"})
    if name.endswith("renamed"):
        said["renamed_from"] = NAME
    if name.startswith("auth_attempt"):
        said["message"] = "Not Found"
    return event(
        name,
        number,
        at=number,
        installation=installation,
        app=app,
        kind=kind,
        entity=entity,
        **said,
    )


state_events = st.builds(
    told_of,
    st.integers(min_value=1, max_value=2000),
    st.sampled_from(
        [
            *("installation.created", "installation.deleted", "installation.suspend"),
            *("installation.unsuspend", "installation_repositories.removed"),
            *("installation_target.renamed", "auth_attempt.404", "auth_attempt.other_error"),
        ]
    ),
    numbers,
    *(apps, types, perhaps_names),
)
accounts = st.lists(state_events, max_size=5).map(
    lambda events: fold(sorted(events, key=lambda each: each.row.id))
)
bans = st.sampled_from([(), (NAME,), (ENTITY,), ("octocat",)])
limited = Route(("limited",), some.POOL, "image", Accounts(frozenset({NAME})))
all_routes = st.none() | st.builds(
    lambda entities, senders: some.routes(
        limited, banned_entities=entities, banned_senders=senders
    ),
    *(bans, bans),
)
any_cases = st.builds(
    Case,
    moments,
    st.just(some.APPS),
    all_routes,
    accounts,
    st.none() | all_facts,
    repositories,
    st.none() | numbers,
    perhaps_names,
    limits,
    st.booleans(),
    perhaps_moments,
)
# Most of those do not wait, and are told of something else before a queue is looked at.
waiting_cases = st.builds(
    lambda job, queue, runs, failures, account, routes: Case(
        moment(some.NOW),
        some.APPS,
        routes,
        account,
        some.facts(
            job=replace(job, status="pending", failure_reason=None),
            queue=queue,
            runs=runs,
            failures=failures,
        ),
    ),
    job_rows,
    queues,
    st.sampled_from(
        [
            some.runs("completed"),
            some.runs("failed", "failed", "failed"),
            some.runs("partial", "partial", "partial", problems=(("demand_match", "No nodes."),)),
        ]
    ),
    failed_workers,
    st.just(fold(some.installed().log())) | accounts,
    st.none() | st.just(some.routes()),
)
cases = any_cases | waiting_cases
