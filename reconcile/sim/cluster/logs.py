"""`pods/log`: what containers printed, as the server fetches it from their node."""

from datetime import datetime

from ..clock import span
from ..http import Request, Response
from . import decoding
from .container import Container, Line
from .kubelet import Kubelets
from .status import (
    ApiError,
    FieldError,
    bad_request,
    forbidden_field,
    invalid,
    invalid_field,
    not_found,
)
from .store import Object, Store

PLAIN = {"Content-Type": "text/plain"}
NUMBERS = ("tailLines", "limitBytes", "sinceSeconds")
WAITING = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


class Logs:
    def __init__(self, store: Store, kubelets: Kubelets) -> None:
        self._store = store
        self._kubelets = kubelets

    def read(self, request: Request, pod: Object) -> Response:
        numbers = _numbers(request, pod["metadata"]["name"])
        if request.query.get("follow", "false") not in ("false", "0"):
            raise bad_request("follow is not supported by the simulated cluster")
        name = _container_name(pod, request.query.get("container", ""))
        node = pod["spec"].get("nodeName", "")
        if not node:
            return Response(200, b"", PLAIN)
        container = self._container(pod, node, name)
        if request.query.get("previous", "false") not in ("false", "0"):
            # Nothing is ever restarted here, so there is never a previous one.
            where = f'container "{name}" in pod "{pod["metadata"]["name"]}"'
            raise bad_request(f"previous terminated {where} not found")
        _check_started(pod, name, container)
        lines = self._since(request, numbers, container.lines if container else [])
        if "tailLines" in numbers:
            lines = lines[max(0, len(lines) - numbers["tailLines"]) :]
        stamped = request.query.get("timestamps", "false") not in ("false", "0")
        text = "".join(f"{_prefix(line) if stamped else ''}{line.text}\n" for line in lines)
        return Response(200, text.encode()[: numbers.get("limitBytes")], PLAIN)

    def _container(self, pod: Object, node: str, name: str) -> Container | None:
        kubelet = self._kubelets.get(node)
        if kubelet is None:
            raise not_found("nodes", node)
        metadata = pod["metadata"]
        if not kubelet.connected:
            address = f"{kubelet.address}:10250"
            path = f"{metadata['namespace']}/{metadata['name']}/{name}"
            raise ApiError(
                500,
                "",
                f'Get "https://{address}/containerLogs/{path}": dial tcp {address}: i/o timeout',
            )
        worker = kubelet.worker(metadata["uid"])
        if worker is None:
            return None
        return next(one for one in worker.containers if one.name == name)

    def _since(self, request: Request, numbers: dict[str, int], lines: list[Line]) -> list[Line]:
        if "sinceSeconds" in numbers:
            start = self._store.timeline.now() - span(numbers["sinceSeconds"])
        elif text := request.query.get("sinceTime"):
            try:
                start = datetime.fromisoformat(text)
            except ValueError as error:
                raise bad_request(f'parsing time "{text}": cannot parse') from error
            if start.tzinfo is None:
                raise bad_request(f'parsing time "{text}": it has no time zone')
        else:
            return lines
        return [line for line in lines if line.moment >= start]


def _numbers(request: Request, name: str) -> dict[str, int]:
    numbers: dict[str, int] = {}
    errors: list[FieldError] = []
    for field in NUMBERS:
        if field not in request.query:
            continue
        numbers[field] = decoding.number(request.query[field])
        if field == "tailLines" and numbers[field] < 0:
            detail = "must be greater than or equal to 0"
            errors.append(invalid_field(field, numbers[field], detail))
        elif field != "tailLines" and numbers[field] < 1:
            errors.append(invalid_field(field, numbers[field], "must be greater than 0"))
    if "sinceSeconds" in numbers and request.query.get("sinceTime"):
        detail = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        errors.append(forbidden_field("", detail))
    if errors:
        raise invalid("PodLogOptions", name, errors)
    return numbers


def _container_name(pod: Object, asked: str) -> str:
    names: list[str] = [container["name"] for container in pod["spec"]["containers"]]
    pod_name = pod["metadata"]["name"]
    if asked:
        if asked not in names:
            raise bad_request(f"container {asked} is not valid for pod {pod_name}")
        return asked
    if len(names) > 1:
        message = f"a container name must be specified for pod {pod_name}, choose one of: "
        raise bad_request(f"{message}[{' '.join(names)}]")
    return names[0]


def _check_started(pod: Object, name: str, container: Container | None) -> None:
    where = f'container "{name}" in pod "{pod["metadata"]["name"]}"'
    if container is None and pod["status"]["phase"] == "Failed":
        raise bad_request(f"{where} is not available")
    state = container.state if container else {"waiting": {"reason": "ContainerCreating"}}
    if "waiting" in state:
        reason = state["waiting"]["reason"]
        why = WAITING.get(reason, reason)
        raise bad_request(f"{where} is waiting to start: {why}")
    if "terminated" in state and "containerID" not in state["terminated"]:
        raise bad_request(f"{where} is terminated")


def _prefix(line: Line) -> str:
    return f"{line.moment:%Y-%m-%dT%H:%M:%S}.{line.moment.microsecond * 1000:09d}Z "
