"""Events in awkward orders, without dates, and told more than once."""

import itertools

import pytest

from tests.trace_events import ASKED, World, event, listed, numbered, stamp
from tests.trace_folding import SECRETS, covered, only
from webhook_fn.trace.state import Status, fold


def test_what_github_dates_later_counts_in_any_order_of_delivery() -> None:
    world = World()
    number = world.install(chosen={"linux"})
    world.wait()
    world.suspend(number)
    world.wait()
    world.unsuspend(number)
    world.wait()
    world.select(number, {"linux", "qemu"})
    world.wait()
    world.accept(number, **SECRETS)
    for order in itertools.permutations(world.log()):
        it = only(numbered(order))
        assert (it.status, it.since.event) == (Status.INSTALLED, "installation.unsuspend")
        assert it.permissions == ASKED | SECRETS
        assert covered(it, "linux", "qemu", "llvm") == [True, True, False]
        assert it.began


@pytest.mark.parametrize("told", [0, 1, 2])
def test_the_beginning_is_the_beginning_whenever_it_is_told_and_whatever_its_date(
    told: int,
) -> None:
    created = event(
        "installation.created", selection="selected", repositories=listed({"linux", "qemu"})
    )
    log = [
        event("installation.suspend", updated_at=stamp(1), suspended_at=stamp(1)),
        event(
            "installation_repositories.removed",
            updated_at=stamp(2),
            suspended_at=stamp(1),
            selection="selected",
            removed=listed({"qemu"}),
        ),
    ]
    log.insert(told, created)
    it = only(numbered(log))
    assert (it.status, it.began) == (Status.SUSPENDED, True)
    assert covered(it, "linux", "qemu", "llvm") == [True, False, False]


@pytest.mark.parametrize("told", [0, 1, 2])
def test_the_end_is_the_end_whenever_it_is_told_and_whatever_its_date(told: int) -> None:
    # Being deleted does not change when an installation was last changed.
    log = [
        event("installation.created", updated_at=stamp(0), selection="all"),
        event("installation.new_permissions_accepted", updated_at=stamp(9), permissions=SECRETS),
    ]
    log.insert(told, event("installation.deleted", updated_at=stamp(9), permissions=SECRETS))
    it = only(numbered(log))
    assert (it.status, it.since.event) == (Status.DELETED, "installation.deleted")
    assert it.permissions == SECRETS


@pytest.mark.parametrize("last", ["installation.suspend", "installation.unsuspend"])
def test_within_one_second_and_without_dates_the_later_row_counts(last: str) -> None:
    other = {"installation.suspend", "installation.unsuspend"} - {last}
    for date in (stamp(4), None):
        log = [event(name, updated_at=date) for name in (*other, last)]
        assert only(numbered(log)).since.event == last


def test_dates_count_alike_however_they_are_written() -> None:
    for styles in itertools.product(range(3), repeat=2):
        log = [
            event("installation.suspend", updated_at=stamp(8, styles[0])),
            event("installation.unsuspend", updated_at=stamp(7, styles[1])),
        ]
        assert only(numbered(log)).status is Status.SUSPENDED
    # One of them cut off what came after the second.
    log = [
        event("installation.suspend", updated_at="2026-03-02T09:00:07.900Z"),
        event("installation.unsuspend", updated_at=stamp(7, 1)),
    ]
    assert only(numbered(log)).status is Status.INSTALLED


def test_changes_that_leave_the_date_alone_count_in_the_order_of_the_log() -> None:
    world = World()
    number = world.install(chosen={"linux"})
    world.wait()
    world.suspend(number)
    world.wait()
    world.fail_to_authenticate(number, "other_error")
    world.wait()
    world.unsuspend(number, dated=False)
    world.wait()
    world.select(number, {"qemu"}, dated=False)
    it = only(world.log())
    assert (it.status, it.auth_failure) == (Status.INSTALLED, None)
    assert covered(it, "linux", "qemu") == [False, True]


def test_a_delivery_that_comes_again_changes_nothing() -> None:
    world = World()
    number = world.install(chosen={"linux"})
    world.suspend(number)
    world.unsuspend(number)
    log = world.log()
    [*_, again] = numbered([*log, log[1]])
    assert again.row.event == "installation.suspend"
    assert fold([*log, again]) == fold(log)


def test_a_row_that_is_read_again_changes_nothing() -> None:
    world = World()
    number = world.install()
    world.suspend(number)
    world.fail_to_authenticate(number)
    world.unsuspend(number)
    log = world.log()
    assert only([*log, *log]).auth_failure is None
    assert fold([*log, *log]) == fold(log)


def test_without_dates_what_was_told_of_later_is_not_undone_by_what_github_dates_earlier() -> None:
    log = [
        event("installation.suspend", updated_at=stamp(5), suspended_at=stamp(5)),
        event("installation_repositories.added", suspended_at=stamp(5), added=listed({"linux"})),
        event("installation_repositories.removed", updated_at=stamp(4), removed=listed({"linux"})),
    ]
    it = only(numbered(log))
    assert it.status is Status.SUSPENDED
    assert covered(it, "linux") == [True]
