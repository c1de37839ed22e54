"""What these credentials must be allowed to do: exactly the calls that the client makes."""

from dataclasses import dataclass

from .client import ClusterClient


@dataclass(frozen=True, slots=True)
class Permission:
    verb: str
    resource: str
    subresource: str = ""
    namespaced: bool = True  # in the runner namespace; else at the cluster's scope

    def __str__(self) -> str:
        resource = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        return f"{self.verb} {resource}"


REQUIRED = (
    Permission("list", "pods"),
    Permission("get", "pods"),
    Permission("create", "pods"),
    Permission("patch", "pods"),
    Permission("delete", "pods"),
    Permission("get", "pods", "log"),
    Permission("create", "secrets"),
    Permission("list", "events"),
    Permission("list", "nodes", namespaced=False),
)


def missing_permissions(client: ClusterClient) -> list[Permission]:
    return [
        one
        for one in REQUIRED
        if not client.may(one.verb, one.resource, one.subresource, namespaced=one.namespaced)
    ]
