"""What runs in a runner's container: it connects with its configuration, does one job, exits."""

from collections.abc import Callable
from typing import Protocol

from ..broker import Broker, RefusedError, Session
from .images import Behaviour

VERSION = "2.331.0"
JIT_VARIABLE = "RUNNER_JITCONFIG"
CRASH_SECONDS = 3
COMPLAINT_SECONDS = 1
RECONNECT_SECONDS = 30
EXIT_SECONDS = 2  # from the end of the job, or of the registration, to the end of the process

DELETED = (
    "Failed to create a session. The runner registration has been deleted from the server, please "
    "re-configure. Runner registrations are automatically deleted for runners that have not "
    "connected to the service recently."
)
RESULTS = {"success": "Succeeded", "failure": "Failed", "cancelled": "Canceled"}


class Host(Protocol):
    """What the process has of its container."""

    def log(self, line: str) -> None: ...

    def log_dated(self, line: str) -> None:
        """With the time before it, as the runner itself prints it."""
        ...

    def later(self, seconds: float, action: Callable[[], None]) -> None: ...

    def is_online(self) -> bool:
        """Whether GitHub can be reached."""
        ...

    def exit(self, code: int) -> None: ...


class Runner:
    """The process, and GitHub's way to reach it. Once it is over it hears nothing any more."""

    def __init__(
        self,
        host: Host,
        environment: dict[str, str],
        behaviour: Behaviour,
        start_seconds: float,
        broker: Broker | None,
    ) -> None:
        self._host = host
        self._environment = environment
        self._behaviour = behaviour
        self._start_seconds = start_seconds
        self._broker = broker
        self._session: Session | None = None
        self._over = False
        self.deaf = False  # does not react to SIGTERM any more

    def start(self) -> None:
        host = self._host
        host.log("Starting the runner.")
        if self._behaviour is Behaviour.LEAKS:
            for name, value in self._environment.items():
                host.log(f"{name}={value}")
        if self._behaviour is Behaviour.CRASHES:
            host.later(CRASH_SECONDS, self._crash)
        elif self._behaviour is Behaviour.NEVER_REGISTERS:
            host.log("Waiting for the Docker daemon.")
        elif not self._environment.get(JIT_VARIABLE):
            host.log(f"{JIT_VARIABLE} is not set: there is nothing to run with.")
            host.later(COMPLAINT_SECONDS, lambda: host.exit(1))
        else:
            host.later(self._start_seconds, self._connect)

    def _crash(self) -> None:
        self._host.log("Unhandled exception. System.IO.IOException: No such device or address")
        self._host.exit(1)

    def _connect(self) -> None:
        if not self._host.is_online():
            self._host.log_dated("Runner connect error: No route to host. Retrying.")
            self._host.later(RECONNECT_SECONDS, self._connect)
            return
        if self._broker is not None:
            try:
                self._session = self._broker.connect(self._environment[JIT_VARIABLE], self)
            except RefusedError:
                self._host.log(DELETED)
                self._host.later(EXIT_SECONDS, lambda: self._host.exit(1))
                return
        self._host.log("√ Connected to GitHub")
        self._host.log(f"Current runner version: '{VERSION}'")
        self._host.log_dated("Listening for Jobs")

    def job_started(self, job_name: str) -> None:
        if not self._over:
            self._host.log_dated(f"Running job: {job_name}")

    def job_finished(self, job_name: str, conclusion: str) -> None:
        if self._over:
            return
        result = RESULTS.get(conclusion, conclusion.capitalize())
        self._host.log_dated(f"Job {job_name} completed with result: {result}")
        self._session = None
        if self._behaviour is Behaviour.HANGS:
            self.deaf = True
        else:
            self._host.later(EXIT_SECONDS, lambda: self._host.exit(0))

    def deregistered(self) -> None:
        if self._over:
            return
        self._session = None
        self._host.log(DELETED)
        self._host.later(EXIT_SECONDS, lambda: self._host.exit(1))

    def terminate(self) -> None:
        """SIGTERM."""
        session = self._end()
        if not self.deaf:
            self._host.log("Exiting...")
        if session is not None:
            session.stop()

    def vanish(self) -> None:
        """SIGKILL, or the power is gone."""
        session = self._end()
        if session is not None:
            session.vanish()

    def lose_line(self) -> None:
        if self._session is not None:
            self._session.lose()

    def regain_line(self) -> None:
        if self._session is not None:
            self._session.resume()

    def _end(self) -> Session | None:
        # Ending a session may have GitHub call back, and then nobody must be there.
        session, self._session, self._over = self._session, None, True
        return session
