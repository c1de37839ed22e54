"""How a runner in a pod talks to GitHub: the one seam between the two simulators.

Everything here is called under the world's lock.
"""

from typing import Protocol


class RefusedError(Exception):
    """GitHub does not know this runner (its registration is gone), or this is no configuration."""


class Listener(Protocol):
    """The runner process, as GitHub can reach it."""

    def job_started(self, job_name: str) -> None: ...

    def job_finished(self, job_name: str, conclusion: str) -> None:
        """Its one job is over, and so is its registration: an ephemeral runner exits now."""
        ...

    def deregistered(self) -> None:
        """Its registration was deleted while it was idle: it exits with an error."""
        ...


class Session(Protocol):
    """One runner's connection."""

    def lose(self) -> None:
        """The line is dead, and GitHub does not know yet. A job goes on without being heard."""
        ...

    def resume(self) -> None:
        """The line is back. GitHub may have given the job up meanwhile, and says so then."""
        ...

    def stop(self) -> None:
        """The runner was told to shut down: a running job fails, and the runner goes offline."""
        ...

    def vanish(self) -> None:
        """The process is gone without a word: GitHub notices when the lease runs out."""
        ...


class Broker(Protocol):
    def connect(self, jit_config: str, listener: Listener) -> Session:
        """Bring a runner online with what `generate-jitconfig` gave out; RefusedError if not."""
        ...
