"""Installations that give no token: which of their jobs are told of it."""

from dataclasses import replace

from tests.trace_cases import (
    ABOUT_ACCESS,
    CAME,
    NOW,
    OTHER_APP,
    a_limit,
    a_queue,
    a_wait,
    facts,
    failed_delivery,
    first,
    installed,
    kinds,
    of_account,
    of_job,
    own_demand,
    refused_token,
    unknown,
    waiting,
)
from tests.trace_events import APP, INSTALLATION, moment
from webhook_fn.trace.case import Case
from webhook_fn.trace.facts import DeliveryLog
from webhook_fn.trace.finding import Kind


def test_a_run_that_was_told_404_tells_of_an_uninstall_that_no_webhook_told_of() -> None:
    for case in (of_job(refused_token("404")), of_account(refused_token("404"))):
        limit = (a_limit(auth_failure="404"),)
        told = replace(case, limits=limit)
        if case.facts is not None:
            known = replace(case.facts, queue=a_queue("no_access", limits=limit))
            told = replace(case, facts=known)
        found = first(told, Kind.UNINSTALLED)
        assert "knows no installation 7" in found.summary
        assert Kind.NO_ACCESS not in kinds(told)


def test_a_404_is_over_once_a_token_was_given_again() -> None:
    assert kinds(of_account(refused_token("404"), limits=(a_limit(),))) == [Kind.NOTHING_WRONG]
    assert not ABOUT_ACCESS & {*kinds(waiting("no_board", refused_token("404")))}


def test_a_404_from_before_the_job_came_is_over_for_it_came_through_that_installation() -> None:
    before, after = refused_token("404", CAME - 10), refused_token("404", CAME + 10)
    known = facts(queue=a_queue(limits=()))
    assert Kind.UNINSTALLED not in kinds(of_job(before, known=known))
    assert kinds(of_job(after, known=known))[0] is Kind.UNINSTALLED


def test_a_404_that_only_the_credentials_remember_counts() -> None:
    limit = a_limit(auth_failure="404", auth_failed_at=moment(NOW - 5))
    found = first(of_account(limits=(limit,)), Kind.UNINSTALLED)
    assert found.evidence[0].at == moment(NOW - 5)


# No access -----------------------------------------------------------------------------------


def no_token(**changes: object) -> Case:
    limits = (a_limit(auth_failure="other_error", auth_failed_at=moment(NOW)), a_limit("app:1"))
    return waiting("no_access", refused_token("other_error"), **{"limits": limits, **changes})


def test_no_token_and_nothing_that_says_why() -> None:
    found = first(no_token(), Kind.NO_ACCESS)
    assert found.summary == "GitHub gives the App no access to riseproject: Not Found."
    assert "reconcile check" in found.advice
    assert [each.event_id for each in found.evidence] == [2, None, None]


def test_what_github_says_of_a_suspension_is_what_to_do_about() -> None:
    world = installed()
    world.wait(CAME + 10)
    world.fail_to_authenticate(INSTALLATION, "other_error")
    said = {**world.told[-1].said, "message": "403 This installation has been suspended"}
    world.told[-1] = replace(world.told[-1], said=said)
    found = first(of_job(world, known=facts(queue=a_queue(limits=()))), Kind.NO_ACCESS)
    assert "can end the suspension" in found.advice


def test_no_access_is_not_told_of_a_job_whose_runner_is_there() -> None:
    covering = a_wait("no_access", pending=2, covered=1)
    case = no_token(wait=covering, demands=(own_demand(pending=2),))
    assert kinds(case) == [Kind.RUNNER_COMING]


def test_no_access_is_over_once_a_token_was_given_again() -> None:
    assert Kind.NO_ACCESS not in kinds(of_job(refused_token("other_error")))
    case = of_account(refused_token("other_error"), limits=(a_limit(),))
    assert kinds(case) == [Kind.NOTHING_WRONG]
    unsure = of_account(refused_token("other_error"))
    assert kinds(unsure) == [Kind.NO_ACCESS]


def test_the_other_apps_trouble_is_not_the_job_s() -> None:
    limits = (a_limit(), a_limit(f"app:{OTHER_APP}", auth_failure="other_error"))
    others = (*limits, a_limit("installation:99", auth_failure="404"))
    case = waiting("no_board", limits=others)
    assert kinds(case) == [Kind.WAITING_FOR_BOARD]


def test_a_delivery_that_failed_explains_more_than_a_token_that_is_not_given() -> None:
    world = refused_token("other_error")
    log = DeliveryLog({APP: moment(NOW)}, (failed_delivery(),))
    assert kinds(of_job(world, known=unknown(deliveries=log))) == [
        Kind.WEBHOOK_FAILED,
        Kind.NO_ACCESS,
    ]
    assert kinds(of_job(world, known=unknown())) == [Kind.NO_ACCESS, Kind.WEBHOOK_NEVER_ARRIVED]
