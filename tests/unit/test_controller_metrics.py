"""What /metrics tells: every name there is, the controller's own counts, texts of all kinds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from prometheus_client import Metric

from reconcile.controller.fleet_metrics import OUTDATED_SECONDS
from reconcile.controller.metrics import OTHERS
from reconcile.controller.schedule import Cause
from reconcile.model import Reason
from reconcile.run_outcome import RunOutcome
from reconcile.store.figures import (
    MOST_SERIES,
    Concluded,
    EndedWorkers,
    Figures,
    Limit,
    LiveJobs,
    Quantiles,
    Queued,
)
from tests.unit.exposition import BUSY, LARGE, NOTHING, QUEUE, UBUNTU, Shown


@pytest.fixture
def shown() -> Shown:
    return Shown()


# Names -------------------------------------------------------------------------------------------

# Every metric there is, by what it is told apart by. Dashboards and alerts rely on all of them.
OWN = {
    "reconcile_runs": {"outcome"},
    "reconcile_wakes": {"cause"},
    "reconcile_run_seconds": {"le"},
    "reconcile_phase_seconds": {"phase", "le"},
    "reconcile_phase_failures": {"phase"},
    "reconcile_run_in_flight": set(),
    "reconcile_listening": set(),
    "reconcile_figures_age_seconds": set(),
    "reconcile_last_success_age_seconds": set(),
    "cicd_jobs_queued": {"tenant", "runner_label"},
}
FLEET = {
    "cicd_queue_depth": {"runner_label"},
    "cicd_jobs_running_gauge": {"runner_label"},
    "cicd_oldest_pending_seconds": {"runner_label"},
    "cicd_estimated_drain_time_seconds": {"runner_label"},
    "cicd_job_wait_time_seconds": {"tenant", "runner_label", "quantile"},
    "cicd_fleet_wait_time_seconds": {"runner_label", "quantile"},
    "cicd_job_duration_seconds": {"tenant", "runner_label", "quantile"},
    "cicd_jobs_completed_last_hour": {"runner_label", "conclusion"},
    "cicd_board_capacity": {"pool"},
    "cicd_boards_usable": {"pool"},
    "cicd_boards_in_use": {"pool"},
    "cicd_workers": {"pool", "status"},
    "cicd_worker_failures_last_hour": {"pool", "reason"},
    "cicd_workers_ended_last_hour": {"pool"},
    "cicd_demands_held": {"state"},
    "github_rate_limit_remaining_ratio": {"installation"},
    "github_installations_blocked": set(),
}
COUNTERS = {"reconcile_runs", "reconcile_wakes", "reconcile_phase_failures", "cicd_jobs_queued"}
HISTOGRAMS = {"reconcile_run_seconds", "reconcile_phase_seconds"}


def busy() -> Shown:
    shown = Shown()
    shown.metrics.run_began(Cause.NOTIFY)
    shown.metrics.run_ended(RunOutcome.PARTIAL, 0.3)
    shown.metrics.phase_ended("sync_jobs", 0.2, success=False)
    shown.learn(BUSY)
    return shown


def test_names_and_labels_are_those_that_others_rely_on() -> None:
    found = {
        name: {label for sample in each.samples for label in sample.labels}
        for name, each in busy().families().items()
    }
    assert found == OWN | FLEET


def test_types_are_what_they_are_used_as() -> None:
    for name, each in busy().families().items():
        expected = "counter" if name in COUNTERS else "gauge"
        assert each.type == ("histogram" if name in HISTOGRAMS else expected), name
        assert each.documentation, name
    samples = {s.name for each in busy().families().values() for s in each.samples}
    assert {f"{name}_total" for name in COUNTERS} <= samples
    assert not [name for name in samples if name.endswith("_created")]


def test_openmetrics_tells_the_same() -> None:
    shown = busy()
    found = shown.openmetrics_families()
    assert found.keys() == (OWN | FLEET).keys()
    [sample] = [s for s in found["cicd_jobs_queued"].samples if s.labels["tenant"] == "riseproject"]
    assert (sample.name, sample.value) == ("cicd_jobs_queued_total", 3)


# The controller ----------------------------------------------------------------------------------


def test_everything_that_can_happen_to_a_run_is_there_from_the_start(shown: Shown) -> None:
    """A series that appears with its first event has no increase to alert on."""
    assert shown.samples("reconcile_runs_total") == [({"outcome": one}, 0) for one in RunOutcome]
    assert shown.samples("reconcile_wakes_total") == [({"cause": one}, 0) for one in Cause]
    assert shown.value("reconcile_run_seconds_count") == 0


@pytest.mark.parametrize("outcome", RunOutcome)
def test_runs_are_counted_by_outcome_and_timed(shown: Shown, outcome: RunOutcome) -> None:
    for _ in range(2):
        shown.metrics.run_ended(outcome, 1.5)
    counts = {of["outcome"]: value for of, value in shown.samples("reconcile_runs_total")}
    assert {name for name, count in counts.items() if count} == {outcome}
    assert counts[outcome] == 2
    assert shown.value("reconcile_run_seconds_sum") == 3.0
    assert shown.value("reconcile_run_seconds_bucket", le="1.0") == 0
    assert shown.value("reconcile_run_seconds_bucket", le="2.0") == 2


@pytest.mark.parametrize("cause", Cause)
def test_wakes_are_counted_by_cause(shown: Shown, cause: Cause) -> None:
    shown.metrics.run_began(cause)
    counts = {of["cause"]: value for of, value in shown.samples("reconcile_wakes_total")}
    assert counts == {one: float(one is cause) for one in Cause}


def test_phases_are_timed_and_their_failures_counted(shown: Shown) -> None:
    for success in (True, False, False):
        shown.metrics.phase_ended("sync_jobs", 0.25, success=success)
    shown.metrics.phase_ended("demand_match", 3.0, success=True)
    assert shown.value("reconcile_phase_seconds_count", phase="sync_jobs") == 3
    assert shown.value("reconcile_phase_seconds_sum", phase="sync_jobs") == 0.75
    assert shown.value("reconcile_phase_seconds_sum", phase="demand_match") == 3.0
    assert shown.value("reconcile_phase_failures_total", phase="sync_jobs") == 2
    assert shown.value("reconcile_phase_failures_total", phase="demand_match") == 0


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("reconcile_run_in_flight", {"run_started_at": 1.0}),
        ("reconcile_listening", {"listening": True}),
    ],
)
def test_state_of_the_moment(shown: Shown, name: str, change: dict[str, Any]) -> None:
    assert shown.value(name) == 0
    shown.observed = replace(shown.observed, **change)
    assert shown.value(name) == 1


# An age grows between two looks, and a test may be slow: it is at least that, and not much more.
def is_age(found: float | None, seconds: float) -> bool:
    return found is not None and seconds <= found < seconds + 60


def test_age_of_the_last_success_grows_with_that_of_the_figures(shown: Shown) -> None:
    assert shown.value("reconcile_last_success_age_seconds") is None
    shown.learn(replace(NOTHING, last_success_age=1000.0), seconds_ago=300.0)
    assert is_age(shown.value("reconcile_figures_age_seconds"), 300)
    assert is_age(shown.value("reconcile_last_success_age_seconds"), 1300), "though it is outdated"


def test_age_of_a_success_that_never_was_is_not_shown(shown: Shown) -> None:
    shown.learn(NOTHING)
    assert is_age(shown.value("reconcile_figures_age_seconds"), 0)
    assert shown.value("reconcile_last_success_age_seconds") is None


# Figures of when ---------------------------------------------------------------------------------


def test_outdated_figures_are_not_shown(shown: Shown) -> None:
    shown.learn(BUSY, seconds_ago=OUTDATED_SECONDS + 1)
    assert shown.families().keys() == OWN.keys()


def test_figures_that_are_nearly_outdated_are_shown(shown: Shown) -> None:
    # Far enough from it for a machine that is slow.
    shown.learn(BUSY, seconds_ago=OUTDATED_SECONDS / 3)
    assert shown.value("cicd_queue_depth", **QUEUE) == 6


def test_before_the_first_figures_there_are_only_the_controllers_own(shown: Shown) -> None:
    absent = {"reconcile_figures_age_seconds", "reconcile_last_success_age_seconds"}
    assert shown.families().keys() == OWN.keys() - absent


# Jobs queued -------------------------------------------------------------------------------------


def queued(count: int, tenant: str = "riseproject", labels: list[str] = UBUNTU) -> Figures:
    return replace(NOTHING, queued=[Queued(labels, tenant, count)])


def total(shown: Shown, tenant: str, label: str = "ubuntu-24.04-riscv") -> float | None:
    return shown.value("cicd_jobs_queued_total", tenant=tenant, runner_label=label)


def test_jobs_queued_add_up_over_the_figures(shown: Shown) -> None:
    shown.learn(queued(3))
    shown.learn(NOTHING)
    shown.learn(queued(2))
    shown.learn(queued(5, labels=LARGE))
    shown.learn(queued(7, tenant="other-org"))
    assert total(shown, "riseproject") == 5
    assert total(shown, "riseproject", "large,ubuntu-24.04-riscv") == 5
    assert total(shown, "other-org") == 7


def test_jobs_queued_are_shown_also_when_the_figures_are_outdated(shown: Shown) -> None:
    shown.learn(queued(3), seconds_ago=OUTDATED_SECONDS + 1)
    assert total(shown, "riseproject") == 3


def test_tenant_that_was_there_lately_has_its_total_before_its_next_job(shown: Shown) -> None:
    """After a restart its first jobs would else be no increase."""
    shown.learn(replace(BUSY, queued=[]))
    assert shown.samples("cicd_jobs_queued_total") == [({"tenant": "riseproject", **QUEUE}, 0)]


def test_tenants_beyond_what_a_graph_can_show_are_counted_together(shown: Shown) -> None:
    many = [Queued(UBUNTU, f"org-{number}", 1) for number in range(MOST_SERIES)]
    shown.learn(replace(NOTHING, queued=many))
    shown.learn(queued(2, "late-org"))
    shown.learn(queued(3, "later-org"))
    shown.learn(queued(4, "later-org", LARGE))
    shown.learn(queued(5, "org-0"))
    assert len(shown.samples("cicd_jobs_queued_total")) == MOST_SERIES + 2
    assert total(shown, OTHERS) == 5
    assert total(shown, OTHERS, "large,ubuntu-24.04-riscv") == 4
    assert total(shown, "org-0") == 6, "who has a total keeps it"
    assert sum(count for _, count in shown.samples("cicd_jobs_queued_total")) == MOST_SERIES + 14


# Odd texts ---------------------------------------------------------------------------------------

ODD = ['"', "\\", "\n", "\r", '\\"', "\\n", "a\\", "{}", 'x="y",', "é☃\U0001f600", "", " ", "#"]

Reader = Callable[[Shown], dict[str, Metric]]


@pytest.mark.parametrize("read", [Shown.families, Shown.openmetrics_families])
@pytest.mark.parametrize("odd", ODD)
def test_odd_names_arrive_as_they_are(shown: Shown, odd: str, read: Reader) -> None:
    shown.learn(
        replace(
            NOTHING,
            live_jobs=[LiveJobs([odd], odd, 1, 0, 0.0)],
            queued=[Queued([odd], odd, 1)],
            waits=[Quantiles([odd], odd, 1, [1.0, 2.0, 3.0])],
            concluded=[Concluded([odd], odd, 1)],
            ended_workers=[EndedWorkers(odd, odd, 1)],
            limits=[Limit(odd, 0.5, blocked=False)],
        )
    )
    found = read(shown)
    for name, label in (
        ("cicd_queue_depth", "runner_label"),
        ("cicd_jobs_queued", "tenant"),
        ("cicd_job_wait_time_seconds", "tenant"),
        ("cicd_job_wait_time_seconds", "runner_label"),
        ("cicd_jobs_completed_last_hour", "conclusion"),
        ("cicd_board_capacity", "pool"),
        ("github_rate_limit_remaining_ratio", "installation"),
    ):
        assert {sample.labels[label] for sample in found[name].samples} == {odd}, name
    reasons = {s.labels["reason"] for s in found["cicd_worker_failures_last_hour"].samples}
    assert reasons == {odd, *Reason}
