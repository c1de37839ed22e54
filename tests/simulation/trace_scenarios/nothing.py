"""Nothing is wrong, or nothing is known."""

from tests.simulation.trace_scenarios.scenario import Question, Scenarios, pushed
from tests.system import System
from webhook_fn.trace.finding import Kind

SCENARIOS = Scenarios()
scenario = SCENARIOS.scenario


@scenario(Kind.NOTHING_WRONG, "riseproject")
def account_with_nothing_wrong(s: System) -> Question:
    return Question("entity", s.organization.id)


@scenario(Kind.NOTHING_WRONG, "riseproject")
def installation_with_nothing_wrong(s: System) -> Question:
    return Question("installation", s.installation.id)


@scenario(Kind.NOTHING_KNOWN, "no event that tells what is installed")
def account_of_which_the_log_has_only_jobs(s: System) -> Question:
    pushed(s)
    s.database.execute("DELETE FROM installation_events WHERE event LIKE 'installation%'")
    return Question("entity", "riseproject")
