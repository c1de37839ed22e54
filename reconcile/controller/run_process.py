"""One run in a process of its own, as its parent sees it."""

import contextlib
import json
import os
import shutil
import signal
import tempfile
import time
from dataclasses import asdict, dataclass, field
from functools import partial

from .. import log
from ..config import Config
from ..errors import ConfigError
from ..exit_codes import UNUSABLE
from ..run_outcome import RunOutcome
from .forking import end_with_parent, fork

CHUNK_BYTES = 65536


@dataclass(frozen=True, slots=True)
class PhaseEnd:
    phase: str
    success: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Ended:
    outcome: RunOutcome
    seconds: float  # from the fork to the end
    phases: list[PhaseEnd] = field(default_factory=list)
    error: str = ""  # of one that could not tell by itself


class RunProcess:
    """Ends with us: it holds one end of a pipe whose other end only we have. Its temporary files,
    which may be a kubeconfig's keys, are in a directory that whoever is left of us removes: either
    may be killed."""

    def __init__(self, config: Config, now: float) -> None:
        limits = config.settings.run
        self.started = now
        self.kill_at = now + limits.deadline + limits.grace
        self._killed = False
        self._said = b""
        with contextlib.ExitStack() as if_it_fails, contextlib.ExitStack() as theirs:
            self.report, report_end = os.pipe()
            if_it_fails.callback(os.close, self.report)
            theirs.callback(os.close, report_end)
            lifeline_end, self._lifeline = os.pipe()
            if_it_fails.callback(os.close, self._lifeline)
            theirs.callback(os.close, lifeline_end)
            self._directory = tempfile.mkdtemp(prefix="reconcile-run-")
            if_it_fails.callback(shutil.rmtree, self._directory, ignore_errors=True)
            work = partial(_do_run, config, report_end, lifeline_end, self._directory)
            self.pid = fork(work, keep=(report_end, lifeline_end))
            if_it_fails.pop_all()
        os.set_blocking(self.report, False)

    def close(self) -> None:
        os.close(self.report)
        os.close(self._lifeline)
        shutil.rmtree(self._directory, ignore_errors=True)

    def listen(self) -> bool:
        """Take what it has said so far. Whether that was all."""
        try:
            while data := os.read(self.report, CHUNK_BYTES):
                self._said += data
        except BlockingIOError:
            return False
        return True

    def kill(self) -> None:
        """And whatever it started."""
        self._killed = True
        os.killpg(self.pid, signal.SIGKILL)

    def ended(self) -> Ended | None:
        """What became of it, once it is over."""
        pid, _ = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        self.listen()
        return self._judge(time.monotonic() - self.started)

    def _judge(self, seconds: float) -> Ended:
        try:
            said = json.loads(self._said)
            phases = [PhaseEnd(**phase) for phase in said["phases"]]
            return Ended(RunOutcome(said["outcome"]), seconds, phases)
        except (ValueError, KeyError, TypeError):  # It was cut off, or never said anything.
            if self._killed:
                return Ended(RunOutcome.KILLED, seconds)
            return Ended(RunOutcome.CRASHED, seconds, error="It ended without a word.")


def _do_run(config: Config, report: int, lifeline: int, directory: str) -> int:
    """In the child."""
    tempfile.tempdir = directory
    from ..attempt import attempt  # The parent has imported it, and could not without its weight.

    remove = partial(shutil.rmtree, directory, ignore_errors=True)
    end_with_parent(lifeline, last=remove)
    try:
        done = attempt(config)
    except ConfigError as error:
        log.emit("config_error", error=str(error))
        _say(report, RunOutcome.UNUSABLE, [])
        return UNUSABLE
    finally:
        remove()
    phases = done.report.phases if done.report else []
    _say(
        report,
        done.outcome,
        [PhaseEnd(each.phase, each.success, each.elapsed_seconds) for each in phases],
    )
    return done.code


def _say(report: int, outcome: RunOutcome, phases: list[PhaseEnd]) -> None:
    told = {"outcome": outcome, "phases": [asdict(each) for each in phases]}
    with open(report, "wb") as pipe:
        pipe.write(json.dumps(told).encode())
