"""What becomes of a worker: every combination of what can be seen, held to what must hold."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from reconcile.model import ORGANIZATION, Pod, Reason, Runner, Scope, Status, Worker
from reconcile.policy.health import (
    COMPLETE,
    KEEP,
    NO_CONFIGURATION,
    Fate,
    RunnerView,
    Stop,
    Unseen,
    Verdict,
    classify,
    is_stray,
    needs_runner,
    way_to_stop,
)
from reconcile.settings import Timeouts

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
LIMITS = Timeouts()
SCOPE = Scope(7, 1, "riseproject", ORGANIZATION)
# Just below and at each limit (60, 120, 600), and far from them all.
AGES = (0, 59, 60, 119, 120, 599, 600, 100_000)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


RUNNERS: dict[str, RunnerView] = {
    "unknown": Unseen.UNKNOWN,
    "absent": Unseen.ABSENT,
    "offline": Runner(1, "it", online=False, busy=False),
    "idle": Runner(1, "it", online=True, busy=False),
    "busy": Runner(1, "it", online=True, busy=True),
    "busy, not heard": Runner(1, "it", online=False, busy=True),
}
BUSY = ("busy", "busy, not heard")
JOBS = (None, Status.RUNNING, Status.COMPLETED, Status.FAILED)

POD = Pod(
    name="it",
    uid="uid",
    version="1",
    phase="Running",
    pool="rv1",
    node="rv1-0",
    created_at=NOW,
    started_at=None,
    finished_at=None,
    deleting=False,
    stopping=False,
    reason=None,
    waiting=None,
)
PENDING = replace(POD, phase="Pending")
PODS: dict[str, Pod | None] = {
    "none": None,
    "unscheduled": replace(PENDING, node=None),
    "scheduled": replace(PENDING, waiting="ImagePullBackOff"),
    "unconfigured": replace(PENDING, waiting=NO_CONFIGURATION),
    "running": POD,
    "succeeded": replace(POD, phase="Succeeded"),
    "failed": replace(POD, phase="Failed", reason="Evicted"),
    "unknown": replace(POD, phase="Unknown"),
    "deleting": replace(POD, deleting=True),
    "deleting, unscheduled": replace(PENDING, node=None, deleting=True),
    "stopping": replace(POD, stopping=True),
}
ENDED = ("succeeded", "failed")


@dataclass(frozen=True)
class Case:
    pod: str
    job: Status | None
    made: int  # seconds ago, like the next two
    started: int
    job_ended: int
    unreachable: bool

    @property
    def worker(self) -> Worker:
        ended = self.job in (Status.COMPLETED, Status.FAILED)
        return Worker(
            "it", SCOPE, ("a",), "rv1", "image", None, Status.RUNNING, ago(self.made), None, None,
            self.job, ago(self.started) if self.job else None,
            ago(self.job_ended) if ended else None,
        )  # fmt: skip

    @property
    def seen(self) -> Pod | None:
        pod = PODS[self.pod]
        if pod is None:
            return None
        has_run = pod.phase not in ("Pending", "Unknown")
        started = ago(self.started) if has_run else None
        return replace(pod, created_at=ago(self.made), started_at=started)

    def verdict(self, runner: str) -> Verdict:
        return classify(
            self.worker,
            self.seen,
            RUNNERS[runner],
            node_unreachable=self.unreachable,
            now=NOW,
            limits=LIMITS,
        )


def cases() -> Iterator[Case]:
    """A pod starts after it was made, and a job ends after that. A pod without a node is on none
    that is unreachable."""
    times = [
        (made, started, ended)
        for ended, started, made in itertools.combinations_with_replacement(AGES, 3)
    ]
    for pod, job, unreachable in itertools.product(PODS, JOBS, (False, True)):
        seen = PODS[pod]
        if unreachable and (seen is None or seen.node is None):
            continue
        for made, started, ended in times:
            yield Case(pod, job, made, started, ended, unreachable)


def test_an_unknown_runner_stops_no_pod_that_a_node_has() -> None:
    for case in cases():
        assert case.verdict("unknown").stop in (Stop.NONE, Stop.DELETE), case


def test_only_a_pod_that_no_node_has_or_that_never_started_is_deleted() -> None:
    for case, runner in itertools.product(cases(), RUNNERS):
        if case.verdict(runner).stop is Stop.DELETE:
            assert case.seen is not None, case
            assert case.seen.phase == "Pending", case
            assert case.seen.node is None or runner == "unknown", case
            assert case.seen.started_at is None, case


def test_only_a_pod_of_an_unreachable_node_is_forced() -> None:
    for case, runner in itertools.product(cases(), RUNNERS):
        assert (case.verdict(runner).stop is Stop.FORCE) <= case.unreachable, case


def test_a_busy_runner_that_is_heard_fails_only_with_its_pod() -> None:
    for case in cases():
        if case.pod not in ("none", *ENDED):
            assert case.verdict("busy") == KEEP, case


def test_a_busy_runner_that_is_not_heard_fails_only_with_its_pod_or_its_node() -> None:
    for case in cases():
        if case.pod not in ("none", *ENDED) and not case.unreachable:
            assert case.verdict("busy, not heard") == KEEP, case


def test_a_running_job_outranks_every_timeout() -> None:
    for case, runner in itertools.product(cases(), RUNNERS):
        if case.job is Status.RUNNING and case.pod == "running" and not case.unreachable:
            assert case.verdict(runner) == KEEP, case


def test_a_failure_has_a_reason_and_a_message_and_nothing_else_has() -> None:
    for case, runner in itertools.product(cases(), RUNNERS):
        verdict = case.verdict(runner)
        if verdict.fate is Fate.FAIL:
            assert isinstance(verdict.reason, Reason), case
            assert verdict.message.endswith("."), case
        else:
            assert verdict in (KEEP, COMPLETE), case


def test_nothing_ends_below_every_limit() -> None:
    lowest = min(LIMITS.pod_visible, LIMITS.runner_registration, LIMITS.runner_pending)
    for case, runner in itertools.product(cases(), RUNNERS):
        if case.made < lowest and case.pod not in ENDED and not case.unreachable:
            assert case.verdict(runner) == KEEP, (case, runner)


def test_an_ended_pod_ends_its_worker_whatever_else_is_known() -> None:
    for case, runner in itertools.product(cases(), RUNNERS):
        if case.pod == "succeeded":
            assert case.verdict(runner) == COMPLETE, case
        elif case.pod == "failed":
            assert case.verdict(runner).reason is Reason.POD_FAILED, case
            assert case.verdict(runner).stop is Stop.NONE, case


def test_time_only_ever_makes_it_worse() -> None:
    """What is failed at some age is not kept, nor failed for less, at a greater one."""
    for case, runner in itertools.product(cases(), RUNNERS):
        if case.verdict(runner).fate is not Fate.KEEP:
            oldest = max(AGES)
            older = replace(case, made=oldest, started=oldest, job_ended=oldest)
            assert older.verdict(runner).fate is not Fate.KEEP, (case, runner)


def test_github_is_asked_exactly_if_its_answer_could_change_the_verdict() -> None:
    for case in cases():
        pod = case.seen
        # What no node has cannot be running anything.
        possible = [each for each in RUNNERS if each not in BUSY or (pod and pod.node)]
        could = len({case.verdict(runner) for runner in possible}) > 1
        asked = needs_runner(
            case.worker, pod, node_unreachable=case.unreachable, now=NOW, limits=LIMITS
        )
        assert asked == could, case


HUNG = Reason.RUNNER_HUNG

# pod, job, made, started and job ended so many seconds ago, node unreachable, runner: verdict
TABLE = [
    ("none", None, 59, 0, 0, False, "absent", None, Stop.NONE),
    ("none", None, 60, 0, 0, False, "unknown", Reason.POD_VANISHED, Stop.NONE),
    ("none", Status.RUNNING, 60, 0, 0, False, "busy", Reason.POD_VANISHED, Stop.NONE),
    ("none", Status.FAILED, 60, 0, 0, False, "absent", Reason.POD_VANISHED, Stop.NONE),
    ("failed", None, 5, 1, 0, False, "offline", Reason.POD_FAILED, Stop.NONE),
    ("unscheduled", None, 599, 0, 0, False, "offline", None, Stop.NONE),
    ("unscheduled", None, 600, 0, 0, False, "unknown", Reason.POD_STUCK_PENDING, Stop.DELETE),
    ("scheduled", None, 599, 0, 0, False, "offline", None, Stop.NONE),
    ("scheduled", None, 600, 0, 0, False, "unknown", None, Stop.NONE),
    ("scheduled", None, 600, 0, 0, False, "offline", Reason.POD_STUCK_PENDING, Stop.DEADLINE),
    ("scheduled", None, 600, 0, 0, False, "busy", None, Stop.NONE),
    ("unconfigured", None, 59, 0, 0, False, "offline", None, Stop.NONE),
    ("unconfigured", None, 60, 0, 0, False, "unknown", None, Stop.NONE),
    ("unconfigured", None, 60, 0, 0, False, "offline", Reason.PROVISION_FAILED, Stop.DEADLINE),
    ("running", None, 900, 119, 0, False, "offline", None, Stop.NONE),
    ("running", None, 900, 120, 0, False, "offline", Reason.RUNNER_NEVER_REGISTERED, Stop.DEADLINE),
    ("running", None, 900, 120, 0, False, "absent", Reason.RUNNER_NEVER_REGISTERED, Stop.DEADLINE),
    ("running", None, 900, 900, 0, False, "unknown", None, Stop.NONE),
    ("running", None, 900, 599, 0, False, "idle", None, Stop.NONE),
    ("running", None, 900, 600, 0, False, "idle", Reason.RUNNER_IDLE, Stop.DEADLINE),
    ("running", None, 900, 900, 0, False, "busy", None, Stop.NONE),
    ("running", Status.RUNNING, 900, 900, 0, False, "absent", None, Stop.NONE),
    ("running", Status.COMPLETED, 9000, 9000, 599, False, "absent", None, Stop.NONE),
    ("running", Status.COMPLETED, 9000, 9000, 600, False, "absent", HUNG, Stop.DEADLINE),
    ("running", Status.FAILED, 9000, 9000, 600, False, "offline", HUNG, Stop.DEADLINE),
    ("unknown", None, 120, 0, 0, False, "absent", Reason.RUNNER_NEVER_REGISTERED, Stop.DEADLINE),
    ("deleting", None, 9000, 9000, 0, False, "offline", None, Stop.NONE),
    ("running", None, 30, 10, 0, True, "unknown", None, Stop.NONE),
    ("running", None, 30, 10, 0, True, "busy", None, Stop.NONE),
    ("running", None, 30, 10, 0, True, "busy, not heard", Reason.NODE_UNREACHABLE, Stop.FORCE),
    ("running", Status.RUNNING, 30, 10, 0, True, "absent", Reason.NODE_UNREACHABLE, Stop.FORCE),
    ("deleting", None, 30, 10, 0, True, "offline", Reason.NODE_UNREACHABLE, Stop.FORCE),
]  # fmt: skip


@pytest.mark.parametrize(
    ("pod", "job", "made", "started", "ended", "unreachable", "runner", "reason", "stop"), TABLE
)
def test_the_verdict_on(
    pod: str,
    job: Status | None,
    made: int,
    started: int,
    ended: int,
    unreachable: bool,
    runner: str,
    reason: Reason | None,
    stop: Stop,
) -> None:
    verdict = Case(pod, job, made, started, ended, unreachable).verdict(runner)
    assert (verdict.reason, verdict.stop) == (reason, stop)
    assert verdict.fate is (Fate.FAIL if reason else Fate.KEEP)


def test_a_worker_whose_job_is_completed_needs_no_pod_to_be_completed() -> None:
    assert Case("none", Status.COMPLETED, 60, 0, 0, False).verdict("unknown") == COMPLETE


@pytest.mark.parametrize(
    ("pod", "age", "job", "runner", "goes"),
    [
        ("running", 60, None, "absent", True),
        ("running", 60, None, "offline", True),
        ("running", 60, None, "idle", True),
        ("running", 59, None, "absent", False),  # Its row may be about to be written.
        ("running", 60, None, "busy", False),
        ("running", 60, None, "busy, not heard", False),
        ("running", 60, None, "unknown", False),
        ("running", 60, Status.RUNNING, "absent", False),
        ("running", 60, Status.COMPLETED, "absent", True),
        ("unscheduled", 60, None, "offline", True),
        ("succeeded", 60, None, "absent", False),
        ("failed", 60, None, "absent", False),
        ("deleting", 60, None, "absent", False),
    ],
)
def test_a_pod_without_an_active_row_goes_unless_it_may_be_working(
    pod: str, age: int, job: Status | None, runner: str, goes: bool
) -> None:
    case = Case(pod, job, age, age, 0, unreachable=False)
    seen = case.seen
    assert seen is not None
    assert is_stray(case.worker, seen, RUNNERS[runner], now=NOW, limits=LIMITS) is goes


def test_how_a_pod_is_stopped_depends_on_who_has_it() -> None:
    unscheduled = replace(PENDING, node=None)
    assert way_to_stop(unscheduled, node_unreachable=False) is Stop.DELETE
    assert way_to_stop(PENDING, node_unreachable=False) is Stop.DEADLINE
    assert way_to_stop(POD, node_unreachable=False) is Stop.DEADLINE
    assert way_to_stop(POD, node_unreachable=True) is Stop.FORCE
