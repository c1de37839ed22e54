"""How a state is told: a word and a tone. A tone is a shape and a colour, never colour alone."""

from typing import NamedTuple

from ..formats import spoken
from ..pages.figures import outcome


class Pill(NamedTuple):
    tone: str  # a class of the style sheet
    word: str
    filter: str  # what the status filter of a list finds it by, one word or more


_JOBS = {
    "pending": Pill("wait", "waiting", "pending"),
    "running": Pill("run", "running", "running"),
    "failed": Pill("gone", "given up", "failed"),
    "completed": Pill("off", "completed", "completed"),
}
_CONCLUSIONS = {
    "success": Pill("ok", "succeeded", "completed success"),
    "failure": Pill("bad", "failed", "completed failure"),
    "cancelled": Pill("off", "cancelled", "completed cancelled"),
}
# What the overview counts it as is what it looks like.
_OUTCOMES = {"succeeded": "success", "failed": "failure", "cancelled": "cancelled"}

_WORKERS = {
    "pending": Pill("wait", "starting", "pending"),
    "running": Pill("run", "running", "running"),
    "completed": Pill("ok", "completed", "completed"),
    "failed": Pill("bad", "failed", "failed"),
}
_RUNS = {
    "running": Pill("run", "running", "running"),
    "completed": Pill("ok", "completed", "completed"),
    "partial": Pill("part", "partly failed", "partial"),
    "failed": Pill("bad", "failed", "failed"),
}

# What the status filter of each list offers: value and words.
CHOICES = {
    "jobs": [
        ("pending", "waiting"),
        ("running", "running"),
        ("success", "succeeded"),
        ("failure", "failed"),
        ("cancelled", "cancelled"),
        ("failed", "given up"),
        ("completed", "completed (any)"),
    ],
    "workers": [
        ("pending", "starting"),
        ("running", "running"),
        ("completed", "completed"),
        ("failed", "failed"),
    ],
    "runs": [
        ("running", "running"),
        ("completed", "completed"),
        ("partial", "partly failed"),
        ("failed", "failed"),
    ],
}


def of_job(status: str, conclusion: str | None) -> Pill:
    if status == "completed" and conclusion:
        return _CONCLUSIONS.get(conclusion) or _other_conclusion(conclusion)
    return _JOBS.get(status) or _unknown(status)


def of_worker(status: str) -> Pill:
    return _WORKERS.get(status) or _unknown(status)


def of_run(status: str) -> Pill:
    return _RUNS.get(status) or _unknown(status)


def _other_conclusion(conclusion: str) -> Pill:
    alike = _CONCLUSIONS[_OUTCOMES[outcome(conclusion)]]
    return alike._replace(word=spoken(conclusion))


def _unknown(status: str) -> Pill:
    return Pill("off", spoken(status), status)
