"""A Kubernetes cluster in one object: the API over HTTP, the scheduler, the kubelets and the
controllers behind it, in the world's time."""

from .access import ADMIN_TOKEN
from .cluster import Cluster
from .images import Behaviour, Image

__all__ = ["ADMIN_TOKEN", "Behaviour", "Cluster", "Image"]
