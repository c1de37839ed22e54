"""Gauges in the shape that the metrics library wants them."""

from collections.abc import Sequence

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from ..store.figures import QUANTILES, Quantiles

LABEL = "runner_label"
Values = dict[tuple[str, ...], float]


def runner_label(labels: Sequence[str]) -> str:
    """A set of labels in one text."""
    return ",".join(labels)


def single(name: str, text: str, value: float) -> Metric:
    return family(name, text, (), {(): value})


def family(name: str, text: str, labels: tuple[str, ...], values: Values) -> Metric:
    made = GaugeMetricFamily(name, text, labels=labels)
    for key, value in values.items():
        made.add_metric([str(part) for part in key], float(value))
    return made


def quantiles(name: str, text: str, labels: tuple[str, ...], found: list[Quantiles]) -> Metric:
    values: Values = {}
    for each in found:
        of = (each.tenant,) if each.tenant is not None else ()
        for quantile, seconds in zip(QUANTILES, each.seconds, strict=True):
            values[*of, runner_label(each.labels), quantile] = seconds
    return family(name, text, labels, values)
