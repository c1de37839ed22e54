"""The decision over its axes crossed: action, labels, account, App, bans, staging."""

import itertools
from dataclasses import replace

import pytest

from tests import github
from webhook_fn.events import (
    Apps,
    Decision,
    HandToStaging,
    Outcome,
    Record,
    StoreJob,
    decide,
    read_delivery,
)
from webhook_fn.routes import Accounts, Route, Routes

APPS = Apps(github.ORG_APP, github.PERSONAL_APP)
ROUTES = Routes((Route((github.LABEL,), "pool", "image"),))
ORGANIZATION = github.account()
PERSON = github.account(583231, "octocat", "User")


def decision(
    job: github.WorkflowJob, action: str, app_id: int, routes: Routes, *, proxying: bool = True
) -> Decision:
    body = github.encode(job.payload(action))
    delivery = read_delivery(github.headers("workflow_job", body, app_id), body, APPS)
    return decide(delivery, routes, APPS, proxying=proxying)


AXES = list(
    itertools.product(
        ["queued", "in_progress", "completed", "waiting"],
        [(github.LABEL,), ("ubuntu-latest",)],
        [ORGANIZATION, PERSON],
        [github.ORG_APP, github.PERSONAL_APP],
        [False, True],  # is the entity banned?
        [False, True],  # is the sender?
    )
)


@pytest.mark.parametrize(("action", "labels", "owner", "app_id", "entity_ban", "sender_ban"), AXES)
def test_job_decision(
    action: str,
    labels: tuple[str, ...],
    owner: github.Payload,
    app_id: int,
    entity_ban: bool,
    sender_ban: bool,
) -> None:
    routes = replace(
        ROUTES,
        banned_entities=Accounts(frozenset({owner["id"]} if entity_ban else ())),
        banned_senders=Accounts(frozenset({"mallory"} if sender_ban else ())),
    )
    job = github.WorkflowJob(
        labels=labels, owner=owner, sender=github.account(9, "Mallory", "User")
    )
    decided = decision(job, action, app_id, routes)

    right_app = app_id == (github.ORG_APP if owner is ORGANIZATION else github.PERSONAL_APP)
    if action == "waiting":
        assert decided == Record(Outcome.IGNORED_ACTION)
    elif labels == (github.LABEL,) and right_app and not entity_ban and not sender_ban:
        assert isinstance(decided, StoreJob)
        assert decided.route is ROUTES.routes[0]
    elif action != "queued":
        # What is stored already must still come to its end; nothing new is stored.
        assert isinstance(decided, StoreJob)
        assert decided.route is None
    else:
        assert isinstance(decided, Record)
        allowed = {
            Outcome.IGNORED_NO_LABEL: labels != (github.LABEL,),
            Outcome.BANNED_ENTITY: entity_ban,
            Outcome.BANNED_SENDER: sender_ban,
            Outcome.IGNORED_WRONG_APP: not right_app,
        }
        # The first that applies, in this order.
        assert decided.outcome == next(outcome for outcome, holds in allowed.items() if holds)


@pytest.mark.parametrize("member", [ORGANIZATION["id"], ORGANIZATION["login"]])
@pytest.mark.parametrize("action", ["queued", "waiting", "completed"])
def test_staging_entity_is_handed_on_whatever_the_action(member: int | str, action: str) -> None:
    routes = replace(ROUTES, staging_entities=Accounts(frozenset({member})))
    job = github.WorkflowJob()
    assert decision(job, action, github.ORG_APP, routes) == HandToStaging()
    kept = decision(job, action, github.ORG_APP, routes, proxying=False)
    assert kept != HandToStaging(), "staging does not hand on to itself"


def test_account_of_no_known_type_is_served_by_no_app() -> None:
    job = github.WorkflowJob(owner=github.account(1, "bot", "Bot"))
    for app_id in (github.ORG_APP, github.PERSONAL_APP):
        assert decision(job, "queued", app_id, ROUTES) == Record(Outcome.IGNORED_WRONG_APP)
