"""One scenario for each diagnosis: really delivered webhooks, real runs, and then the question."""

from pathlib import Path

import pytest

from reconcile.sim.faults import Faults
from reconcile.sim.server import Server
from reconcile.sim.timeline import SteppedTime
from tests.database import Database
from tests.receiver import Receiver
from tests.simulation.trace_scenarios import arrived, ended, installed, nothing, queued, taken
from tests.simulation.trace_scenarios.scenario import Scenario
from tests.system import system
from tests.tracing import ask, command
from webhook_fn.trace.finding import Kind

SCENARIOS: list[Scenario] = [
    *installed.SCENARIOS,
    *taken.SCENARIOS,
    *ended.SCENARIOS,
    *arrived.SCENARIOS,
    *queued.SCENARIOS,
    *nothing.SCENARIOS,
]


def test_every_finding_has_its_scenario() -> None:
    assert {each.finding for each in SCENARIOS} == set(Kind)


@pytest.mark.parametrize("it_was", SCENARIOS, ids=lambda each: each.happen.__name__)
def test_what_explains_the_others_comes_first(
    database: Database, tmp_path: Path, it_was: Scenario
) -> None:
    routes = tmp_path / "routes.toml"
    routes.write_text(it_was.routes)
    staging = Server(Receiver(), SteppedTime().timeline, Faults())
    with staging, system(database, routes_file=routes, staging_url=staging.url + "/") as s:
        question = it_was.happen(s)
        query = f"repository={question.repository}" if question.repository else ""
        answer = ask(s, f"/trace/{question.kind}/{question.name}", query)
        arguments = [f"--{question.kind}", str(question.name), "--json"]
        if question.repository:
            arguments += ["--repository", question.repository]
        said = command(s, *arguments)
    first = said.document["findings"][0]
    assert first["finding"] == it_was.finding, said.text
    for words in it_was.says:
        assert words in str(first)
    assert first["advice"]
    assert said.code == (0 if said.document["known"] else 1)
    assert answer.status == (200 if said.document["known"] else 404)
    assert answer.body["findings"] == said.document["findings"], "both roles see the same"
