"""`python -m webhook_fn`: the function as an ordinary HTTP server."""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from datetime import datetime

from . import config
from .app import system_clock
from .http import BODY_LIMIT
from .wsgi import make_application


def main(arguments: list[str], clock: Callable[[], datetime] = system_clock) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m webhook_fn", description="Serve the webhook function over HTTP."
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port, 0 for any (%(default)s)")
    parser.add_argument("--threads", type=int, default=4, help="requests at once (%(default)s)")
    options = parser.parse_args(arguments)
    try:
        settings = config.from_environment(os.environ)
        from waitress.server import create_server
    except config.ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except ImportError:
        sys.stderr.write("Serving over HTTP needs the extra riscv-runners[server].\n")
        return 2
    try:
        server = create_server(
            make_application(settings, clock),
            host=options.host,
            port=options.port,
            threads=options.threads,
            max_request_body_size=BODY_LIMIT + 1,  # waitress refuses what reaches this
            ident="webhook_fn",
        )
    except OSError as error:
        sys.stderr.write(f"Cannot listen on {options.host}:{options.port}: {error.strerror}\n")
        return 2
    sys.stdout.write(f"Listening on http://{options.host}:{server.effective_port}/\n")
    sys.stdout.flush()
    # run() ends at SystemExit, and lets the requests under way finish first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
