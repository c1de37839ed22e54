"""Run one program for as long as our parent lives, then stop it.

    python supervisor.py [--signal INT] [--pause-signal KILL] [--grace 10] [--user 65534]
                         -- PROGRAM ARG…

The parent keeps the other end of our standard input and never writes to it. However the parent
ends, also by SIGKILL, the kernel closes that pipe, and the end of input is our order to stop.
That holds on every Unix and for a parent with threads, which `prctl(PR_SET_PDEATHSIG)` does not.

SIGUSR1 stops the program for a while, until SIGUSR2: an outage.

Only the standard library, and no import of this project: it starts with `python -I -S`.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import threading


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="supervisor")
    parser.add_argument("--signal", default="TERM", help="how the program is asked to stop")
    parser.add_argument("--pause-signal", help="how, for a pause; without it, in the same way")
    parser.add_argument("--grace", type=float, default=10, help="seconds before it is killed")
    parser.add_argument("--user", type=int, help="user and group id to run it as")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args(arguments)
    stop_signal = signal.Signals[f"SIG{options.signal}"]
    pause_signal = signal.Signals[f"SIG{options.pause_signal or options.signal}"]

    supervised = Supervised(options.program, options.user, stop_signal, pause_signal, options.grace)

    def stop_at_end_of_input() -> None:
        # The raw descriptor: a buffered reader may not be abandoned by an exiting interpreter.
        while os.read(0, 4096):
            pass
        supervised.stop()

    signal.signal(signal.SIGTERM, lambda *_: supervised.stop())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, lambda *_: supervised.pause())
    signal.signal(signal.SIGUSR2, lambda *_: supervised.resume())
    threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    code = supervised.run()
    return code if code >= 0 else 128 - code  # of a signal, as shells say it


class Supervised:
    """Signals and threads only say what is wanted, and end the program; `run` starts it."""

    def __init__(
        self,
        command: list[str],
        user: int | None,
        stop_signal: signal.Signals,
        pause_signal: signal.Signals,
        grace: float,
    ) -> None:
        self._command, self._user = command, user
        self._stop_signal, self._pause_signal, self._grace = stop_signal, pause_signal, grace
        self._program: subprocess.Popen[bytes] | None = None
        self._going_on = threading.Event()  # cleared during a pause
        self._going_on.set()
        self._stopping = False

    def run(self) -> int:
        """Until it ends other than for a pause; what it ended with."""
        while True:
            self._program = self._start()
            if self._stopping:  # It was told so before there was anything to stop.
                self._end(self._stop_signal)
            code = self._program.wait()
            if self._going_on.is_set():
                return code
            self._going_on.wait()
            if self._stopping:
                return code

    def stop(self) -> None:
        self._stopping = True
        self._end(self._stop_signal)
        self._going_on.set()

    def pause(self) -> None:
        self._going_on.clear()
        self._end(self._pause_signal)

    def resume(self) -> None:
        self._going_on.set()

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            user=self._user,
            group=self._user,
            extra_groups=None if self._user is None else [],
            # A session of its own: Ctrl-C in the parent's terminal is the parent's to handle.
            start_new_session=True,
        )

    def _end(self, how: signal.Signals) -> None:
        program = self._program
        if program is None:
            return
        with contextlib.suppress(ProcessLookupError):
            program.send_signal(how)
        killer = threading.Timer(self._grace, program.kill)
        killer.daemon = True
        killer.start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
