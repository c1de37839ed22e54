"""A service on a loopback port: keep-alive, a thread a connection, and the network's faults."""

import contextlib
import select
import socket
import struct
import sys
import threading
import time
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
BODILESS = (204, 304)


@dataclass(frozen=True, slots=True)
class Call:
    endpoint: str  # as in `github.list_runners`
    method: str
    target: str  # path and query
    status: int | None  # None: no answer was sent


Observer = Callable[[Request, Response], None]


class Server:
    """Counts its calls and keeps the latest; observers see what the service itself answered.

    What a service fails over is a 500 to the client, is kept in `errors`, and raised at the end:
    it is not for the client to explain.
    """

    def __init__(self, service: Service, timeline: Timeline, faults: Faults) -> None:
        self.service = service
        self.faults = faults
        self.calls: deque[Call] = deque(maxlen=CALLS_KEPT)
        self.counts: Counter[str] = Counter()
        self.failed = 0  # of them, those answered with an error or not at all
        self.errors: list[Exception] = []
        self.observers: list[Observer] = []
        self.timeline = timeline
        self.stopping = threading.Event()
        self._at_once: Counter[str] = Counter()  # by the caller's credential
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
        if self.errors:
            raise ExceptionGroup(
                f"What the simulated {self.service.name} failed over.", self.errors
            )

    def exchange(self, request: Request, target: str) -> tuple[Response | None, Fault | None]:
        """The answer, if one is to be sent, and what is to befall it on the way."""
        # HEAD is a GET whose body is left out when it is sent.
        method = "GET" if request.method == "HEAD" else request.method
        matched = self.service.router.match(method, request.path)
        name = f"{self.service.name}.{matched[0].name if matched else 'no_such_path'}"
        caller = request.headers.get("authorization", "")
        with self._lock:
            self._at_once[caller] += 1
            request = replace(request, at_once=self._at_once[caller])
        response = fault = None
        try:
            fault = self._delay_or_fail(name, request.path)
            if fault is None or fault.after_effect:
                response = self._answer(matched, request)
            if fault is not None and fault.kind not in (Kind.HALF_BODY, Kind.WRONG_JSON):
                response = self._instead(fault)
        finally:
            with self._lock:
                self._at_once[caller] -= 1
                if not self._at_once[caller]:
                    del self._at_once[caller]
                self.counts[name] += 1
                status = response.status if response else None
                self.failed += status is None or status >= 400
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
            try:
                if matched is None:
                    response = self.service.no_such_path(request)
                else:
                    endpoint, parameters = matched
                    request = replace(request, parameters=parameters)
                    response = self.service.respond(endpoint, request)
            except Exception as error:  # noqa: BLE001 a fault of ours, which nobody may overlook
                self.errors.append(error)
                return self.service.refusal(500, None)
            for observe in self.observers:
                observe(request, response)
        return response

    def _instead(self, fault: Fault) -> Response | None:
        with self.timeline.lock:
            if fault.kind is Kind.STATUS:
                return self.service.refusal(fault.status, fault.retry_after)
            if fault.kind is Kind.EXPIRED_TOKEN:
                return self.service.refusal(401, None)
        return None


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_CONNECTION_SECONDS
    disable_nagle_algorithm = True
    wbufsize = 64 * 1024  # an answer leaves in one piece
    server: "_Listener"

    def _serve(self) -> None:
        try:
            request = self._read()
        except _MalformedError as error:
            self.close_connection = True
            self._send(Response(error.status))
            return
        if request is None:
            self.close_connection = True
            return
        response, fault = self.server.owner.exchange(request, self.path)
        kind = None if fault is None else fault.kind
        if fault is not None and kind is Kind.TIMEOUT:
            self._keep_silent(fault.seconds)
        elif response is None:
            self._hang_up(reset=True)
        elif kind in (Kind.HALF_BODY, Kind.WRONG_JSON) and response.status in BODILESS:
            self._hang_up(reset=True)  # There is no body to spoil, but the call is to fail.
        elif kind is Kind.HALF_BODY:
            self._send(response, send_only=len(response.body) // 2)
            self._hang_up(reset=False)
        elif kind is Kind.WRONG_JSON:
            self._send(replace(response, body=BROKEN_JSON))
        else:
            self._send(response)

    # The standard library's names for what it calls.
    do_GET = do_HEAD = do_OPTIONS = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815

    def _read(self) -> Request | None:
        """The request, or nothing if the client did not get to the end of it."""
        if "Transfer-Encoding" in self.headers:
            raise _MalformedError(411)  # No client of ours sends its body in chunks.
        length = self.headers.get("Content-Length", "0").strip()
        if not (length.isascii() and length.isdigit() and len(length) <= 18):
            raise _MalformedError(400)
        if int(length) > BODY_LIMIT:
            raise _MalformedError(413)
        try:
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query, keep_blank_values=True))
        except ValueError:
            raise _MalformedError(400) from None
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            return None
        prefix = self.server.owner.service.prefix
        prefixed = bool(prefix) and parts.path.startswith(prefix + "/")
        base_url = f"http://{self.headers.get('Host', '')}"
        return Request(
            method=self.command,
            path=parts.path.removeprefix(prefix) if prefixed else parts.path,
            query=query,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
            base_url=base_url + prefix if prefixed else base_url,
        )

    def _send(self, response: Response, send_only: int | None = None) -> None:
        self.send_response_only(response.status)
        self.send_header("Date", format_datetime(self.server.owner.timeline.now(), usegmt=True))
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.status not in BODILESS:
            self.send_header("Content-Length", str(len(response.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD" and response.status not in BODILESS:
            self.wfile.write(response.body[:send_only])
        self.wfile.flush()

    def _keep_silent(self, seconds: float) -> None:
        """Until the time is over, or the client has had enough."""
        self.close_connection = True
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self.server.owner.stopping.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.05)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                return

    def _hang_up(self, *, reset: bool) -> None:
        self.close_connection = True
        if reset:  # Closing with nothing to linger for sends RST instead of FIN.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 stdlib's name
        """Calls are kept in `Server.calls`, not printed."""


class _MalformedError(Exception):
    """What came is no request that could be answered."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


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
