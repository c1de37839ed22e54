"""What is installed: not any more, not yet, or not what the job needs."""

from reconcile.sim.github.deliveries import Mishap, MishapRule
from reconcile.sim.github.model import Installation
from tests.simulation import situations as it
from tests.simulation.trace_scenarios.scenario import Question, Scenarios, of, pushed
from tests.system import System
from webhook_fn.trace.finding import Kind

SCENARIOS = Scenarios()
scenario = SCENARIOS.scenario


@scenario(Kind.UNINSTALLED, "uninstalled from riseproject", "installation.deleted")
def uninstalled_while_it_waited(s: System) -> Question:
    run = pushed(s)
    s.world.github.accounts.uninstall(s.installation)
    s.world.time.step(5)
    return of(run)


@scenario(Kind.UNINSTALLED, "given up", "installation.deleted", "auth_attempt.404")
def given_up_since_it_was_uninstalled(s: System) -> Question:
    run = uninstalled_while_it_waited(s)
    s.ticks(8, good=False)
    assert it.job_reasons(s) == ["installation_gone"]
    return run


@scenario(Kind.UNINSTALLED, "knows no installation", "auth_attempt.404")
def uninstalled_and_nobody_told(s: System) -> Question:
    s.world.github.deliveries.misbehave(MishapRule(Mishap.DROP, "installation.deleted"))
    pushed(s)
    s.world.github.accounts.uninstall(s.installation)
    s.ticks(1, good=False)
    return Question("entity", "riseproject")


@scenario(Kind.UNINSTALLED, "uninstalled from riseproject")
def job_of_an_account_that_was_left_before(s: System) -> Question:
    s.world.github.accounts.uninstall(s.installation)
    s.world.time.step(5)
    return of(pushed(s), "riseproject/firmware")


@scenario(Kind.UNINSTALLED, "installed again since", "Start the job again")
def installed_anew_while_it_waited(s: System) -> Question:
    run = pushed(s)
    accounts = s.world.github.accounts
    accounts.uninstall(s.installation)
    s.world.time.step(5)
    accounts.install(s.installation.app, s.organization)
    s.world.time.step(5)
    return of(run)


@scenario(Kind.SUSPENDED, "suspended since", "installation.suspend")
def suspended_while_it_waited(s: System) -> Question:
    run = pushed(s)
    s.world.github.accounts.suspend(s.installation)
    s.ticks(2, good=False)
    return of(run)


def only_other(s: System) -> Installation:
    """The App on one other repository of the organization."""
    accounts = s.world.github.accounts
    other = accounts.add_repository(s.organization, "other", private=True)
    accounts.uninstall(s.installation)
    s.world.time.step(2)
    installed = accounts.install(s.installation.app, s.organization, [other])
    s.world.time.step(5)
    return installed


@scenario(Kind.REPOSITORY_NOT_SELECTED, "riseproject/firmware", "not one of them")
def repository_that_was_never_selected(s: System) -> Question:
    only_other(s)
    return of(pushed(s), "riseproject/firmware")


@scenario(Kind.REPOSITORY_REMOVED, "taken out", "installation_repositories.removed")
def repository_that_was_taken_out(s: System) -> Question:
    accounts = s.world.github.accounts
    installation, other = only_other(s), s.world.github.accounts.repositories["riseproject/other"]
    accounts.select(installation, [other, s.repository])
    s.world.time.step(5)
    run = pushed(s)
    accounts.select(installation, [other])
    s.world.time.step(5)
    return of(run)


@scenario(Kind.RENAMED, "limited to the old name", "installation_target.renamed")
def route_that_knows_the_old_name(s: System) -> Question:
    s.world.github.accounts.rename(s.organization, "risen")
    s.world.time.step(5)
    return of(pushed(s, labels=("limited",)))


@scenario(Kind.RENAMED, "riseproject is called risen since")
def account_that_is_asked_for_by_its_old_name(s: System) -> Question:
    s.world.github.accounts.rename(s.organization, "risen")
    s.world.time.step(5)
    return Question("entity", "riseproject")


@scenario(Kind.WRONG_APP, "is an organization", "App for personal accounts", "ignored_wrong_app")
def organization_with_the_personal_app(s: System) -> Question:
    accounts = s.world.github.accounts
    accounts.uninstall(s.installation)
    accounts.install(s.personal_installation.app, s.organization)
    s.world.time.step(5)
    return of(pushed(s))


@scenario(Kind.WRONG_APP, "is a personal account", "App for organizations")
def user_with_the_organizations_app(s: System) -> Question:
    accounts = s.world.github.accounts
    user = accounts.add_user("newcomer")
    accounts.install(s.installation.app, user)
    s.world.time.step(5)
    return Question("entity", "newcomer")


@scenario(Kind.NO_ACCESS, "suspended", "auth_attempt.other_error")
def suspended_and_nobody_told(s: System) -> Question:
    s.world.github.deliveries.misbehave(MishapRule(Mishap.DROP, "installation.suspend"))
    run = pushed(s)
    s.world.github.accounts.suspend(s.installation)
    s.ticks(2, good=False)
    return of(run)
