"""Whether the App may do anything for the account: which job is told of it, and which is not."""

from dataclasses import replace

import pytest

from tests.trace_cases import (
    ABOUT_ACCESS,
    CAME,
    NOW,
    OTHER_APP,
    REPOSITORY,
    a_job,
    a_queue,
    delivery,
    facts,
    first,
    installed,
    kinds,
    of_account,
    of_job,
    refused_token,
    unknown,
)
from tests.trace_events import INSTALLATION, NAME, World, moment
from webhook_fn.trace.finding import Kind
from webhook_fn.trace.state import fold

DONE = a_job(
    status="completed",
    conclusion="success",
    pod="rise-riscv-runner-1",
    started_at=moment(CAME + 5),
    completed_at=moment(CAME + 30),
)
RUNNING = a_job(status="running", pod="rise-riscv-runner-1", started_at=moment(CAME + 5))


def uninstalled(at: int = CAME + 10) -> World:
    world = installed()
    world.wait(at)
    world.uninstall(INSTALLATION)
    return world


def suspended(at: int = CAME + 10) -> World:
    world = installed()
    world.wait(at)
    world.suspend(INSTALLATION)
    return world


# Uninstalled ---------------------------------------------------------------------------------


def test_a_job_that_waits_is_told_when_the_app_was_uninstalled() -> None:
    found = first(of_job(uninstalled()), Kind.UNINSTALLED)
    assert found.summary == ("The App was uninstalled from riseproject on 2026-03-02 09:16:50 UTC.")
    assert [each.event_id for each in found.evidence] == [2]


def test_a_job_of_an_installation_that_has_a_successor_is_to_be_started_again() -> None:
    world = uninstalled()
    world.wait(5)
    world.install()
    found = first(of_job(world), Kind.UNINSTALLED)
    assert "installed again since, as installation 8. This one, 7, which the job" in found.summary
    assert found.advice.startswith("Start the job again")


def test_an_account_that_was_installed_anew_is_not_told_of_before() -> None:
    world = uninstalled()
    world.install()
    assert kinds(of_account(world)) == [Kind.NOTHING_WRONG]


def test_who_asks_for_the_installation_before_is_told_of_the_new_one() -> None:
    world = uninstalled()
    world.install()
    found = first(of_account(world, of_installation=INSTALLATION), Kind.UNINSTALLED)
    assert "as installation 8. This one, 7, is over" in found.summary
    assert "job" not in found.advice


def test_an_installation_of_the_other_app_does_not_take_the_place_of_one_that_is_gone() -> None:
    world = installed()
    beside = world.install(OTHER_APP)
    world.wait(CAME)
    world.uninstall(beside)
    found = first(of_account(world, of_installation=beside), Kind.UNINSTALLED)
    assert "again" not in found.summary
    assert kinds(of_account(world)) == [Kind.NOTHING_WRONG]


@pytest.mark.parametrize("job", [DONE, RUNNING], ids=["done", "running"])
@pytest.mark.parametrize("world", [uninstalled(), suspended(), refused_token("404")])
def test_a_job_that_does_not_wait_is_not_told_what_is_installed_now(
    job: object, world: World
) -> None:
    assert not ABOUT_ACCESS & {*kinds(of_job(world, known=facts(job=job, queue=None)))}


@pytest.mark.parametrize(
    "outcome", ["banned_entity", "banned_sender", "ignored_no_label", "proxied_to_staging"]
)
@pytest.mark.parametrize("world", [uninstalled(), suspended()])
def test_a_job_that_was_refused_is_not_told_of_an_end_that_came_later(
    outcome: str, world: World
) -> None:
    known = unknown(events=(delivery(outcome=outcome),))
    assert not ABOUT_ACCESS & {*kinds(of_job(world, known=known))}


@pytest.mark.parametrize("world", [uninstalled(), refused_token("404")])
def test_a_job_that_was_given_up_for_it_says_so(world: World) -> None:
    gone = a_job(status="failed", failure_reason="installation_gone", updated_at=moment(NOW))
    case = of_job(world, known=facts(job=gone, queue=None))
    found = first(case, Kind.UNINSTALLED)
    assert kinds(case) == [Kind.UNINSTALLED]
    assert "given up for that" in found.summary
    assert [each.event_id for each in found.evidence] == [2, None]


def test_a_job_that_was_given_up_is_told_if_the_app_is_there_again() -> None:
    world = uninstalled()
    world.install()
    gone = a_job(status="failed", failure_reason="installation_gone")
    found = first(of_job(world, known=facts(job=gone, queue=None)), Kind.UNINSTALLED)
    assert "installed again since, as installation 8" in found.summary
    assert found.advice.startswith("Start the job again")


# Suspended -----------------------------------------------------------------------------------


def test_a_suspension_comes_before_all_that_follows_from_it() -> None:
    known = facts(queue=a_queue("no_access"), runs=())
    case = of_job(suspended(), known=known)
    assert kinds(case) == [Kind.SUSPENDED, Kind.RECONCILER_STALE]
    assert "served by themselves" in first(case, Kind.SUSPENDED).advice


def test_a_job_that_never_came_is_to_be_started_again_after_a_suspension() -> None:
    case = of_job(suspended(), known=unknown())
    assert kinds(case) == [Kind.SUSPENDED, Kind.WEBHOOK_NEVER_ARRIVED]
    assert "started again" in first(case, Kind.SUSPENDED).advice


def test_a_suspension_that_is_over_is_not_told() -> None:
    world = suspended(CAME - 100)
    world.wait(10)
    world.unsuspend(INSTALLATION)
    assert Kind.SUSPENDED not in kinds(of_job(world))
    assert kinds(of_account(world)) == [Kind.NOTHING_WRONG]


# Repositories --------------------------------------------------------------------------------


def on(*names: str) -> World:
    return installed(chosen={*names})


def test_a_repository_that_was_never_selected() -> None:
    for case in (
        of_job(on("qemu"), known=unknown()),
        of_account(on("qemu"), repository=REPOSITORY),
    ):
        found = first(case, Kind.REPOSITORY_NOT_SELECTED)
        assert f"{REPOSITORY} is not one of them" in found.summary
        assert found.evidence[0].event_id == 1


def test_a_job_that_came_was_covered_whatever_its_repository_is_called_now() -> None:
    assert not ABOUT_ACCESS & {*kinds(of_job(on("old-name-of-linux")))}


@pytest.mark.parametrize(("at", "told"), [(CAME - 10, False), (CAME + 10, True)])
def test_a_repository_that_was_taken_out_after_its_job_had_come(at: int, told: bool) -> None:
    world = on("linux", "qemu")
    world.wait(at)
    world.select(INSTALLATION, {"qemu"})
    assert (kinds(of_job(world))[0] is Kind.REPOSITORY_REMOVED) is told
    # Of one that never came it is the answer in any case.
    assert kinds(of_job(world, known=unknown()))[0] is Kind.REPOSITORY_REMOVED


def test_without_a_repository_or_the_beginning_nothing_is_said_of_repositories() -> None:
    assert kinds(of_job(on("qemu"), known=unknown(), repository=None))[0] is (
        Kind.WEBHOOK_NEVER_ARRIVED
    )
    world = on("qemu")
    world.wait()
    world.select(INSTALLATION, {"qemu", "llvm"})
    unclear = of_account(account=fold(world.log()[1:]), repository=REPOSITORY)
    assert "whether it covers riseproject/linux is not known" in (
        first(unclear, Kind.NOTHING_WRONG).summary
    )
    assert "and covers riseproject/linux" in (
        first(of_account(repository=REPOSITORY), Kind.NOTHING_WRONG).summary
    )


# Names ---------------------------------------------------------------------------------------


def test_a_new_name_is_told_of_an_account_and_not_of_its_jobs() -> None:
    world = installed()
    world.wait(10)
    world.rename("risen")
    case = of_account(world)
    assert kinds(case) == [Kind.RENAMED]
    assert "riseproject is called risen since" in first(case, Kind.RENAMED).summary
    assert Kind.RENAMED not in kinds(of_job(world))


def test_a_name_that_it_came_back_to_is_not_told_as_an_old_one() -> None:
    world = installed()
    for name in ("risen", NAME):
        world.wait(10)
        world.rename(name)
    assert "risen is called riseproject since" in first(of_account(world), Kind.RENAMED).summary


def test_a_name_that_it_has_is_no_old_name() -> None:
    """Of which of two names is older nothing may be known but the order in which it was told."""
    world = installed()
    world.wait(10)
    world.rename("risen")
    account = fold(world.log())
    assert account is not None
    [rename] = account.renames
    same = replace(account, renames=(replace(rename, name="risen"),))
    assert kinds(of_account(account=same)) == [Kind.NOTHING_WRONG]


# Two installations ---------------------------------------------------------------------------


def test_of_two_installations_only_the_job_s_own_counts() -> None:
    world = installed()
    beside = world.install(OTHER_APP)
    world.wait(CAME + 10)
    world.suspend(beside)
    assert not ABOUT_ACCESS & {*kinds(of_job(world))}
    assert kinds(of_account(world)) == [Kind.NOTHING_WRONG]
    assert kinds(of_account(world, of_installation=beside))[0] is Kind.SUSPENDED
    world.suspend(INSTALLATION)
    assert first(of_job(world), Kind.SUSPENDED).evidence[0].event_id == 4


def test_a_personal_account_is_served_by_the_personal_app() -> None:
    told = suspended().log()
    rows = [replace(each.row, entity_type="User", app_id=OTHER_APP) for each in told]
    account = fold([replace(each, row=row) for each, row in zip(told, rows, strict=True)])
    mine = facts(job=a_job(entity_type="User"), queue=a_queue("no_board"))
    assert kinds(of_job(known=mine, account=account))[0] is Kind.SUSPENDED
    assert kinds(of_job(known=unknown(), account=account))[0] is Kind.SUSPENDED
