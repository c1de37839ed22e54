"""The fleet's figures, as metrics."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator

from prometheus_client import Metric
from prometheus_client.registry import Collector

from ..model import Reason, Status
from ..store.figures import Figures, drain_seconds
from .families import LABEL, Values, family, quantiles, runner_label, single
from .state import Observed

OUTDATED_SECONDS = 90.0  # figures that old are not shown any more: they were true once


class FleetCollector(Collector):
    """Of the fleet, as last read. What was once there is shown as 0, not left out: a queue that
    is empty is a figure, too."""

    def __init__(self, observed: Callable[[], Observed]) -> None:
        self._observed = observed
        self._seen: dict[str, set[tuple[str, ...]]] = {}  # by name of a metric, what it was of
        self._pools: set[str] = set()
        self._lock = threading.Lock()  # Who asks at the same time sees the same.

    def collect(self) -> Iterator[Metric]:
        observed = self._observed()
        figures = observed.figures
        if figures is None or time.monotonic() - observed.figures_at > OUTDATED_SECONDS:
            return
        with self._lock:
            shown = list(self._families(figures))
        yield from shown

    def _families(self, figures: Figures) -> Iterator[Metric]:
        for found in (figures.boards, figures.live_jobs, figures.workers, figures.ended_workers):
            self._pools |= {each.pool for each in found}
        yield from self._queue(figures)
        yield from self._times(figures)
        yield from self._boards(figures)
        yield from self._workers(figures)
        yield from _obstacles(figures)

    def _counted(
        self,
        name: str,
        text: str,
        labels: tuple[str, ...],
        values: Values,
        possible: Iterable[tuple[str, ...]] = (),
    ) -> Metric:
        """With 0 for what was there before, and for what could be."""
        seen = self._seen.setdefault(name, set())
        seen |= {*values, *possible}
        return family(name, text, labels, {key: values.get(key, 0) for key in sorted(seen)})

    def _queue(self, figures: Figures) -> Iterator[Metric]:
        pending: Values = {}
        running: Values = {}
        oldest: Values = {}
        for each in figures.live_jobs:
            of = (runner_label(each.labels),)
            pending[of] = pending.get(of, 0) + each.pending
            running[of] = running.get(of, 0) + each.running
            oldest[of] = max(oldest.get(of, 0), each.oldest_pending_seconds)
        for name, text, values in (
            ("cicd_queue_depth", "Jobs that wait for a runner.", pending),
            ("cicd_jobs_running_gauge", "Jobs that run.", running),
            ("cicd_oldest_pending_seconds", "How long the oldest job has waited.", oldest),
        ):
            yield self._counted(name, text, (LABEL,), values)
        empty = {of: 0.0 for of in self._seen["cicd_queue_depth"] if not pending.get(of)}
        known = {(runner_label(labels),): value for labels, value in drain_seconds(figures).items()}
        yield family(
            "cicd_estimated_drain_time_seconds",
            "When the last job that waits now would have begun: "
            "the pool's waiting jobs x usual seconds / boards.",
            (LABEL,),
            dict(sorted((empty | known).items())),
        )

    def _times(self, figures: Figures) -> Iterator[Metric]:
        tenants = [each for each in figures.waits if each.tenant is not None]
        everybody = [each for each in figures.waits if each.tenant is None]
        labels = ("tenant", LABEL, "quantile")
        yield quantiles(
            "cicd_job_wait_time_seconds",
            "From queued to running, of jobs that began in the last hour.",
            labels,
            tenants,
        )
        yield quantiles(
            "cicd_fleet_wait_time_seconds",
            "The same over all tenants.",
            (LABEL, "quantile"),
            everybody,
        )
        yield quantiles(
            "cicd_job_duration_seconds",
            "From running to completed, of jobs that ended in the last hour.",
            labels,
            figures.durations,
        )
        yield self._counted(
            "cicd_jobs_completed_last_hour",
            "Jobs that ended in the last hour, by GitHub's conclusion.",
            (LABEL, "conclusion"),
            {(runner_label(one.labels), one.conclusion): one.count for one in figures.concluded},
        )

    def _boards(self, figures: Figures) -> Iterator[Metric]:
        pools = [(pool,) for pool in self._pools]
        for name, text, of in (
            ("cicd_board_capacity", "Places for a runner, on all boards.", "slots"),
            ("cicd_boards_usable", "Places on boards that can take a pod now.", "usable"),
            ("cicd_boards_in_use", "Places that a pod has.", "in_use"),
        ):
            values: Values = {(each.pool,): getattr(each, of) for each in figures.boards}
            yield self._counted(name, text, ("pool",), values, pools)

    def _workers(self, figures: Figures) -> Iterator[Metric]:
        active: Values = {(each.pool, each.status): each.count for each in figures.workers}
        failed: Values = {}
        ended: Values = {}
        for each in figures.ended_workers:
            ended[each.pool,] = ended.get((each.pool,), 0) + each.count
            if each.reason is not None:
                failed[each.pool, each.reason] = each.count
        statuses = (Status.PENDING, Status.RUNNING)
        yield self._counted(
            "cicd_workers",
            "Runners that are active.",
            ("pool", "status"),
            active,
            [(pool, status) for pool in self._pools for status in statuses],
        )
        yield self._counted(
            "cicd_worker_failures_last_hour",
            "Runners that failed in the last hour, by reason.",
            ("pool", "reason"),
            failed,
            [(pool, reason) for pool in self._pools for reason in Reason],
        )
        yield self._counted(
            "cicd_workers_ended_last_hour",
            "Runners that ended in the last hour, well or not.",
            ("pool",),
            ended,
            [(pool,) for pool in self._pools],
        )


def _obstacles(figures: Figures) -> Iterator[Metric]:
    yield family(
        "cicd_demands_held",
        "Demands whose runners failed, and for which none is made at present.",
        ("state",),
        {("backing_off",): figures.backing_off, ("parked",): figures.parked},
    )
    yield family(
        "github_rate_limit_remaining_ratio",
        "What is left of an installation's requests of this hour, of 1.",
        ("installation",),
        {
            (each.installation,): each.remaining
            for each in figures.limits
            if each.remaining is not None
        },
    )
    yield single(
        "github_installations_blocked",
        "Installations that GitHub asked us not to call for now.",
        sum(each.blocked for each in figures.limits),
    )
