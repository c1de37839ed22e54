"""Alerts and scraping: the right thresholds, on metrics that there are, with a page for each."""

import re
from typing import Any

import jsonschema
import promql_parser
import pytest

from tests.charts.helm import (
    NAMESPACE,
    ROOT,
    Object,
    Rendered,
    example,
    needs_helm,
    render,
)
from tests.charts.queries import exposed, names, result_labels, templated

pytestmark = needs_helm

ALERTING = ["everything", "staging"]  # the values files that switch the alerts on

# Custom resources: of their fields, those that are used. https://prometheus-operator.dev/docs/api-reference/api/
UNITS = "".join(f"([0-9]+{unit})?" for unit in ("y", "w", "d", "h", "m", "s", "ms"))
DURATION = {"type": "string", "minLength": 2, "pattern": f"^{UNITS}$"}
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}


def closed(required: list[str], **properties: Any) -> Object:
    """A schema of an object that has these properties and no other."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


RULE = closed(
    ["alert", "expr", "for", "labels", "annotations"],
    alert={"type": "string", "pattern": "^Runners[A-Za-z]+$"},
    expr={"type": "string", "minLength": 1},
    labels=TEXTS,
    annotations=TEXTS,
    **{"for": DURATION},
)
GROUP = closed(["name", "rules"], name={"type": "string"}, rules={"type": "array", "items": RULE})
ENDPOINT = closed(
    ["port", "path", "interval", "scrapeTimeout"],
    port={"type": "string"},  # A number would be another field, `portNumber`.
    path={"type": "string", "pattern": "^/"},
    interval=DURATION,
    scrapeTimeout=DURATION,
)
SCHEMAS = {
    "PrometheusRule": closed(["groups"], groups={"type": "array", "items": GROUP}),
    "PodMonitor": closed(
        ["selector", "podMetricsEndpoints"],
        selector=closed(["matchLabels"], matchLabels=TEXTS),
        podMetricsEndpoints={"type": "array", "minItems": 1, "items": ENDPOINT},
    ),
}


@pytest.mark.parametrize("kind", SCHEMAS)
@pytest.mark.parametrize("name", ALERTING)
def test_custom_resource_has_the_shape_that_the_operator_wants(name: str, kind: str) -> None:
    for each in example(name).of(kind):
        assert each["apiVersion"] == "monitoring.coreos.com/v1"
        jsonschema.validate(each["spec"], SCHEMAS[kind])


def rules(rendered: Rendered) -> list[Object]:
    groups = rendered.one("PrometheusRule")["spec"]["groups"]
    return [rule for group in groups for rule in group["rules"]]


# What the seed asks for, and what this system needs besides.


def only(rendered: Rendered, alert: str) -> Object:
    return next(rule for rule in rules(rendered) if rule["alert"] == alert)


@pytest.mark.parametrize(
    ("alert", "metric", "threshold", "duration", "severity"),
    [
        ("QueueDrainSlow", "cicd_estimated_drain_time_seconds", "> 300 ", "10m", "P2"),
        ("JobWaitLong", "cicd_fleet_wait_time_seconds", "> 60 ", "5m", "P2"),
        ("WorkersFailing", "cicd_worker_failures_last_hour", "> 0.2 ", "15m", "P1"),
        ("ReconcilerStale", "reconcile_last_success_age_seconds", "> 300", "1m", "P1"),
        ("GitHubLimitNear", "github_rate_limit_remaining_ratio", "< 0.1", "5m", "P2"),
    ],
)
def test_alert_has_the_threshold_that_was_agreed(
    alert: str, metric: str, threshold: str, duration: str, severity: str
) -> None:
    rule = only(example("everything"), f"Runners{alert}")
    assert metric in names(rule["expr"])
    assert threshold in rule["expr"]
    assert (rule["for"], rule["labels"]["severity"]) == (duration, severity)


def test_wait_is_judged_by_its_99th_percentile() -> None:
    assert 'quantile="0.99"' in only(example("everything"), "RunnersJobWaitLong")["expr"]


@pytest.mark.parametrize("name", ALERTING)
def test_alert_is_about_metrics_that_there_are(name: str) -> None:
    for rule in rules(example(name)):
        labels = result_labels(rule["expr"]) | set(rule["labels"])
        texts = " ".join(rule["annotations"].values())
        assert templated(texts) <= labels, rule["alert"]


@pytest.mark.parametrize(
    "broken",
    [
        "max(cicd_queue_dept)",
        "sum by (pools) (cicd_workers)",
        'max(cicd_demands_held{state="park"})',
        "max by (pool) (cicd_board_capacity) - cicd_boards_usable",
        "sum by (pool) (cicd_workers) and on (status) cicd_workers",
        "histogram_quantile(0.5, sum(rate(reconcile_run_seconds_bucket[5m])))",
    ],
)
def test_expression_without_a_result_would_be_found(broken: str) -> None:
    with pytest.raises(AssertionError):
        result_labels(broken)


def test_expression_that_is_none_would_be_found() -> None:
    with pytest.raises(ValueError, match="unclosed"):
        promql_parser.parse("max by (pool (cicd_workers)")


def test_every_metric_is_there_with_all_its_parts() -> None:
    for ending in ("bucket", "sum", "count"):
        assert exposed()[f"reconcile_run_seconds_{ending}"]
    assert exposed()["cicd_jobs_queued_total"]


# Whose alerts they are.


def selectors(rendered: Rendered) -> set[str]:
    """What each metric in an alert is selected by, beside its own labels."""
    found = {each for rule in rules(rendered) for each in re.findall(r"\{(.*?)[,}]", rule["expr"])}
    assert all(rule["expr"].count("{") >= len(names(rule["expr"])) for rule in rules(rendered))
    return found


def test_alerts_are_about_this_release_alone() -> None:
    """The operator names a PodMonitor's job by its namespace and name."""
    rendered = example("everything")
    monitor = rendered.one("PodMonitor")["metadata"]
    assert selectors(rendered) == {f'job="{monitor["namespace"]}/{monitor["name"]}"'}
    assert selectors(example("staging")) == {'job="runners-staging"'}


@pytest.mark.parametrize("selector", ['job="a"', 'job="a", namespace=~"b|c"', 'a!="",b!~"c.*"'])
def test_any_selector_leaves_the_expressions_right(selector: str) -> None:
    values = {"alerts": {"enabled": True, "selector": selector}}
    for rule in rules(render("minimal", values=values)):
        promql_parser.parse(rule["expr"])


def test_alert_says_which_release_it_is_about() -> None:
    for rule in rules(example("staging")):
        labels = rule["labels"]
        assert labels["environment"] == "staging"
        assert labels["namespace"] == NAMESPACE
        assert labels["release"] == "rise"


def test_controller_is_scraped_at_its_port() -> None:
    rendered = example("everything")
    [endpoint] = rendered.one("PodMonitor")["spec"]["podMetricsEndpoints"]
    [port] = rendered.pods["controller"].container["ports"]
    assert (endpoint["port"], endpoint["path"]) == (port["name"], "/metrics")


def test_operators_find_them_by_the_labels_that_were_given() -> None:
    for kind in ("PodMonitor", "PrometheusRule"):
        assert example("everything").one(kind)["metadata"]["labels"]["release"] == "prometheus"


# Switching and changing them.


def test_alert_can_be_switched_off_and_changed() -> None:
    found = {rule["alert"]: rule for rule in rules(example("staging"))}
    assert "RunnersDemandParked" not in found
    assert "> 600" in only(example("staging"), "RunnersReconcilerStale")["expr"]


def test_every_alert_can_be_switched_off() -> None:
    """By a key that is named like it. One is left on, for a group must not be empty."""
    alerts = {rule["alert"] for rule in rules(example("everything"))}
    keys = {key[0].lower() + key[1:] for key in (alert.removeprefix("Runners") for alert in alerts)}
    off = {key: {"enabled": False} for key in keys - {"controllerDown"}}
    left = rules(render("everything", values={"alerts": {"rules": off}}))
    assert [rule["alert"] for rule in left] == ["RunnersControllerDown"]


@pytest.mark.parametrize(("threshold", "text"), [(1000000, "1000000"), (0.5, "0.5"), (0, "0")])
def test_threshold_is_written_as_a_number(threshold: float, text: str) -> None:
    given = {"reconcilerStale": {"threshold": threshold}}
    rendered = render("everything", values={"alerts": {"rules": given}})
    assert only(rendered, "RunnersReconcilerStale")["expr"].endswith(f" > {text}")


# What to do about them.


def test_alert_leads_to_its_page() -> None:
    for rule in rules(example("everything")):
        anchor = f"docs/operations.md#{rule['alert'].lower()}"
        assert rule["annotations"]["runbook"] == anchor
        assert (
            rule["annotations"]["runbook_url"] == f"https://git.example/runners/blob/main/{anchor}"
        )
    assert "runbook_url" not in rules(example("staging"))[0]["annotations"]


def test_every_alert_has_its_heading_in_the_operators_page() -> None:
    document = (ROOT / "docs" / "operations.md").read_text()
    headings = set(re.findall(r"^### (\w+)$", document, re.MULTILINE))
    assert {rule["alert"] for rule in rules(example("everything"))} <= headings
