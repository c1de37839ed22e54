"""What a setup page says of an installation: every case, and that strangers learn nothing."""

from datetime import timedelta

import pytest

from tests.trace_events import BEGINNING, event
from webhook_fn.events import Apps
from webhook_fn.setup import DONE_JUST_NOW, FRESH, LOOKS, Visit, judge
from webhook_fn.setup_words import ORGANIZATIONS, PERSONAL, Kind, Verdict
from webhook_fn.trace.facts import Json, StateEvent

APPS = Apps(organization=1, personal=2)
KINDS = {"org": ORGANIZATIONS, "personal": PERSONAL}
NOW = BEGINNING + timedelta(minutes=5)
SECOND = timedelta(seconds=1)


def visit(
    kind: Kind = ORGANIZATIONS, action: str = "install", number: int | None = 7, looks: int = 0
) -> Visit:
    return Visit(kind, action, number, looks)


def created(app: int = 1, kind: str | None = "Organization") -> StateEvent:
    return event("installation.created", app=app, kind=kind, updated_at="2026-03-02T09:00:00Z")


def later(
    name: str,
    number: int = 2,
    suspended_at: str | None = None,
    app: int = 1,
    kind: str = "Organization",
) -> StateEvent:
    said: Json = {"updated_at": f"2026-03-02T09:00:{number:02}Z", "suspended_at": suspended_at}
    return event(name, number, at=number, app=app, kind=kind, **said)


@pytest.mark.parametrize("page", ["org", "personal"])
@pytest.mark.parametrize("app", [1, 2, 3])
@pytest.mark.parametrize("account", ["Organization", "User", None])
@pytest.mark.parametrize("action", ["install", "update"])
def test_app_and_account_are_judged_by_the_log_wherever_the_visitor_came_in(
    page: str, app: int, account: str | None, action: str
) -> None:
    verdict, kind = judge(visit(KINDS[page], action), [created(app, account)], APPS, NOW)
    if app == 3:
        assert (verdict, kind) == (Verdict.WAITING, KINDS[page]), "neither of our Apps"
        return
    assert kind is (ORGANIZATIONS, PERSONAL)[app - 1]
    if (app, account) in ((1, "Organization"), (2, "User")):
        assert verdict is (Verdict.UPDATED if action == "update" else Verdict.INSTALLED)
    else:
        assert verdict is Verdict.WRONG_ACCOUNT


@pytest.mark.parametrize("kind", [ORGANIZATIONS, PERSONAL])
def test_without_a_number_the_page_is_general(kind: Kind) -> None:
    for action in ("install", "update"):
        assert judge(visit(kind, action, None), [], APPS, NOW) == (Verdict.GENERAL, kind)


@pytest.mark.parametrize("number", [None, 7])
def test_request_waits_for_an_owner(number: int | None) -> None:
    verdict, _ = judge(visit(ORGANIZATIONS, "request", number), [created()], APPS, NOW)
    assert verdict is Verdict.REQUESTED


def test_request_of_an_organization_for_the_personal_app_leads_nowhere() -> None:
    verdict, _ = judge(visit(PERSONAL, "request", None), [], APPS, NOW)
    assert verdict is Verdict.REQUESTED_WRONGLY


@pytest.mark.parametrize("name", DONE_JUST_NOW)
@pytest.mark.parametrize(
    ("age", "told"), [(FRESH - SECOND, True), (FRESH, False), (timedelta(days=9), False)]
)
def test_only_what_was_done_within_the_hour_is_told(name: str, age: timedelta, told: bool) -> None:
    heard = [event(name, app=1, updated_at="2026-03-02T09:00:00Z")]
    verdict, _ = judge(visit(), heard, APPS, BEGINNING + age)
    assert verdict is (Verdict.INSTALLED if told else Verdict.WAITING)


@pytest.mark.parametrize(
    "name",
    [
        *("installation.suspend", "installation.unsuspend", "installation.deleted"),
        *("installation_target.renamed", "installation.something_new"),
    ],
)
def test_what_sends_nobody_here_opens_nothing(name: str) -> None:
    assert judge(visit(), [later(name)], APPS, NOW)[0] is Verdict.WAITING


@pytest.mark.parametrize("page", KINDS)
def test_old_and_unknown_are_one(page: str) -> None:
    """Whatever the log knows, and however much of it."""
    old = BEGINNING + FRESH * 2
    logs: tuple[list[StateEvent], ...] = (
        [],
        [created()],
        [created(2, "User")],
        [created(1, "User")],
        [created(), later("installation.suspend", suspended_at="2026-03-02T09:00:02Z")],
        [created(), later("installation.deleted")],
    )
    for looks in range(LOOKS + 2):
        asked = visit(KINDS[page], looks=looks)
        assert len({judge(asked, log, APPS, old) for log in logs}) == 1


def test_page_looks_a_few_times_and_then_says_so() -> None:
    said = [judge(visit(looks=looks), [], APPS, NOW)[0] for looks in range(LOOKS + 2)]
    assert said == [Verdict.WAITING] * LOOKS + [Verdict.SILENT] * 2


@pytest.mark.parametrize("page", KINDS)
@pytest.mark.parametrize("account", ["Organization", "User"])
@pytest.mark.parametrize("action", ["install", "update"])
@pytest.mark.parametrize("name", ["installation.suspend", "installation.deleted"])
def test_suspended_and_uninstalled_within_the_hour_are_as_unknown(
    page: str, account: str, action: str, name: str
) -> None:
    """In whichever order it was heard, by whichever App."""
    suspended_at = "2026-03-02T09:00:02Z" if name == "installation.suspend" else None
    for app in (1, 2):
        both = [
            created(app, account),
            later(name, suspended_at=suspended_at, app=app, kind=account),
        ]
        for looks in range(LOOKS + 2):
            asked = visit(KINDS[page], action, looks=looks)
            unknown = judge(asked, [], APPS, NOW)
            for heard in (both, both[::-1]):
                assert judge(asked, heard, APPS, NOW) == unknown


def test_unsuspended_within_the_hour_is_told_again() -> None:
    heard = [created(), later("installation.suspend", suspended_at="2026-03-02T09:00:02Z")]
    assert judge(visit(), heard, APPS, NOW)[0] is Verdict.WAITING
    heard.append(later("installation.unsuspend", 3))
    assert judge(visit(), heard, APPS, NOW)[0] is Verdict.INSTALLED


def test_change_of_a_suspended_installation_tells_nothing() -> None:
    change = later("installation_repositories.added", suspended_at="2026-03-01T09:00:00Z")
    assert judge(visit(action="update"), [change], APPS, NOW)[0] is Verdict.WAITING
