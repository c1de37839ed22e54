"""When the alerts fire and when they do not, by Prometheus' own tool.

Debian has it in its package `prometheus`; where it is not installed, test_monitoring.py still sees
that the expressions are right in themselves.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.charts.alert_cases import FIRES, HEALTHY, JOB, QUIET, RELEASES, Fires
from tests.charts.helm import NAMESPACE, RELEASE, Object, example, needs_helm

pytestmark = needs_helm

PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")

MINUTES = 60
Labels = dict[str, str]


def promtool(*arguments: str | Path) -> str:
    assert PROMTOOL is not None
    command = [PROMTOOL, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump(example("everything").one("PrometheusRule")["spec"]))
    return path


def listed() -> list[Object]:
    groups = example("everything").one("PrometheusRule")["spec"]["groups"]
    return [rule for group in groups for rule in group["rules"]]


def input_series(*texts: str) -> list[Object]:
    """Later ones win over earlier ones."""
    found: dict[str, str] = {}
    for line in filter(None, (each.strip() for text in texts for each in text.splitlines())):
        series, _, values = line.rpartition("} ")
        for release, matcher in RELEASES.items():
            series = series.replace(f"{{{release}", f"{{{matcher}")
        steady = " " not in values
        found[f"{series}}}"] = " ".join([values] * (MINUTES + 1)) if steady else values
    return [{"series": series, "values": values} for series, values in found.items()]


def fired(alert: str, **labels: str) -> Labels:
    """All labels of a series ALERTS, with those that the rule itself adds."""
    severity = next(rule["labels"]["severity"] for rule in listed() if rule["alert"] == alert)
    return {
        "alertname": alert,
        "alertstate": "firing",
        "environment": "prod",
        "namespace": NAMESPACE,
        "release": RELEASE,
        "severity": severity,
        **labels,
    }


def evaluate(rules: Path, series: str, expected: dict[int, list[Labels]]) -> None:
    """All that fires at a minute, if that happens to a controller that is healthy otherwise."""
    samples = {
        minute: [
            ",".join(f'{name}="{value}"' for name, value in labels.items()) for labels in firing
        ]
        for minute, firing in expected.items()
    }
    tests = [
        {
            "expr": 'ALERTS{alertstate="firing"}',
            "eval_time": f"{minute}m",
            "exp_samples": [{"labels": f"ALERTS{{{labels}}}", "value": 1} for labels in firing],
        }
        for minute, firing in samples.items()
    ]
    inputs = input_series(HEALTHY, series)
    test = {"interval": "1m", "input_series": inputs, "promql_expr_test": tests}
    document = {"rule_files": [str(rules)], "evaluation_interval": "1m", "tests": [test]}
    path = rules.with_name("test.yaml")
    path.write_text(yaml.safe_dump(document))
    promtool("test", "rules", path)


@needs_promtool
def test_rules_are_such_as_prometheus_takes(rules: Path) -> None:
    told = promtool("check", "rules", rules)
    assert f"{len(listed())} rules found" in told
    assert "duplicate" not in told


@needs_promtool
@pytest.mark.parametrize("case", FIRES.values(), ids=FIRES)
def test_alert_fires_when_it_is_due_and_not_before(rules: Path, case: Fires) -> None:
    before, due = case.minutes - 1, case.minutes
    evaluate(rules, case.series, {before: [], due: [fired(case.alert, **case.labels)]})


@needs_promtool
@pytest.mark.parametrize("series", QUIET.values(), ids=QUIET)
def test_nothing_fires_without_need(rules: Path, series: str) -> None:
    evaluate(rules, series, {minute: [] for minute in range(0, MINUTES + 1, 5)})


@needs_promtool
def test_controller_that_never_reached_its_database_is_told_of_urgently(rules: Path) -> None:
    series = """
        reconcile_listening{OURS} 0
        reconcile_last_success_age_seconds{OURS} _
        """
    urgent = fired("RunnersReconcilerStale", last_success="unknown", job=JOB)
    assert urgent["severity"] == "P1"
    evaluate(rules, series, {5: [fired("RunnersNotListening"), urgent]})


@needs_promtool
def test_killed_run_is_forgotten_in_time(rules: Path) -> None:
    evaluate(rules, 'reconcile_runs_total{OURS,outcome="killed"} 0 0 1x60', {20: []})


@needs_promtool
def test_texts_are_filled_in(rules: Path) -> None:
    case = FIRES["a queue that is too long"]
    [rule] = [each for each in listed() if each["alert"] == case.alert]
    texts = {
        name: text.replace("{{ $labels.runner_label }}", "riscv").replace(
            "{{ $value | humanizeDuration }}", "5m 1s"
        )
        for name, text in rule["annotations"].items()
    }
    assert "{{" not in str(texts)
    alert = {"exp_labels": {**rule["labels"], **case.labels}, "exp_annotations": texts}
    expected = {"eval_time": "10m", "alertname": case.alert, "exp_alerts": [alert]}
    test = {
        "interval": "1m",
        "input_series": input_series(case.series),
        "alert_rule_test": [expected],
    }
    path = rules.with_name("test.yaml")
    path.write_text(yaml.safe_dump({"rule_files": [str(rules)], "tests": [test]}))
    promtool("test", "rules", path)


def test_every_alert_is_tried() -> None:
    assert {case.alert for case in FIRES.values()} == {rule["alert"] for rule in listed()}
