"""The documentation names what exists, and only that."""

import re
from pathlib import Path

import pytest

from reconcile.sim.cluster import Behaviour, Cluster
from reconcile.sim.faults import Kind
from reconcile.sim.github import GitHub
from reconcile.sim.github.deliveries import Mishap
from reconcile.sim.timeline import SteppedTime
from tests.function import environment
from webhook_fn import asking, config
from webhook_fn.events import Outcome
from webhook_fn.receiver import ROUTES
from webhook_fn.trace import tracer

ROOT = Path(__file__).parent.parent.parent
WEBHOOK = (ROOT / "docs" / "webhook.md").read_text()
SIMULATION = (ROOT / "docs" / "simulation.md").read_text()
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]


def first_column(heading: str) -> set[str]:
    section = WEBHOOK.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `([^`]+)`", section, flags=re.MULTILINE))


def test_every_outcome_is_documented() -> None:
    assert first_column("Outcomes") == set(Outcome)


def test_every_setting_is_documented() -> None:
    source = (ROOT / "webhook_fn" / "config.py").read_text()
    read = set(re.findall(r'read\("([A-Z_]+)"', source))
    assert set(environment("")) <= read
    assert first_column("Settings") == read
    with pytest.raises(config.ConfigError):
        config.from_environment({})


def test_every_path_is_documented() -> None:
    for path, method in ROUTES.items():
        assert f"`{method} {path}`" in WEBHOOK


def test_every_trace_is_documented_with_its_parameters() -> None:
    rows = re.findall(r"^\| `/trace/(\w+)/\{\w+\}` \|[^|]*\|([^|]*)\|$", WEBHOOK, re.MULTILINE)
    told = {kind: tuple(re.findall(r"`(\w+)`", names)) for kind, names in rows}
    assert told == asking.PARAMETERS
    every = {name for names in asking.PARAMETERS.values() for name in names}
    assert every <= first_column("Trace")
    assert f"1 to {asking.MOST}; {tracer.USUAL} if left out" in WEBHOOK


def test_every_endpoint_of_the_simulators_is_documented() -> None:
    timeline = SteppedTime().timeline
    there = {
        f"{service.name}.{endpoint.name}"
        for service in (GitHub(timeline), Cluster(timeline))
        for endpoint in service.router.endpoints
    }
    section = SIMULATION.partition("## Endpoints\n")[2]
    assert set(re.findall(r"`((?:github|k8s)\.\w+)`", section)) == there


@pytest.mark.parametrize("kinds", [Kind, Mishap, Behaviour])
def test_every_way_to_go_wrong_is_documented(kinds: type[Kind | Mishap | Behaviour]) -> None:
    for kind in kinds:
        assert re.search(rf"^ *\| `{kind}` \|", SIMULATION, flags=re.MULTILINE), kind


def test_every_make_target_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))
    for document in DOCUMENTS:
        named = set(re.findall(r"`make ([a-z]+)", document.read_text()))
        assert named <= targets, document


def test_every_link_leads_somewhere() -> None:
    for document in DOCUMENTS:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / link).exists(), f"{document}: {link}"


def test_ci_runs_lint_and_the_readmes_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert "```\nmake test\n```" in (ROOT / "README.md").read_text()
    assert script.rstrip().endswith("make lint\nmake test")
