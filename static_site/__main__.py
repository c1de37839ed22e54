"""`python -m static_site DIRECTORY`: the published site as an ordinary HTTP server."""

import argparse
import logging
import signal
import socket
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

from .server import application


def utc_today() -> date:
    return datetime.now(UTC).date()


def main(arguments: list[str], today: Callable[[], date] = utc_today) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m static_site", description="Serve the published site from a directory."
    )
    parser.add_argument("directory", type=Path, help="where the site is published to")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port, 0 for any (%(default)s)")
    options = parser.parse_args(arguments)
    if not options.directory.is_dir():
        sys.stderr.write(f"There is no directory {options.directory}\n")
        return 2
    try:
        from waitress.server import create_server
    except ImportError:
        sys.stderr.write("Serving over HTTP needs the extra riscv-runners[server].\n")
        return 2
    try:
        bound = _bound(options.host, options.port)
    except (OSError, OverflowError, ValueError) as error:
        where = _shown(options.host, options.port)
        reason = getattr(error, "strerror", None) or error
        sys.stderr.write(f"Cannot listen on {where}: {reason}\n")
        return 2
    # A browser asks for more at once than there are threads, and that is nothing to report.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    server = create_server(
        # Absolute, whatever becomes of the working directory.
        application(options.directory.absolute(), today),
        sockets=[bound],
        ident=None,
    )
    # run() ends at SystemExit, and lets the requests under way finish first.
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, lambda *_: sys.exit(0))
    sys.stdout.write(f"Listening on http://{_shown(*bound.getsockname()[:2])}/\n")
    sys.stdout.flush()
    server.run()
    return 0


def _bound(host: str, port: int) -> socket.socket:
    """One socket, and so one port, also for a name that has several addresses."""
    host.encode("idna")  # What is no name at all is a ValueError.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


def _shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
