"""What the function made of it: webhooks that came, and jobs that are not taken."""

from pathlib import Path

from tests.simulation import situations as it
from tests.simulation.trace_scenarios.scenario import ROUTES, Question, Scenarios, of, pushed
from tests.system import System
from webhook_fn.trace.finding import Kind

SCENARIOS = Scenarios()
scenario = SCENARIOS.scenario


@scenario(Kind.NO_ROUTE, "riscv, self-hosted", "ignored_no_label")
def labels_that_no_route_has(s: System) -> Question:
    return of(pushed(s, labels=("self-hosted", "riscv")))


@scenario(Kind.NO_ROUTE, "only for some accounts")
def route_for_others(s: System) -> Question:
    return of(pushed(s, repository=s.personal, labels=("limited",)))


@scenario(Kind.NO_ROUTE, "job_not_found")
def job_without_a_route_of_which_only_the_end_was_told(s: System) -> Question:
    it.lose(s, "queued")
    run = pushed(s, labels=("riscv",))
    s.world.github.engine.cancel(run)
    s.world.time.step(5)
    return of(run)


@scenario(Kind.BANNED, "riseproject is banned", routes='banned_entities = ["riseproject"]\n')
def job_of_a_banned_account(s: System) -> Question:
    return of(pushed(s))


@scenario(Kind.BANNED, "who started it, is banned", routes='banned_senders = ["octocat"]\n')
def job_of_a_banned_sender(s: System) -> Question:
    return of(pushed(s))


@scenario(Kind.BANNED, "given up")
def banned_while_it_waited(s: System) -> Question:
    run = pushed(s)
    banning = Path(s.routes["ROUTES_FILE"]).with_name("banning.toml")
    banning.write_text(f"banned_entities = [{s.organization.id}]\n" + ROUTES)
    s.environment["ROUTES_FILE"] = str(banning)
    s.ticks(1)
    assert it.job_reasons(s) == ["banned"]
    return of(run)


@scenario(Kind.ON_STAGING, "staging's", routes='staging_entities = ["riseproject"]\n')
def job_of_an_account_that_is_staging_s(s: System) -> Question:
    return of(pushed(s))
