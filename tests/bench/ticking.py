"""Runs in a world of another process, one after the other, and what each of them cost."""

import contextlib
import io
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reconcile import config, kube, run
from reconcile.clock import Deadline
from reconcile.run import RunReport
from reconcile.sim.github import Limits
from tests.bench import fill
from tests.bench.world_process import RunningWorld
from tests.database import Database

# One run that looks at everything there is, whatever it costs: so are hours of runs made up for.
WITHOUT_BUDGET = """
[github]
points_per_minute = 0
polling_requests_share = 1.0
reserve_share = 0.0
"""
WARM_UPS = 3
TICK = 15
MINUTE_IS_OVER = 75
MEMORY_OF_A_RUN = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "reconcile", "run"], stderr=subprocess.DEVNULL)
kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(done.returncode, kilobytes / (1024 if sys.platform == "linux" else 1024 * 1024))
"""


@dataclass(frozen=True)
class Tick:
    report: RunReport
    seconds: float
    own_seconds: float  # of this process alone: without the simulators' and the database's work
    requests: Counter[str]

    @property
    def kubernetes(self) -> int:
        return sum(count for name, count in self.requests.items() if name.startswith("k8s."))

    def github(self, *words: str) -> int:
        """Requests to GitHub, or only those with such words."""
        return sum(
            count
            for name, count in self.requests.items()
            if name.startswith("github.") and all(word in name for word in words)
        )


@dataclass(frozen=True)
class Ticking:
    """A world and the rows about it."""

    world: RunningWorld
    database: Database
    conninfo: str

    def tick(self, toml: str = "") -> Tick:
        settings = config.from_environment(self.world.settings(self.conninfo, toml))
        self.world.counts()
        started, cpu = time.perf_counter(), time.process_time()
        with contextlib.redirect_stderr(io.StringIO()):
            report = run.run(settings)
        seconds, own = time.perf_counter() - started, time.process_time() - cpu
        assert report.status == "completed", report.phases
        return Tick(report, seconds, own, self.world.counts())

    def listing(self) -> tuple[float, float]:
        """Just the pods and the nodes, with the same client: seconds, and this process's own."""
        settings = config.from_environment(self.world.settings(self.conninfo))
        started, cpu = time.perf_counter(), time.process_time()
        with kube.connect(
            settings.kubeconfig_text,
            None,
            settings.namespace,
            deadline=Deadline(60),
            request_timeout=20,
            parallel=16,
            sleep=time.sleep,
        ) as cluster:
            assert len(cluster.pods()) == self.world.spec.pods
            assert len(cluster.nodes()) == self.world.spec.nodes
        return time.perf_counter() - started, time.process_time() - cpu

    def megabytes(self) -> float:
        """At its peak, of the command in a process of its own. A small one starts it: what a
        forked process is said to have used begins with what its parent had."""
        done = subprocess.run(
            [sys.executable, "-c", MEMORY_OF_A_RUN],
            env={**os.environ, **self.world.settings(self.conninfo)},
            capture_output=True,
            text=True,
            check=True,
        )
        code, megabytes = done.stdout.split()
        assert code == "0", done
        return float(megabytes)

    def warm_up(self) -> tuple[int, int]:
        """To where nothing is new to anybody; the last run's statements, by its own count and by
        the server's."""
        for _ in range(WARM_UPS - 1):
            self._catch_up()
        with _server_log(self.database) as statements:
            last = self._catch_up()
            counted = statements()
        self.database.execute("UPDATE github_credentials SET recent = '[]'")
        fill.analyze(self.database)
        self.world.step(MINUTE_IS_OVER)
        self.world.limit(Limits())
        return last.report.statements, counted

    def _catch_up(self) -> Tick:
        self.database.execute("UPDATE github_credentials SET recent = '[]'")
        self.world.step(TICK)
        return self.tick(WITHOUT_BUDGET)


@contextlib.contextmanager
def _server_log(database: Database) -> Iterator[Callable[[], int]]:
    """How many statements the runs' login sent, by the server's own log."""
    place = "pg_read_file(current_setting('data_directory') || '/../log')"
    database.execute("ALTER ROLE prod_reconcile_login SET log_statement = 'all'")
    [before] = database.rows(f"SELECT length({place}) AS length")

    def count() -> int:
        [after] = database.rows(f"SELECT substr({place}, {before['length']} + 1) AS text")
        lines = after["text"].splitlines()
        return sum("LOG:  statement:" in line or "LOG:  execute " in line for line in lines)

    try:
        yield count
    finally:
        database.execute("ALTER ROLE prod_reconcile_login RESET log_statement")
