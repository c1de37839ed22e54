"""An hour of runs while webhooks get lost: what GitHub is asked, and how late the rows are."""

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from reconcile.sim.github.deliveries import Mishap, MishapRule
from reconcile.sim.github.model import Job, Status
from reconcile.sim.github.service import limit_key
from tests.bench.figures import Figure
from tests.bench.world import fresh_database
from tests.system import TICK, System, system

BOARDS = 20
ACTIVE_JOBS = 1_000
JOBS_A_RUN = 10
JOB_SECONDS = 300
TICKS = 240
REQUESTS_AN_HOUR = 1_000
POINTS_A_MINUTE = 900 // 2
FOUND_WITHIN = 300
# How far a job is, for rows and for GitHub's own jobs.
STAGES = {"pending": 0, "running": 1, "completed": 2, "failed": 2}
REMOTE_STAGES = {Status.QUEUED: 0, Status.IN_PROGRESS: 1, Status.COMPLETED: 2}


@dataclass
class Lateness:
    """For each change of a job at GitHub, when its row followed. A run looks every 15 seconds, and
    so does this: what a webhook brought is never late by more than that."""

    system: System
    changed: dict[tuple[int, int], datetime] = field(default_factory=dict)
    behind: dict[tuple[int, int], datetime] = field(default_factory=dict)  # seen before the run
    took: list[float] = field(default_factory=list)  # of those that a webhook did not bring
    by_webhook: int = 0

    def before_run(self) -> None:
        """What the webhooks of the last quarter of a minute did not bring."""
        stages = self._stages()
        for job in self.system.world.github.engine.jobs.values():
            for stage, at in _changes(job):
                key = job.id, stage
                if key in self.changed:
                    continue
                self.changed[key] = at
                if stages.get(job.id, -1) >= stage:
                    self.by_webhook += 1
                else:
                    self.behind[key] = at

    def after_run(self) -> None:
        stages, now = self._stages(), self.system.world.time.clock.now()
        for (job_id, stage), at in list(self.behind.items()):
            if stages.get(job_id, -1) >= stage:
                self.took.append((now - at).total_seconds())
                del self.behind[job_id, stage]

    def worst(self) -> float:
        now = self.system.world.time.clock.now()
        return max(
            [*self.took, *((now - at).total_seconds() for at in self.behind.values())], default=0
        )

    def _stages(self) -> dict[int, int]:
        rows = self.system.database.rows("SELECT job_id, status::text FROM jobs")
        return {row["job_id"]: STAGES[row["status"]] for row in rows}


def _changes(job: Job) -> Iterator[tuple[int, datetime]]:
    if job.started_at is not None:
        yield 1, job.started_at
    if job.completed_at is not None:
        yield 2, job.completed_at


def run() -> Iterator[Figure]:
    with fresh_database() as database, system(database) as made:
        lateness = Lateness(made)
        made.boards(BOARDS)
        # The run logs to one of these, the webhook function to the other.
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            _top_up(made)
            made.world.time.step(TICK)
            _lose_webhooks(made)
            charged = _an_hour(made, lateness)
        yield from _figures(made, lateness, charged)


def _lose_webhooks(made: System) -> None:
    """The news of one job in five, without a trace. A job that GitHub never told of at all has no
    row that could be late."""
    for event in ("workflow_job.in_progress", "workflow_job.completed"):
        made.world.github.deliveries.misbehave(MishapRule(Mishap.DROP, event, probability=0.2))


def _an_hour(made: System, lateness: Lateness) -> int:
    """Runs every 15 seconds, and the requests that GitHub charged for them."""
    limiter = made.world.github.limiter
    key = limit_key(made.installation)
    charged = before = limiter.used(key)
    assert before == 0, "nobody has asked GitHub for anything yet"
    for _ in range(TICKS):
        _top_up(made)
        made.world.time.step(TICK)
        lateness.before_run()
        made.good_run()
        lateness.after_run()
        used = limiter.used(key)
        charged += used - before if used >= before else used  # Its own hour began anew.
        before = used
    return charged


def _top_up(made: System) -> None:
    """So many jobs are active all the time: a new run for every ten that are over."""
    jobs = made.world.github.engine.jobs.values()
    active = sum(job.status is not Status.COMPLETED for job in jobs)
    for _ in range(active, ACTIVE_JOBS, JOBS_A_RUN):
        made.push(count=JOBS_A_RUN, seconds=JOB_SECONDS)


def _figures(made: System, lateness: Lateness, charged: int) -> Iterator[Figure]:
    ended = sum(job.status is Status.COMPLETED for job in made.world.github.engine.jobs.values())
    yield Figure("jobs that ended in the hour, of 1,000 active at a time", f"{ended}")
    yield Figure(
        "requests charged of the primary limit",
        f"{charged}",
        f"under {REQUESTS_AN_HOUR}",
        charged < REQUESTS_AN_HOUR,
    )
    asked = made.world.github_server.counts
    yield Figure(
        "listings of jobs, and looks at whole runs, free ones included",
        f"{asked['github.list_run_jobs']} and {asked['github.get_run']}",
    )
    most = made.world.github.limiter.most_points_a_minute
    yield Figure(
        "most points in a minute", f"{most}", f"under {POINTS_A_MINUTE}", most < POINTS_A_MINUTE
    )
    lost = len(lateness.took) + len(lateness.behind)
    yield Figure("changes told by webhooks, and lost", f"{lateness.by_webhook} and {lost}")
    worst = lateness.worst()
    yield Figure(
        "the latest that a lost change was found",
        f"{worst:.0f} s",
        f"within {FOUND_WITHIN} s",
        bool(lost) and worst <= FOUND_WITHIN,
    )
