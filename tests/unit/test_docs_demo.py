"""docs/demo.md names every scenario, act and option that there is, and no other."""

import re

from reconcile.cli import _parser
from reconcile.demo import fleet
from reconcile.demo.acts import ACTS
from reconcile.demo.course import FINISHING_SECONDS
from reconcile.demo.scenarios import FLOOD_JOBS, SCENARIOS
from reconcile.demo.serving import TIME_HEADER
from tests.documents import ROOT

TEXT = (ROOT / "docs" / "demo.md").read_text()
SCRIPT = (ROOT / "static_site" / "assets" / "site.js").read_text()


def rows(heading: str) -> list[str]:
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| (`[^|]+`) \|", section, flags=re.MULTILINE)


def test_every_scenario_is_documented() -> None:
    assert [row.strip("`") for row in rows("Scenarios")] == list(SCENARIOS)


def test_every_act_is_documented_with_its_arguments() -> None:
    documented = [act for row in rows("Acts") for act in re.findall(r"`([^`]+)`", row)]
    there = [" ".join([act.name, *(f"[{each}]" for each in act.takes)]) for act in ACTS.values()]
    assert documented == there


def test_every_option_is_documented_and_no_other() -> None:
    usage = _usage()
    there = set(re.findall(r"--[a-z][a-z-]*", usage)) - {"--help"}
    text = re.sub(
        r"`reconcile demo plan[^`]+`|^reconcile demo trace.*$", "", TEXT, flags=re.MULTILINE
    )
    assert set(re.findall(r"--[a-z][a-z-]*", text)) == there


def _usage() -> str:
    demo = next(
        action.choices["demo"]
        for action in _parser(demo=True)._actions
        if isinstance(action.choices, dict)
    )
    return str(demo.format_usage())


def test_figures_are_those_of_the_code() -> None:
    boards = sum(pool.boards for pool in fleet.POOLS)
    assert f"{boards} boards in three pools, eight organizations and a personal account" in TEXT
    assert sum(tenant.organization for tenant in fleet.TENANTS) == 8
    assert len(fleet.POOLS) == 3
    assert f"asks for {FLOOD_JOBS} jobs at once" in TEXT
    assert FINISHING_SECONDS == 20  # "for twenty seconds"


def test_header_is_the_one_that_pages_know() -> None:
    assert f'headers.get("{TIME_HEADER}")' in SCRIPT
    assert f"`{TIME_HEADER}`" in TEXT
