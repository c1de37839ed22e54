"""Five hundred jobs onto five hundred free boards, against the best that sixteen threads can do."""

from collections.abc import Iterator

from reconcile.settings import RunLimits
from tests.bench import fill
from tests.bench.figures import Figure, ratio
from tests.bench.ticking import TICK, Tick, Ticking
from tests.bench.world import fresh_database
from tests.bench.world_process import Spec, world_process

BOARDS = 500
WORLD = Spec(nodes=BOARDS, runs=BOARDS // 10)
GITHUB_SECONDS = 0.150
KUBERNETES_SECONDS = 0.030
PARALLEL = RunLimits().provision_parallel
TIMES_THE_IDEAL = 1.3
TOML = """
default_max_workers = 1000
[github]
points_per_minute = 0
"""


def run() -> Iterator[Figure]:
    with fresh_database() as database, world_process(WORLD) as world:
        fill.fill(database, world)
        fill.analyze(database)
        world.delay("github.*", GITHUB_SECONDS)
        world.delay("k8s.*", KUBERNETES_SECONDS)
        world.step(TICK)
        tick = Ticking(world, database, database.role_url("prod_reconcile")).tick(TOML)
        made = tick.report.totals.workers_provisioned
        yield Figure("workers provisioned", f"{made}", f"{BOARDS}", made == BOARDS)
        [phase] = [each for each in tick.report.phases if each.phase == "demand_match"]
        yield ratio(
            f"500 boards, {PARALLEL} at once, against the ideal",
            phase.elapsed_seconds,
            ideal(tick),
            TIMES_THE_IDEAL,
            "s",
        )
        yield Figure("this process's own time, of the whole run", f"{tick.own_seconds:.2f} s")
        yield Figure("SQL statements of the run", f"{tick.report.statements}")


def ideal(tick: Tick) -> float:
    """What must come before is the group, found missing and made; the token is there since the
    jobs were looked at. Then each thread makes one runner after the other: registered, its pod
    created, its configuration handed over."""
    before = tick.github("runner_group") * GITHUB_SECONDS
    chain = GITHUB_SECONDS + 2 * KUBERNETES_SECONDS
    return before + BOARDS / PARALLEL * chain
