"""From a committed job to its pod's creation, one at a time, and a burst that must not become one
of runs. Everything is a process of its own: the world, the database, the controller, each run."""

import contextlib
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from tests.bench import fill
from tests.bench.figures import Figure, milliseconds, ratio
from tests.bench.world import fresh_database
from tests.bench.world_process import RunningWorld, Spec, world_process
from tests.database import Database

SAMPLES = 100
COLD_RUNS = 5
ONE_BY_ONE = Spec(nodes=SAMPLES + 20, runs=SAMPLES + 20, jobs_a_run=1)
BURST_JOBS = 1_000
BURST = Spec(nodes=20, runs=10, jobs_a_run=BURST_JOBS // 10)
P50_MILLISECONDS = 150
P99_MILLISECONDS = 400
HANDFUL = 5
# The world's time stands still here: what a minute allows would be used up for good.
TOML = """
default_max_workers = 1000
[github]
points_per_minute = 0
"""


def run() -> Iterator[Figure]:
    yield from _latency()
    yield from _burst()


def _latency() -> Iterator[Figure]:
    with (
        fresh_database() as database,
        world_process(ONE_BY_ONE) as world,
        _controller(database, world),
    ):
        rng = random.Random(0)
        samples = [_sample(database, world, number, rng) for number in range(SAMPLES + 10)][10:]
        took = sorted(samples)
        p50, p99 = statistics.median(took), took[int(len(took) * 0.99) - 1]
        yield Figure(
            "from a committed job to its pod, p50",
            f"{p50:.0f} ms",
            f"under {P50_MILLISECONDS} ms",
            p50 < P50_MILLISECONDS,
        )
        yield Figure(
            f"the same, p99 of {len(took)}",
            f"{p99:.0f} ms",
            f"under {P99_MILLISECONDS} ms",
            p99 < P99_MILLISECONDS,
        )
        yield Figure("the same, best and worst", f"{took[0]:.0f} and {took[-1]:.0f} ms")
        yield Figure("of that, the phases of the run", f"{_usual_run(database):.0f} ms")
        settings = world.settings(database.role_url("prod_reconcile"), TOML)
        cold = [milliseconds(lambda: _cold_run(settings)) for _ in range(COLD_RUNS)]
        yield ratio("the same, to a run in a process of its own", p50, statistics.median(cold), 0.5)


def _cold_run(settings: dict[str, str]) -> None:
    """As the backstop does it; there is nothing left to do."""
    command = [sys.executable, "-m", "reconcile", "run"]
    subprocess.run(command, env=_environment(settings), stderr=subprocess.DEVNULL, check=True)


def _environment(settings: dict[str, str]) -> dict[str, str]:
    return {**os.environ, **settings, "PYTHONDONTWRITEBYTECODE": ""}


def _sample(database: Database, world: RunningWorld, number: int, rng: random.Random) -> float:
    time.sleep(rng.uniform(0.05, 0.15))  # The run before has ended, and no rhythm is met.
    before = len(world.pods_created())
    with database.connect() as connection:
        add = fill.adding(connection, world, [number])
        add()
        committed = time.monotonic()
    _wait(lambda: len(world.pods_created()) > before)
    runs = _runs(database)
    _wait(lambda: _ended(database) >= runs)
    return (world.pods_created()[before] - committed) * 1000


def _burst() -> Iterator[Figure]:
    with fresh_database() as database, world_process(BURST) as world, _controller(database, world):
        before = _runs(database)
        with database.connect() as connection:
            add = fill.adding(connection, world, range(BURST_JOBS))
            started = time.monotonic()
            for _ in range(BURST_JOBS):
                add()
            seconds = time.monotonic() - started
        _wait(lambda: len(world.pods_created()) == BURST.nodes)
        time.sleep(2)  # Nothing follows.
        _wait(lambda: _ended(database) == _runs(database))
        runs = _runs(database) - before
        yield Figure(
            f"runs after {BURST_JOBS} inserts within {seconds:.1f} s",
            f"{runs}",
            f"at most {HANDFUL}",
            runs <= HANDFUL,
        )


@contextlib.contextmanager
def _controller(database: Database, world: RunningWorld) -> Iterator[None]:
    """Running, and past its first run."""
    settings = world.settings(database.role_url("prod_reconcile"), TOML)
    process = subprocess.Popen(
        [sys.executable, "-m", "reconcile", "controller", "--host", "127.0.0.1", "--port", "0"],
        env=_environment(settings),
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(lambda: _ended(database) > 0)
        yield
    finally:
        process.terminate()
        assert process.wait(60) == 0, "the controller did not stop as it should"


def _runs(database: Database) -> int:
    [row] = database.rows("SELECT count(*) AS runs FROM reconcile_runs")
    return int(row["runs"])


def _ended(database: Database) -> int:
    [row] = database.rows("SELECT count(*) AS runs FROM reconcile_runs WHERE status <> 'running'")
    return int(row["runs"])


def _usual_run(database: Database) -> float:
    """By the phases' own record: what is not in it is the fork, connections and the way there."""
    rows = database.rows(
        "SELECT sum(elapsed_seconds) AS seconds FROM reconcile_phases GROUP BY run_id"
    )
    seconds: list[float] = [row["seconds"] for row in rows]
    return statistics.median(seconds) * 1000


def _wait(condition: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.02)
