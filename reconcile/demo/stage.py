"""Everything that plays a part, started in order and gone at the end: PostgreSQL with the schema,
the simulated GitHub and cluster, the real function, the real controller, and the site on a port."""

import contextlib
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from ..sim import postgres
from ..sim.clock import LiveClock
from ..sim.directories import Directories, temporary
from ..sim.timeline import LiveTime
from ..sim.world import World
from . import fleet
from .building import SCHEMA, Apps, apply_schema, build_accounts, build_cluster, make_apps
from .children import Child, DemoError
from .director import Director
from .scenarios import Scenario
from .serving import Address, served

INTERVAL = 15.0  # between two runs, in seconds of the world
SHORTEST_INTERVAL = 0.25  # of ours: a run takes about as long
FIRST_RUN_SECONDS = 60
# What a child may know of ours: not whose database, cluster or proxy this machine else speaks to.
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "VIRTUAL_ENV", "PYTHONPATH")


@dataclass(frozen=True, slots=True)
class Options:
    scenario: Scenario
    speed: float
    seed: int
    order: str
    keep: Path | None = None
    host: str = "127.0.0.1"
    port: int | None = None  # of the site; None is any, 8000 if it is free
    environ: Mapping[str, str] = field(default_factory=dict)  # ours


@dataclass
class Stage:
    options: Options
    directory: Path
    world: World[LiveTime]
    database: postgres.Server
    function: Child
    controller: Child
    director: Director
    site_url: str
    settings: Mapping[str, str]  # of who only asks the database
    chance: Random
    dead: list[str] = field(default_factory=list)  # boards, the first to die first
    cordoned: list[str] = field(default_factory=list)
    outages: dict[str, set[object]] = field(default_factory=dict)  # what is broken, by which rules
    come_back: threading.Event = field(default_factory=threading.Event)  # ends what is away
    # Taken while one of them is away on purpose.
    database_is_there: threading.Lock = field(default_factory=threading.Lock)
    controller_is_there: threading.Lock = field(default_factory=threading.Lock)

    @property
    def database_url(self) -> str:
        return self.database.url()

    def check(self) -> None:
        """Raises DemoError if one of those that should go on has ended."""
        self.function.check()
        self.controller.check()
        try:
            self.database.check()
        except postgres.PostgresError as error:
            raise DemoError(str(error)) from error


@contextlib.contextmanager
def started(options: Options) -> Iterator[Stage]:
    """Ready for its first push. Raises DemoError."""
    sys.stderr.write("Starting PostgreSQL, GitHub, the cluster, the function, the controller…\n")
    with contextlib.ExitStack() as stack:
        # First to be made, and last to go.
        directories = stack.enter_context(temporary())
        directory = _directory(options, directories)
        site = stack.enter_context(_listening(options, directory))
        try:
            database = stack.enter_context(postgres.running())
        except postgres.PostgresError as error:
            raise DemoError(str(error)) from error
        apply_schema(database)
        clock = LiveClock(options.speed)
        world = stack.enter_context(World(LiveTime(clock), seed=options.seed))
        apps = make_apps(world)
        common = {
            **{each: options.environ[each] for each in PASSED_ON if each in options.environ},
            "RUNNERS_ENV": SCHEMA,
            "RUNNERS_CLOCK": f"{clock.start.isoformat()},{clock.origin},{clock.speed}",
            "ROUTES_FILE": str(directory / "routes.toml"),
            **apps.ids,
        }
        lifeline = directories.lifeline
        function = stack.enter_context(_function(directory, lifeline, common, database, apps))
        apps.send_webhooks_to(function.wait_for(r"Listening on (http://\S+)"))
        build_cluster(world)
        repositories = build_accounts(world, apps)
        controller = stack.enter_context(
            _controller(options, directory, lifeline, common, database, apps, world)
        )
        _wait_for_the_site(directory / "site", controller)
        yield Stage(
            options=options,
            directory=directory,
            world=world,
            database=database,
            function=function,
            controller=controller,
            director=Director(world, repositories),
            site_url=site.serve(clock),
            settings={**common, "POSTGRES_URL": database.url(user="webhook")},
            chance=Random(options.seed),  # noqa: S311 a seed is to replay, as far as it can
        )


def _function(
    directory: Path, lifeline: int, common: dict[str, str], database: postgres.Server, apps: Apps
) -> Child:
    return Child(
        "function",
        ("-m", "reconcile.demo.function_process", "--port", "0"),
        {
            **common,
            "POSTGRES_URL": database.url(user="webhook"),
            "GHAPP_WEBHOOK_SECRET": apps.webhook_secret,
        },
        directory / "logs",
        lifeline=lifeline,
    )


def _controller(
    options: Options,
    directory: Path,
    lifeline: int,
    common: dict[str, str],
    database: postgres.Server,
    apps: Apps,
    world: World[LiveTime],
) -> Child:
    interval = f"{max(SHORTEST_INTERVAL, INTERVAL / options.speed):g}"
    where = ("--host", "127.0.0.1", "--port", "0")
    return Child(
        "controller",
        ("-m", "reconcile", "controller", *where, "--interval", interval),
        {
            **common,
            "POSTGRES_URL": database.url(user="reconcile"),
            "RUNNERS_CONFIG": str(directory / "runners.toml"),
            "GITHUB_API_URL": world.github_url,
            "GHAPP_ORG_PRIVATE_KEY": apps.private_key,
            "GHAPP_PERSONAL_PRIVATE_KEY": apps.private_key,
            "K8S_KUBECONFIG": world.kubeconfig,
            "SITE_URL": (directory / "site").as_uri(),
        },
        directory / "logs",
        lifeline=lifeline,
        pause_signal="KILL",  # A pause of the controller is a crash.
    )


def _directory(options: Options, directories: Directories) -> Path:
    """With the files that the settings name: edited while it runs, they count from the next run."""
    try:
        if options.keep is None:
            made = directories.make(Path(tempfile.gettempdir()), "riscv-runners-demo-")
        else:
            made = options.keep.absolute()
            made.mkdir(parents=True, exist_ok=True)
            if any(made.iterdir()):
                raise DemoError(f"{made} is not empty: --keep wants a new directory.")
        for name in ("logs", "site"):
            (made / name).mkdir()
        (made / "routes.toml").write_text(fleet.routes_file())
        (made / "runners.toml").write_text(fleet.runners_config(options.order))
    except OSError as error:
        raise DemoError(f"{error.filename} cannot be used: {error.strerror}.") from error
    return made


@contextlib.contextmanager
def _listening(options: Options, directory: Path) -> Iterator[Address]:
    where = options.host if options.port is None else f"{options.host}:{options.port}"
    try:
        address = served(directory / "site", options.host, options.port)
    except (OSError, UnicodeError) as error:  # UnicodeError: what is no name at all
        reason = getattr(error, "strerror", None) or error
        raise DemoError(
            f"The site cannot be served on {where}: {reason}. Name another with --host or --port."
        ) from error
    with address:
        yield address


def _wait_for_the_site(site: Path, controller: Child) -> None:
    """The first run publishes it."""
    deadline = time.monotonic() + FIRST_RUN_SECONDS
    while not (site / "index.html").exists():
        controller.check()
        if time.monotonic() > deadline:
            raise DemoError(f"There was no run within {FIRST_RUN_SECONDS} s: see {controller.log}")
        time.sleep(0.05)
