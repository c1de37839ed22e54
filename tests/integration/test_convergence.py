"""Lesson 9: deliveries repeat, come late and out of order, and lead to the same rows."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import github
from tests.database import Row
from tests.function import Function

ACTIONS = ("queued", "in_progress", "completed")
JOB_IDS = itertools.count(1)
OF_THE_ROW_ALONE = ("job_id", "html_url", "created_at", "updated_at")


def final_row(function: Function, job: github.WorkflowJob, actions: tuple[str, ...]) -> Row:
    job = replace(job, job_id=next(JOB_IDS))
    for action in actions:
        assert function.deliver("workflow_job", job.payload(action)).status == 200
    [row] = function.database.rows("SELECT * FROM jobs WHERE job_id = %s", job.job_id)
    return {name: value for name, value in row.items() if name not in OF_THE_ROW_ALONE}


# Which deliveries arrive at all, then any order of them with any repeats.
stories = st.sets(st.sampled_from(ACTIONS), min_size=1).flatmap(
    lambda arrived: st.tuples(
        st.just(tuple(action for action in ACTIONS if action in arrived)),
        st.lists(st.sampled_from(sorted(arrived)), max_size=5).flatmap(
            lambda repeats: st.permutations([*sorted(arrived), *repeats])
        ),
    )
)


@given(
    story=stories,
    runner=st.sampled_from(["rise-riscv-runner-abc123", None]),
    conclusion=st.sampled_from(["success", "failure", "cancelled", "skipped"]),
)
@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_lesson_9_any_order_with_repeats_leads_to_the_same_row(
    function: Function,
    story: tuple[tuple[str, ...], list[str]],
    runner: str | None,
    conclusion: str,
) -> None:
    in_order, delivered = story
    job = github.WorkflowJob(runner=runner, conclusion=conclusion)
    assert final_row(function, job, tuple(delivered)) == final_row(function, job, in_order)


@pytest.mark.parametrize("order", list(itertools.permutations(ACTIONS)))
def test_lesson_9_completed_before_queued_leaves_no_pending_job(
    function: Function, order: tuple[str, ...]
) -> None:
    row = final_row(function, github.WorkflowJob(), order)
    assert (row["status"], row["conclusion"]) == ("completed", "success")
    assert row["k8s_pod"] == "rise-riscv-runner-abc123"


@pytest.mark.parametrize("order", list(itertools.permutations(ACTIONS)))
def test_what_only_the_earlier_stage_knew_is_kept_in_any_order(
    function: Function, order: tuple[str, ...]
) -> None:
    """A completed without a runner's name must not erase it, nor block it from being filled."""
    job = github.WorkflowJob()
    for action in order:
        payload = job.payload(action)
        if action == "completed":
            payload["workflow_job"]["runner_name"] = None
        function.deliver("workflow_job", payload)
    [row] = function.jobs()
    assert (row["status"], row["k8s_pod"]) == ("completed", job.runner)
    assert row["started_at"].isoformat() == "2026-03-02T10:03:10+00:00"
