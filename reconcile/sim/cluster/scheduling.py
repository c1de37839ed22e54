"""Whether a pod may and can run on a node: the pure part of the scheduler."""

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from . import quantity
from .store import Object

PODS = "pods"
Toleration = tuple[str, str, str, str]  # key, operator, value, effect
Taint = tuple[str, str, str]  # key, value, effect
NO_SELECTOR_MATCH = "node(s) didn't match Pod's node affinity/selector"


@dataclass(frozen=True, slots=True)
class Shape:
    """All that decides where a pod can go: pods of one shape are interchangeable."""

    selector: frozenset[tuple[str, str]]
    tolerations: frozenset[Toleration]
    requests: tuple[tuple[str, int], ...]


@dataclass
class NodeInfo:
    """A node as the scheduler sees it."""

    name: str
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    unschedulable: bool
    allocatable: dict[str, int]
    used: Counter[str] = field(default_factory=Counter)

    def lacks(self, shape: Shape) -> list[str]:
        """The resources there is not enough of; empty if the pod fits."""
        return [
            name
            for name, amount in shape.requests
            if amount > self.allocatable.get(name, 0) - self.used[name]
        ]

    def objection(self, shape: Shape) -> str:
        """Why such a pod may not run here however empty it is, or nothing."""
        if self.unschedulable and not _tolerated(UNSCHEDULABLE, shape.tolerations):
            return "node(s) were unschedulable"
        for taint in self.taints:
            if taint[2] != "PreferNoSchedule" and not _tolerated(taint, shape.tolerations):
                return f"node(s) had untolerated taint {{{taint[0]}: {taint[1]}}}"
        if not all(self.labels.get(key) == value for key, value in shape.selector):
            return NO_SELECTOR_MATCH
        return ""


UNSCHEDULABLE: Taint = ("node.kubernetes.io/unschedulable", "", "NoSchedule")


def _tolerated(taint: Taint, tolerations: frozenset[Toleration]) -> bool:
    return any(tolerates(toleration, taint) for toleration in tolerations)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    key, operator, value, effect = toleration
    if effect and effect != taint[2]:
        return False
    if key and key != taint[0]:
        return False
    return operator == "Exists" or value == taint[1]


def toleration_of(given: Object) -> Toleration:
    operator = given.get("operator") or "Equal"
    return given.get("key", ""), operator, given.get("value", ""), given.get("effect", "")


def taint_of(given: Object) -> Taint:
    return given["key"], given.get("value", ""), given["effect"]


@lru_cache(maxsize=4096)
def units(resource: str, text: str) -> int:
    """Processors are counted in thousandths, everything else in ones."""
    amount = quantity.parse(text)
    return amount.thousandths if resource == "cpu" else amount.whole


def requests_of(spec: Object) -> dict[str, int]:
    total: Counter[str] = Counter({PODS: 1})
    for container in spec["containers"]:
        for name, text in container["resources"].get("requests", {}).items():
            total[name] += units(name, text)
    return dict(total)


def shape_of(spec: Object) -> Shape:
    return Shape(
        frozenset(spec.get("nodeSelector", {}).items()),
        frozenset(toleration_of(one) for one in spec["tolerations"]),
        tuple(sorted(requests_of(spec).items())),
    )


def info_of(node: Object, used: Counter[str]) -> NodeInfo:
    return NodeInfo(
        node["metadata"]["name"],
        node["metadata"].get("labels", {}),
        tuple(taint_of(taint) for taint in node["spec"].get("taints", [])),
        node["spec"].get("unschedulable", False),
        {name: units(name, text) for name, text in node["status"]["allocatable"].items()},
        used,
    )


def explanation(shape: Shape, nodes: list[NodeInfo]) -> str:
    """Why such a pod fits nowhere, in the scheduler's words."""
    if not nodes:
        return "no nodes available to schedule pods"
    reasons: Counter[str] = Counter()
    full = 0
    for node in nodes:
        if objection := node.objection(shape):
            reasons[objection] += 1
            continue
        full += 1
        for name in node.lacks(shape):
            reasons["Too many pods" if name == PODS else f"Insufficient {name}"] += 1
    text = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    hopeless = len(nodes) - full
    parts = []
    if full:
        parts.append(f"{full} No preemption victims found for incoming pod")
    if hopeless:
        parts.append(f"{hopeless} Preemption is not helpful for scheduling")
    head = f"0/{len(nodes)} nodes are available:"
    return f"{head} {text}. preemption: {head} {', '.join(sorted(parts))}."
