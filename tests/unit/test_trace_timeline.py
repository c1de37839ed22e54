"""What happened to a job, or to an account: every line in its place, and none that is not its."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trace_cases import (
    CAME,
    JOB,
    NOW,
    a_job,
    a_worker,
    delivery,
    facts,
    failed_delivery,
    failed_worker,
    installed,
    row,
    unknown,
)
from tests.trace_events import INSTALLATION, World, moment
from tests.trace_strategies import all_facts, state_events
from webhook_fn.events import Outcome
from webhook_fn.trace import timeline
from webhook_fn.trace.facts import DeliveryLog, JobFacts

POD = "rise-riscv-runner-1"


def texts(known: JobFacts, world: World | None = None, until: float | None = None) -> list[str]:
    state = world.log() if world else []
    entries = timeline.of_job(known, state, None if until is None else moment(until))
    assert [each.at for each in entries] == sorted(each.at for each in entries)
    return [each.text for each in entries]


def test_every_outcome_has_words() -> None:
    assert {*timeline.OUTCOMES} == {*Outcome}


def test_a_log_is_told_from_its_beginning_whichever_way_it_is_read() -> None:
    events = [
        row("installation.created", "recorded", at=1, number=1),
        row("workflow_job.queued", "job_stored", at=2, number=2),
        row("auth_attempt.404", "auth_failed", at=3, number=3),
        row("something.new", "of_next_year", at=3, number=4),
    ]
    events = [
        each if each.event.startswith("workflow_job.") else replace(each, job_id=None)
        for each in events
    ]
    told = [each.text for each in timeline.of_log(reversed(events))]
    assert told == [
        "installation.created",
        f"workflow_job.queued: stored, waits for a runner (job {JOB})",
        "auth_attempt.404: GitHub gave a run no access",
        "something.new: of_next_year",
    ]
    assert [each.event_id for each in timeline.of_log(events)] == [1, 2, 3, 4]


def test_a_whole_life_in_order() -> None:
    job = a_job(
        status="completed",
        conclusion="success",
        pod=POD,
        started_at=moment(CAME + 30),
        completed_at=moment(CAME + 90),
        updated_at=moment(CAME + 91),
    )
    events = (
        delivery(at=CAME + 1),
        delivery("workflow_job.in_progress", "job_marked_running", at=CAME + 31, runner=POD),
        delivery(
            "workflow_job.completed",
            "job_marked_completed",
            at=CAME + 91,
            runner=POD,
            conclusion="success",
        ),
    )
    worker = a_worker(
        status="completed",
        created_at=moment(CAME + 5),
        running_at=moment(CAME + 25),
        completed_at=moment(CAME + 100),
    )
    before = failed_worker(pod_name="rise-riscv-runner-0", completed_at=moment(CAME + 4))
    known = facts(job=job, events=events, worker=worker, failures=(before,))
    whole = [
        "queued at GitHub",
        "workflow_job.queued: stored, waits for a runner",
        "runner rise-riscv-runner-0 failed: pod_failed",
        "runner rise-riscv-runner-1 made",
        "runner rise-riscv-runner-1 runs on board-1",
        "started on rise-riscv-runner-1",
        "workflow_job.in_progress: a runner took it (on rise-riscv-runner-1)",
        "ended at GitHub: success",
        "workflow_job.completed: it is over (on rise-riscv-runner-1, success)",
        "runner rise-riscv-runner-1 completed",
    ]
    assert texts(known) == whole
    assert texts(known, until=CAME + 27) == whole[:5]


def test_a_runner_that_failed_with_the_job_is_told_once() -> None:
    job = a_job(status="running", pod=POD, started_at=moment(CAME + 30))
    died = a_worker(status="failed", reason="board_lost", completed_at=moment(CAME + 60))
    known = facts(job=job, worker=died, failures=(failed_worker(pod_name=POD),))
    assert texts(known)[-1] == "runner rise-riscv-runner-1 failed: board_lost"
    assert sum("failed" in each for each in texts(known)) == 1


def test_a_job_that_was_given_up_says_when_and_why() -> None:
    job = a_job(status="failed", failure_reason="job_gone", updated_at=moment(CAME + 60))
    assert texts(facts(job=job))[-1] == "given up: job_gone"


def test_a_delivery_that_failed_is_told_of_a_job_that_never_came() -> None:
    log = DeliveryLog({}, (failed_delivery(), failed_delivery(event=None)))
    assert texts(unknown(deliveries=log)) == [
        "GitHub could not deliver workflow_job.queued of it",
        "GitHub could not deliver a webhook of it",
    ]


# What became of the installation meanwhile ---------------------------------------------------


def test_what_was_before_a_job_came_or_after_it_was_over_is_not_its() -> None:
    world = installed(chosen={"linux"})
    for at in (CAME + 10, CAME + 200):
        world.wait(at - world.now)
        world.suspend(INSTALLATION)
        world.wait()
        world.unsuspend(INSTALLATION)
    waits = [each for each in texts(facts(), world) if each.startswith("installation.")]
    assert waits == ["installation.suspend", "installation.unsuspend"] * 2
    done = a_job(status="completed", completed_at=moment(CAME + 90), updated_at=moment(NOW))
    over = [each for each in texts(facts(job=done), world) if each.startswith("installation.")]
    assert over == ["installation.suspend", "installation.unsuspend"]


@pytest.mark.parametrize(("chosen", "told"), [({"linux"}, True), ({"qemu"}, False)])
def test_of_repositories_only_the_job_s_own_is_told(chosen: set[str], told: bool) -> None:
    world = installed(chosen={"linux", "qemu"})
    world.wait(CAME + 10)
    world.select(INSTALLATION, {"linux", "qemu"} - chosen)
    assert ("installation_repositories.removed" in texts(facts(), world)) is told


@given(all_facts, st.lists(state_events, max_size=4), st.none() | st.integers(0, 2000))
def test_nothing_is_told_that_had_not_happened_yet(
    known: JobFacts, state: list[Any], until: int | None
) -> None:
    entries = timeline.of_job(known, state, None if until is None else moment(until))
    assert [each.at for each in entries] == sorted(each.at for each in entries)
    if until is not None:
        assert all(each.at <= moment(until) for each in entries)
    assert not any("None" in each.text for each in entries)
