"""What a run would do, without doing it: in a session that can write nothing."""

from dataclasses import dataclass, field

from . import store
from .config import Config
from .model import Json
from .phases.context import OUTSIDE_ERRORS
from .phases.demand_match import Planned, make_plan
from .phases.outcome import Outcome
from .phases.retention import old_rows
from .phases.sync_workers.fleet import observe
from .policy.health import Fate
from .policy.plan import Plan
from .run import opened


@dataclass(slots=True)
class Forecast:
    """What is known now. Jobs are taken as the database has them: GitHub is asked only for the
    runners whose end depends on it."""

    workers: list[Json] = field(default_factory=list)
    planned: Planned = field(default_factory=lambda: Planned(Plan([], {})))
    remove: dict[str, int] = field(default_factory=dict)  # old rows, by what they are of
    problems: list[str] = field(default_factory=list)

    def document(self) -> Json:
        return {
            "workers": self.workers,
            "provision": [
                {
                    "job_id": job.job_id,
                    "entity": job.scope.entity_name,
                    "labels": list(job.key.labels),
                    "pool": job.pool,
                }
                for job in self.planned.plan.provision
            ],
            "waiting": {
                str(wait): count for wait, count in self.planned.waiting().items() if count
            },
            "pending_jobs": self.planned.pending,
            "remove": {what: count for what, count in self.remove.items() if count},
            "problems": self.problems,
        }

    def text(self) -> str:
        lines = [
            f"worker {each['worker']}: {each['fate']} {each['reason']} {each['message']}".rstrip()
            for each in self.workers
        ]
        lines += [
            f"job {job.job_id}: provision a runner ({', '.join(job.key.labels)}) on {job.pool} "
            f"for {job.scope.entity_name}"
            for job in self.planned.plan.provision
        ]
        waiting = self.planned.waiting()
        lines += [f"jobs that wait ({wait}): {count}" for wait, count in waiting.items() if count]
        lines += [f"old {what} to remove: {count}" for what, count in self.remove.items() if count]
        lines += [f"problem: {problem}" for problem in self.problems]
        return "\n".join(lines) or "Nothing to do."


def dry_run(config: Config) -> Forecast:
    forecast = Forecast()
    with opened(config, read_only=True) as (context, _):
        outcome = Outcome()
        fleet = observe(context, outcome)
        for worker in fleet.active.values():
            verdict = fleet.verdict(context, worker)
            if verdict.fate is not Fate.KEEP:
                forecast.workers.append(
                    {
                        "worker": worker.pod_name,
                        "fate": verdict.fate,
                        "reason": verdict.reason or "",
                        "message": verdict.message,
                    }
                )
        forecast.problems += outcome.problems
        try:
            planned = make_plan(context, store.demand.load_trouble(context.database))
        except OUTSIDE_ERRORS as error:
            forecast.problems.append(f"no plan can be made: {error}")
        else:
            forecast.planned = planned
        forecast.remove = old_rows(context).counts()
    return forecast
