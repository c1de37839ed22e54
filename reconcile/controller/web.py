"""Port 8080: /health, /ready, /metrics. Read only."""

import json
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

import waitress
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from ..errors import ConfigError
from .metrics import Metrics
from .state import State, health_problems, ready_problems

THREADS = 2
# Those who open connections and say nothing must not keep the probes out.
CONNECTIONS = 500
IDLE_SECONDS = 10
LOOK_FOR_IDLE_SECONDS = 5
JSON = "application/json"

Answer = tuple[str, str, bytes]  # status, content type, body
StartResponse = Callable[[str, list[tuple[str, str]]], object]


class App:
    """WSGI."""

    def __init__(self, state: State, metrics: Metrics, interval: float) -> None:
        self._state, self._metrics, self._interval = state, metrics, interval

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        status, kind, body = self._answer(environ)
        headers = [("Content-Type", kind), ("Content-Length", str(len(body)))]
        start_response(status, [*headers, ("Cache-Control", "no-store"), ("Allow", "GET, HEAD")])
        return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]

    def _answer(self, environ: dict[str, Any]) -> Answer:
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return _said("405 Method Not Allowed", ["There is only GET here."])
        now = time.monotonic()
        match environ.get("PATH_INFO"):
            case "/health":
                return _judged(health_problems(self._state.observed(), now))
            case "/ready":
                return _judged(ready_problems(self._state.observed(), now, self._interval))
            case "/metrics":
                encode, kind = _encoder(environ.get("HTTP_ACCEPT", ""))
                return "200 OK", kind, encode(self._metrics.registry)
            case _:
                return _said("404 Not Found", ["There are /health, /ready and /metrics here."])


def _encoder(accept: str) -> tuple[Callable[[CollectorRegistry], bytes], str]:
    """Of a format that is asked for; of the usual one, if what is asked for makes no sense."""
    try:
        return choose_encoder(accept)
    except (TypeError, ValueError):  # a version that is none
        return choose_encoder("")


def _judged(problems: list[str]) -> Answer:
    return _said("503 Service Unavailable" if problems else "200 OK", problems)


def _said(status: str, problems: list[str]) -> Answer:
    body = json.dumps({"ok": not problems, "problems": problems})
    return status, JSON, body.encode() + b"\n"


def bind(host: str, port: int) -> socket.socket:
    """Before anything else starts: a port that is taken is a setting at fault. For IPv4 and IPv6
    alike where the machine has both, unless the host says which."""
    try:
        return _bound(host, port)
    except (OSError, ValueError) as error:
        where = f"[{host}]:{port}" if ":" in host else f"{host or '*'}:{port}"
        raise ConfigError(f"Cannot start: {where} cannot be listened on: {error}.") from error


def _bound(host: str, port: int) -> socket.socket:
    host.encode("idna")  # What is no name at all is a ValueError.
    if not 0 <= port < 65536:
        raise ValueError("a port is a number from 0 to 65535")
    if host:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))


def server(app: App, bound: socket.socket) -> Any:
    return waitress.create_server(
        app,
        sockets=[bound],
        threads=THREADS,
        connection_limit=CONNECTIONS,
        channel_timeout=IDLE_SECONDS,
        cleanup_interval=LOOK_FOR_IDLE_SECONDS,
        asyncore_use_poll=True,  # select() ends at file 1024
        ident=None,
    )


def serve(app: App, bound: socket.socket) -> None:
    """For good."""
    server(app, bound).run()
