"""The cluster: the only package that knows the `kubernetes` client."""

from .access import REQUIRED, Permission, missing_permissions
from .client import ClusterClient
from .connection import connect

__all__ = ["REQUIRED", "ClusterClient", "Permission", "connect", "missing_permissions"]
