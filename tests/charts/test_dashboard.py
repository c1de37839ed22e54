"""Grafana's dashboard: that it can be loaded, and that every panel has something to show."""

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.charts.helm import CHART, Object, example, needs_helm
from tests.charts.queries import TARGET, exposed, names, result_labels, templated

DASHBOARD: Object = json.loads((CHART / "files" / "dashboard.json").read_text())
PANELS: list[Object] = DASHBOARD["panels"]
SHOWING = [panel for panel in PANELS if panel["type"] != "row"]
OF_THE_RELEASE = 'namespace="$namespace", job="$job"'


def expressions(panel: Object) -> list[str]:
    return [target["expr"] for target in panel["targets"]]


def readable(expression: str) -> str:
    """What Grafana would make of it: its own interval is no PromQL."""
    return expression.replace("$__rate_interval", "5m")


# Its shape.


def test_panels_are_told_apart_by_their_ids() -> None:
    ids = [panel["id"] for panel in PANELS]
    assert len(ids) == len(set(ids))
    titles = [panel["title"] for panel in PANELS]
    assert len(titles) == len(set(titles))


def cells(panel: Object) -> set[tuple[int, int]]:
    at = panel["gridPos"]
    assert at["x"] + at["w"] <= 24, f"{panel['title']} is too far to the right"
    columns, rows = range(at["x"], at["x"] + at["w"]), range(at["y"], at["y"] + at["h"])
    return set(itertools.product(columns, rows))


def test_panels_do_not_overlap() -> None:
    for one, other in itertools.combinations(PANELS, 2):
        assert not cells(one) & cells(other), f"{one['title']} and {other['title']}"


def test_panels_leave_no_line_empty() -> None:
    lines = {line for panel in PANELS for _, line in cells(panel)}
    assert lines == set(range(max(lines) + 1))


@pytest.mark.parametrize("panel", SHOWING, ids=lambda panel: panel["title"])
def test_panel_says_what_it_shows(panel: Object) -> None:
    assert panel["description"]
    assert panel["fieldConfig"]["defaults"]["unit"]
    refs = [target["refId"] for target in panel["targets"]]
    assert len(refs) == len(set(refs)) > 0


# Whose figures it shows.


def data_sources(part: Any) -> Iterator[Object]:
    if isinstance(part, dict):
        if "datasource" in part:
            yield part["datasource"]
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from data_sources(each)


def test_every_data_source_is_the_one_that_was_chosen() -> None:
    """The name of one at home here would be unknown elsewhere."""
    found = list(data_sources(DASHBOARD))
    assert len(found) > len(SHOWING)
    assert all(each == {"type": "prometheus", "uid": "${datasource}"} for each in found)


def test_release_is_chosen_by_its_namespace_and_job() -> None:
    variables = {each["name"]: each for each in DASHBOARD["templating"]["list"]}
    assert list(variables) == ["datasource", "namespace", "job"]
    assert variables["datasource"]["query"] == "prometheus"
    for name in ("namespace", "job"):
        query = variables[name]["query"]["query"]
        asked = re.fullmatch(r"label_values\((\w+)(\{.*\})?, (\w+)\)", query)
        assert asked is not None, query
        metric, matchers, label = asked.groups()
        assert metric in exposed()
        assert label == name
        assert label in TARGET
        assert variables[name]["definition"] == query
        assert not matchers or "$namespace" in matchers


@pytest.mark.parametrize("panel", SHOWING, ids=lambda panel: panel["title"])
def test_panel_shows_the_chosen_release_alone(panel: Object) -> None:
    for expression in expressions(panel):
        selected = re.findall(r"\w+\{([^}]*)\}", expression)
        assert len(selected) >= len(names(readable(expression)))
        assert all(each.startswith(OF_THE_RELEASE) for each in selected), expression


# What it shows.


@pytest.mark.parametrize("panel", SHOWING, ids=lambda panel: panel["title"])
def test_panel_is_about_metrics_that_there_are(panel: Object) -> None:
    for target in panel["targets"]:
        labels = result_labels(readable(target["expr"]))
        assert templated(target["legendFormat"]) == labels, "a line for each, and each with a name"


def families(metrics: set[str]) -> set[str]:
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in metrics}


def test_every_metric_of_the_controller_is_shown() -> None:
    told = [readable(each) for panel in SHOWING for each in expressions(panel)]
    left_out = families(set(exposed())) - families(set.union(*map(names, told)))
    assert left_out == {"reconcile_run_in_flight"}, "that one is of a moment between two scrapes"


@needs_helm
def test_dashboard_arrives_as_it_is() -> None:
    made = example("everything").one("ConfigMap", "-dashboard")
    [text] = made["data"].values()
    assert json.loads(text) == DASHBOARD
    assert made["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert made["metadata"]["annotations"] == {"grafana_folder": "Runners"}
    assert [file for file in made["data"] if file.endswith(".json")]
