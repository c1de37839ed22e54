"""`reconcile` as a process of its own, in the time of the simulated world, and what it said."""

import base64
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reconcile.sim.github.runners import read_jit_config
from reconcile.sim.http import Request, Response
from tests.simulated import SECRET, private_key
from tests.system import System, command_environment

PATIENCE_SECONDS = 60
MODULE = (sys.executable, "-m", "reconcile")
SCRIPT = Path(sys.executable).with_name("reconcile")
# Whatever the machine says: compiling the Kubernetes client anew each time takes seconds.
KEEP_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
# The record of a whole run, in its order; with a site, it is published last.
PHASES = ["sync_jobs", "sync_workers", "demand_match", "missed_webhooks", "retention"]


@dataclass(frozen=True)
class Done:
    code: int
    stdout: str
    stderr: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The log: every line of standard error, which is nothing else."""
        return [json.loads(line) for line in self.stderr.splitlines()]

    def events(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == event]

    @property
    def summary(self) -> dict[str, Any]:
        [summary] = self.events("run")
        return summary

    @property
    def document(self) -> dict[str, Any]:
        """The JSON on standard output, which is nothing else."""
        loaded: dict[str, Any] = json.loads(self.stdout)
        return loaded

    @property
    def errors(self) -> dict[str, str]:
        """By phase."""
        return {line["phase"]: line["error"] for line in self.events("phase") if "error" in line}


def call(environment: dict[str, str], *arguments: str, program: tuple[str, ...] = MODULE) -> Done:
    ended = subprocess.run(
        [*program, *arguments],
        env={**environment, **KEEP_BYTECODE},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return Done(ended.returncode, ended.stdout, ended.stderr)


def run(made: System, *arguments: str, program: tuple[str, ...] = MODULE) -> Done:
    """`reconcile run`, now; whatever becomes of it."""
    return call(command_environment(made), "run", *arguments, program=program)


def good_run(made: System, *arguments: str, program: tuple[str, ...] = MODULE) -> Done:
    done = run(made, *arguments, program=program)
    assert (done.code, done.summary["status"]) == (0, "completed"), done.stderr
    return done


@dataclass
class Issued:
    """Every credential that the simulated GitHub gave away, and those that a run is given."""

    credentials: set[str] = field(default_factory=set)

    @classmethod
    def watch(cls, made: System) -> "Issued":
        issued = cls({SECRET})
        issued.credentials |= {line for line in private_key().splitlines() if "---" not in line}
        made.world.github_server.observers.append(issued._observe)
        return issued

    def _observe(self, request: Request, response: Response) -> None:
        if response.status != 201:
            return
        answer = json.loads(response.body)
        if token := answer.get("token"):
            self.credentials.add(token)
        if jit := answer.get("encoded_jit_config"):
            secret = read_jit_config(jit)
            self.credentials |= {jit, base64.b64encode(jit.encode()).decode(), secret}

    def found_in(self, text: str) -> list[str]:
        return [each for each in sorted(self.credentials) if each in text]
