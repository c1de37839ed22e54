"""What /metrics tells: the controller's own counts, and the fleet's figures from the database."""

import time
from collections.abc import Callable, Iterator, Sequence

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    Metric,
    disable_created_metrics,
)
from prometheus_client.registry import Collector

from ..run_outcome import RunOutcome
from ..store.figures import MOST_SERIES, Figures
from .families import LABEL, runner_label, single
from .fleet_metrics import FleetCollector
from .schedule import Cause
from .state import Observed

OTHERS = "(other)"  # no account has such a name
SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 40, 80, 160)


class Metrics:
    """Counts what the controller reports, and shows what was last read of the fleet."""

    def __init__(self, observed: Callable[[], Observed]) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._runs = self._counter("reconcile_runs", "Runs, by what became of them.", "outcome")
        self._wakes = self._counter("reconcile_wakes", "Runs, by what started them.", "cause")
        self._seconds = self._histogram("reconcile_run_seconds", "How long a run took.")
        self._phase_seconds = self._histogram(
            "reconcile_phase_seconds", "How long a phase of a run took.", "phase"
        )
        self._phase_failures = self._counter(
            "reconcile_phase_failures", "Phases that failed, in part or as a whole.", "phase"
        )
        self._queued = self._counter(
            "cicd_jobs_queued", "Jobs that came, since this process started.", "tenant", LABEL
        )
        self._queued_of: set[tuple[str, str]] = set()
        # All there can be from the start: what appears only with its first event has no rate.
        for outcome in RunOutcome:
            self._runs.labels(outcome)
        for cause in Cause:
            self._wakes.labels(cause)
        self.registry.register(_Own(observed))
        self.registry.register(FleetCollector(observed))

    def run_began(self, cause: Cause) -> None:
        self._wakes.labels(cause).inc()

    def run_ended(self, outcome: RunOutcome, seconds: float) -> None:
        self._runs.labels(outcome).inc()
        self._seconds.observe(seconds)

    def phase_ended(self, phase: str, seconds: float, *, success: bool) -> None:
        self._phase_seconds.labels(phase).observe(seconds)
        self._phase_failures.labels(phase).inc(not success)

    def learned(self, figures: Figures) -> None:
        # Who was there lately is shown with 0 before it has a new job: its first one, too, is then
        # an increase.
        for lately in figures.waits:
            if lately.tenant is not None:
                self._queued_by(lately.tenant, lately.labels)
        for each in figures.queued:
            self._queued_by(each.tenant, each.labels).inc(each.count)

    def _queued_by(self, tenant: str, labels: Sequence[str]) -> Counter:
        """What once counted stays, for a total must not shrink; so those that come when there are
        many already are counted together."""
        of = (tenant, runner_label(labels))
        if of not in self._queued_of and len(self._queued_of) >= MOST_SERIES:
            of = (OTHERS, runner_label(labels))
        else:
            self._queued_of.add(of)
        return self._queued.labels(*of)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, *labels: str) -> Histogram:
        return Histogram(name, text, labels, buckets=SECONDS, registry=self.registry)


class _Own(Collector):
    """Of the controller, at the moment of asking."""

    def __init__(self, observed: Callable[[], Observed]) -> None:
        self._observed = observed

    def collect(self) -> Iterator[Metric]:
        observed, now = self._observed(), time.monotonic()
        yield single(
            "reconcile_run_in_flight",
            "Whether a run is in flight.",
            observed.run_started_at is not None,
        )
        yield single(
            "reconcile_listening",
            "Whether the database is connected, to hear of new jobs.",
            observed.listening,
        )
        figures = observed.figures
        if figures is not None:
            age = now - observed.figures_at
            yield single("reconcile_figures_age_seconds", "Since the figures were read.", age)
            if figures.last_success_age is not None:
                yield single(
                    "reconcile_last_success_age_seconds",
                    "Since a run of this environment last ended with its work done, "
                    "at least in part, whoever started it; if none did, since the first began.",
                    figures.last_success_age + age,
                )
