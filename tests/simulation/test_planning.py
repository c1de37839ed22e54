"""The planner against the whole system: the same load, job by job, in stepped time.

The system is the real function, real runs on a database, and the simulators behind HTTP; its runs
start when the controller's schedule says so. The planner has only the decisions in common with it.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from reconcile.controller.schedule import Cause, Schedule
from reconcile.demo.figures import Waits
from reconcile.demo.planning.engine import Planned, simulate
from reconcile.demo.planning.files import read
from reconcile.demo.planning.load import LoadJob
from reconcile.demo.planning.waits import waits_of
from reconcile.run_outcome import RunOutcome
from reconcile.settings import Scheduling, Settings
from reconcile.sim.github.deliveries import USUAL_SECONDS
from reconcile.sim.github.model import Repository, Run
from tests.database import Database
from tests.simulated import LABEL
from tests.system import BOARD, TICK, System, system

OTHER_BOARD, OTHER_LABEL = "jupiter", "ubuntu-24.04-riscv-rvv"
POOLS = {LABEL: BOARD, OTHER_LABEL: OTHER_BOARD}
ROUTES = "".join(
    f'[[route]]\nlabels = ["{label}"]\npool = "{pool}"\nimage = "registry.example/{label}:1"\n'
    for label, pool in POOLS.items()
)
BOARDS = {BOARD: 4, OTHER_BOARD: 1}
CAPS = {"flooding": 4}
SET_UP_AND_END = 2  # seconds of every simulated job, beside its steps
# A look of GitHub's for a runner serves all that changed since the one before: a job may be taken
# up to a second sooner than the planner thinks.
TOLERANCE = 1.0
FEW_SECONDS = 3.0


@dataclass(frozen=True)
class Push:
    second: float  # since the beginning
    tenant: str
    repository: str
    label: str
    jobs: int
    seconds: int  # of each


def pushes() -> list[Push]:
    """One tenant floods, another and a person with two repositories have a job now and then."""
    chance = random.Random(7)
    made = [
        Push(1.3, "flooding", "code", LABEL, 18, 140),
        Push(60.9, "flooding", "code", OTHER_LABEL, 3, 70),
    ]
    made += [
        Push(
            round(chance.uniform(0, 500), 3), tenant, name, label, chance.choice([1, 1, 2]), length
        )
        for tenant, name, label, count, length in (
            ("calm", "code", LABEL, 5, 60),
            ("calm", "code", OTHER_LABEL, 2, 90),
            ("octodog", "toys", LABEL, 3, 45),
            ("octodog", "tools", LABEL, 3, 80),
        )
        for _ in range(count)
    ]
    return sorted(made, key=lambda push: push.second)


# In the system -----------------------------------------------------------------------------------


@pytest.fixture
def s(database: Database, tmp_path: Path) -> Iterator[System]:
    routes = tmp_path / "routes.toml"
    routes.write_text(ROUTES)
    with system(database, routes_file=routes) as made:
        yield made


class Driver:
    """Starts the system's runs as the controller would."""

    def __init__(self, s: System) -> None:
        self._s = s
        self._origin = s.world.time.clock.now()
        self._schedule = Schedule(TICK, next_tick=TICK)

    def pass_to(self, second: float) -> None:
        """With every run that is due until then."""
        while self._schedule.next_at <= second:
            self._step_to(self._schedule.next_at)
            self._run()
        self._step_to(second)

    def hear_of_job(self) -> None:
        self._schedule.wake(Cause.NOTIFY)
        self._run()

    def _run(self) -> None:
        now = (self._s.world.time.clock.now() - self._origin).total_seconds()
        self._schedule.began(self._schedule.due(now) or Cause.TICK, now)
        self._s.good_run()
        self._schedule.ended(RunOutcome.COMPLETED, now)

    def _step_to(self, second: float) -> None:
        moment = self._origin + timedelta(seconds=second)
        now = self._s.world.time.clock.now()
        self._s.world.time.step(max(0.0, (moment - now).total_seconds()))


def repositories(s: System) -> dict[tuple[str, str], Repository]:
    return {
        ("flooding", "code"): s.tenant("flooding")[1],
        ("calm", "code"): s.tenant("calm")[1],
        ("octodog", "toys"): s.personal,
        ("octodog", "tools"): s.world.github.accounts.add_repository(s.user, "tools", private=True),
    }


def measured(s: System, load: Sequence[Push], order: Scheduling) -> list[float]:
    """The wait of each job, in the order in which they were pushed."""
    for board, count in BOARDS.items():
        s.boards(count, board)
    places = repositories(s)
    caps = {places[tenant, "code"].owner.id: cap for tenant, cap in CAPS.items()}
    s.toml = f'scheduling = "{order}"\n' + "".join(
        f"[entities.{entity_id}]\nmax_workers = {cap}\n" for entity_id, cap in caps.items()
    )
    driver = Driver(s)
    done: list[Run] = []
    happenings: list[tuple[float, Push | None]] = [
        *((push.second, push) for push in load),
        *((push.second + USUAL_SECONDS, None) for push in load),
    ]
    for second, push in sorted(happenings, key=lambda happening: happening[0]):
        driver.pass_to(second)
        if push is None:
            driver.hear_of_job()
        else:
            place = places[push.tenant, push.repository]
            labels = (push.label,)
            done.append(s.push(place, count=push.jobs, seconds=push.seconds, labels=labels))
    second = load[-1].second
    while any(job.completed_at is None for run in done for job in run.jobs):
        second += TICK
        driver.pass_to(second)
    started = [(job.created_at, job.started_at) for run in done for job in run.jobs]
    return [(at - since).total_seconds() for since, at in started if at is not None]


# In the planner ----------------------------------------------------------------------------------


def as_load(load: Sequence[Push], beginning: datetime) -> list[LoadJob]:
    return [
        LoadJob(
            entity=push.tenant,
            repository=f"octodog/{push.repository}" if push.tenant == "octodog" else None,
            labels=(push.label,),
            pool=POOLS[push.label],
            created_at=beginning + timedelta(seconds=push.second),
            seconds=push.seconds + SET_UP_AND_END,
        )
        for push in load
        for _ in range(push.jobs)
    ]


def planned(jobs: Sequence[LoadJob], order: Scheduling) -> Planned:
    return simulate(jobs, BOARDS, Settings(scheduling=order), caps=CAPS)


def figures(waits: Sequence[float | None]) -> Waits:
    found = waits_of(waits)
    assert found is not None
    return found


@pytest.mark.parametrize("order", Scheduling)
def test_planned_waits_are_those_of_the_whole_system(s: System, order: Scheduling) -> None:
    load, beginning = pushes(), s.world.time.clock.now()
    real = measured(s, load, order)
    waits = planned(as_load(load, beginning), order).waits
    assert waits == pytest.approx(real, abs=TOLERANCE)
    assert max(real) > 10 * 60, "else it is no flood, and nothing is shown"
    assert figures(waits).p50 == pytest.approx(figures(real).p50, abs=TOLERANCE)
    assert figures(waits).p99 == pytest.approx(figures(real).p99, abs=TOLERANCE)


def test_the_other_order_is_what_the_system_would_have_done(s: System, tmp_path: Path) -> None:
    """From the history that one order left on the site to the waits of the other: what the planner
    is for. The site has times in whole seconds."""
    load, beginning = pushes(), s.world.time.clock.now()
    real = measured(s, load, Scheduling.FIFO)
    s.environment["SITE_URL"] = f"file://{tmp_path}/site"
    s.good_run()
    loaded = read([tmp_path / "site"])
    assert (len(loaded.jobs), loaded.left_out, loaded.supposed) == (len(real), {}, 0)
    again = figures(planned(loaded.jobs, Scheduling.FIFO).waits)
    assert again.p50 == pytest.approx(figures(real).p50, abs=FEW_SECONDS)
    assert again.p99 == pytest.approx(figures(real).p99, abs=FEW_SECONDS)
    otherwise = figures(planned(loaded.jobs, Scheduling.FAIR).waits)
    exact = figures(planned(as_load(load, beginning), Scheduling.FAIR).waits)
    assert otherwise.p50 == pytest.approx(exact.p50, abs=FEW_SECONDS)
    assert otherwise.p99 == pytest.approx(exact.p99, abs=FEW_SECONDS)
