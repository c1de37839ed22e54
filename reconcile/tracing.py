"""`reconcile trace`: the event log answers."""

import json as json_text
import os
import shutil
import sys
from datetime import datetime
from typing import Any

from webhook_fn.events import Apps
from webhook_fn.trace.trace import Trace
from webhook_fn.trace.tracer import Asked, Page, Tracer

from . import log, store, trace_text
from .config import TraceConfig
from .errors import ConfigError, StoreError
from .exit_codes import DONE, FAILED, UNUSABLE
from .settings import RunLimits
from .trace_arguments import Wanted

WIDTHS = (60, 110)  # that text is broken at, however wide the terminal


def main(config: TraceConfig, wanted: Wanted, *, json: bool) -> int:
    log.bind(config.clock)
    now = config.clock.now()
    if wanted.at is not None and wanted.at > now:
        raise ConfigError("Cannot answer: --at is in the future.")
    try:
        with (
            store.connect(
                config.conninfo, config.environment, RunLimits(), read_only=True
            ) as database,
            database.one_moment(),
        ):
            apps = Apps(config.organization_id, config.personal_id)
            answer = _ask(Tracer(database, apps, config.routes), wanted, now)
    except StoreError as error:
        log.emit("trace", status="failed", error=str(error))
        if json:
            _print(json_text.dumps({"status": "failed", "error": str(error)}))
        return UNUSABLE
    _print(_shown(answer, wanted, json=json))
    known = answer is not None and (not isinstance(answer, Trace) or answer.known)
    return DONE if known else FAILED


def _print(text: str) -> None:
    """All of it, or as much as somebody reads; what cannot be written as the terminal wants it is
    escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)  # noqa: T201
    except BrokenPipeError:
        # Python flushes it once more when it ends.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _ask(tracer: Tracer, wanted: Wanted, now: datetime) -> Trace | dict[str, Any] | None:
    asked = Asked(now, wanted.at, wanted.repository)
    page = Page(wanted.before, wanted.limit)
    if wanted.job is not None:
        return tracer.job(wanted.job, asked)
    if wanted.installation is not None:
        return tracer.installation(wanted.installation, asked, page)
    if wanted.entity is not None:
        return tracer.entity(wanted.entity, asked, page)
    if wanted.payload is not None:
        return tracer.payload(wanted.payload)
    raise ValueError("The command line asks about something.")


def _shown(answer: Trace | dict[str, Any] | None, wanted: Wanted, *, json: bool) -> str:
    if answer is None:
        sentence = _unknown(wanted)
        return json_text.dumps({"known": False, "error": sentence}) if json else sentence
    if isinstance(answer, Trace):
        if json:
            return json_text.dumps(answer.document(), indent=2)
        low, high = WIDTHS
        return trace_text.told(answer, max(low, min(high, shutil.get_terminal_size().columns)))
    return json_text.dumps(answer, indent=2)


def _unknown(wanted: Wanted) -> str:
    if wanted.payload is not None:
        return f"There is no event {wanted.payload} in the log: it is too old, or never was."
    subject = f"installation {wanted.installation}"
    if wanted.entity is not None:
        subject = f"an account {trace_text.plain(wanted.entity)}"
    if wanted.at is not None:
        return f"Nothing was known of {subject} at that time: it may be without --at."
    return (
        f"Nothing is known of {subject}: the App was never installed there, or its webhooks do not "
        "arrive. The App's settings at GitHub show, under Advanced, what was delivered."
    )
