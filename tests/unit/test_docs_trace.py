"""docs/trace.md names every finding and every way to ask, and nothing else."""

import re
from pathlib import Path

from reconcile import cli
from tests.unit.test_docs_run import names, section
from webhook_fn.trace.finding import Kind

DOCUMENT = (Path(__file__).parent.parent.parent / "docs" / "trace.md").read_text()


def test_every_finding_is_documented() -> None:
    assert set(names(section("Findings", DOCUMENT))) == set(Kind)


def test_every_option_of_the_command_is_documented() -> None:
    used = cli._parser().parse_args(["trace", "--job", "1"])
    options = set(vars(used)) - {"command"}
    assert set(re.findall(r"--([a-z]+)", section("The command", DOCUMENT))) == options
