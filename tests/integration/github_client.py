"""The real client on the simulated GitHub: an organization, a person, and the Apps of both."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from reconcile.clock import Deadline
from reconcile.github import App, Apps, Credential, GitHubClient
from reconcile.model import ORGANIZATION, USER, Scope
from reconcile.settings import GitHubBudget
from reconcile.sim.github import Limits
from reconcile.sim.github.service import limit_key
from tests.simulated import GROUP, LABEL, Simulated, private_key

TIMEOUT = 0.4  # seconds, where no answer comes


class Bench:
    """Clients are made by `client()`, one after the other like the runs of the control plane."""

    def __init__(self, world: Simulated, stack: ExitStack) -> None:
        self.world = world
        self._stack = stack
        accounts = world.github.accounts
        self.personal_app = world.add_app()
        self.person = accounts.add_user("ada")
        self.engine = accounts.add_repository(self.person, "engine")
        self.personal_installation = accounts.install(self.personal_app, self.person)
        self.apps = Apps(App(world.app.id, private_key()), App(self.personal_app.id, private_key()))
        organization = world.organization
        self.org = Scope(world.installation.id, organization.id, organization.login, ORGANIZATION)
        self.repo = Scope(
            self.personal_installation.id,
            self.person.id,
            self.person.login,
            USER,
            self.engine.full_name,
        )
        self.repository = world.public.full_name
        self.sleeps: list[float] = []
        world.time.step(5)

    def client(
        self, credentials: Iterable[Credential] = (), *, prefix: str = "", **changed: Any
    ) -> GitHubClient:
        options: dict[str, Any] = {
            "base_url": self.world.server.url + prefix,
            "apps": self.apps,
            "budget": GitHubBudget(),
            "clock": self.world.time.clock,
            "deadline": Deadline(60),
            "request_timeout": 20,
            "credentials": credentials,
            "sleep": self.sleeps.append,
            **changed,
        }
        made = GitHubClient(**options)
        self._stack.callback(made.close)
        return made

    def group(self, client: GitHubClient) -> int:
        return client.ensure_group(self.org, GROUP, allows_public_repositories=True)

    def register(self, count: int, prefix: str = "runner") -> None:
        """Straight into the simulated GitHub, in the organization's default group."""
        github = self.world.github
        group = github.runners.group(self.world.organization, 1)
        for number in range(count):
            github.runners.register(
                self.world.organization, group, f"{prefix}-{number:04}", [LABEL]
            )

    def counted(self, endpoint: str) -> int:
        return self.world.server.counts[f"github.{endpoint}"]

    def used(self) -> int:
        """Of the organization's hourly requests."""
        return self.world.github.limiter.used(limit_key(self.world.installation))


@contextmanager
def bench(limits: Limits | None = None) -> Iterator[Bench]:
    with Simulated(limits=limits).started() as world, ExitStack() as stack:
        yield Bench(world, stack)


def by_key(credentials: Iterable[Credential], kind: str) -> Credential:
    """The only one of that kind: `installation` or `app`."""
    [found] = [each for each in credentials if each.key.startswith(f"{kind}:")]
    return found


def chain(error: BaseException) -> Iterator[BaseException]:
    """It, what caused it, and what caused that."""
    below: BaseException | None = error
    while below is not None:
        yield below
        below = below.__cause__ or below.__context__
