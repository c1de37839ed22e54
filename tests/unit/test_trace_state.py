"""What is installed on an account, and whether it is suspended or gone, by each kind of event."""

import pytest

from tests.trace_events import ASKED, ENTITY, NAME, World, event, moment, numbered, stamp
from tests.trace_folding import EVENTS, SECRETS, account, covered, only
from webhook_fn.trace.state import Status, fold


def test_of_no_events_there_is_no_account() -> None:
    assert fold([]) is None


def test_an_account_is_who_the_events_are_of() -> None:
    world = World()
    world.install()
    it = account(world.log())
    assert (it.id, it.name, it.type, it.renames) == (ENTITY, NAME, "Organization", ())


def test_deleted_is_the_end_and_keeps_what_it_covered() -> None:
    world = World()
    number = world.install(chosen={"linux"})
    world.wait()
    world.uninstall(number)
    whole = account(world.log())
    [it] = whole.installations
    assert (it.status, it.since.id) == (Status.DELETED, 2)
    assert covered(it, "linux", "qemu") == [True, False]
    assert whole.current == ()
    assert whole.installation(number) is it
    assert whole.installation(number + 1) is None


def test_suspended_and_unsuspended() -> None:
    world = World()
    number = world.install()
    world.wait()
    world.suspend(number)
    it = only(world.log())
    assert (it.status, it.since.id) == (Status.SUSPENDED, 2)
    world.wait()
    world.unsuspend(number)
    it = only(world.log())
    assert (it.status, it.since.id) == (Status.INSTALLED, 3)


def test_accepted_permissions_replace_the_old_ones() -> None:
    world = World()
    number = world.install()
    world.wait()
    world.accept(number, **SECRETS)
    it = only(world.log())
    assert it.permissions == ASKED | SECRETS
    assert (it.status, it.since.id) == (Status.INSTALLED, 1)


@pytest.mark.parametrize("suspended_at", [None, stamp(0), stamp(0, 1)])
@pytest.mark.parametrize("name", EVENTS)
def test_status_is_what_the_event_makes_of_it_or_else_shows(
    name: str, suspended_at: str | int | None
) -> None:
    made = {
        "installation.created": Status.INSTALLED,
        "installation.unsuspend": Status.INSTALLED,
        "installation.suspend": Status.SUSPENDED,
        "installation.deleted": Status.DELETED,
    }
    carries_it = name.startswith(("installation.", "installation_repositories."))
    shown = Status.SUSPENDED if suspended_at and carries_it else Status.INSTALLED
    it = only([event(name, updated_at=stamp(0), suspended_at=suspended_at)])
    assert it.status is made.get(name, shown)


def test_permissions_accepted_or_repositories_added_while_suspended_do_not_end_it() -> None:
    world = World()
    number = world.install(chosen={"linux"})
    world.wait()
    world.suspend(number)
    world.wait()
    world.accept(number, **SECRETS)
    world.wait()
    world.select(number, {"linux", "qemu"})
    it = only(world.log())
    assert (it.status, it.since.id) == (Status.SUSPENDED, 2)
    assert it.permissions == ASKED | SECRETS
    assert covered(it, "qemu") == [True]


def test_an_event_that_shows_a_suspension_nobody_told_of_is_what_it_is_known_by() -> None:
    world = World()
    number = world.install()
    world.suspend(number)
    world.wait()
    world.accept(number, **SECRETS)
    it = only([each for each in world.log() if each.row.event != "installation.suspend"])
    assert (it.status, it.since.event) == (
        Status.SUSPENDED,
        "installation.new_permissions_accepted",
    )


# Several installations, and none -------------------------------------------------------------


def test_two_apps_on_one_account_are_two_installations() -> None:
    world = World()
    first = world.install(app=1, chosen={"linux"})
    second = world.install(app=2)
    world.wait()
    world.suspend(first)
    world.rename("risc-v")
    whole = account(world.log())
    assert [(each.id, each.app_id, each.status) for each in whole.installations] == [
        (first, 1, Status.SUSPENDED),
        (second, 2, Status.INSTALLED),
    ]
    assert fold(world.log()[1::-1]) == fold(world.log()[:2])
    # Both tell of the one rename.
    assert [each.name for each in whole.renames] == [NAME]


def test_one_delivery_id_through_two_apps_counts_for_both() -> None:
    log = [
        event("installation.suspend", number, installation=number, app=number, delivery="same")
        for number in (1, 2)
    ]
    assert [each.status for each in account(log).installations] == [Status.SUSPENDED] * 2


def test_installed_again_is_another_installation_and_the_first_stays_deleted() -> None:
    world = World()
    first = world.install(chosen={"linux"})
    world.wait()
    world.uninstall(first)
    world.wait()
    second = world.install(chosen={"qemu"})
    whole = account(world.log())
    assert [each.id for each in whole.current] == [second]
    assert [each.status for each in whole.installations] == [Status.DELETED, Status.INSTALLED]
    assert [covered(each, "linux", "qemu") for each in whole.installations] == [
        [True, False],
        [False, True],
    ]


def test_events_without_an_installation_tell_of_the_account_alone() -> None:
    whole = account([event("installation.created", installation=None)])
    assert (whole.name, whole.installations) == (NAME, ())


# Missing beginnings --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["auth_attempt.404", "installation_target.renamed"])
def test_what_is_only_heard_of_is_taken_for_installed(name: str) -> None:
    it = only([event(name)])
    assert (it.status, it.since.event, it.began) == (Status.INSTALLED, name, False)
    assert (it.repositories.selection, it.permissions) == (None, {})
    assert covered(it, "linux") == [None]


def test_what_is_only_heard_of_is_known_by_the_first_word() -> None:
    log = [event("installation_target.renamed"), event("auth_attempt.404")]
    assert only(numbered(log)).since.id == 1


# Until ---------------------------------------------------------------------------------------


def test_until_is_what_was_known_then() -> None:
    world = World()
    number = world.install()
    world.wait(10)
    world.suspend(number)
    world.wait(10)
    world.uninstall(number)
    log = world.log()

    def status(second: float) -> Status | None:
        folded = fold(log, until=moment(second))
        return folded.installations[0].status if folded else None

    assert status(0) is None
    assert status(0.5) is Status.INSTALLED  # Rows are written half a second later here.
    assert status(10.4) is Status.INSTALLED
    assert status(10.5) is Status.SUSPENDED
    assert status(20.5) is Status.DELETED


def test_until_goes_by_when_a_row_was_written_and_not_by_what_github_dates() -> None:
    late = event("installation.suspend", 2, at=50, updated_at=stamp(1))
    log = [event("installation.created", 1, updated_at=stamp(0)), late]
    before, after = fold(log, until=moment(49)), fold(log, until=moment(50))
    assert before is not None
    assert after is not None
    assert before.installations[0].status is Status.INSTALLED
    assert after.installations[0].status is Status.SUSPENDED
