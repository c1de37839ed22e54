"""Whether it came: webhooks that failed, or that GitHub never sent."""

from reconcile.sim.github import payloads
from reconcile.sim.github.deliveries import Mishap, MishapRule
from tests.simulation import situations as it
from tests.simulation.trace_scenarios.scenario import Question, Scenarios, of
from tests.system import System
from webhook_fn.trace.finding import Kind

SCENARIOS = Scenarios()
scenario = SCENARIOS.scenario


@scenario(Kind.WEBHOOK_FAILED, "was answered 503", "asked 1 time to send it again")
def delivery_that_the_function_was_not_there_for(s: System) -> Question:
    s.world.github.deliveries.misbehave(MishapRule(Mishap.REFUSE, "workflow_job.queued"))
    run = s.push()
    s.ticks(2)
    return of(run)


@scenario(Kind.WEBHOOK_FAILED, "was answered 503", "not asked for again")
def delivery_that_nobody_asks_for_again(s: System) -> Question:
    s.toml = "[run]\nredelivery_attempts = 0\n"
    return delivery_that_the_function_was_not_there_for(s)


@scenario(Kind.WEBHOOK_NEVER_ARRIVED, "Nor is a failed one", "delivery log of App")
def delivery_that_github_never_made(s: System) -> Question:
    it.lose(s, "queued")
    run = s.push()
    s.ticks(2)
    return of(run, "riseproject/firmware")


@scenario(Kind.WEBHOOK_NEVER_ARRIVED, "was not read yet")
def number_that_nobody_ever_heard_of(s: System) -> Question:
    return Question("job", 987654321)


@scenario(Kind.NOT_QUEUED_YET, "waits at GitHub for an approval", "workflow_job.waiting")
def waits_for_an_approval(s: System) -> Question:
    """As GitHub tells of a job before it is queued."""
    it.lose(s, "queued")
    run = s.push()
    s.world.time.step(2)
    with s.world.time.timeline.lock:
        [job] = run.jobs
        now = s.world.time.clock.now()
        payload = payloads.workflow_job("waiting", job, s.installation, now)
        s.world.github.deliveries.send(
            s.installation.app, "workflow_job", payload, s.installation.id, s.repository.id
        )
    s.world.time.step(2)
    return of(run)


@scenario(Kind.WEBHOOK_NEVER_ARRIVED, "covers riseproject/firmware")
def lost_delivery_of_an_account_that_had_no_access_once(s: System) -> Question:
    """Of which no webhook told; but a run did, and so it did when that was over."""
    s.boards(1)
    for event in ("installation.suspend", "installation.unsuspend"):
        s.world.github.deliveries.misbehave(MishapRule(Mishap.DROP, event))
    s.push(seconds=60)
    s.world.github.accounts.suspend(s.installation)
    s.ticks(2, good=False)
    s.world.github.accounts.unsuspend(s.installation)
    s.ticks(20, good=False)
    assert [job["status"] for job in s.jobs()] == ["completed"]
    attempts = s.database.rows(
        "SELECT event, outcome FROM installation_events WHERE source = 'scheduler' ORDER BY id"
    )
    assert [tuple(row.values()) for row in attempts] == [
        ("auth_attempt.other_error", "auth_failed"),
        ("auth_attempt.ok", "auth_restored"),
    ]
    it.lose(s, "queued")
    run = s.push()
    s.ticks(2)
    return of(run, "riseproject/firmware")
