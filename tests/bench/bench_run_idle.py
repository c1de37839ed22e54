"""A run that has nothing to do: at size, at a tenth of it, and with ten times the history.

Ticks are 15 seconds of the world's time apart. Polling may use a part of GitHub's points in any
minute, spread over its four ticks: with a thousand workflow runs every tick looks at as many as
that allows.
"""

import contextlib
import statistics
from collections.abc import Iterator, Sequence

from psycopg.conninfo import conninfo_to_dict

from reconcile.settings import GitHubBudget
from tests.bench import fill
from tests.bench.figures import Figure, ratio
from tests.bench.ticking import MINUTE_IS_OVER, TICK, Tick, Ticking
from tests.bench.world import fresh_cluster
from tests.bench.world_process import RunningWorld, Spec, world_process
from tests.database import Cluster, Database

LARGE = Spec(nodes=500, runs=1_000, pods=2_000, queued_seconds=3600, github_at_once=True)
SMALL = Spec(nodes=50, runs=100, pods=200, queued_seconds=3600, github_at_once=True)
TICKS = 21
STATEMENTS = 31
KUBERNETES_REQUESTS = 10
TIMES_THE_LISTING = 3
MEGABYTES = 300
GROWTH = 10
HISTORY_COST = 1.15
BUDGET = GitHubBudget()
POLLS_A_MINUTE = int(BUDGET.points_per_minute * BUDGET.polling_points_share)

Seconds = tuple[float, float]  # in all, and of this process alone


def run() -> Iterator[Figure]:
    with (
        fresh_cluster() as cluster,
        world_process(LARGE) as large_world,
        world_process(SMALL) as small_world,
        cluster.new_database() as large_rows,
        cluster.new_database() as small_rows,
    ):
        large, counts = _made(large_world, large_rows)
        small, _ = _made(small_world, small_rows)
        with _with_history(cluster, large) as old:
            measured = Measured(large, small, old)
            yield from _idle(measured, counts)
            yield from _growth(measured)


def _made(world: RunningWorld, database: Database) -> tuple[Ticking, tuple[int, int]]:
    fill.fill(database, world)
    fill.analyze(database)
    ticking = Ticking(world, database, database.role_url("prod_reconcile"))
    return ticking, ticking.warm_up()


@contextlib.contextmanager
def _with_history(cluster: Cluster, ticking: Ticking) -> Iterator[Ticking]:
    """The same world and the same rows, among many that are over."""
    name = str(conninfo_to_dict(ticking.database.url)["dbname"])
    with cluster.new_database(template=name) as database:
        fill.add_history(database, ticking.world)
        yield Ticking(ticking.world, database, database.role_url("prod_reconcile"))


class Measured:
    """All ticks, taken in turn, so that noise meets all alike."""

    def __init__(self, large: Ticking, small: Ticking, old: Ticking) -> None:
        self.large: list[Tick] = []
        self.small: list[Tick] = []
        self.old: list[Tick] = []
        self.listings: list[Seconds] = []
        self.small_listings: list[Seconds] = []
        read_before = _rows_scanned(old.database)
        for number in range(TICKS):
            large.world.step(TICK)
            small.world.step(TICK)
            self.listings.append(large.listing())
            # Now one first, now the other: the second finds caches warm.
            turns = [(self.large, large), (self.old, old)]
            for ticks, ticking in turns if number % 2 else reversed(turns):
                ticks.append(ticking.tick())
            self.small.append(small.tick())
            self.small_listings.append(small.listing())
        for tick in (*self.large, *self.old, *self.small):
            totals = tick.report.totals
            changes = totals.jobs_updated, totals.workers_failed, totals.workers_provisioned
            assert changes == (0, 0, 0), "there is nothing to do"
        self.rows_scanned = _rows_scanned(old.database) - read_before
        large.world.step(MINUTE_IS_OVER)
        self.megabytes = large.megabytes()


def _idle(measured: Measured, counts: tuple[int, int]) -> Iterator[Figure]:
    ticks = measured.large
    # Of all the ticks, those that read the webhook logs as well among them.
    every = (*measured.large, *measured.old, *measured.small)
    yield at_most(
        "SQL statements, at most", max(tick.report.statements for tick in every), STATEMENTS
    )
    told, counted = counts
    yield Figure(
        "of a run, by its own count and by the server's",
        f"{told} and {counted}",
        "equal",
        told == counted,
    )
    yield at_most(
        "Kubernetes requests, at most", max(tick.kubernetes for tick in ticks), KUBERNETES_REQUESTS
    )
    yield from _github(ticks)
    listing = statistics.median(seconds for seconds, _ in measured.listings) * 1000
    tick = statistics.median(tick.seconds for tick in ticks) * 1000
    yield ratio("wall time of a tick against listing", tick, listing, TIMES_THE_LISTING)
    own = statistics.median(tick.own_seconds for tick in ticks) * 1000
    own_listing = statistics.median(own for _, own in measured.listings) * 1000
    yield Figure(
        "the same, this process's time alone",
        f"{own / own_listing:.2f}x ({own:.0f} ms)",
        f"of {own_listing:.0f} ms",
    )
    yield Figure(
        "peak memory of the command",
        f"{measured.megabytes:.0f} MB",
        f"under {MEGABYTES} MB",
        measured.megabytes < MEGABYTES,
    )


def _github(ticks: Sequence[Tick]) -> Iterator[Figure]:
    """The Apps' delivery logs, which know no ETags, are read every five minutes."""
    polls = [tick.github("github.list_run_jobs") for tick in ticks]
    minutes = [sum(polls[n : n + 4]) for n in range(len(polls))]
    yield at_most("GitHub requests for jobs in a minute, at most", max(minutes), POLLS_A_MINUTE)
    yield at_most("the same in a tick", max(polls), -(-POLLS_A_MINUTE // 4))
    conditional = sum(tick.github("conditional") for tick in ticks)
    others = sum(tick.github() - tick.github("list_deliveries") for tick in ticks) - conditional
    yield at_most("GitHub requests that were not conditional", others, 0)
    unchanged = sum(tick.github("304 conditional") for tick in ticks)
    yield at_most(
        "conditional ones that cost a request or were refused", conditional - unchanged, 0
    )


def _growth(measured: Measured) -> Iterator[Figure]:
    large, small, old = (
        statistics.median(tick.seconds for tick in ticks) * 1000
        for ticks in (measured.large, measured.small, measured.old)
    )
    yield ratio("a tick with ten times the jobs, workers and nodes", large, small, GROWTH)
    listing, small_listing = (
        statistics.median(seconds for seconds, _ in listings) * 1000
        for listings in (measured.listings, measured.small_listings)
    )
    yield Figure("listing alone, likewise", f"{listing / small_listing:.2f}x")
    for name, cost in (
        ("SQL statements", lambda tick: tick.report.statements),
        ("Kubernetes requests", lambda tick: tick.kubernetes),
    ):
        most = [max(map(cost, ticks)) for ticks in (measured.small, measured.large, measured.old)]
        yield Figure(f"{name}: small, ten times that, with history", ", ".join(map(str, most)))
    yield ratio("100,000 more ended jobs and 20,000 more workers", old, large, HISTORY_COST)
    # What a noisy machine hides: a plan that goes through all of a table.
    yield at_most("rows of jobs and workers read in full scans", measured.rows_scanned, 0)


def _rows_scanned(database: Database) -> int:
    """So far, since the database was made; a session tells of its own when it ends."""
    [row] = database.rows(
        "SELECT sum(seq_tup_read) AS rows FROM pg_stat_user_tables"
        " WHERE schemaname = 'prod' AND relname IN ('jobs', 'workers')"
    )
    return int(row["rows"])


def at_most(name: str, value: int, limit: int) -> Figure:
    return Figure(name, f"{value}", f"at most {limit}", value <= limit)
