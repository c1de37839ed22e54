"""One run as whoever starts it sees it: what became of it, and its summary in the log."""

from dataclasses import asdict, dataclass

from . import log, run
from .config import Config
from .errors import BusyError, StoreError
from .exit_codes import DONE, UNUSABLE
from .model import Json
from .run import RunReport
from .run_outcome import RunOutcome

HINT = " (`reconcile check` says more)"


@dataclass(frozen=True, slots=True)
class Attempt:
    outcome: RunOutcome
    code: int
    report: RunReport | None = None  # None if there was no run
    message: str = ""  # why there was none

    def document(self) -> Json:
        """For `--json`."""
        if self.report is None:
            if self.outcome is RunOutcome.SKIPPED:
                return {"status": "skipped", "message": self.message}
            return {"status": "failed", "error": self.message}
        return {
            "run_id": self.report.run_id,
            "status": self.report.status,
            "started_at": self.report.started_at.isoformat(),
            "seconds": round(self.report.seconds, 3),
            **asdict(self.report.totals),
            "phases": [asdict(phase) for phase in self.report.phases],
        }


def attempt(config: Config) -> Attempt:
    """Raises ConfigError; everything else that can happen is an outcome."""
    try:
        report = run.run(config)
    except BusyError as error:
        log.emit("run", status="skipped", message=str(error))
        return Attempt(RunOutcome.SKIPPED, DONE, message=str(error))
    except StoreError as error:
        log.emit("run", status="failed", error=f"{error}{HINT}")
        return Attempt(RunOutcome.UNUSABLE, UNUSABLE, message=f"{error}{HINT}")
    log.emit(
        "run",
        status=report.status,
        error=report.error,
        seconds=round(report.seconds, 3),
        statements=report.statements,
        **asdict(report.totals),
    )
    return Attempt(RunOutcome(report.status), report.exit_code, report)
