"""The controller's metrics as Prometheus reads them, and a busy fleet to show."""

import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from prometheus_client import Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from reconcile.controller.metrics import Metrics
from reconcile.controller.state import Observed
from reconcile.store.figures import (
    Concluded,
    EndedWorkers,
    Figures,
    Limit,
    LiveJobs,
    PoolBoards,
    Quantiles,
    Queued,
    Workers,
)

UBUNTU, LARGE = ["ubuntu-24.04-riscv"], ["large", "ubuntu-24.04-riscv"]
QUEUE = {"runner_label": "ubuntu-24.04-riscv"}
NOTHING = Figures(
    until=datetime(2026, 3, 2, 12, 0, tzinfo=UTC),
    live_jobs=[],
    queued=[],
    waits=[],
    durations=[],
    concluded=[],
    usual_duration={},
    boards=[],
    workers=[],
    ended_workers=[],
    backing_off=0,
    parked=0,
    limits=[],
    last_success_age=None,
)
BUSY = replace(
    NOTHING,
    live_jobs=[
        LiveJobs(UBUNTU, "rv1", pending=6, running=2, oldest_pending_seconds=90.0),
        LiveJobs(UBUNTU, "rv2", pending=0, running=1, oldest_pending_seconds=0.0),
        LiveJobs(LARGE, "rv1", pending=4, running=0, oldest_pending_seconds=30.0),
    ],
    queued=[Queued(UBUNTU, "riseproject", 3)],
    waits=[
        Quantiles(UBUNTU, None, 9, [1.0, 5.0, 9.0]),
        Quantiles(UBUNTU, "riseproject", 8, [2.0, 6.0, 8.0]),
    ],
    durations=[Quantiles(UBUNTU, "riseproject", 7, [60.0, 600.0, 900.0])],
    concluded=[Concluded(UBUNTU, "success", 5), Concluded(UBUNTU, "failure", 2)],
    usual_duration={"rv1": 300.0},
    boards=[PoolBoards("rv1", slots=5, usable=4, in_use=2)],
    workers=[Workers("rv1", "pending", 1), Workers("rv1", "running", 2)],
    ended_workers=[
        EndedWorkers("rv1", None, 7),
        EndedWorkers("rv1", "pod_failed", 2),
        EndedWorkers("rv1", "of another version", 1),
    ],
    backing_off=2,
    parked=1,
    limits=[Limit("11", 0.25, blocked=False), Limit("12", None, blocked=True)],
    last_success_age=4.0,
)

Labels = dict[str, str]


@dataclass
class Shown:
    """A process's metrics, and what it knows."""

    observed: Observed = field(default_factory=lambda: Observed(heard_at=0.0, listened_at=0.0))

    def __post_init__(self) -> None:
        self.metrics = Metrics(lambda: self.observed)

    def learn(self, figures: Figures, seconds_ago: float = 0.0) -> None:
        """And be asked, which has its traces."""
        at = time.monotonic() - seconds_ago
        self.metrics.learned(figures)
        self.observed = replace(self.observed, figures=figures, figures_at=at)
        self.families()

    def families(self) -> dict[str, Metric]:
        text = generate_latest(self.metrics.registry).decode()
        return {each.name: each for each in parse_text(text)}

    def openmetrics_families(self) -> dict[str, Metric]:
        text = openmetrics.generate_latest(self.metrics.registry).decode()  # type: ignore[no-untyped-call]
        return {each.name: each for each in parse_openmetrics(text)}  # type: ignore[no-untyped-call]

    def samples(self, name: str) -> list[tuple[Labels, float]]:
        return [
            (sample.labels, sample.value)
            for each in self.families().values()
            for sample in each.samples
            if sample.name == name
        ]

    def value(self, name: str, **labels: str) -> float | None:
        """None if it is not shown."""
        found = [value for of, value in self.samples(name) if of == labels]
        assert len(found) <= 1
        return found[0] if found else None
