"""PromQL of the chart, held against what the controller exposes."""

import functools
import re

import promql_parser as promql

from reconcile.controller.schedule import Cause
from reconcile.run_outcome import RunOutcome
from tests.unit.exposition import BUSY, Shown

# What Prometheus itself adds to all that it scrapes through a PodMonitor.
TARGET = {"job", "namespace", "pod", "container", "endpoint", "instance"}

Series = list[dict[str, str]]  # the labels of each


@functools.cache
def exposed() -> dict[str, Series]:
    """By name, all that /metrics tells once everything has happened that can."""
    shown = Shown()
    shown.learn(BUSY)
    for cause in Cause:
        shown.metrics.run_began(cause)
    for outcome in RunOutcome:
        shown.metrics.run_ended(outcome, 0.3)
    shown.metrics.phase_ended("sync_jobs", 0.1, success=False)
    found: dict[str, Series] = {}
    for family in shown.families().values():
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
    return found


def names(expression: str) -> set[str]:
    """Of the metrics in it."""
    found: set[str] = set()

    def visit(node: promql.Expr) -> None:
        if isinstance(node, promql.VectorSelector):
            found.add(node.name or "")

    promql.walk(promql.parse(expression), visit)
    return found


def result_labels(expression: str) -> set[str]:
    """The labels that a result has. Fails where an expression could never have a result: no such
    metric, no such label, no such value, two sides that cannot meet."""
    found = _labels(promql.parse(expression))
    assert found is not None, f"{expression} is a number"
    return found


def _labels(node: object) -> set[str] | None:
    """None of a number, which has none and goes with everything."""
    match node:
        case promql.NumberLiteral():
            return None
        case promql.ParenExpr():
            return _labels(node.expr)
        case promql.VectorSelector():
            return _selected(node)
        case promql.MatrixSelector():
            return _selected(node.vector_selector)
        case promql.AggregateExpr():
            return _aggregated(node)
        case promql.Call():
            return _called(node)
        case promql.BinaryExpr():
            return _combined(node)
        case _:
            raise AssertionError(f"{node}: teach this test what it means")


def _selected(selector: promql.VectorSelector) -> set[str]:
    series = exposed().get(selector.name or "")
    assert series, f"{selector.name}: there is no such metric"
    labels = {label for each in series for label in each} | TARGET
    for matcher in selector.matchers.matchers:
        assert matcher.name in labels, f"{selector}: there is no label {matcher.name}"
        if matcher.name not in TARGET:
            assert matcher.op in (promql.MatchOp.Equal, promql.MatchOp.Re), f"{selector}"
            values = {each[matcher.name] for each in series}
            wanted = matcher.value.split("|")  # all that our regular expressions are
            assert set(wanted) <= values, f"{selector}: there is no such {matcher.name}"
    return labels


def _aggregated(aggregate: promql.AggregateExpr) -> set[str]:
    inside = _labels(aggregate.expr) or set()
    if aggregate.modifier is None:
        return set()
    assert aggregate.modifier.type == promql.AggModifierType.By, f"{aggregate}"
    kept = set(aggregate.modifier.labels)
    assert kept <= inside, f"{aggregate}: there is no label {kept - inside}"
    return kept


def _called(call: promql.Call) -> set[str] | None:
    inside = [labels for each in call.args if (labels := _labels(each)) is not None]
    match call.func.name:
        case "rate" | "increase":
            return inside[0]
        case "absent":
            return set()
        case "histogram_quantile":
            assert "le" in inside[0], f"{call}: the buckets are gone"
            return inside[0] - {"le"}
        case name:
            raise AssertionError(f"{name}: teach this test what it means")


def _combined(binary: promql.BinaryExpr) -> set[str] | None:
    left, right = _labels(binary.lhs), _labels(binary.rhs)
    if left is None or right is None:
        return left if right is None else right
    if binary.modifier is not None and binary.modifier.matching is not None:
        on = set(binary.modifier.matching.labels)
        assert on <= left & right, f"{binary}: {on} is not on both sides"
    else:
        assert left == right, f"{binary}: {left} never meets {right}"
    return left


def templated(text: str) -> set[str]:
    """Labels that a text of an alert (`$labels.pool`) or a legend (`{{pool}}`) mentions."""
    return {a or b for a, b in re.findall(r"\$labels\.(\w+)|\{\{\s*(\w+)\s*\}\}", text)}
