"""What the server sent, as the model's pods and nodes. Pure, and read 2,000 times a run: only
what is needed is looked at, and the client's own models, which cost more than all the rest, are
not made.

What is not in the API's shape raises KeyError, TypeError, ValueError or AttributeError.
"""

from datetime import datetime
from typing import Any

from ..model import Json, Node, Pod
from .manifests import BOARD, SLOT, STOPPED

UNREACHABLE = "node.kubernetes.io/unreachable"
REPELLING = ("NoSchedule", "NoExecute")
TERMINAL = ("Succeeded", "Failed")

moment = datetime.fromisoformat  # takes a Z and any number of fractional digits


def pod(raw: Json) -> Pod:
    metadata, spec, status = raw["metadata"], raw["spec"], raw.get("status") or {}
    phase = status.get("phase") or "Pending"
    started, finished, waiting = _times(status.get("containerStatuses") or ())
    if finished is None and phase in TERMINAL:
        finished = _last_transition(status) or metadata["creationTimestamp"]
    return Pod(
        name=metadata["name"],
        uid=metadata["uid"],
        version=metadata["resourceVersion"],
        phase=phase,
        pool=(spec.get("nodeSelector") or {}).get(BOARD),
        node=spec.get("nodeName") or None,
        created_at=moment(metadata["creationTimestamp"]),
        started_at=moment(started) if started else None,
        finished_at=moment(finished) if finished else None,
        deleting=bool(metadata.get("deletionTimestamp")),
        stopping=spec.get("activeDeadlineSeconds") == STOPPED,
        reason=status.get("reason") or None,
        waiting=waiting,
    )


def _times(statuses: Any) -> tuple[str | None, str | None, str | None]:
    """When the container started and ended, and why it waits. Of several, which only a pod of
    somebody else has, the first that started and the last that ended."""
    started = finished = waiting = None
    for container in statuses:
        state = container.get("state") or {}
        if ended := state.get("terminated"):
            # A kubelet that lost the container knows neither time.
            started = started or ended.get("startedAt")
            finished = max(finished or "", ended.get("finishedAt") or "") or None
        elif running := state.get("running"):
            started = started or running.get("startedAt")
        elif held := state.get("waiting"):
            waiting = waiting or held.get("reason")
    return started, finished, waiting


def _last_transition(status: Json) -> str | None:
    times = [one.get("lastTransitionTime") or "" for one in status.get("conditions") or ()]
    return max(times, default="") or None


def node(raw: Json) -> Node:
    metadata, spec, status = raw["metadata"], raw.get("spec") or {}, raw.get("status") or {}
    taints = spec.get("taints") or ()
    return Node(
        name=metadata["name"],
        pool=(metadata.get("labels") or {}).get(BOARD),
        slots=_slots((status.get("allocatable") or {}).get(SLOT)),
        schedulable=(
            not spec.get("unschedulable")
            and _is_ready(status)
            and not any(taint.get("effect") in REPELLING for taint in taints)
        ),
        unreachable=any(taint.get("key") == UNREACHABLE for taint in taints),
    )


def _slots(quantity: Any) -> int:
    """Whole runners only: what else a quantity can say (500m, 1e3) no device plugin says."""
    text = str(quantity)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _is_ready(status: Json) -> bool:
    return any(
        one.get("type") == "Ready" and one.get("status") == "True"
        for one in status.get("conditions") or ()
    )
