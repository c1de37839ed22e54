"""docs/controller.md names what the controller shows and says, and nothing else."""

import re
from dataclasses import replace
from pathlib import Path

from prometheus_client import Metric

from reconcile.cli import _parser
from reconcile.controller.metrics import Metrics
from reconcile.controller.schedule import Cause
from reconcile.controller.state import STALE_INTERVALS, Observed
from reconcile.run_outcome import RunOutcome
from tests.unit.exposition import NOTHING
from tests.unit.test_docs_run import events, names, rows, section

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = (ROOT / "docs" / "controller.md").read_text()


def shown() -> dict[str, Metric]:
    """By the name under which it is shown."""
    observed = Observed(0, 0, figures=replace(NOTHING, last_success_age=0), figures_at=float("inf"))
    found = Metrics(lambda: observed).registry.collect()
    return {each.name + ("_total" if each.type == "counter" else ""): each for each in found}


def test_every_metric_is_documented() -> None:
    assert set(names(section("Metrics", DOCUMENT))) == set(shown())


def test_every_outcome_and_every_cause_is_documented() -> None:
    documented = dict(rows(section("Metrics", DOCUMENT)))
    for metric, values in (("reconcile_runs_total", RunOutcome), ("reconcile_wakes_total", Cause)):
        for value in values:
            assert f"`{value}`" in documented[metric], value


def test_every_event_of_the_log_is_documented() -> None:
    own = set(events("controller"))
    assert set(names(section("Log", DOCUMENT))) == own


def test_usage_is_the_parsers() -> None:
    [usage] = re.findall(r"^reconcile controller (.*)$", DOCUMENT, flags=re.MULTILINE)
    options = dict(re.findall(r"\[(--\w+) ([\w.]+)\]", usage))
    given = _parser().parse_args(["controller"])
    assert {"--" + name for name in vars(given)} - {"--command", "--json"} == set(options)
    assert (given.port, given.interval) == (int(options["--port"]), float(options["--interval"]))


def test_ready_tells_of_as_many_intervals_as_it_says() -> None:
    assert STALE_INTERVALS == 4
    assert "within the last four intervals" in DOCUMENT
