"""The system's slugs in words: for people who do not run it as well as for those who do."""

from dataclasses import dataclass
from datetime import datetime

from .formats import counted
from .model import Reason, Waiting


@dataclass(frozen=True, slots=True)
class Meaning:
    words: str
    advice: str = ""


WORKER_REASONS = {
    "pod_failed": Meaning(
        "The pod ended with an error before its runner could do its work, or was evicted.",
        "Look at the container's exit code and the end of its log. If the image or the board is at "
        "fault, other pods fail on it too: compare the nodes of other failed workers.",
    ),
    "pod_stuck_pending": Meaning(
        "The pod did not start in time: no board took it, or its image could not be pulled.",
        "The events say which of the two. For FailedScheduling look at the pool's boards, for "
        "ErrImagePull at the image in the routes and at the way to its registry.",
    ),
    "runner_never_registered": Meaning(
        "The pod ran, but its runner did not come online at GitHub.",
        "Look at the end of the log: mostly the board cannot reach GitHub, its clock is wrong, or "
        "the runner in the image is too old for GitHub.",
    ),
    "runner_idle": Meaning(
        "The runner was online, but GitHub gave it no job.",
        "Usually its job was cancelled, and nothing is wrong. If jobs wait all the same, see "
        "whether the runner group is open to their repository.",
    ),
    "node_unreachable": Meaning(
        "The board was lost while the pod was on it: the cluster does not hear of it any more.",
        "Look after the board: power, network, kubelet. Jobs that it ran have to be started again "
        "by hand; those that wait get another board by themselves.",
    ),
    "pod_vanished": Meaning(
        "The pod is gone, and nobody told why.",
        "Somebody or something deleted it: look at the cluster's audit log, and at whatever else "
        "manages pods in the namespace.",
    ),
    "runner_hung": Meaning(
        "The job was over, but the pod did not end, and was stopped to free its board.",
        "Look at the end of the log: a process of the job may have been left behind. The job "
        "itself is not affected.",
    ),
    "provision_failed": Meaning(
        "The runner could not be made: GitHub or the cluster refused.",
        "The message has the answer. 403 from GitHub is a missing permission of the App, 403 from "
        "the cluster one of the service account; both are looked at by `reconcile check`.",
    ),
    "rate_limited": Meaning(
        "GitHub's rate limit was met while the runner was being made.",
        "Nothing to do: it is tried again as soon as GitHub allows.",
    ),
}

JOB_REASONS = {
    "job_gone": Meaning("GitHub does not know the job any more."),
    "installation_gone": Meaning("The GitHub App is not installed any more."),
    "stuck_queued": Meaning("The workflow run is over, but the job was never started."),
    "banned": Meaning("The account or whoever started the job is banned."),
    "demand_parked": Meaning(
        "Runners for these labels failed again and again; it is tried again later."
    ),
}

UNKNOWN = Meaning(
    "The reason is not known to this version of the site.", "Look at the run's log of that time."
)


def worker_reason(slug: str) -> Reason:
    meaning = WORKER_REASONS.get(slug, UNKNOWN)
    return {"slug": slug, "words": meaning.words, "advice": meaning.advice}


def job_reason(slug: str) -> str:
    return JOB_REASONS.get(slug, UNKNOWN).words


@dataclass(frozen=True, slots=True)
class Wait:
    """Why a demand gets no runner now, as the last plan saw it."""

    slug: str | None
    until: datetime | None = None
    failures: int | None = None  # in a row, of its runners
    reason: str | None = None  # of the last one


@dataclass(frozen=True, slots=True)
class Supply:
    """What the words need to know beside the wait itself."""

    pool: str
    slots: int | None  # None: no such pool is known in the cluster
    usable: int
    account: str
    account_workers: int


def waiting(wait: Wait, supply: Supply) -> Waiting:
    slug = wait.slug or "new"
    until = None if wait.until is None else stamp(wait.until)
    return {"reason": slug, "words": _waiting(slug, wait, supply), "until": until}


def _waiting(slug: str, wait: Wait, supply: Supply) -> str:
    match slug:
        case "runner":
            return "A runner is on its way for it."
        case "no_board":
            return _no_board(supply)
        case "cap_reached":
            runners = counted(supply.account_workers, "runner")
            return f"{supply.account} has {runners}, as many as it may have at once."
        case "backing_off" | "parked":
            return _backing_off(wait)
        case "rate_limited":
            return "GitHub's rate limit leaves no room to register a runner now."
        case "no_access":
            return (
                "GitHub gives the App no access to this account: it was suspended or uninstalled."
            )
        case "new":
            return "It has only just come: the next run looks at it."
        case _:
            return "What it waits for is not known to this version of the site."


def _no_board(supply: Supply) -> str:
    if supply.slots is None:
        return f"There is no board of the pool {supply.pool} in the cluster."
    if supply.usable == 0:
        return f"No board of {supply.pool} can take a job now: all are cordoned or not ready."
    if supply.usable == 1:
        return f"The only usable board of {supply.pool} is busy."
    return f"All {supply.usable} usable boards of {supply.pool} are busy."


def _backing_off(wait: Wait) -> str:
    times = f"{wait.failures} times in a row" if (wait.failures or 0) > 1 else "lately"
    why = f" ({wait.reason})" if wait.reason else ""
    if wait.until is None:
        return f"Its runners failed {times}{why}: one is tried before there are more."
    return f"Its runners failed {times}{why}: the next is tried later."


def stamp(moment: datetime) -> str:
    """Of a time in UTC, as the session has them all."""
    return moment.isoformat(timespec="seconds")[:19] + "Z"


def about(seconds: float) -> str:
    """`about 40 min`: an estimate, rounded as roughly as it is known."""
    if seconds < 90:
        return "about a minute"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min"
    if seconds < 172_800:
        return f"about {round(seconds / 3600)} h"
    return f"about {round(seconds / 86_400)} days"
