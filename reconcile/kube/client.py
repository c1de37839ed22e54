"""The runner namespace and the nodes, through the official client. Implements `ports.Cluster`."""

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

from kubernetes.client import ApiClient, AuthorizationV1Api, CoreV1Api

from ..clock import Deadline
from ..errors import NotFoundError, TransientError, UncertainError
from ..model import JitConfig, Json, Node, Pod
from ..settings import EphemeralStorage
from . import diagnosis, manifests, reading
from .calls import Calls, Method, Safety
from .failures import ExpiredError, RefusedError

PAGE_SIZE = 500
LOG_SECONDS = 10.0  # a node that is not there keeps the server waiting: not for longer
MERGE_PATCH = "application/merge-patch+json"
ODD_SHAPES = (KeyError, TypeError, ValueError, AttributeError)

T = TypeVar("T")


class ClusterClient:
    """For several threads at once. Closes its connections at the end of a `with`."""

    def __init__(
        self,
        api: ApiClient,
        namespace: str,
        deadline: Deadline,
        request_timeout: float,
        sleep: Callable[[float], None],
        *,
        page_size: int = PAGE_SIZE,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        self.namespace = namespace
        self._core = CoreV1Api(api)
        self._authorization = AuthorizationV1Api(api)
        self._calls = Calls(api, deadline, request_timeout, sleep)
        self._page_size = page_size
        self._on_close = on_close

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._calls.close()
        if self._on_close is not None:
            self._on_close()

    # Listings.

    def pods(self) -> list[Pod]:
        return self._all(
            "Listing the pods",
            reading.pod,
            self._core.list_namespaced_pod,
            self.namespace,
            label_selector=f"app={manifests.APP}",
        )

    def nodes(self) -> list[Node]:
        return self._all(
            "Listing the nodes",
            reading.node,
            self._core.list_node,
            label_selector=manifests.BOARD,
        )

    # One pod.

    def create_pod(
        self, name: str, pool: str, image: str, storage: EphemeralStorage | None, deadline: int
    ) -> str:
        body = manifests.pod(name, self.namespace, pool, image, storage, deadline)
        what = f"Creating pod {name}"
        made = self._create(what, self._core.create_namespaced_pod, body)
        try:
            return str(made["metadata"]["uid"])
        except ODD_SHAPES as error:
            raise UncertainError(f"{what}: an answer without a uid.") from error

    def hand_over(self, name: str, pod_uid: str, jit: JitConfig) -> None:
        body = manifests.secret(name, self.namespace, pod_uid, jit)
        self._create(f"Creating secret {name}", self._core.create_namespaced_secret, body)

    def find_pod(self, name: str) -> Pod | None:
        raw = self._raw_pod(name)
        return None if raw is None else self._shaped(f"Reading pod {name}", reading.pod, raw)

    def stop_pod(self, name: str) -> None:
        try:
            self._calls.ask(
                f"Stopping pod {name}",
                Safety.REPEATABLE,
                self._core.patch_namespaced_pod,
                name,
                self.namespace,
                manifests.stop(),
                _content_type=MERGE_PATCH,
            )
        except NotFoundError:
            return  # There is nothing left to stop.

    def delete_pod(self, pod: Pod, *, force: bool = False, unchanged: bool = False) -> bool:
        version = pod.version if unchanged else None
        try:
            self._calls.ask(
                f"Deleting pod {pod.name}",
                Safety.REPEATABLE,
                self._core.delete_namespaced_pod,
                pod.name,
                self.namespace,
                body=manifests.deletion(pod.uid, version, force=force),
            )
        except NotFoundError:
            return True
        except RefusedError as error:
            if error.status != 409:
                raise
            # It is another one by now, or it changed: perhaps by this very call, whose first
            # answer was lost.
            now = self.find_pod(pod.name)
            return now is None or now.uid != pod.uid or now.deleting
        return True

    def diagnose(self, pod: Pod) -> Json:
        return diagnosis.diagnose(
            pod,
            diagnosis.Sources(
                read_pod=lambda: self._raw_pod(pod.name),
                events=lambda: self._events(pod),
                log=lambda container, lines, limit: self._log(pod, container, lines, limit),
            ),
        )

    # For `reconcile check`.

    def may(self, verb: str, resource: str, subresource: str, *, namespaced: bool) -> bool:
        """Whether these credentials allow it, in the namespace or at the cluster's scope."""
        namespace = self.namespace if namespaced else ""
        what = f"Asking whether {verb} {resource} is allowed"
        answer = self._calls.ask(
            what,
            Safety.READ,
            self._authorization.create_self_subject_access_review,
            manifests.access_review(verb, resource, subresource, namespace),
        )
        return self._shaped(what, lambda raw: bool(raw["status"]["allowed"]), answer)

    # How.

    def _all(
        self, what: str, read: Callable[[Json], T], method: Method, *arguments: Any, **options: Any
    ) -> list[T]:
        """Every page, or an error. A list that was too slow to be of one moment any more is
        begun anew, once."""
        try:
            return self._pages(what, read, method, *arguments, **options)
        except ExpiredError:
            return self._pages(what, read, method, *arguments, **options)

    def _pages(
        self, what: str, read: Callable[[Json], T], method: Method, *arguments: Any, **options: Any
    ) -> list[T]:
        found: list[T] = []
        token = ""
        while True:
            paging = {"_continue": token} if token else {}
            page = self._calls.ask(
                what, Safety.READ, method, *arguments, limit=self._page_size, **options, **paging
            )
            found += self._shaped(what, lambda raw: [read(one) for one in raw["items"]], page)
            token = self._shaped(what, lambda raw: raw["metadata"].get("continue") or "", page)
            if not token:
                return found

    def _raw_pod(self, name: str) -> Json | None:
        what = f"Reading pod {name}"
        try:
            return self._calls.ask(
                what, Safety.READ, self._core.read_namespaced_pod, name, self.namespace
            )
        except NotFoundError:
            return None

    def _create(self, what: str, method: Method, body: Json) -> Json:
        try:
            return self._calls.ask(what, Safety.ONCE, method, self.namespace, body)
        except RefusedError as error:
            if error.status != 409:
                raise
            # Not the name: a quota, say, that somebody else was changing too.
            raise TransientError(str(error)) from error

    def _events(self, pod: Pod) -> list[Json]:
        about = f"involvedObject.name={pod.name},involvedObject.uid={pod.uid}"
        return self._all(
            f"Listing the events of pod {pod.name}",
            lambda raw: raw,
            self._core.list_namespaced_event,
            self.namespace,
            field_selector=about,
        )

    def _log(self, pod: Pod, container: str, lines: int, limit: int) -> bytes:
        return self._calls.ask_text(
            f"Reading the log of container {container}",
            self._core.read_namespaced_pod_log,
            pod.name,
            self.namespace,
            container=container,
            tail_lines=lines,
            limit_bytes=limit,
            limit=limit,
            timeout=LOG_SECONDS,
        )

    def _shaped(self, what: str, read: Callable[[Json], T], raw: Json) -> T:
        try:
            return read(raw)
        except ODD_SHAPES as error:
            raise TransientError(f"{what}: an answer of a shape that it cannot have.") from error
