"""The kinds of objects there are, and by which of their fields they can be selected."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Fields = Callable[[dict[str, Any]], dict[str, str]]


@dataclass(frozen=True)
class Resource:
    plural: str
    kind: str
    namespaced: bool
    fields: Fields
    selectable: frozenset[str]

    @property
    def list_kind(self) -> str:
        return f"{self.kind}List"


def _names(value: dict[str, Any]) -> dict[str, str]:
    metadata = value["metadata"]
    names = {"metadata.name": metadata["name"]}
    if "namespace" in metadata:
        names["metadata.namespace"] = metadata["namespace"]
    return names


def _pod(value: dict[str, Any]) -> dict[str, str]:
    spec, status = value["spec"], value["status"]
    return _names(value) | {
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.restartPolicy": spec["restartPolicy"],
        "spec.schedulerName": spec["schedulerName"],
        "spec.serviceAccountName": spec["serviceAccountName"],
        "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
        "status.phase": status["phase"],
        "status.podIP": status.get("podIP", ""),
        "status.podIPs": status.get("podIP", ""),
        "status.nominatedNodeName": "",
    }


def _node(value: dict[str, Any]) -> dict[str, str]:
    unschedulable = value["spec"].get("unschedulable", False)
    return _names(value) | {"spec.unschedulable": "true" if unschedulable else "false"}


def _secret(value: dict[str, Any]) -> dict[str, str]:
    return _names(value) | {"type": value["type"]}


def _namespace(value: dict[str, Any]) -> dict[str, str]:
    return _names(value) | {
        "status.phase": value["status"]["phase"],
        "name": _names(value)["metadata.name"],
    }


INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")


def _event(value: dict[str, Any]) -> dict[str, str]:
    involved = value["involvedObject"]
    return (
        _names(value)
        | {f"involvedObject.{name}": involved.get(name, "") for name in INVOLVED}
        | {
            "reason": value["reason"],
            "reportingComponent": value["reportingComponent"],
            "source": value["source"].get("component") or value["reportingComponent"],
            "type": value["type"],
        }
    )


NAMESPACED = frozenset({"metadata.name", "metadata.namespace"})
ALL = (
    Resource(
        "pods",
        "Pod",
        namespaced=True,
        fields=_pod,
        selectable=NAMESPACED
        | {
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        },
    ),
    Resource(
        "nodes",
        "Node",
        namespaced=False,
        fields=_node,
        selectable=frozenset({"metadata.name", "spec.unschedulable"}),
    ),
    Resource(
        "secrets", "Secret", namespaced=True, fields=_secret, selectable=NAMESPACED | {"type"}
    ),
    Resource(
        "events",
        "Event",
        namespaced=True,
        fields=_event,
        selectable=NAMESPACED
        | {f"involvedObject.{name}" for name in INVOLVED}
        | {"reason", "reportingComponent", "source", "type"},
    ),
    Resource(
        "namespaces",
        "Namespace",
        namespaced=False,
        fields=_namespace,
        selectable=frozenset({"metadata.name", "status.phase", "name"}),
    ),
)
