"""Nodes as the API shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import quantity
from .store import Object

KUBELET_VERSION = "v1.34.2"
RUNNER_RESOURCE = "riseproject.com/runner"
BOARD_LABEL = "riseproject.dev/board"
MAX_PODS = 110
# What the kubelet keeps for itself and for the system.
RESERVED = {"memory": "100Mi"}

# The conditions of a node that is well: type, status, reason, message.
WELL = (
    (
        "MemoryPressure",
        "False",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
SILENT_REASON, SILENT_MESSAGE = "NodeStatusUnknown", "Kubelet stopped posting node status."
NOT_READY_REASON = "KubeletNotReady"
NOT_READY_MESSAGE = (
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
    "message:Network plugin returns error: cni plugin not initialized"
)


@dataclass(frozen=True)
class Machine:
    """A board, as it is described when it joins."""

    name: str
    board: str
    address: str
    runners: int
    cpu: str
    memory: str
    ephemeral_storage: str
    labels: Mapping[str, str]
    taints: Sequence[Object]


def node_object(machine: Machine, metadata: Object, now: str, identity: str) -> Object:
    capacity = {
        "cpu": str(quantity.parse(machine.cpu)),
        "ephemeral-storage": str(quantity.parse(machine.ephemeral_storage)),
        "memory": str(quantity.parse(machine.memory)),
        "pods": str(MAX_PODS),
        RUNNER_RESOURCE: str(machine.runners),
    }
    labels = {
        "beta.kubernetes.io/arch": "riscv64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "riscv64",
        "kubernetes.io/hostname": machine.name,
        "kubernetes.io/os": "linux",
        BOARD_LABEL: machine.board,
        **machine.labels,
    }
    spec: Object = {"taints": list(machine.taints)} if machine.taints else {}
    return {
        "metadata": metadata | {"name": machine.name, "labels": labels, "annotations": {}},
        "spec": spec,
        "status": {
            "capacity": capacity,
            "allocatable": capacity | _left(capacity),
            "conditions": conditions(now),
            "addresses": [
                {"type": "InternalIP", "address": machine.address},
                {"type": "Hostname", "address": machine.name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": _info(identity),
        },
    }


def _left(capacity: Mapping[str, str]) -> dict[str, str]:
    return {name: str(quantity.difference(capacity[name], kept)) for name, kept in RESERVED.items()}


def _info(identity: str) -> Object:
    return {
        "machineID": identity.replace("-", ""),
        "systemUUID": identity,
        "bootID": identity,
        "kernelVersion": "6.12.9-riscv64",
        "osImage": "Debian GNU/Linux 13 (trixie)",
        "containerRuntimeVersion": "containerd://2.1.4",
        "kubeletVersion": KUBELET_VERSION,
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "architecture": "riscv64",
    }


def conditions(now: str, *, silent: bool = False, ready: bool = True) -> list[Object]:
    """All of a node's conditions, as if they had just come about."""
    listed = []
    for kind, status, reason, message in WELL:
        if silent:
            status, reason, message = "Unknown", SILENT_REASON, SILENT_MESSAGE
        elif kind == "Ready" and not ready:
            status, reason, message = "False", NOT_READY_REASON, NOT_READY_MESSAGE
        listed.append(
            {
                "type": kind,
                "status": status,
                "lastHeartbeatTime": now,
                "lastTransitionTime": now,
                "reason": reason,
                "message": message,
            }
        )
    return listed


def updated(old: list[Object], new: list[Object], *, heard: bool) -> list[Object]:
    """The new conditions, with the time of their change where it was not now. A node that is
    not heard has no new heartbeat either."""
    before = {one["type"]: one for one in old}
    result = []
    for one in new:
        known = before[one["type"]]
        kept = {}
        if known["status"] == one["status"]:
            kept["lastTransitionTime"] = known["lastTransitionTime"]
        if not heard:
            kept["lastHeartbeatTime"] = known["lastHeartbeatTime"]
        result.append(one | kept)
    return result
