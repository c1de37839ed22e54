"""What becomes of a run, in one word: in the log of whoever started it, and in its metrics."""

from enum import StrEnum


class RunOutcome(StrEnum):
    """The last two only its parent can tell."""

    COMPLETED = "completed"
    PARTIAL = "partial"  # some item or phase failed, the rest was done
    FAILED = "failed"  # every phase failed
    SKIPPED = "skipped"  # another run has the lock
    UNUSABLE = "unusable"  # it could not begin: settings or database
    KILLED = "killed"  # it did not come to its end in time
    CRASHED = "crashed"  # it ended without a word


# Of these the run itself, or another at the same time, has looked at everything.
WORKED = (RunOutcome.COMPLETED, RunOutcome.PARTIAL, RunOutcome.SKIPPED)
