"""The simulated cluster: a service to serve, and the hands that move the world around it."""

import json
from collections.abc import Iterable, Mapping, Sequence

from .. import http
from ..broker import Broker
from ..timeline import Timeline
from . import access
from .access import ADMIN_TOKEN, Access, Rule
from .api import Api
from .collector import Collector
from .events import Recorder
from .images import Behaviour, Image, Images
from .kubelet import Kubelets
from .logs import Logs
from .node_object import Machine
from .nodes import Nodes
from .registry import Registry
from .scheduler import Scheduler
from .status import refusal
from .store import Object, Store, Table
from .taint_eviction import TaintEviction

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class Cluster:
    """Every verb takes the world's lock; what follows from it happens as time passes."""

    name = "k8s"
    prefix = ""

    def __init__(self, timeline: Timeline, broker: Broker | None = None, seed: int = 0) -> None:
        self._lock = timeline.lock
        self._access = Access()
        self._images = Images()
        with self._lock:
            self._store = Store(timeline, seed)
            recorder = Recorder(self._store)
            kubelets = Kubelets(self._store, recorder, self._images, broker)
            self._nodes = Nodes(self._store, recorder, kubelets)
            # These do their work by watching the store, which keeps them.
            Scheduler(self._store, recorder)
            TaintEviction(self._store, recorder)
            Collector(self._store)
            registry = Registry(self._store)
            logs = Logs(self._store, kubelets)
            self._api = Api(self._store, self._access, registry, recorder, logs)
            self.router = self._api.router
            for namespace in NAMESPACES:
                self.add_namespace(namespace)

    # The service.

    def respond(self, endpoint: http.Endpoint, request: http.Request) -> http.Response:
        return self._api.respond(endpoint, request)

    def no_such_path(self, request: http.Request) -> http.Response:
        return self._api.no_such_path(request)

    def refusal(self, status: int, retry_after: int | None) -> http.Response:
        return refusal(status, retry_after)

    # Access.

    def add_user(self, token: str, rules: Iterable[Rule], name: str) -> None:
        """Rules are (namespace or None for anywhere, resource, verb), with `*` for any."""
        with self._lock:
            self._access.add(token, rules, name)

    def kubeconfig(
        self, server_url: str, token: str = ADMIN_TOKEN, namespace: str = "default"
    ) -> str:
        return access.kubeconfig(server_url, token, namespace)

    def add_namespace(self, name: str) -> None:
        with self._lock:
            if self._store.namespaces.get("", name) is not None:
                raise ValueError(f"There is a namespace {name} already.")
            labels = {"kubernetes.io/metadata.name": name}
            metadata = self._store.new_metadata({"name": name, "labels": labels})
            self._store.namespaces.add(
                {
                    "metadata": metadata,
                    "spec": {"finalizers": ["kubernetes"]},
                    "status": {"phase": "Active"},
                }
            )

    # Nodes.

    def add_node(
        self,
        name: str,
        board: str,
        *,
        runners: int = 1,
        cpu: str = "4",
        memory: str = "16Gi",
        ephemeral_storage: str = "100Gi",
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] | None = None,
    ) -> None:
        """Taints are as in a node's spec: `{"key": …, "value": …, "effect": …}`."""
        with self._lock:
            self._nodes.add(
                Machine(
                    name,
                    board,
                    self._nodes.new_address(),
                    runners,
                    cpu,
                    memory,
                    ephemeral_storage,
                    labels or {},
                    [dict(taint) for taint in taints or ()],
                )
            )

    def remove_node(self, name: str) -> None:
        """The machine is gone with all that ran on it, and the cluster is told so."""
        with self._lock:
            self._nodes.remove(name)

    def set_runners(self, name: str, runners: int) -> None:
        """How many runners the node's device plugin offers: none, if it is down."""
        with self._lock:
            self._nodes.set_runners(name, runners)

    def cordon(self, name: str) -> None:
        with self._lock:
            self._nodes.cordon(name, on=True)

    def uncordon(self, name: str) -> None:
        with self._lock:
            self._nodes.cordon(name, on=False)

    def taint(self, name: str, key: str, value: str = "", effect: str = "NoSchedule") -> None:
        with self._lock:
            self._nodes.taint(name, key, value, effect)

    def untaint(self, name: str, key: str) -> None:
        with self._lock:
            self._nodes.untaint(name, key)

    def silence(self, name: str, *, runner_survives: bool = False, online: bool = True) -> None:
        """The cluster hears nothing of the node any more: its power is cut, or, if runners
        survive, only its link to the control plane. Those runners go on, and GitHub hears them
        unless they are not online."""
        with self._lock:
            self._nodes.silence(name, power=not runner_survives, online=online)

    def revive(self, name: str) -> None:
        with self._lock:
            self._nodes.revive(name)

    def not_ready(self, name: str) -> None:
        """The kubelet is alive and says that the node is not well."""
        with self._lock:
            self._nodes.not_ready(name)

    def ready(self, name: str) -> None:
        with self._lock:
            self._nodes.ready(name)

    # Images.

    def set_image(self, name: str, image: Image) -> None:
        with self._lock:
            self._images.set(name, image)

    def next_pod(self, behaviour: Behaviour, times: int = 1) -> None:
        """The next pods to start, on any node, do this whatever their image."""
        with self._lock:
            self._images.force(behaviour, times)

    def next_pods_as_usual(self) -> None:
        with self._lock:
            self._images.force_nothing()

    # Copies to look at.

    def pods(self, namespace: str | None = None) -> list[Object]:
        return self._copies(self._store.pods, namespace)

    def secrets(self, namespace: str | None = None) -> list[Object]:
        return self._copies(self._store.secrets, namespace)

    def nodes(self) -> list[Object]:
        return self._copies(self._store.nodes, None)

    def events(self, namespace: str | None = None) -> list[Object]:
        return self._copies(self._store.events, namespace)

    def pod(self, name: str, namespace: str = "default") -> Object:
        return self._copy(self._store.pods, namespace, name)

    def node(self, name: str) -> Object:
        return self._copy(self._store.nodes, "", name)

    def _copies(self, table: Table, namespace: str | None) -> list[Object]:
        with self._lock:
            rows = table.rows()
        return [
            json.loads(row.bytes)
            for row in rows
            if namespace is None or row.key.startswith(f"{namespace}/")
        ]

    def _copy(self, table: Table, namespace: str, name: str) -> Object:
        with self._lock:
            value = table.get(namespace, name)
            if value is None:
                raise KeyError(f"There is no {table.resource.kind} {name}.")
            copy: Object = json.loads(table.row(value).bytes)
        return copy
