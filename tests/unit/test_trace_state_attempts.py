"""Failed attempts to authenticate, and what makes them a thing of the past."""

import pytest

from tests.trace_events import World, event, numbered, stamp
from tests.trace_folding import SECRETS, only
from webhook_fn.trace.state import Status


def test_a_failed_attempt_is_kept_and_changes_nothing_else() -> None:
    world = World()
    number = world.install()
    world.wait()
    world.fail_to_authenticate(number)
    it = only(world.log())
    assert it.auth_failure is not None
    assert (it.auth_failure.row.id, it.auth_failure.said["message"]) == (2, "Not Found")
    assert (it.status, it.since.id) == (Status.INSTALLED, 1)


@pytest.mark.parametrize("status", ["404", "other_error"])
def test_an_attempt_that_failed_before_access_was_given_says_nothing_any_more(status: str) -> None:
    world = World()
    number = world.install(chosen={"linux"})
    world.wait()
    world.suspend(number)
    world.wait()
    world.fail_to_authenticate(number, status)
    world.wait()
    world.select(number, {"qemu"})
    assert only(world.log()).auth_failure is not None
    world.wait()
    world.unsuspend(number)
    assert only(world.log()).auth_failure is None
    world.wait()
    world.fail_to_authenticate(number, status)
    world.wait()
    it = only(world.log())
    assert it.auth_failure is not None
    assert it.auth_failure.row.event == f"auth_attempt.{status}"
    world.accept(number, **SECRETS)
    assert only(world.log()).auth_failure is None


def test_an_attempt_failed_after_everything_that_was_told_before_it() -> None:
    log = [
        event("installation.unsuspend", updated_at=stamp(5)),
        event("installation_repositories.added", updated_at=stamp(2)),
        event("auth_attempt.other_error"),
    ]
    assert only(numbered(log)).auth_failure is not None


def test_an_attempt_that_succeeds_again_ends_it() -> None:
    log = [event(f"auth_attempt.{status}") for status in ("404", "ok")]
    assert only(numbered(log)).auth_failure is None
    assert only(numbered([*log, event("auth_attempt.other_error")])).auth_failure is not None


def test_the_last_failed_attempt_is_the_one_that_is_told() -> None:
    log = [event(f"auth_attempt.{status}") for status in ("other_error", "404")]
    it = only(numbered(log))
    assert it.auth_failure is not None
    assert it.auth_failure.row.event == "auth_attempt.404"


def test_a_late_word_of_the_beginning_does_not_excuse_a_failed_attempt() -> None:
    world = World()
    number = world.install()
    world.fail_to_authenticate(number)
    created, failed = world.log()
    assert only(numbered([failed, created])).auth_failure is not None


def test_an_attempt_that_fails_after_the_end_is_kept_with_it() -> None:
    world = World()
    number = world.install()
    world.uninstall(number)
    world.fail_to_authenticate(number)
    it = only(world.log())
    assert (it.status, it.since.event) == (Status.DELETED, "installation.deleted")
    assert it.auth_failure is not None
