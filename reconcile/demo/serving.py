"""The published site on a local port, by the rules of the CDN and in the world's time."""

import errno
import logging
import socket
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from static_site.server import application

from ..sim.clock import LiveClock

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

USUAL_PORT = 8000
PORTS_TRIED = 20
# What pages take the time from, if they are told so: here it runs faster than a browser's.
TIME_HEADER = "Simulated-Time"


def served(directory: Path, host: str, port: int | None) -> "Address":
    """A port is taken now, so that nobody else has it later. Raises OSError if it is not free;
    without one that was asked for, the next that is."""
    if port is not None:
        return Address(directory, _bound(host, port))
    for candidate in range(USUAL_PORT, USUAL_PORT + PORTS_TRIED):
        try:
            return Address(directory, _bound(host, candidate))
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
    return Address(directory, _bound(host, 0))


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


class Address:
    """A port of ours, silent until there is a site to serve."""

    def __init__(self, directory: Path, bound: socket.socket) -> None:
        self._directory = directory
        self._bound = bound
        self._server: Any = None
        host, port = bound.getsockname()[:2]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}/"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        self._bound.close()

    def serve(self, clock: LiveClock) -> str:
        """From now on, in a thread of its own; the address."""
        from waitress.server import create_server

        # A browser asks for more at once than there are threads, and that is nothing to report.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        site = application(self._directory, lambda: clock.now().date())
        self._server = create_server(_timed(site, clock), sockets=[self._bound], ident=None)
        threading.Thread(target=self._server.run, name="demo-site", daemon=True).start()
        return self.url


def _timed(site: "WSGIApplication", clock: LiveClock) -> "WSGIApplication":
    def serve(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        def start(
            status: str, headers: list[tuple[str, str]], exc_info: Any = None
        ) -> Callable[[bytes], object]:
            told = (TIME_HEADER, f"{clock.now().isoformat()} {clock.speed:g}")
            return start_response(status, [*headers, told], exc_info)

        return site(environ, start)

    return serve
