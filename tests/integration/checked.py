"""What `reconcile check` is tried on: a world in which everything is as it should be."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reconcile import check
from reconcile.check import Check
from reconcile.config import from_environment
from reconcile.sim.timeline import SteppedTime
from reconcile.sim.world import World
from tests.database import Database
from tests.published_site import Bucket
from tests.simulated import private_key, public_key

NAMES = [
    "configuration",
    "database",
    "schema",
    "privileges",
    "organization App",
    "personal App",
    "cluster",
    "permissions",
    "boards",
    "routes",
    "site",
]
ROUTES = """
[[route]]
labels = ["a"]
pool = "scw-em-rv1"
image = "i"
[[route]]
labels = ["b"]
pool = "jupiter"
image = "i"
"""


@dataclass
class Checked:
    """Until a test breaks something."""

    world: World[SteppedTime]
    database: Database
    environ: dict[str, str]
    waited: list[float] = field(default_factory=list)

    def run(self, **changes: str) -> dict[str, Check]:
        checks = check.run_checks(from_environment(self.environ | changes), self.waited.append)
        assert [one.name for one in checks] == NAMES
        return {one.name: one for one in checks}

    def kubeconfig(self, token: str) -> str:
        return self.world.cluster.kubeconfig(self.world.cluster_server.url, token)


@contextlib.contextmanager
def checked(database: Database, bucket: Bucket, directory: Path) -> Iterator[Checked]:
    routes = directory / "routes.toml"
    routes.write_text(ROUTES)
    with World(SteppedTime()) as world:
        accounts = world.github.accounts
        accounts.add_app(public_key(), app_id=1001, slug="rise-runners")
        accounts.add_app(public_key(), app_id=1002, slug="rise-runners-personal")
        world.cluster.add_node("rv1-01", board="scw-em-rv1")
        world.cluster.add_node("rv1-02", board="scw-em-rv1", runners=2)
        world.time.step(60)
        environ = {
            "POSTGRES_URL": database.role_url("prod_reconcile"),
            "RUNNERS_ENV": "prod",
            "GITHUB_API_URL": world.github_url,
            "GHAPP_ORG_ID": "1001",
            "GHAPP_ORG_PRIVATE_KEY": private_key(),
            "GHAPP_PERSONAL_ID": "1002",
            "GHAPP_PERSONAL_PRIVATE_KEY": private_key(),
            "K8S_KUBECONFIG": world.kubeconfig,
            "ROUTES_FILE": str(routes),
            "RUNNERS_CLOCK": world.time.clock.now().isoformat(),
            "SITE_URL": f"s3://{bucket.name}/status/",
            "AWS_ENDPOINT_URL": bucket.endpoint,
        }
        yield Checked(world, database, environ)


def failed(checks: dict[str, Check]) -> set[str]:
    return {name for name, one in checks.items() if one.ok is False}


def skipped(checks: dict[str, Check]) -> set[str]:
    return {name for name, one in checks.items() if one.ok is None}
