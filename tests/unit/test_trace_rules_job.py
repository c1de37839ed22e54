"""A job that does not wait, or never came: how it ended, and whether GitHub told of it."""

from typing import Any

import pytest

from tests.trace_cases import (
    CAME,
    JOB,
    NOW,
    OTHER_APP,
    REPOSITORY,
    a_job,
    a_worker,
    delivery,
    facts,
    failed_delivery,
    first,
    installed,
    kinds,
    of_job,
    runs,
    seconds,
    unknown,
)
from tests.trace_events import APP, INSTALLATION, moment
from webhook_fn.trace.case import Case
from webhook_fn.trace.facts import DeliveryLog, JobEvent
from webhook_fn.trace.finding import Kind
from webhook_fn.trace.rules import diagnose

POD = "rise-riscv-runner-1"
READ = {APP: moment(NOW - 60), OTHER_APP: moment(NOW - 50)}


def ended(conclusion: str | None = "success", *, known: Any = None, **changes: Any) -> Case:
    job = a_job(
        **{
            "status": "completed",
            "conclusion": conclusion,
            "pod": POD,
            "started_at": moment(CAME + 5),
            "completed_at": moment(CAME + 30),
            **changes,
        }
    )
    return of_job(known=facts(job=job, queue=None, worker=a_worker(**(known or {}))))


def unstored(*events: JobEvent, **changes: Any) -> Case:
    return of_job(known=unknown(events=events), **changes)


# Over ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("conclusion", ["success", "failure", "timed_out", "skipped", None])
def test_a_job_that_is_over_says_how_it_ended_and_nothing_of_the_present(
    conclusion: str | None,
) -> None:
    case = ended(conclusion)
    assert kinds(case) == [Kind.JOB_OVER]
    assert (conclusion or "an unknown conclusion") in first(case, Kind.JOB_OVER).summary


def test_a_job_that_was_over_before_a_runner_took_it_was_not_picked_up() -> None:
    found = first(ended("skipped", pod=None, started_at=None), Kind.JOB_OVER)
    assert "No runner took it." in found.summary
    assert "picked up" not in found.advice


def test_a_job_whose_runner_failed_says_why() -> None:
    died = {"status": "failed", "reason": "board_lost", "message": "Its board is gone"}
    found = first(ended("failure", known=died), Kind.JOB_OVER)
    assert "Its runner failed: board_lost." in found.summary
    assert found.advice == "Its board is gone. Start the job again if it is still wanted."


def test_a_job_on_a_runner_that_is_not_ours_says_so() -> None:
    job = a_job(status="completed", conclusion="success", pod="laptop", completed_at=moment(NOW))
    over = of_job(known=facts(job=job, queue=None))
    running = of_job(known=facts(job=a_job(status="running", pod="laptop"), queue=None))
    assert "laptop is not one of our runners" in first(over, Kind.JOB_OVER).advice
    assert "laptop is not one of our runners" in first(running, Kind.JOB_RUNNING).advice


def test_a_job_that_was_cancelled_while_it_waited_says_how_long_it_had() -> None:
    case = ended("cancelled", pod=None, started_at=None, completed_at=moment(CAME + 600))
    found = first(case, Kind.JOB_CANCELLED)
    assert kinds(case) == [Kind.JOB_CANCELLED]
    assert "before a runner took it, after it had waited 10 minutes." in found.summary
    assert "concurrency" in found.advice


def test_a_job_that_nobody_took_for_a_day_was_ended_by_github() -> None:
    a_day = moment(CAME) + seconds(86_400)
    found = first(
        ended("cancelled", pod=None, started_at=None, completed_at=a_day), Kind.JOB_CANCELLED
    )
    assert "GitHub ends a job that no runner took for a day." in found.advice
    assert "Nothing is wrong" not in found.advice


def test_a_job_that_was_cancelled_while_it_ran() -> None:
    assert f"while it ran on {POD}." in first(ended("cancelled"), Kind.JOB_CANCELLED).summary


# Running -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("worker", "said"),
    [
        ({}, "The job runs on rise-riscv-runner-1 since 2026-03-02 09:16:45 UTC."),
        ({"status": "failed", "reason": "pod_vanished"}, "its runner was lost: pod_vanished."),
        ({"status": "completed"}, "But its runner has ended"),
    ],
)
def test_a_job_that_runs_and_what_became_of_its_runner(worker: dict[str, str], said: str) -> None:
    job = a_job(status="running", pod=POD, started_at=moment(CAME + 5))
    case = of_job(known=facts(job=job, queue=None, worker=a_worker(**worker)))
    assert kinds(case) == [Kind.JOB_RUNNING]
    assert said in first(case, Kind.JOB_RUNNING).summary


def test_a_job_that_runs_does_not_care_whether_runs_come() -> None:
    job = a_job(status="running", pod=POD)
    case = of_job(known=facts(job=job, queue=None, worker=a_worker(), runs=()))
    assert kinds(case) == [Kind.JOB_RUNNING]


# Given up ------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["job_gone", "stuck_queued", "of_next_year", None])
def test_a_job_that_was_given_up_says_why_and_by_whom_as_far_as_is_known(
    reason: str | None,
) -> None:
    job = a_job(status="failed", failure_reason=reason, failure_message="It went away")
    case = of_job(known=facts(job=job, queue=None))
    found = first(case, Kind.GIVEN_UP)
    assert kinds(case) == [Kind.GIVEN_UP]
    assert found.evidence[0].what == "job given up: It went away"
    if reason in ("of_next_year", None):
        assert found.summary == "It went away."


def test_a_job_that_was_given_up_and_ended_all_the_same() -> None:
    job = a_job(status="failed", failure_reason="job_gone", conclusion="success")
    found = first(of_job(known=facts(job=job, queue=None)), Kind.GIVEN_UP)
    assert found.summary.endswith("Since then GitHub has told that it ended with success.")


# Of which there is no row --------------------------------------------------------------------


def test_a_job_whose_row_is_not_kept_any_more_is_over_and_was_ours() -> None:
    events = (
        delivery(),
        delivery(
            "workflow_job.completed", "job_marked_completed", conclusion="success", number=102
        ),
        delivery(
            "workflow_job.completed",
            "job_not_found",
            conclusion="success",
            number=103,
            labels=("without-a-route-by-now",),
        ),
    )
    for count in (1, 2, 3):
        case = unstored(*events[:count])
        assert kinds(case) == [Kind.JOB_OVER]
        found = first(case, Kind.JOB_OVER)
        assert "its row is not kept any more" in found.summary
        assert ("with success" in found.summary) is (count > 1)


def test_a_job_that_began_elsewhere_runs_or_ran_there() -> None:
    begun = delivery("workflow_job.in_progress", "job_not_found", runner="laptop")
    end = delivery("workflow_job.completed", "job_not_found", runner="laptop", conclusion="failure")
    running, over = unstored(begun), unstored(begun, end)
    assert (kinds(running), kinds(over)) == ([Kind.JOB_RUNNING], [Kind.JOB_OVER])
    assert "on laptop, as GitHub told. It was never taken here." in (
        first(running, Kind.JOB_RUNNING).summary
    )
    assert "on laptop with failure. It was never taken here." in first(over, Kind.JOB_OVER).summary


# Whether it came -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("it was answered 503. It is not asked for again.", {}),
        ("it got no answer. It is not", {"status_code": None}),
        ("asked 1 time to send", {"attempts": 1}),
        ("asked 3 times to send", {"attempts": 3}),
        ("The next run asks GitHub to send it again.", {"next_at": moment(NOW - 1)}),
        ("is asked to send it again after 2026-03-02 09:17:50 UTC.", {"next_at": moment(NOW + 10)}),
    ],
)
def test_a_delivery_that_failed_and_whether_it_is_asked_for_again(
    said: str, changes: dict[str, Any]
) -> None:
    log = DeliveryLog(READ, (failed_delivery(**changes),))
    case = of_job(known=unknown(deliveries=log))
    assert kinds(case) == [Kind.WEBHOOK_FAILED]
    assert said in first(case, Kind.WEBHOOK_FAILED).summary


def test_of_the_past_it_is_not_told_how_often_a_delivery_was_asked_for_since() -> None:
    log = DeliveryLog(READ, (failed_delivery(attempts=3),))
    found = first(of_job(known=unknown(deliveries=log), past=True), Kind.WEBHOOK_FAILED)
    assert found.summary.endswith("it was answered 503.")


def test_a_delivery_that_failed_does_not_matter_once_another_came() -> None:
    log = DeliveryLog(READ, (failed_delivery(),))
    assert Kind.WEBHOOK_FAILED not in kinds(of_job(known=facts(deliveries=log)))
    refused = unknown(events=(delivery(outcome="banned_entity"),), deliveries=log)
    assert kinds(of_job(known=refused)) == [Kind.BANNED]


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (DeliveryLog({}), "was not read yet"),
        (DeliveryLog(READ), "Nor is a failed one in GitHub's log of deliveries of the last three"),
        (DeliveryLog(READ, unseen=1), "has 1 failed delivery of jobs that nobody"),
        (DeliveryLog(READ, unseen=2), "has 2 failed deliveries of jobs that nobody"),
    ],
)
def test_a_job_that_never_came_and_how_far_github_s_log_was_read(
    log: DeliveryLog, said: str
) -> None:
    case = of_job(known=unknown(deliveries=log))
    assert kinds(case) == [Kind.WEBHOOK_NEVER_ARRIVED]
    found = first(case, Kind.WEBHOOK_NEVER_ARRIVED)
    assert said in found.summary
    assert f"No webhook about job {JOB} has arrived." in found.summary
    assert f"The App is installed on riseproject and covers {REPOSITORY}." in found.summary


def test_a_job_of_an_account_that_nothing_is_known_of() -> None:
    known = unknown()
    found = first(
        of_job(known=known, account=None, repository="nobody/code"), Kind.WEBHOOK_NEVER_ARRIVED
    )
    assert "known of an installation on nobody" in found.summary
    assert found.advice.startswith("An owner of nobody finds")
    unasked = first(of_job(known=known, account=None, repository=None), Kind.WEBHOOK_NEVER_ARRIVED)
    assert "`--repository OWNER/NAME`" in unasked.advice


def test_a_job_of_an_app_that_is_not_there_is_not_said_to_be_covered() -> None:
    world = installed()
    world.wait(10)
    world.suspend(INSTALLATION)
    case = of_job(world, known=unknown())
    assert kinds(case) == [Kind.SUSPENDED, Kind.WEBHOOK_NEVER_ARRIVED]
    assert "covers" not in diagnose(case)[1].summary


def test_a_webhook_of_the_installation_that_failed_is_shown_with_a_job_that_never_came() -> None:
    of_it = failed_delivery(event="installation_repositories.added", job_id=None)
    log = DeliveryLog(READ, (), (of_it,))
    found = first(of_job(known=unknown(deliveries=log)), Kind.WEBHOOK_NEVER_ARRIVED)
    assert any("installation_repositories.added" in each.what for each in found.evidence)


def test_a_job_that_waits_for_an_approval_is_not_queued_yet() -> None:
    case = unstored(delivery("workflow_job.waiting", "ignored_action"))
    assert kinds(case) == [Kind.NOT_QUEUED_YET]
    found = first(case, Kind.NOT_QUEUED_YET)
    assert "waits at GitHub for an approval" in found.summary
    assert "approve it" in found.advice
    world = installed()
    world.wait(CAME)
    world.uninstall(INSTALLATION)
    gone = of_job(world, known=unknown(events=case.events))
    assert kinds(gone)[0] is Kind.UNINSTALLED


def test_a_job_that_came_later_than_it_is_asked_about() -> None:
    case = of_job(known=unknown(), now=moment(CAME - 60), past=True, comes_at=moment(CAME))
    found = first(case, Kind.WEBHOOK_NEVER_ARRIVED)
    assert "had arrived by then: it came on 2026-03-02 09:16:40 UTC." in found.summary
    assert "delivery log" not in found.advice


# Of the past ---------------------------------------------------------------------------------


def past(**known: Any) -> Case:
    return of_job(known=facts(**{"queue": None, **known}), past=True)


def test_of_the_past_a_job_that_waited_is_told_what_can_be_told() -> None:
    case = past()
    assert kinds(case) == [Kind.NOTHING_WRONG]
    assert "The job waited for a runner." in first(case, Kind.NOTHING_WRONG).summary
    assert kinds(past(runs=())) == [Kind.NOTHING_WRONG], "runs are not kept for as long as jobs"


def test_a_run_that_was_killed_does_not_live_until_the_next_one_closes_it() -> None:
    [killed] = runs("failed", at=NOW + 3600, started_at=moment(NOW - 900))
    assert kinds(past(runs=(killed,))) == [Kind.RECONCILER_STALE]
