"""Whether anything leaked or was lost: what the world holds against what the database says.

Once everything has settled nothing may be left but what is kept on purpose: pods that ended stay
for inspection, with the Secret that each of them owns.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..sim.github.model import Status
from ..sim.timeline import LiveTime
from ..sim.world import World
from . import fleet
from .figures import Check

SHOWN = 3
TERMINAL_PHASES = ("Succeeded", "Failed")
OVER = ("completed", "failed")


@dataclass(frozen=True, slots=True)
class Held:
    """By the world."""

    pods: Mapping[str, bool]  # by name, whether it has ended
    secrets: Mapping[str, str | None]  # by name, its pod's
    runners: frozenset[str]  # registered at GitHub
    jobs: Mapping[int, str | None]  # of ours: GitHub's conclusion, None before its end


@dataclass(frozen=True, slots=True)
class Known:
    """By the database."""

    workers: Mapping[str, str]  # by pod, its status
    jobs: Mapping[int, tuple[str, str | None]]  # by number, status and conclusion


def look(world: World[LiveTime]) -> Held:
    ours = {pool.label for pool in fleet.POOLS}
    with world.time.timeline.lock:
        return Held(
            pods={
                pod["metadata"]["name"]: pod["status"]["phase"] in TERMINAL_PHASES
                for pod in world.cluster.pods()
            },
            secrets={
                secret["metadata"]["name"]: _owner(secret) for secret in world.cluster.secrets()
            },
            runners=frozenset(runner.name for runner in world.github.runners.all()),
            jobs={
                job.id: str(job.conclusion) if job.status is Status.COMPLETED else None
                for job in world.github.engine.jobs.values()
                if ours.intersection(job.spec.labels) and job.conclusion != "skipped"
            },
        )


def _owner(secret: Mapping[str, object]) -> str | None:
    metadata = secret["metadata"]
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    return owners[0]["name"] if owners else None


def unheard(held: Held, known: Known) -> frozenset[int]:
    """Jobs that wait, and that the database knows nothing of."""
    return frozenset(job for job, end in held.jobs.items() if end is None and job not in known.jobs)


def checks(held: Held, known: Known, missed: frozenset[int] = frozenset()) -> list[Check]:
    """`missed`: jobs that were never heard of while they waited. That they were cancelled in the
    end, and heard of then, is no merit of the system's."""
    active = {pod for pod, status in known.workers.items() if status not in OVER}
    left = sorted(name for name, ended in held.pods.items() if not ended and name not in active)
    foreign = sorted(name for name in held.pods if name not in known.workers)
    orphaned = sorted(name for name, pod in held.secrets.items() if pod not in held.pods)
    registered = sorted(held.runners - active)
    unknown = sorted(missed | {job for job in held.jobs if job not in known.jobs})
    open_jobs = sorted(job for job, conclusion in held.jobs.items() if conclusion is None)
    different = sorted(
        job
        for job, conclusion in held.jobs.items()
        if conclusion is not None
        and job in known.jobs
        and known.jobs[job] != ("completed", conclusion)
    )
    ended = sum(held.pods.values())
    return [
        _check(
            "pods",
            f"{ended} ended ones are kept for inspection",
            {"without a worker": foreign, "left running": left},
        ),
        _check("Secrets", f"{len(held.secrets)}, each of a pod", {"without a pod": orphaned}),
        _check(
            "registrations",
            f"{len(held.runners)} at GitHub",
            {"of runners that are over": registered},
        ),
        _check("workers", f"{len(known.workers)} are over", {"still active": sorted(active)}),
        _check(
            "jobs",
            f"all {len(held.jobs)} of GitHub's are here, with its conclusion",
            {"never heard of": unknown, "not over": open_jobs, "told otherwise": different},
        ),
    ]


def _check(name: str, well: str, faults: Mapping[str, list[str] | list[int]]) -> Check:
    found = [
        f"{len(each)} {what} ({', '.join(str(one) for one in each[:SHOWN])}"
        f"{', …' if len(each) > SHOWN else ''})"
        for what, each in faults.items()
        if each
    ]
    return Check(name, not found, "; ".join(found) or well)
