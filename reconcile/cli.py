"""The command line: the only place that wires the parts together and reads the environment."""

import argparse
import dataclasses
import json
import logging
import os
import sys
import threading
from collections.abc import Mapping, Sequence

from . import config, log
from .errors import BusyError, ConfigError, StoreError

DONE, FAILED, UNUSABLE, INTERRUPTED = 0, 1, 2, 130
# How much longer than its deadline a run may take to come to its end before it is ended: every
# wait inside is bounded, so this is for what nobody thought of.
PATIENCE_SECONDS = 60
HINT = " (`reconcile check` says more)"


class _Lines(logging.Handler):
    """What libraries have to say comes in the same lines."""

    def emit(self, record: logging.LogRecord) -> None:
        log.emit("library", logger=record.name, level=record.levelname, message=record.getMessage())


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
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


def _parser() -> argparse.ArgumentParser:
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
    check = commands.add_parser("check", help="verify the settings and all they lead to")
    check.add_argument("--json", action="store_true", help="print the findings as JSON")
    check.set_defaults(command=_check)
    return parser


def _run(given: argparse.Namespace, environ: Mapping[str, str]) -> int:
    settings = config.from_environment(environ)
    if given.dry_run:
        return _dry_run(given, settings)
    from . import run

    _end_at_last(settings.settings.run.deadline + PATIENCE_SECONDS)
    try:
        report = run.run(settings)
    except BusyError as error:
        return _did_not_run(given, DONE, status="skipped", message=str(error))
    except StoreError as error:
        return _did_not_run(given, UNUSABLE, status="failed", error=f"{error}{HINT}")
    totals = dataclasses.asdict(report.totals)
    log.emit(
        "run",
        status=report.status,
        error=report.error,
        seconds=round(report.seconds, 3),
        statements=report.statements,
        **totals,
    )
    if given.json:
        document = {
            "run_id": report.run_id,
            "status": report.status,
            "started_at": report.started_at.isoformat(),
            "seconds": round(report.seconds, 3),
            **totals,
            "phases": [dataclasses.asdict(phase) for phase in report.phases],
        }
        print(json.dumps(document, indent=2))  # noqa: T201 this is its output
    return report.exit_code


def _did_not_run(given: argparse.Namespace, code: int, **why: str) -> int:
    log.emit("run", **why)
    if given.json:
        print(json.dumps(why))  # noqa: T201
    return code


def _dry_run(given: argparse.Namespace, settings: config.Config) -> int:
    from . import dry_run

    try:
        found = dry_run.dry_run(settings)
    except StoreError as error:
        return _did_not_run(given, UNUSABLE, status="failed", error=f"{error}{HINT}")
    print(json.dumps(found.document(), indent=2) if given.json else found.text())  # noqa: T201
    return FAILED if found.problems else DONE


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
