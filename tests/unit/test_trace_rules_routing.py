"""Why a delivery was not stored: routes, bans, staging, and the App of the other kind."""

from dataclasses import replace
from typing import Any

import pytest

from tests.trace_cases import (
    CAME,
    LABELS,
    OTHER_APP,
    POOL,
    REPOSITORY,
    a_job,
    a_queue,
    delivery,
    facts,
    failed_delivery,
    first,
    installed,
    kinds,
    of_account,
    of_job,
    routes,
    unknown,
)
from tests.trace_events import APP, ENTITY, INSTALLATION, NAME, World, moment
from webhook_fn.routes import Accounts, Route
from webhook_fn.trace.case import Case
from webhook_fn.trace.facts import DeliveryLog, JobEvent
from webhook_fn.trace.finding import Kind
from webhook_fn.trace.state import fold


def limited(*names: str, labels: tuple[str, ...] = ("limited",)) -> Route:
    return Route(labels, POOL, "image", Accounts(frozenset(names)))


def heard(*events: JobEvent, world: World | None = None, **changes: Any) -> Case:
    """A job that was not stored, and what was delivered of it."""
    return of_job(world, known=unknown(events=events), **changes)


def refused(outcome: str, **more: Any) -> JobEvent:
    return delivery(outcome=outcome, **more)


# Routes --------------------------------------------------------------------------------------


def test_no_route_names_the_labels_and_those_that_are_near() -> None:
    wider = (Route(("riscv", "self-hosted", "vector"), POOL, "image"), limited(NAME))
    case = heard(
        refused("ignored_no_label", labels=("riscv", "self-hosted")), routes=routes(*wider)
    )
    found = first(case, Kind.NO_ROUTE)
    assert kinds(case) == [Kind.NO_ROUTE]
    assert "(riscv, self-hosted), so it was not taken: GitHub leaves it queued" in found.summary
    assert "Near it: [riscv, self-hosted, vector]." in found.advice
    assert "limited" not in found.advice


def test_no_route_of_a_job_without_labels() -> None:
    found = first(heard(refused("ignored_no_label", labels=())), Kind.NO_ROUTE)
    assert "(none at all)" in found.summary


def test_no_route_where_the_routes_are_not_known_says_only_how_labels_must_be() -> None:
    found = first(heard(refused("ignored_no_label", labels=("x",)), routes=None), Kind.NO_ROUTE)
    assert found.advice.endswith("do not matter.")


def test_a_route_for_others_is_not_called_no_route() -> None:
    case = heard(
        refused("ignored_no_label", labels=("limited",)), routes=routes(limited("somebody"))
    )
    found = first(case, Kind.NO_ROUTE)
    assert "The routes for the labels of this job (limited) are not for riseproject" in (
        found.summary
    )
    assert "only for some accounts" in found.advice


def test_a_route_that_is_there_by_now_is_told() -> None:
    found = first(heard(refused("ignored_no_label")), Kind.NO_ROUTE)
    assert found.advice == "There is a route for it by now: start the job again."


@pytest.mark.parametrize(("renamed_at", "told"), [(CAME - 10, True), (CAME + 10, False)])
def test_a_route_that_fits_a_name_that_was_given_up_before(renamed_at: int, told: bool) -> None:
    world = installed()
    world.wait(renamed_at)
    world.rename("risen")
    event = refused("ignored_no_label", labels=("limited",), entity="risen")
    case = heard(event, world=world, routes=routes(limited(NAME)))
    assert (kinds(case)[0] is Kind.RENAMED) is told
    if told:
        assert f"({ENTITY})" in first(case, Kind.RENAMED).advice


def test_a_job_that_ended_elsewhere_and_has_no_route_says_both() -> None:
    end = delivery("workflow_job.completed", "job_not_found", labels=("x",), conclusion="cancelled")
    case = heard(end)
    assert kinds(case) == [Kind.NO_ROUTE, Kind.JOB_CANCELLED]
    assert "GitHub leaves it queued" not in first(case, Kind.NO_ROUTE).summary


# Bans ----------------------------------------------------------------------------------------


def test_a_banned_account_and_a_banned_sender_are_told_apart() -> None:
    banned = routes(banned_entities=[NAME], banned_senders=["octocat"])
    of_entity = first(heard(refused("banned_entity"), routes=banned), Kind.BANNED)
    of_sender = first(heard(refused("banned_sender"), routes=banned), Kind.BANNED)
    assert of_entity.summary == "The job was not taken: riseproject is banned."
    assert of_sender.summary == "The job was not taken: octocat, who started it, is banned."
    nameless = heard(refused("banned_sender", sender_name=None), routes=banned)
    assert "who started it is banned" in first(nameless, Kind.BANNED).summary


def test_a_ban_that_is_not_in_the_routes_any_more_is_told() -> None:
    for event in (refused("banned_entity"), refused("banned_sender")):
        assert "start the job again" in first(heard(event), Kind.BANNED).advice
        assert "can take the ban out" in first(heard(event, routes=None), Kind.BANNED).advice


@pytest.mark.parametrize(
    ("lists", "who"),
    [
        ({"banned_entities": [ENTITY]}, "riseproject is banned"),
        ({"banned_senders": [9]}, "octocat, who started it, is banned"),
    ],
)
def test_a_job_that_waits_and_is_banned_now_is_given_up_next(
    lists: dict[str, list[int]], who: str
) -> None:
    case = of_job(known=facts(queue=a_queue("no_board")), routes=routes(**lists))
    found = first(case, Kind.BANNED)
    assert found.summary == f"{who} in the routes: the next run gives the job up."
    past = replace(case, past=True)
    assert Kind.BANNED not in kinds(past), "of then nobody keeps the routes"


def test_an_account_that_is_banned_is_told_without_a_word_of_a_job_s_sender() -> None:
    found = first(of_account(routes=routes(banned_entities=[NAME])), Kind.BANNED)
    assert found.summary == "riseproject is banned in the routes: no job is taken."
    assert "started again" not in found.advice


def test_of_a_banned_account_a_job_that_had_ended_when_it_was_told_of() -> None:
    end = delivery("workflow_job.completed", "job_not_found", conclusion="failure")
    case = heard(end, routes=routes(banned_entities=[NAME]))
    assert kinds(case) == [Kind.BANNED, Kind.JOB_OVER]


def test_a_job_that_was_given_up_for_a_ban_says_so_alone() -> None:
    job = a_job(status="failed", failure_reason="banned", failure_message="It was banned.")
    assert kinds(of_job(known=facts(job=job, queue=None))) == [Kind.BANNED]


def test_a_job_that_runs_is_not_told_of_a_ban() -> None:
    job = a_job(status="running", started_at=moment(CAME))
    case = of_job(known=facts(job=job, queue=None), routes=routes(banned_entities=[NAME]))
    assert kinds(case) == [Kind.JOB_RUNNING]


# Staging -------------------------------------------------------------------------------------


def test_a_job_that_was_handed_on_is_staging_s() -> None:
    assert kinds(heard(refused("proxied_to_staging"))) == [Kind.ON_STAGING]


# The App for the other kind of account -------------------------------------------------------


def wrong(at: float = CAME) -> JobEvent:
    return delivery(outcome="ignored_wrong_app", app=OTHER_APP, installation=8, at=at)


def only_wrong() -> World:
    return installed(app=OTHER_APP)


def test_an_organization_that_has_only_the_personal_app() -> None:
    of_it = first(heard(wrong(), world=only_wrong()), Kind.WRONG_APP)
    assert "is an organization, and the job came through the App for personal" in of_it.summary
    assert of_it.advice.startswith("Install the App for organizations on riseproject")
    assert kinds(heard(wrong(), world=only_wrong())) == [Kind.WRONG_APP]
    assert kinds(of_account(only_wrong())) == [Kind.WRONG_APP]


def test_a_personal_account_that_has_only_the_organizations_app() -> None:
    rows = [replace(each.row, entity_type="User") for each in installed().log()]
    account = fold(
        [replace(each, row=row) for each, row in zip(installed().log(), rows, strict=True)]
    )
    found = first(of_account(account=account), Kind.WRONG_APP)
    assert "is a personal account, and what is installed there is the App for org" in found.summary


def test_the_right_app_was_uninstalled_before_the_wrong_one_was_installed() -> None:
    world = installed()
    world.wait(10)
    world.uninstall(INSTALLATION)
    world.install(OTHER_APP)
    for case in (heard(wrong(), world=world), of_account(world)):
        assert kinds(case) == [Kind.WRONG_APP]
        found = first(case, Kind.WRONG_APP)
        assert "The one for organizations was uninstalled on 2026-03-02 09:00:10" in found.summary


def test_the_right_app_was_installed_after_the_job_had_come_through_the_wrong_one() -> None:
    world = only_wrong()
    world.wait(CAME + 10)
    world.install(APP)
    found = first(heard(wrong(), world=world), Kind.WRONG_APP)
    assert found.advice.startswith("Start the job again")


def test_what_was_uninstalled_after_a_job_had_come_through_the_wrong_app_is_not_why() -> None:
    world = installed()
    beside = world.install(OTHER_APP)
    for number in (INSTALLATION, beside):
        world.wait(CAME)
        world.uninstall(number)
    assert kinds(heard(wrong(), world=world)) == [Kind.WRONG_APP]


def test_with_both_apps_it_is_the_right_one_s_word_that_is_missing() -> None:
    world = installed()
    world.install(OTHER_APP)
    case = heard(wrong(), world=world)
    assert kinds(case) == [Kind.WEBHOOK_NEVER_ARRIVED]
    assert "The right one is installed as well" in first(case, Kind.WEBHOOK_NEVER_ARRIVED).summary
    log = DeliveryLog({APP: moment(CAME)}, (failed_delivery(),))
    failed = of_job(world, known=unknown(events=(wrong(),), deliveries=log))
    assert kinds(failed) == [Kind.WEBHOOK_FAILED]


def test_with_both_apps_on_other_repositories_that_is_the_answer() -> None:
    world = installed(chosen={"qemu"})
    world.install(OTHER_APP)
    assert kinds(heard(wrong(), world=world))[0] is Kind.REPOSITORY_NOT_SELECTED


def test_a_job_that_came_through_both_apps_is_not_told_of_the_wrong_one() -> None:
    world = installed()
    world.install(OTHER_APP)
    known = facts(events=(wrong(), delivery()), queue=a_queue("no_board"))
    assert kinds(of_job(world, known=known)) == [Kind.WAITING_FOR_BOARD]


def test_an_installation_of_the_wrong_app_beside_the_right_one_is_told_if_it_is_asked_about() -> (
    None
):
    world = installed()
    beside = world.install(OTHER_APP)
    assert kinds(of_account(world)) == [Kind.NOTHING_WRONG]
    found = first(of_account(world, of_installation=beside), Kind.WRONG_APP)
    assert "Installation 8 is of the App for personal accounts" in found.summary
    assert kinds(of_account(world, of_installation=INSTALLATION)) == [Kind.NOTHING_WRONG]


def test_an_account_of_neither_kind_is_told_without_a_guess() -> None:
    event = delivery(outcome="ignored_wrong_app", kind=None, labels=LABELS)
    case = heard(event, account=None, repository=REPOSITORY)
    found = first(case, Kind.WRONG_APP)
    assert "organization" not in found.summary + found.advice
