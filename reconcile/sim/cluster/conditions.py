"""Conditions of pods and nodes, lists keyed by type, whose change of status has a time; and
which pods are at their end."""

from .store import Object


def has_ended(pod: Object) -> bool:
    return pod["status"]["phase"] in ("Succeeded", "Failed")


def with_condition(
    conditions: list[Object],
    kind: str,
    status: bool | str,
    now: str,
    *,
    reason: str = "",
    message: str = "",
) -> list[Object]:
    """The list with that condition in it; nothing moves that does not change."""
    text = status if isinstance(status, str) else str(status)
    old = condition(conditions, kind)
    new = {"type": kind, "status": text, "lastProbeTime": None, "lastTransitionTime": now}
    if reason:
        new["reason"] = reason
    if message:
        new["message"] = message
    if old is None:
        return [*conditions, new]
    if old["status"] == text:
        new["lastTransitionTime"] = old["lastTransitionTime"]
    return [new if one is old else one for one in conditions]


def condition(conditions: list[Object], kind: str) -> Object | None:
    return next((one for one in conditions if one["type"] == kind), None)
