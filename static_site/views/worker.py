"""A failed worker: why, what to do about it, and all that was left to see."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from ..formats import moment, worker_address
from .rows import worker_row

if TYPE_CHECKING:
    from ..model import FailedWorker

# What terminals draw colours with; nothing else of a log is left out.
_ESCAPES = r"\x1b\[[0-9;?]*[ -/]*[@-~]"


def view(model: Mapping[str, Any]) -> dict[str, Any]:
    failed = cast("FailedWorker", model)
    worker = failed["worker"]
    name = worker["name"]
    return {
        "section": "workers",
        "title": name,
        "address": worker_address(name),
        "twin": f"{worker_address(name)}.json",
        "row": worker_row(worker),
        "repository": worker["repository"],
        "message": worker["message"],
        "times": [
            (label, time, moment(time))
            for label, time in (
                ("Created", worker["created_at"]),
                ("Running", worker["running_at"]),
                ("Ended", worker["completed_at"]),
            )
            if time
        ],
        "image": failed["image"],
        "reason": failed["reason"],
        "pod": failed["pod"],
        "conditions": [{**each, "moment": moment(each["at"])} for each in failed["conditions"]],
        "containers": failed["containers"],
        "events": [{**each, "moment": moment(each["time"])} for each in failed["events"]],
        "logs": [
            {"container": log["container"], "lines": lines(log["text"])} for log in failed["logs"]
        ],
        "logs_hidden": failed["logs_hidden"],
        "errors": failed["errors"],
    }


def lines(text: str) -> list[str]:
    """As a terminal would show them: only line feeds end a line, and an escape is no letter."""
    plain = re.sub(_ESCAPES, "", text.replace("\r\n", "\n"))
    return plain.removesuffix("\n").split("\n") if plain else []
