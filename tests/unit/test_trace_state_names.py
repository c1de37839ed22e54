"""What an account is called, and what it was called before."""

import itertools

from tests.trace_events import APP, NAME, World, event, numbered, stamp
from tests.trace_folding import account
from webhook_fn.trace.state import Status


def test_renamed_gives_the_new_name_and_keeps_the_old_one() -> None:
    world = World()
    number = world.install(chosen={"linux"})
    world.wait()
    world.rename("risc-v")
    whole = account(world.log())
    assert whole.name == "risc-v"
    assert [(each.name, each.event.id) for each in whole.renames] == [(NAME, 2)]
    it = whole.installation(number)
    assert it is not None
    assert (it.status, it.since.id) == (Status.INSTALLED, 1)
    # By the name alone, whosever it was then.
    assert [it.repositories.covers(f"{name}/linux") for name in (NAME, "risc-v")] == [True, True]


def test_an_account_that_no_event_names_has_no_name() -> None:
    whole = account([event("auth_attempt.404", entity_id=None, entity=None, kind=None)])
    assert (whole.id, whole.name, whole.type) == (0, None, None)


def test_an_old_name_that_is_told_late_is_not_the_name() -> None:
    world = World()
    number = world.install(chosen={"linux"})
    world.wait()
    world.select(number, {"qemu"})
    world.wait()
    world.rename("risc-v")
    world.wait()
    world.rename("riscv")
    for order in itertools.permutations(world.log()):
        assert account(numbered(order)).name == "riscv"


def test_a_name_that_it_came_back_to_is_the_name() -> None:
    world = World()
    world.install()
    for name in ("risc-v", NAME):
        world.wait()
        world.rename(name)
    whole = account(world.log())
    assert whole.name == NAME
    assert [each.name for each in whole.renames] == [NAME, "risc-v"]
    world.wait()
    world.rename("risc-v")
    # It was left twice now, and taken once again.
    for order in itertools.permutations(world.log()):
        assert account(numbered(order)).name == "risc-v"


def test_a_circle_of_names_ends_where_it_began_in_any_order() -> None:
    world = World()
    world.install()
    for name in ("risc-v", "rvsoft", NAME):
        world.wait()
        world.rename(name)
    for order in itertools.permutations(world.log()):
        assert account(numbered(order)).name == NAME
    # Without the beginning the order decides.
    for order in itertools.permutations(world.log()[1:]):
        *_, last = numbered(order)
        assert account(numbered(order)).name == last.row.entity_name


def test_a_way_back_of_which_the_word_was_lost_shows_in_what_is_dated_later() -> None:
    log = [
        event("installation.created", 1, at=0.5, updated_at=stamp(0)),
        event("installation_target.renamed", 2, at=5.5, entity="risc-v", renamed_from=NAME),
        event("installation_repositories.added", 3, at=9.5, updated_at=stamp(9)),
    ]
    assert account(log).name == NAME
    late = event("installation_repositories.added", 3, at=9.5, updated_at=stamp(4))
    assert account([*log[:2], late]).name == "risc-v"


def test_a_way_back_that_nobody_was_told_of_shows_in_what_is_dated_later() -> None:
    world = World()
    number = world.install()
    world.wait()
    world.rename("risc-v")
    world.wait()
    world.uninstall(number)
    world.rename(NAME)
    world.wait()
    world.install()
    assert account(world.log()).name == NAME


def test_two_installations_tell_of_each_rename_once() -> None:
    world = World()
    world.install(app=1)
    world.install(app=2)
    for name in ("risc-v", NAME, "risc-v"):
        world.wait()
        world.rename(name)
    whole = account(world.log())
    assert [each.name for each in whole.renames] == [NAME, "risc-v", NAME]
    assert whole.name == "risc-v"


def test_the_name_is_what_an_installation_knows_that_is_still_there() -> None:
    world = World()
    first = world.install()
    world.wait()
    world.rename("risc-v")
    world.uninstall(first)
    world.rename("rvsoft")  # Nobody is told.
    world.wait()
    world.install()
    world.rename(NAME)
    for order in itertools.permutations(world.log()):
        assert account(numbered(order)).name == NAME


def test_a_run_knows_the_name_only_if_github_did_not_tell_it() -> None:
    failed = event("auth_attempt.404", entity="as-a-job-had-it", app=3, kind="User")
    assert account([failed]).name == "as-a-job-had-it"
    whole = account(numbered([event("installation.created"), failed]))
    assert (whole.name, whole.type) == (NAME, "Organization")
    assert whole.installations[0].app_id == APP


def test_a_rename_without_a_new_name_leaves_the_last_one_that_is_known() -> None:
    log = [
        event("installation.created"),
        event("installation_target.renamed", entity=None, renamed_from=NAME),
    ]
    assert account(numbered(log)).name == NAME


def test_an_account_may_become_an_organization() -> None:
    log = [
        event("installation.created", kind="User", updated_at=stamp(1)),
        event("installation_repositories.added", updated_at=stamp(2)),
    ]
    for order in (log, log[::-1]):
        assert account(numbered(order)).type == "Organization"
