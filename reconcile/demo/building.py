"""What there is before anything happens: tables, boards, accounts with an App installed."""

import secrets
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..sim import postgres
from ..sim.github.model import App, Repository
from ..sim.timeline import LiveTime
from ..sim.world import World
from . import fleet, keys
from .children import DemoError

SCHEMA = "prod"
# Beside the package in a checkout, within it in a wheel.
SCHEMA_FILES = (
    Path(__file__).parents[2] / "schema.sql",
    Path(__file__).parents[1] / "schema.sql",
)


@dataclass(frozen=True, slots=True)
class Apps:
    """One for organizations, one for personal accounts; one key and one secret do for both."""

    organization: App
    personal: App
    private_key: str
    webhook_secret: str

    @property
    def ids(self) -> dict[str, str]:
        """As the settings name them."""
        return {
            "GHAPP_ORG_ID": str(self.organization.id),
            "GHAPP_PERSONAL_ID": str(self.personal.id),
        }

    def send_webhooks_to(self, url: str) -> None:
        for app in (self.organization, self.personal):
            app.webhook_url, app.webhook_secret = url, self.webhook_secret


def make_apps(world: World[LiveTime]) -> Apps:
    private_key = keys.private_key()
    public_key = keys.public_key(private_key)
    add = world.github.accounts.add_app
    return Apps(
        add(public_key, slug="riscv-runners"),
        add(public_key, slug="riscv-runners-personal"),
        private_key,
        secrets.token_hex(16),
    )


def apply_schema(server: postgres.Server) -> None:
    """As operators do it, with psql."""
    file = next((each for each in SCHEMA_FILES if each.is_file()), None)
    if file is None:
        raise DemoError("schema.sql is missing from this installation.")
    users = [
        f"CREATE USER {user} IN ROLE {SCHEMA}_{role}"
        for user, role in (("webhook", "webhook_fn"), ("reconcile", "reconcile"))
    ]
    for arguments in (("-v", f"schema={SCHEMA}", "-f", str(file)), ("-c", "; ".join(users))):
        command = [server.binaries / "psql", "--no-psqlrc", "--quiet", server.url(), *arguments]
        applied = subprocess.run(command, capture_output=True, text=True, check=False)
        if applied.returncode != 0:
            raise DemoError(f"The schema could not be applied: {applied.stderr.strip()}")


def build_cluster(world: World[LiveTime]) -> None:
    for pool in fleet.POOLS:
        for number in range(1, pool.boards + 1):
            world.cluster.add_node(pool.node(number), board=pool.name)


def build_accounts(world: World[LiveTime], apps: Apps) -> dict[tuple[str, str], Repository]:
    """The accounts with their repositories, each with the App for its kind installed."""
    accounts = world.github.accounts
    repositories = {}
    for tenant in fleet.TENANTS:
        add = accounts.add_organization if tenant.organization else accounts.add_user
        account = add(tenant.login)
        for each in tenant.repositories:
            repositories[tenant.login, each.name] = accounts.add_repository(
                account, each.name, private=each.private
            )
        accounts.install(apps.organization if tenant.organization else apps.personal, account)
    return repositories
