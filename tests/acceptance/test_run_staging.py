"""prod and staging in one database, one organization and one cluster: neither touches the other."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reconcile.sim.cluster import Behaviour
from reconcile.sim.faults import Faults
from reconcile.sim.server import Call, Server
from tests.acceptance.command import good_run
from tests.database import Database, Row
from tests.simulated import GROUP, SECRET, public_key
from tests.system import PREFIX, Function, System, system

STAGING_LABEL = "ubuntu-24.04-riscv-next"
STAGING_PREFIX = "rise-riscv-runner-staging-"
STAGING_GROUP = "RISE RISC-V Runners (staging)"
ROUTES = f"""
[[route]]
labels = ["{STAGING_LABEL}"]
pool = "scw-em-rv1"
image = "registry.example/ubuntu-24.04:next"
"""
HOUR = 3600


@dataclass
class Both:
    """prod as the System has it, and staging with Apps of its own on the same accounts."""

    s: System
    staging: dict[str, str]

    def choose(self, environment: str) -> None:
        """Whose run is the next."""
        self.s.environment = self.staging if environment == "staging" else {}

    def run(self, environment: str) -> list[Call]:
        """One run of that environment; what it wrote outside, but for tokens."""
        self.choose(environment)
        world = self.s.world
        servers = world.github_server, world.cluster_server
        before = [len(server.calls) for server in servers]
        self.s.good_run()
        made = [
            call
            for server, start in zip(servers, before, strict=True)
            for call in list(server.calls)[start:]
        ]
        return [
            call for call in made if call.method != "GET" and call.endpoint != "github.create_token"
        ]

    def workers(self, schema: str) -> list[Row]:
        query = "SELECT * FROM workers ORDER BY created_at, pod_name"
        return self.s.database.rows(query, schema=schema)

    def names(self, schema: str) -> list[str]:
        return [row["pod_name"] for row in self.workers(schema)]


@pytest.fixture
def both(database: Database, tmp_path: Path) -> Iterator[Both]:
    routes = tmp_path / "routes.toml"
    routes.write_text(ROUTES)
    with system(database) as s, contextlib.ExitStack() as stack:
        accounts, time = s.world.github.accounts, s.world.time
        org_app, personal_app = accounts.add_app(public_key()), accounts.add_app(public_key())
        apps = {"GHAPP_ORG_ID": str(org_app.id), "GHAPP_PERSONAL_ID": str(personal_app.id)}
        function = Function(
            {
                "POSTGRES_URL": database.role_url("staging_webhook_fn"),
                "RUNNERS_ENV": "staging",
                "GHAPP_WEBHOOK_SECRET": SECRET,
                "ROUTES_FILE": str(routes),
                **apps,
            },
            time.clock,
        )
        stack.enter_context(contextlib.closing(function.receiver.store))
        hooks = stack.enter_context(Server(function, time.timeline, Faults()))
        for app, account in ((org_app, s.organization), (personal_app, s.user)):
            app.webhook_url, app.webhook_secret = hooks.url + "/", SECRET
            accounts.install(app, account)
        time.step(5)
        reach = {"POSTGRES_URL": database.role_url("staging_reconcile"), "RUNNERS_ENV": "staging"}
        yield Both(s, {**reach, **apps})


def test_each_has_its_own_schema_names_and_group(both: Both) -> None:
    s = both.s
    s.boards(3)
    s.push()
    s.push(labels=(STAGING_LABEL,))
    s.push(s.personal, labels=(STAGING_LABEL,))
    s.world.time.step(60)
    for environment in ("staging", "prod"):
        both.choose(environment)
        good_run(s)
    [prod], staging = both.names("prod"), both.names("staging")
    assert prod.startswith(PREFIX)
    assert not prod.startswith(STAGING_PREFIX)
    assert len(staging) == 2
    assert all(name.startswith(STAGING_PREFIX) for name in staging)
    assert sorted([prod, *staging]) == s.pods() == s.runners()
    groups = {
        group.name: [runner.name for runner in s.world.github.runners.in_group(group)]
        for group in s.world.github.runners.groups_of(s.organization)
    }
    of_organization = [
        row["pod_name"] for row in both.workers("staging") if not row["repo_full_name"]
    ]
    assert groups == {"Default": [], GROUP: [prod], STAGING_GROUP: of_organization}
    for schema, count in (("prod", 1), ("staging", 2)):
        jobs = s.database.rows("SELECT * FROM jobs", schema=schema)
        assert len(jobs) == count
        assert len(s.database.rows("SELECT * FROM reconcile_runs", schema=schema)) == 1


@pytest.mark.parametrize("mine", ["prod", "staging"])
def test_what_the_other_leaves_behind_is_left_alone(both: Both, mine: str) -> None:
    """One's runners fail, come to their end and grow old; only the other's runs look at them."""
    s = both.s
    theirs = "staging" if mine == "prod" else "prod"
    labels = (STAGING_LABEL,) if theirs == "staging" else ("ubuntu-24.04-riscv",)
    s.boards(4)
    s.world.time.step(60)
    s.world.cluster.next_pod(Behaviour.NEVER_REGISTERS)
    s.push(labels=labels)
    s.push(s.personal, labels=labels, seconds=60)
    s.world.time.step(10)
    both.run(theirs)
    assert len(both.names(theirs)) == 2
    # A worker of mine in the same scopes: mine are listed, looked through, swept.
    s.push(labels=("ubuntu-24.04-riscv",) if mine == "prod" else (STAGING_LABEL,), seconds=60)
    s.world.time.step(10)
    written = both.run(mine)
    for hours in (0.1, 0.5, 7):
        s.world.time.step(hours * HOUR)
        written += both.run(mine)
    [my_name] = both.names(mine)
    assert my_name not in s.pods()
    assert set(both.names(theirs)) <= set(s.pods())
    assert {row["status"] for row in both.workers(theirs)} == {"pending"}
    assert written, "mine were made and deleted"
    for name in both.names(theirs):
        assert not [call for call in written if name in call.target]
    # And whoever they belong to ends them.
    both.run(theirs)
    assert {row["status"] for row in both.workers(theirs)} <= {"failed", "completed"}


def test_pods_of_the_other_take_up_boards(both: Both) -> None:
    s = both.s
    s.boards(1)
    s.world.time.step(60)
    s.push(labels=(STAGING_LABEL,))
    s.push()
    s.world.time.step(10)
    both.run("staging")
    both.run("prod")
    assert both.names("prod") == []
    assert len(s.pods()) == 1
