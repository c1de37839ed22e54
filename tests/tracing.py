"""Asking for a trace in both ways: over HTTP as the function's role, by the command as a run's."""

import contextlib
import io
import json
from dataclasses import dataclass
from typing import Any

from reconcile import cli
from tests.system import TRACE_SECRET, System
from webhook_fn.http import Request, Response


def ask(s: System, path: str, query: str = "", token: str | None = TRACE_SECRET) -> Response:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return s.function.receiver.respond(Request("GET", path, headers, lambda: b"", query))


@dataclass(frozen=True)
class Said:
    code: int
    text: str

    @property
    def document(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.text)
        return loaded


def command(s: System, *arguments: str) -> Said:
    """`reconcile trace`, in this process. It is given no key and no way to the cluster."""
    environ = {
        name: value
        for name, value in s.settings().items()
        if name in ("POSTGRES_URL", "RUNNERS_ENV", "GHAPP_ORG_ID", "GHAPP_PERSONAL_ID")
    }
    environ |= {"RUNNERS_CLOCK": s.world.time.clock.now().isoformat(), **s.routes}
    given = cli._parser().parse_args(["trace", *arguments])
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = given.command(given, environ)
    return Said(code, said.getvalue())
