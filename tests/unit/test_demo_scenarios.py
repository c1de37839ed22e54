"""The demo's fleet, load and scenarios: believable, valid, and the same for the same seed."""

import itertools
from collections import Counter
from pathlib import Path

import pytest

from reconcile import settings_file
from reconcile.demo import fleet, load
from reconcile.demo.acts import ACTS
from reconcile.demo.fleet import FLOODING, POOLS, TENANTS
from reconcile.demo.scenarios import FLOOD_JOBS, SCENARIOS
from reconcile.demo.spans import parse_span
from reconcile.settings import Scheduling
from reconcile.sim.github import workflow
from reconcile.sim.github.workflow import JobSpec
from webhook_fn import routes

HOUR = 3600.0
each_scenario = pytest.mark.parametrize("name", SCENARIOS)


def pushes(name: str, seed: int = 7, until: float = 2 * HOUR) -> list[load.Push]:
    stream = SCENARIOS[name].pushes(seed)
    return list(itertools.takewhile(lambda push: push.at < until, stream))


def jobs(found: list[load.Push]) -> list[JobSpec]:
    return [job for push in found for job in workflow.parse(push.workflow).jobs]


def test_there_is_every_scenario_that_the_documentation_names() -> None:
    assert list(SCENARIOS) == ["calm", "burst", "flood", "outage", "chaos"]


@each_scenario
def test_a_seed_replays(name: str) -> None:
    assert pushes(name, 7) == pushes(name, 7) != pushes(name, 8)
    first = [list(itertools.islice(SCENARIOS[name].incidents(7), 30)) for _ in range(2)]
    assert first[0] == first[1]


@each_scenario
def test_pushes_come_in_order_and_without_end(name: str) -> None:
    found = list(itertools.islice(SCENARIOS[name].pushes(3), 500))
    assert len(found) == 500
    assert found == sorted(found, key=lambda push: push.at)
    assert found[0].at >= 0


@each_scenario
def test_every_incident_is_an_act_that_there_is(name: str) -> None:
    found = list(itertools.islice(SCENARIOS[name].incidents(3), 100))
    assert [each.at for each in found] == sorted(each.at for each in found)
    for incident in found:
        assert len(incident.arguments) <= len(ACTS[incident.act].takes)
        assert all(parse_span(span) > 0 for span in incident.arguments)


def test_every_scenario_but_the_calm_one_and_the_flood_has_incidents() -> None:
    none = {name for name, each in SCENARIOS.items() if next(each.incidents(1), None) is None}
    assert none == {"calm", "flood"}


def test_every_job_has_a_route(tmp_path: Path) -> None:
    file = tmp_path / "routes.toml"
    file.write_text(fleet.routes_file())
    table = routes.load(file)
    for name in SCENARIOS:
        for job in jobs(pushes(name, until=HOUR)):
            assert table.find(job.labels, 1, "anybody", "any/repository"), job.labels


@pytest.mark.parametrize("order", list(Scheduling))
def test_settings_are_such_that_a_run_takes_them(order: str, tmp_path: Path) -> None:
    file = tmp_path / "runners.toml"
    file.write_text(fleet.runners_config(order))
    read = settings_file.load(str(file))
    assert read.scheduling == order
    assert read.runner_group.allows_public_repositories
    assert read.default_max_workers == 24


def test_there_is_every_kind_of_account_and_of_job() -> None:
    assert {tenant.organization for tenant in TENANTS} == {True, False}
    private = [each.private for tenant in TENANTS for each in tenant.repositories]
    assert True in private
    assert False in private
    assert {each.pool for tenant in TENANTS for each in tenant.repositories} == {
        pool.name for pool in POOLS
    }
    found = pushes("calm", until=8 * HOUR)
    assert {push.tenant for push in found} == {tenant.login for tenant in TENANTS}
    assert any(push.cancelled_after for push in found)
    specs = jobs(found)
    assert any(job.needs for job in specs)
    failing = sum(job.fails for job in specs) / len(specs)
    assert 0.02 < failing < 0.12
    assert max(Counter(push.workflow.count("of:") for push in found)) >= 9  # a matrix


def test_a_calm_day_leaves_boards_free_and_a_burst_does_not() -> None:
    def busy(name: str) -> float:
        """How many boards of the largest pool it would keep busy, on the average."""
        label = POOLS[0].label
        found = jobs(pushes(name, until=10 * HOUR))
        return sum(job.seconds for job in found if label in job.labels) / (10 * HOUR)

    assert 0.3 * POOLS[0].boards < busy("calm") < 0.8 * POOLS[0].boards
    assert busy("burst") > 0.75 * POOLS[0].boards


def test_a_flood_is_one_account_that_asks_for_so_many_at_once() -> None:
    calm = Counter(push.tenant for push in pushes("calm", until=HOUR))
    flooded = Counter(push.tenant for push in pushes("flood", until=HOUR))
    assert set(flooded - calm) == {FLOODING}
    [tenant] = [each for each in TENANTS if each.login == FLOODING]
    flood = load.flood(0, 1, tenant, FLOOD_JOBS)
    assert len(jobs(flood)) == FLOOD_JOBS
    assert flood[-1].at < 60
