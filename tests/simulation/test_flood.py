"""One account's flood, and what the others wait: the demo's accounts, with real runs in stepped
time, in either order."""

from datetime import timedelta
from functools import partial
from itertools import takewhile
from pathlib import Path

import pytest

from reconcile.demo import fleet
from reconcile.demo.comparing import SMALL
from reconcile.demo.load import Push
from reconcile.demo.planning.waits import percentile
from reconcile.demo.scenarios import SCENARIOS
from reconcile.sim.github import workflow
from reconcile.sim.github.model import Repository
from tests.database import Cluster, Database
from tests.system import TICK, System, system

SEED = 11
SPAN = 1500  # the flood comes after three minutes
pytestmark = pytest.mark.timeout(300)


def p99_of_small_accounts(database: Database, directory: Path, scenario: str, order: str) -> float:
    """Of everything that was queued, also what still waits in the end."""
    routes = directory / "routes.toml"
    routes.write_text(fleet.routes_file())
    with system(database, seed=SEED, routes_file=routes) as made:
        made.toml = fleet.runners_config(order)
        repositories = settle(made)
        begin = made.world.time.clock.now()
        for push in takewhile(lambda each: each.at < SPAN, SCENARIOS[scenario].pushes(SEED)):
            repository = repositories[push.tenant, push.repository]
            made.world.time.timeline.at(
                begin + timedelta(seconds=push.at), partial(begin_work, made, repository, push)
            )
        made.ticks(SPAN // TICK)
        now = made.world.time.clock.now()
        waits = sorted(
            ((job["started_at"] or now) - job["queued_at"]).total_seconds()
            for job in made.jobs()
            if job["entity_name"] in SMALL and (job["started_at"] or job["status"] == "pending")
        )
        assert len(waits) > 30
        return percentile(waits, 99)


def settle(made: System) -> dict[tuple[str, str], Repository]:
    """The demo's accounts and boards. One of the accounts is there already."""
    accounts = made.world.github.accounts
    repositories = {}
    for tenant in fleet.TENANTS:
        known = accounts.accounts.get(tenant.login)
        add = accounts.add_organization if tenant.organization else accounts.add_user
        account = known or add(tenant.login)
        for each in tenant.repositories:
            there = accounts.repositories.get(f"{tenant.login}/{each.name}")
            repositories[tenant.login, each.name] = there or accounts.add_repository(
                account, each.name, private=each.private
            )
        if known is None:
            of_its_kind = made.installation if tenant.organization else made.personal_installation
            accounts.install(of_its_kind.app, account)
    for pool in fleet.POOLS:
        for number in range(1, pool.boards + 1):
            made.world.cluster.add_node(pool.node(number), pool.name)
    made.world.time.step(5)
    return repositories


def begin_work(made: System, repository: Repository, push: Push) -> None:
    made.world.github.engine.push(repository, workflow.parse(push.workflow))


def test_fair_order_keeps_a_flood_from_the_others_and_fifo_does_not(
    cluster: Cluster, tmp_path: Path
) -> None:
    def p99(scenario: str, order: str) -> float:
        with cluster.new_database() as database:
            return p99_of_small_accounts(database, tmp_path, scenario, order)

    calm, fair, fifo = p99("calm", "fair"), p99("flood", "fair"), p99("flood", "fifo")
    assert fair < calm + 180
    assert fifo > 4 * fair
