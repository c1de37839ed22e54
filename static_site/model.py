"""What the pages say: one model for each page, of which the HTML and its JSON twin are made.

Models are plain JSON: a twin is the model itself, written out. Times are ISO 8601 in UTC, durations
seconds. Nothing in a model depends on the moment at which it is made ("5 minutes ago" is for the
page's script to say): what has not changed looks the same, and is not published again.
"""

from typing import Any, Literal, TypedDict

ListName = Literal["jobs", "workers", "runs"]
LISTS: tuple[ListName, ...] = ("jobs", "workers", "runs")


class Waiting(TypedDict):
    """What a pending job waits for."""

    reason: str  # the slug of the plan: no_board, cap_reached, …
    words: str  # "All 12 boards of scw-em-rv1 are busy."
    until: str | None  # when that is known to end


class Job(TypedDict):
    id: int
    status: str  # pending, running, completed, failed (given up by the system)
    conclusion: str | None  # GitHub's, of a completed one: success, failure, cancelled, …
    reason: str | None  # why it was given up, or, while pending, why nothing is tried for it
    message: str | None  # the same in words
    waiting: Waiting | None  # only while pending
    entity: str  # the account
    private: bool  # then its repository, names and link are None
    repository: str | None
    workflow: str | None
    name: str | None
    attempt: int | None
    url: str | None  # at GitHub
    labels: list[str]
    pool: str
    worker: str | None  # the pod whose runner took it
    worker_failed: bool  # then there is a page /workers/<worker>
    queued_at: str
    started_at: str | None
    completed_at: str | None
    wait_seconds: int | None  # from queued to started
    run_seconds: int | None  # from started to completed


class WorkerJob(TypedDict):
    id: int
    name: str | None  # None if private
    url: str | None
    status: str
    conclusion: str | None


class Worker(TypedDict):
    name: str
    status: str  # pending, running, completed, failed
    reason: str | None  # why it failed; then there is a page /workers/<name>
    message: str | None
    entity: str
    repository: str | None  # of a personal account's worker, if it is public
    labels: list[str]
    pool: str
    node: str | None
    job: WorkerJob | None
    created_at: str
    running_at: str | None
    completed_at: str | None
    start_seconds: int | None  # from created to running
    run_seconds: int | None  # from running to its end


class Phase(TypedDict):
    phase: str
    success: bool
    impact: str | None
    error: str | None
    seconds: float


class Run(TypedDict):
    id: int
    status: str  # running, completed, partial, failed
    started_at: str
    completed_at: str | None
    seconds: float | None
    error: str | None
    phases: list[Phase]


class ListPage(TypedDict):
    """A page of a list: one of the newest, or a part of a day."""

    list_name: ListName
    day: str | None  # YYYY-MM-DD of a day's file
    settled: bool | None  # of a day: whether it will not change any more
    page: int
    pages: int
    oldest_day: str | None  # on which its oldest row came: in that day's files it goes on
    rows: list[Any]  # Job, Worker or Run


# The overview ----------------------------------------------------------------------------------


class Boards(TypedDict):
    pool: str
    slots: int  # places for a runner
    in_use: int
    free: int
    unusable: int  # without a pod, on nodes that can take none: cordoned, not ready


class Queue(TypedDict):
    """Jobs of one label set in one pool."""

    labels: list[str]
    pool: str
    pending: int
    running: int
    oldest_queued_at: str | None
    drain_seconds: int | None  # until the last of them has begun; None: not known
    drain: str  # the same in words: "about 40 min", "no board can take a job", …


class Reasons(TypedDict):
    reason: str
    words: str
    count: int


class LabelWaits(TypedDict):
    labels: list[str]
    started: int
    wait_p50: int | None
    wait_p95: int | None


class Span(TypedDict):
    """Of the last day or week."""

    started: int
    wait_p50: int | None
    wait_p95: int | None
    by_labels: list[LabelWaits]
    completed: int  # at GitHub, whatever came of them
    succeeded: int
    failed: int  # failure, timed_out, …
    cancelled: int  # cancelled, skipped, …
    given_up: int  # by the system
    job_reasons: list[Reasons]  # why jobs were given up
    worker_reasons: list[Reasons]  # why workers failed


class Hour(TypedDict):
    at: str  # its beginning
    succeeded: int
    failed: int
    cancelled: int
    started: int
    wait_p50: int | None
    wait_p95: int | None


class Day(TypedDict):
    day: str
    succeeded: int
    failed: int
    cancelled: int


class Cell(TypedDict):
    """A tenant in one hour."""

    ended: int
    failed: int
    wait_p95: int | None  # of those that began then


class Tenant(TypedDict):
    entity: str
    ended: int
    failed: int
    wait_p95: int | None
    hours: list[Cell]  # as many as Figures.hours, of the same hours


class Figures(TypedDict):
    """What is computed every few minutes only."""

    at: str  # the end of all spans
    day: Span
    week: Span
    hours: list[Hour]  # the last 24, oldest first
    days: list[Day]  # the last 7, oldest first
    tenants: list[Tenant]  # those with most jobs, the worst first
    more_tenants: int  # left out


class Overview(TypedDict):
    boards: list[Boards]
    queue: list[Queue]
    pending: int
    running: int
    backing_off: int  # demands whose runners fail
    figures: Figures


# Usage -----------------------------------------------------------------------------------------


class WaitCount(TypedDict):
    count: int
    waiting: Waiting


class Group(TypedDict):
    """What is live of one account and label set."""

    entity: str
    labels: list[str]
    pools: list[str]
    pending: int
    running: int
    workers_pending: int
    workers_running: int
    waits: list[WaitCount]
    jobs: list[Job]  # running first, then the oldest that wait; not more than fit
    more_jobs: int  # left out
    workers: list[Worker]
    more_workers: int


class Usage(TypedDict):
    pending: int
    running: int
    workers: int
    groups: list[Group]  # those with most jobs first
    more_groups: int


# A failed worker -------------------------------------------------------------------------------


class Reason(TypedDict):
    slug: str
    words: str  # what it means
    advice: str  # what to do about it


class Container(TypedDict):
    name: str | None
    image: str | None
    ready: bool
    restart_count: int
    state: str  # waiting, running, terminated, unknown
    details: list[tuple[str, str]]  # "exit code": "137", …
    last_state: str | None
    last_details: list[tuple[str, str]]


class Event(TypedDict):
    time: str | None
    type: str | None
    reason: str | None
    message: str | None
    count: int


class Condition(TypedDict):
    type: str | None
    status: str | None
    reason: str | None
    message: str | None
    at: str | None


class Log(TypedDict):
    container: str
    text: str


class FailedWorker(TypedDict):
    worker: Worker
    image: str
    reason: Reason
    pod: list[tuple[str, str]]  # "phase": "Failed", …
    conditions: list[Condition]
    containers: list[Container]
    events: list[Event]
    logs: list[Log]
    logs_hidden: bool  # they may tell about a private repository
    errors: list[str]  # what could not be found out


# Health and days -------------------------------------------------------------------------------


class LastRun(TypedDict):
    id: int
    status: str
    started_at: str
    completed_at: str | None


class Health(TypedDict):
    environment: str
    as_of: str  # what is published is as of then
    stale_after_seconds: int
    boards_observed_at: str | None  # when the cluster was last listed
    last_run: LastRun | None
    last_worked_at: str | None  # when a run last did its work


class DayCount(TypedDict):
    rows: int
    pages: int


class DayEntry(TypedDict):
    day: str
    settled: bool
    jobs: DayCount
    workers: DayCount
    runs: DayCount


class Days(TypedDict):
    days: list[DayEntry]  # the newest first
