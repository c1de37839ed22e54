"""Usage: what is live, by account and labels."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from ..formats import counted, moment, search_address
from ..model import Group
from .rows import digest, job_row, worker_row

if TYPE_CHECKING:
    from ..model import Usage

FEW = 3  # groups that are all shown unfolded


def view(model: Mapping[str, Any]) -> dict[str, Any]:
    usage = cast("Usage", model)
    groups = usage["groups"]
    return {
        "section": "usage",
        "title": "Usage",
        "address": "/usage",
        "twin": "/usage.json",
        "pending": usage["pending"],
        "running": usage["running"],
        "workers": usage["workers"],
        "groups": [group_row(group) for group in groups],
        "more_groups": usage["more_groups"],
        "open": len(groups) <= FEW,
    }


def group_row(group: Group) -> dict[str, Any]:
    return {
        **group,
        "id": "g-" + digest("\0".join([group["entity"], *group["labels"]])),
        "address": search_address("jobs", entity=group["entity"]),
        "waits": [
            {"count": each["count"], **each["waiting"], "moment": moment(each["waiting"]["until"])}
            for each in group["waits"]
        ],
        "workers_words": workers_words(group["workers_running"], group["workers_pending"]),
        "jobs": [job_row(job) for job in group["jobs"]],
        "workers": [worker_row(worker) for worker in group["workers"]],
    }


def workers_words(running: int, starting: int) -> str:
    if not running and not starting:
        return "no worker"
    return counted(running + starting, "worker") + (f", {starting} starting" if starting else "")
