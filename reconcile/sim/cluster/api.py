"""The API: which path means what, and who may ask for it."""

from collections.abc import Callable
from dataclasses import dataclass

from ..http import Endpoint, Request, Response, Router, encode
from . import decoding
from .access import Access, User, forbidden
from .events import Recorder
from .listing import Lister
from .logs import Logs
from .node_object import KUBELET_VERSION
from .registry import Registry
from .status import JSON, ApiError, bad_request, method_not_allowed
from .store import Store

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
REVIEW_KIND, REVIEW_VERSION = "SelfSubjectAccessReview", "authorization.k8s.io/v1"
Handler = Callable[[Request, User], Response]


@dataclass(frozen=True)
class Permission:
    """What a user must be allowed to; nothing is open to every user."""

    verb: str
    resource: str


class Api:
    def __init__(
        self, store: Store, access: Access, registry: Registry, recorder: Recorder, logs: Logs
    ) -> None:
        self._store = store
        self._access = access
        self._registry = registry
        self._recorder = recorder
        self._logs = logs
        self._lister = Lister(store)
        self._permissions: dict[str, Permission] = {}
        self._endpoints: list[Endpoint] = []
        self._add_resources()
        self._add_others()
        self.router = Router(self._endpoints)

    def _add_resources(self) -> None:
        pods, one_pod = _paths("pods")
        secrets, one_secret = _paths("secrets")
        nodes, one_node = "/api/v1/nodes", "/api/v1/nodes/{name}"
        for name, method, path, resource, verb in (
            ("list_pods", "GET", pods, "pods", "list"),
            ("list_pods", "GET", "/api/v1/pods", "pods", "list"),
            ("create_pod", "POST", pods, "pods", "create"),
            ("read_pod", "GET", one_pod, "pods", "get"),
            ("patch_pod", "PATCH", one_pod, "pods", "patch"),
            ("delete_pod", "DELETE", one_pod, "pods", "delete"),
            ("list_secrets", "GET", secrets, "secrets", "list"),
            ("list_secrets", "GET", "/api/v1/secrets", "secrets", "list"),
            ("create_secret", "POST", secrets, "secrets", "create"),
            ("read_secret", "GET", one_secret, "secrets", "get"),
            ("patch_secret", "PATCH", one_secret, "secrets", "patch"),
            ("delete_secret", "DELETE", one_secret, "secrets", "delete"),
            ("list_nodes", "GET", nodes, "nodes", "list"),
            ("read_node", "GET", one_node, "nodes", "get"),
            ("patch_node", "PATCH", one_node, "nodes", "patch"),
            ("list_namespaces", "GET", "/api/v1/namespaces", "namespaces", "list"),
            ("read_namespace", "GET", "/api/v1/namespaces/{name}", "namespaces", "get"),
        ):
            self._add(name, method, path, self._handler(verb, resource), verb, resource)
        for path in (_paths("events")[0], "/api/v1/events"):
            self._add("list_events", "GET", path, self._list_events, "list", "events")
        self._add("read_pod_log", "GET", f"{one_pod}/log", self._read_log, "get", "pods/log")

    def _add_others(self) -> None:
        review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        self._add("create_self_subject_access_review", "POST", review, self._review)
        for path in ("/version", "/version/"):
            self._add("get_version", "GET", path, self._version)
        for path in ("/healthz", "/livez", "/readyz"):
            self._add("get_health", "GET", path, self._health)

    def _add(
        self,
        name: str,
        method: str,
        path: str,
        handler: Handler,
        verb: str = "",
        resource: str = "",
    ) -> None:
        if verb:
            self._permissions[name] = Permission(verb, resource)
        self._endpoints.append(Endpoint(name, method, path, handler))

    def _handler(self, verb: str, resource: str) -> Handler:
        table = self._store.tables[resource]
        if verb == "list":
            return lambda request, _user: self._lister.list(request, table)
        action = {
            "get": self._registry.read,
            "create": self._registry.create,
            "patch": self._registry.patch,
            "delete": self._registry.delete,
        }[verb]
        return lambda request, _user: action(request, table)

    def respond(self, endpoint: Endpoint, request: Request) -> Response:
        try:
            user = self._access.user(request)
            permission = self._permissions.get(endpoint.name)
            if permission is not None:
                self._check(user, permission, request)
            return endpoint.handler(request, user)
        except ApiError as error:
            return error.response()
        except RecursionError as error:  # nested without end
            return bad_request(f"the object provided cannot be decoded: {error}").response()

    def _check(self, user: User, permission: Permission, request: Request) -> None:
        namespace = request.parameters.get("namespace", "")
        name = request.parameters.get("name", "")
        # A namespace is in itself, as far as permissions go.
        where = name if permission.resource == "namespaces" else namespace
        if not user.may(permission.verb, permission.resource, where):
            raise forbidden(user, permission.verb, permission.resource, where, name)

    def no_such_path(self, request: Request) -> Response:
        try:
            self._access.user(request)
            if any(self.router.match(method, request.path) for method in METHODS):
                raise method_not_allowed()
        except ApiError as error:
            return error.response()
        plain = {"Content-Type": "text/plain; charset=utf-8"}
        return Response(404, b"404 page not found\n", plain)

    def _list_events(self, request: Request, _user: User) -> Response:
        self._recorder.sweep()
        return self._lister.list(request, self._store.events)

    def _read_log(self, request: Request, _user: User) -> Response:
        return self._logs.read(request, self._registry.find(request, self._store.pods))

    def _review(self, request: Request, user: User) -> Response:
        given = decoding.body(request, REVIEW_KIND, decoding.ACCESS_REVIEW, REVIEW_VERSION)
        spec = given.get("spec", {})
        asked = spec.get("resourceAttributes", {})
        resource = asked.get("resource", "")
        if asked.get("subresource"):
            resource = f"{resource}/{asked['subresource']}"
        # Only the core group has anything in it.
        known = asked.get("group", "") in ("", "*")
        allowed = known and user.may(asked.get("verb", ""), resource, asked.get("namespace", ""))
        if "nonResourceAttributes" in spec:
            allowed = user.may("*", "*") or spec["nonResourceAttributes"].get("verb") == "get"
        review = {
            "kind": REVIEW_KIND,
            "apiVersion": REVIEW_VERSION,
            "metadata": {},
            "spec": spec,
            "status": {"allowed": allowed},
        }
        return Response(201, encode(review), JSON)

    def _version(self, _request: Request, _user: User) -> Response:
        _, minor, _ = KUBELET_VERSION.split(".")
        version = {
            "major": "1",
            "minor": minor,
            "gitVersion": KUBELET_VERSION,
            "gitCommit": "0" * 40,
            "gitTreeState": "clean",
            "buildDate": "2026-01-01T00:00:00Z",
            "goVersion": "go1.24.9",
            "compiler": "gc",
            "platform": "linux/riscv64",
            "emulationMajor": "1",
            "emulationMinor": minor,
            "minCompatibilityMajor": "1",
            "minCompatibilityMinor": minor,
        }
        return Response(200, encode(version), JSON)

    def _health(self, _request: Request, _user: User) -> Response:
        return Response(200, b"ok", {"Content-Type": "text/plain; charset=utf-8"})


def _paths(resource: str) -> tuple[str, str]:
    path = f"/api/v1/namespaces/{{namespace}}/{resource}"
    return path, f"{path}/{{name}}"
