"""A service on a loopback port: keep-alive, a thread a connection, and the network's faults."""

import contextlib
import socket
import struct
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from .faults import Fault, Faults, Kind
from .http import Endpoint, Request, Response, Service
from .timeline import Timeline

BODY_LIMIT = 16 * 1024 * 1024
CALLS_KEPT = 10_000
IDLE_CONNECTION_SECONDS = 300
BROKEN_JSON = b'{"message": "half a though'
TRUNCATING = (Kind.HALF_BODY, Kind.WRONG_JSON)


@dataclass(frozen=True, slots=True)
class Call:
    endpoint: str  # as in `github.list_runners`
    method: str
    target: str  # path and query
    status: int | None  # None: no answer was sent


Observer = Callable[[Request, Response], None]


class Server:
    """Counts its calls and keeps the latest; observers see what the service itself answered."""

    def __init__(self, service: Service, timeline: Timeline, faults: Faults) -> None:
        self.service = service
        self.faults = faults
        self.calls: deque[Call] = deque(maxlen=CALLS_KEPT)
        self.counts: Counter[str] = Counter()
        self.observers: list[Observer] = []
        self.timeline = timeline
        self.stopping = threading.Event()
        self._at_once = 0
        self._lock = threading.Lock()
        self._listener = _Listener(self)
        self._thread = threading.Thread(
            target=self._listener.serve_forever,
            args=(0.05,),
            name=f"sim-{service.name}",
            daemon=True,
        )

    @property
    def url(self) -> str:
        host, port = self._listener.server_address[:2]
        return f"http://{host!s}:{port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._listener.shutdown()
        self._thread.join()
        self._listener.close()

    def exchange(self, request: Request, target: str) -> tuple[Response | None, Fault | None]:
        """The answer, if one is to be sent, and what is to befall it on the way."""
        matched = self.service.router.match(request.method, request.path)
        name = f"{self.service.name}.{matched[0].name if matched else 'no_such_path'}"
        with self._lock:
            self._at_once += 1
            request = replace(request, at_once=self._at_once)
        response = fault = None
        try:
            fault = self._delay_or_fail(name, request.path)
            if fault is None or fault.after_effect:
                response = self._answer(matched, request)
            if fault is not None and fault.kind not in TRUNCATING:
                response = self._instead(fault)
        finally:
            with self._lock:
                self._at_once -= 1
                self.counts[name] += 1
                status = response.status if response else None
                self.calls.append(Call(name, request.method, target, status))
        return response, fault

    def _delay_or_fail(self, name: str, path: str) -> Fault | None:
        failure = None
        for fault in self.faults.draw(name, path):
            if fault.kind is Kind.LATENCY:
                self.stopping.wait(fault.seconds)
            else:
                failure = fault
        return failure

    def _answer(
        self, matched: tuple[Endpoint, dict[str, str]] | None, request: Request
    ) -> Response:
        with self.timeline.lock:
            if matched is None:
                response = self.service.no_such_path(request)
            else:
                endpoint, parameters = matched
                request = replace(request, parameters=parameters)
                response = self.service.respond(endpoint, request)
            for observe in self.observers:
                observe(request, response)
        return response

    def _instead(self, fault: Fault) -> Response | None:
        with self.timeline.lock:
            if fault.kind is Kind.STATUS:
                return self.service.refusal(fault.status, fault.retry_after)
            if fault.kind is Kind.EXPIRED_TOKEN:
                return self.service.refusal(401, None)
        if fault.kind is Kind.TIMEOUT:
            self.stopping.wait(fault.seconds)
        return None


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_CONNECTION_SECONDS
    disable_nagle_algorithm = True
    wbufsize = 64 * 1024  # an answer leaves in one piece
    server: "_Listener"

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > BODY_LIMIT:
            self._send(Response(413))
            self.close_connection = True
            return
        body = self.rfile.read(length)
        response, fault = self.server.owner.exchange(self._request(body), self.path)
        if response is None:
            self._hang_up(reset=fault is not None and fault.kind is Kind.RESET)
        elif fault is not None and fault.kind is Kind.HALF_BODY:
            self._send(response, send_only=len(response.body) // 2)
            self._hang_up(reset=False)
        elif fault is not None and fault.kind is Kind.WRONG_JSON:
            self._send(replace(response, body=BROKEN_JSON))
        else:
            self._send(response)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 stdlib's names

    def _request(self, body: bytes) -> Request:
        parts = urlsplit(self.path)
        prefix = self.server.owner.service.prefix
        prefixed = bool(prefix) and parts.path.startswith(prefix + "/")
        base_url = f"http://{self.headers.get('Host', '')}"
        return Request(
            method=self.command,
            path=parts.path.removeprefix(prefix) if prefixed else parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
            base_url=base_url + prefix if prefixed else base_url,
        )

    def _send(self, response: Response, send_only: int | None = None) -> None:
        self.send_response_only(response.status)
        self.send_header("Date", format_datetime(self.server.owner.timeline.now(), usegmt=True))
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.status not in (204, 304):
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD" and response.status not in (204, 304):
            self.wfile.write(response.body[:send_only])
        self.wfile.flush()

    def _hang_up(self, *, reset: bool) -> None:
        self.close_connection = True
        if reset:  # Closing with nothing to linger for sends RST instead of FIN.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 stdlib's name
        """Calls are kept in `Server.calls`, not printed."""


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512

    def __init__(self, owner: Server) -> None:
        self.owner = owner
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Connection)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def close(self) -> None:
        self.server_close()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients hang up, here more than elsewhere; anything else is worth a traceback."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)
