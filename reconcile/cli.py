"""The command line: the only place that wires the parts together and reads the environment."""

import argparse
import json
import logging
import os
import sys
import threading
from collections.abc import Mapping, Sequence

from . import config, log, trace_arguments
from .errors import ConfigError, StoreError
from .exit_codes import DONE, FAILED, INTERRUPTED, UNUSABLE

A_DAY = 86_400


class _Lines(logging.Handler):
    """What libraries have to say comes in the same lines."""

    def emit(self, record: logging.LogRecord) -> None:
        log.emit("library", logger=record.name, level=record.levelname, message=record.getMessage())


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    try:
        given = _parser(demo=list(words[:1]) == ["demo"]).parse_args(words)
    except KeyboardInterrupt:  # The demo's arguments come with a lot of code.
        return INTERRUPTED
    logging.basicConfig(handlers=[_Lines()], level=logging.ERROR)
    try:
        return int(given.command(given, os.environ))
    except KeyboardInterrupt:
        log.emit("run", status="interrupted")
        return INTERRUPTED
    except ConfigError as error:
        log.emit("config_error", error=str(error))
        if given.json:
            print(json.dumps({"status": "failed", "error": str(error)}))  # noqa: T201
        return UNUSABLE


def _parser(*, demo: bool = False) -> argparse.ArgumentParser:
    """With the demo's arguments only if they are wanted: they come with the simulators."""
    parser = argparse.ArgumentParser(
        prog="reconcile",
        description="Runners for GitHub Actions on RISC-V boards.",
        epilog="Settings come from the environment: see docs/configuration.md. Exit codes: 0 done, "
        "1 something failed and the rest was done, 2 it could not run.",
    )
    commands = parser.add_subparsers(title="commands", required=True)
    run = commands.add_parser("run", help="every phase, once, and exit")
    run.add_argument("--dry-run", action="store_true", help="print the plan and change nothing")
    run.add_argument(
        "--json", action="store_true", help="print what was done, or would be, as JSON"
    )
    run.set_defaults(command=_run)
    controller = commands.add_parser(
        "controller", help="start a run for each new job, and every 15 seconds, until stopped"
    )
    controller.add_argument("--host", default="", help="where to listen; without it, everywhere")
    controller.add_argument(
        "--port", type=int, default=8080, help="for /health, /ready, /metrics (8080; 0 is any)"
    )
    controller.add_argument(
        "--interval", type=_seconds, default=15.0, help="between two runs, in seconds (15)"
    )
    controller.set_defaults(command=_controller, json=False)
    publish = commands.add_parser("publish", help="make the whole site anew, from scratch")
    publish.add_argument("--json", action="store_true", help="print what was done as JSON")
    publish.set_defaults(command=_publish)
    check = commands.add_parser("check", help="verify the settings and all they lead to")
    check.add_argument("--json", action="store_true", help="print the findings as JSON")
    check.set_defaults(command=_check)
    traced = commands.add_parser(
        "trace",
        help="why a job was not picked up, and what happened to an account",
        description="Reads the event log and says in plain words what it shows, first the finding "
        "that explains the others. Changes nothing. Exit codes: 0 answered, 1 nothing is known of "
        "it, 2 it could not be asked.",
    )
    trace_arguments.add_arguments(traced)
    traced.set_defaults(command=_trace)
    demonstrated = commands.add_parser(
        "demo", help="the whole system on this machine, with a simulated GitHub and cluster"
    )
    if demo:
        from .demo import command

        command.add_arguments(demonstrated)
    return parser


def _trace(given: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from . import tracing

    return tracing.main(config.for_trace(environ), trace_arguments.wanted(given), json=given.json)


def _run(given: argparse.Namespace, environ: Mapping[str, str]) -> int:
    settings = config.from_environment(environ)
    if given.dry_run:
        return _dry_run(given, settings)
    from .attempt import attempt

    limits = settings.settings.run
    _end_at_last(limits.deadline + limits.grace)
    done = attempt(settings)
    if given.json:
        print(json.dumps(done.document(), indent=2))  # noqa: T201 this is its output
    return done.code


def _dry_run(given: argparse.Namespace, settings: config.Config) -> int:
    from . import dry_run
    from .attempt import HINT

    try:
        found = dry_run.dry_run(settings)
    except StoreError as error:
        told = {"status": "failed", "error": f"{error}{HINT}"}
        log.emit("run", status=told["status"], error=told["error"])
        if given.json:
            print(json.dumps(told))  # noqa: T201
        return UNUSABLE
    print(json.dumps(found.document(), indent=2) if given.json else found.text())  # noqa: T201
    return FAILED if found.problems else DONE


def _controller(given: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from .controller import control

    return control(lambda: config.from_environment(environ), given.host, given.port, given.interval)


def _publish(given: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from . import publishing

    return publishing.main(config.from_environment(environ), json=given.json)


def _seconds(text: str) -> float:
    """Raises ValueError, which argparse explains."""
    seconds = float(text)
    if not 0 < seconds <= A_DAY:
        raise ValueError("must be positive, and at most a day")
    return seconds


def _check(given: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from . import check

    return check.main(environ, json=given.json)


def _end_at_last(seconds: float) -> None:
    def end() -> None:
        log.emit("run", status="failed", error="The run did not come to its end and was ended.")
        sys.stderr.flush()
        os._exit(FAILED)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
