"""What a bench reports: a figure, what it is measured against, and whether that holds."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    name: str
    value: str
    target: str = ""
    holds: bool | None = None  # None: told for information, nothing to hold

    def line(self) -> str:
        mark = {None: "     ", True: "ok   ", False: "MISS "}[self.holds]
        return f"  {mark}{self.name:<58}{self.value:>22}  {self.target}"


def ratio(name: str, value: float, baseline: float, at_most: float, unit: str = "ms") -> Figure:
    times = value / baseline
    return Figure(
        name,
        f"{times:.2f}x ({value:.2f} {unit})",
        f"at most {at_most:g}x of {baseline:.2f} {unit}",
        times <= at_most,
    )


def interleaved(rounds: int, *measured: Callable[[], float]) -> list[float]:
    """The median of each over rounds in which they take turns, so that noise meets all alike."""
    samples = [[measure() for measure in measured] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*samples, strict=True)]


def milliseconds(work: Callable[[], object], times: int = 1) -> float:
    started = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - started) / times * 1000
