"""The whole system in one process and in stepped time: a simulated world, a real database, the
real webhook function behind HTTP, and real runs."""

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reconcile import config, run
from reconcile.run import RunReport
from reconcile.sim.faults import Faults
from reconcile.sim.github import Limits, workflow
from reconcile.sim.github.model import Account, Installation, Repository, Run
from reconcile.sim.http import Endpoint, Request, Response, Router, encode
from reconcile.sim.server import Server
from reconcile.sim.timeline import SteppedTime
from reconcile.sim.world import World
from tests.database import Database, Row
from tests.simulated import LABEL, SECRET, private_key, public_key
from webhook_fn import app as function_app
from webhook_fn import config as function_config
from webhook_fn import http as function_http

BOARD = "scw-em-rv1"
TICK = 15
PREFIX = "rise-riscv-runner-"
TRACE_SECRET = "ask-and-it-shall-be-told"


class Function:
    """The webhook function as a service of the simulators' server."""

    name = "function"
    prefix = ""

    def __init__(self, settings: Mapping[str, str], clock: Any) -> None:
        read = function_config.from_environment(settings)
        self.receiver = function_app.make_receiver(read, clock.now)
        self.router = Router([Endpoint("deliver", "POST", "/", self._receive)])

    def respond(self, endpoint: Endpoint, request: Request) -> Response:
        return endpoint.handler(request)

    def no_such_path(self, request: Request) -> Response:
        return Response(404)

    def refusal(self, status: int, retry_after: int | None) -> Response:
        return Response(status)

    def _receive(self, request: Request) -> Response:
        answer = self.receiver.respond(
            function_http.Request("POST", "/", request.headers, lambda: request.body)
        )
        return Response(answer.status, encode(answer.body))


class System:
    """An organization and a personal account, each with its App, and as many boards as added."""

    def __init__(
        self,
        database: Database,
        seed: int = 0,
        limits: Limits | None = None,
        time: SteppedTime | None = None,
        routes_file: Path | None = None,
        staging_url: str | None = None,
    ) -> None:
        self.database = database
        self.routes = {"ROUTES_FILE": str(routes_file)} if routes_file else {}
        self.staging = {"STAGING_URL": staging_url} if staging_url else {}
        self.world = World(time or SteppedTime(), seed=seed, limits=limits)
        self.toml = ""
        self.environment: dict[str, str] = {}
        self.slept: list[float] = []

    @contextlib.contextmanager
    def started(self) -> Iterator["System"]:
        accounts, time = self.world.github.accounts, self.world.time
        org_app, personal_app = accounts.add_app(public_key()), accounts.add_app(public_key())
        self.app_ids = org_app.id, personal_app.id
        self.function = Function(
            {
                "POSTGRES_URL": self.database.role_url("prod_webhook_fn"),
                "RUNNERS_ENV": "prod",
                "GHAPP_WEBHOOK_SECRET": SECRET,
                "GHAPP_ORG_ID": str(org_app.id),
                "GHAPP_PERSONAL_ID": str(personal_app.id),
                "TRACE_API_SECRET": TRACE_SECRET,
                **self.routes,
                **self.staging,
            },
            time.clock,
        )
        self.hooks = Server(self.function, time.timeline, Faults())
        with self.world, self.hooks, contextlib.closing(self.function.receiver.store):
            for app in (org_app, personal_app):
                app.webhook_url, app.webhook_secret = self.hooks.url + "/", SECRET
            self.organization = accounts.add_organization("riseproject")
            self.repository = accounts.add_repository(self.organization, "firmware", private=True)
            self.user = accounts.add_user("octodog")
            self.personal = accounts.add_repository(self.user, "toys", private=True)
            self.installation = accounts.install(org_app, self.organization)
            self.personal_installation = accounts.install(personal_app, self.user)
            time.step(5)
            yield self

    # What a test does ------------------------------------------------------------------------

    def boards(self, count: int, board: str = BOARD) -> None:
        first = len(self.world.cluster.nodes())
        for number in range(first, first + count):
            self.world.cluster.add_node(f"{board}-{number:03}", board)

    def push(
        self,
        repository: Repository | None = None,
        *,
        count: int = 1,
        seconds: int = 300,
        labels: tuple[str, ...] = (LABEL,),
    ) -> Run:
        plan = workflow.uniform(labels, seconds=seconds, count=count)
        return self.world.github.engine.push(repository or self.repository, plan)

    def tenant(self, login: str) -> tuple[Account, Repository, Installation]:
        """One more organization."""
        accounts = self.world.github.accounts
        account = accounts.add_organization(login)
        repository = accounts.add_repository(account, "code", private=True)
        app = self.installation.app
        return account, repository, accounts.install(app, account)

    def settings(self) -> dict[str, str]:
        """The environment of a run."""
        return {
            "POSTGRES_URL": self.database.role_url("prod_reconcile"),
            "RUNNERS_ENV": "prod",
            "GITHUB_API_URL": self.world.github_url,
            "GHAPP_ORG_ID": str(self.app_ids[0]),
            "GHAPP_ORG_PRIVATE_KEY": private_key(),
            "GHAPP_PERSONAL_ID": str(self.app_ids[1]),
            "GHAPP_PERSONAL_PRIVATE_KEY": private_key(),
            "K8S_KUBECONFIG": self.world.kubeconfig,
            "RUNNERS_CLOCK": self.world.time.clock.now().isoformat(),
            **({"RUNNERS_CONFIG": "\n" + self.toml} if self.toml else {}),
            **self.environment,
        }

    def config(self) -> config.Config:
        return dataclasses.replace(
            config.from_environment(self.settings()), clock=self.world.time.clock
        )

    def run(self) -> RunReport:
        """One run, now; waits between retries take no time."""
        return run.run(self.config(), sleep=self.slept.append)

    def good_run(self) -> RunReport:
        report = self.run()
        assert report.status == "completed", report.phases
        return report

    def ticks(self, count: int, *, good: bool = True) -> None:
        """Let time pass, with a run every 15 seconds."""
        for _ in range(count):
            self.world.time.step(TICK)
            if good:
                self.good_run()
            else:
                self.run()

    # What a test looks at --------------------------------------------------------------------

    def jobs(self) -> list[Row]:
        return self.database.rows("SELECT * FROM jobs ORDER BY created_at, job_id")

    def workers(self) -> list[Row]:
        return self.database.rows("SELECT * FROM workers ORDER BY created_at, pod_name")

    def statuses(self) -> tuple[list[str], list[str]]:
        return [row["status"] for row in self.jobs()], [row["status"] for row in self.workers()]

    def reasons(self) -> list[str]:
        return [row["failure_info"]["reason"] for row in self.workers() if row["failure_info"]]

    def pods(self) -> list[str]:
        return sorted(pod["metadata"]["name"] for pod in self.world.cluster.pods())

    def runners(self) -> list[str]:
        return sorted(runner.name for runner in self.world.github.runners.all())

    def calls(self, endpoint: str) -> int:
        server, _, name = endpoint.partition(".")
        counts = self.world.github_server if server == "github" else self.world.cluster_server
        return counts.counts[f"{server}.{name}"]


@contextlib.contextmanager
def system(database: Database, **options: Any) -> Iterator[System]:
    with System(database, **options).started() as made:
        yield made


def command_environment(made: System) -> dict[str, str]:
    """For a run in a process of its own."""
    return {**os.environ, **made.settings()}
