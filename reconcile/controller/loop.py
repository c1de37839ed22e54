"""The controller: waits, forks a run, waits for it, goes on. It has one thread, touches neither
the network nor the database, and decides nothing but when."""

import contextlib
import gc
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial

from .. import log
from ..config import Config
from ..errors import ConfigError
from ..exit_codes import DONE
from ..run_outcome import WORKED, RunOutcome
from . import web
from .run_process import Ended, RunProcess
from .schedule import Cause, Schedule
from .watcher_process import WatcherProcess

SIGN_OF_LIFE_SECONDS = 5.0
STOPPING = (signal.SIGTERM, signal.SIGINT)

ReadConfig = Callable[[], Config]


def control(read_config: ReadConfig, host: str, port: int, interval: float) -> int:
    """Until it is told to stop. Raises ConfigError if it cannot even begin."""
    config = read_config()
    log.bind(config.clock)
    with web.bind(host, port) as bound, _signals() as signals:
        log.emit("controller_started", port=bound.getsockname()[1], interval_seconds=interval)
        controller = Controller(read_config, config, bound, signals, interval)
        with contextlib.closing(controller):
            controller.start()
            while controller.step():
                pass
    log.emit("controller_stopped")
    return DONE


class Controller:
    def __init__(
        self,
        read_config: ReadConfig,
        config: Config,
        bound: socket.socket,
        signals: int,
        interval: float,
    ) -> None:
        self._read_config = read_config
        self._config = config
        self._signals = signals
        self._schedule = Schedule(interval, next_tick=time.monotonic() + interval)
        watch = partial(_watch, config, bound, interval)
        self._watcher = WatcherProcess(watch, keep=bound.fileno())
        self._run: RunProcess | None = None
        self._worked_at: float | None = None  # when a run last did its work
        self._stopping = False
        self._told_at = 0.0
        self._selector = selectors.DefaultSelector()
        self._selector.register(signals, selectors.EVENT_READ, self._on_signal)

    def start(self) -> None:
        """The watcher first: it needs little of what a run needs."""
        self._start_watcher()
        _warm_up(self._config)

    def step(self) -> bool:
        """One look at everything, after something happened or it is time. False at the end."""
        now = time.monotonic()
        if self._run is not None and (ended := self._run.ended()) is not None:
            self._forget_run(self._run)
            self._on_end(ended)
        if self._run is not None and now >= self._run.kill_at:
            self._kill(self._run)
        self._reap_strangers()
        if self._run is None:
            if self._stopping:
                return False
            if (cause := self._schedule.due(time.monotonic())) is not None:
                self._begin(cause)
        self._see_to_the_watcher(now)
        if now - self._told_at >= SIGN_OF_LIFE_SECONDS:
            self._tell("alive")
        for key, _ in self._selector.select(self._patience()):
            key.data()
        return True

    def _reap_strangers(self) -> None:
        """As process 1 of a container we are the parent of whatever lost its own."""
        if os.getpid() != 1:
            return
        ours = {self._watcher.pid, self._run.pid if self._run else None}
        with contextlib.suppress(ChildProcessError):
            while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if found.si_pid in ours:
                    return  # Its end is noticed elsewhere.
                os.waitpid(found.si_pid, 0)

    def close(self) -> None:
        if self._run is not None:  # Only if we end by a fault of ours.
            self._run.kill()
            self._forget_run(self._run)
        self._watcher.stop()
        self._selector.close()

    def _patience(self) -> float:
        now = time.monotonic()
        moments = [self._told_at + SIGN_OF_LIFE_SECONDS]
        moments.append(self._run.kill_at if self._run else self._schedule.next_at)
        there = self._watcher.line is not None
        moments.append(self._watcher.silent_at if there else self._watcher.start_at)
        return max(0.0, min(moments) - now)

    # Runs ----------------------------------------------------------------------------------------

    def _begin(self, cause: Cause) -> None:
        now = time.monotonic()
        self._schedule.began(cause, now)
        self._tell("began", cause=cause)
        try:
            # Anew each time: a file that was edited is meant to be read.
            config = self._read_config()
        except ConfigError as error:
            log.emit("config_error", error=str(error))
            self._on_end(Ended(RunOutcome.UNUSABLE, 0.0))
            return
        try:
            run = self._run = RunProcess(config, now)
        except OSError as error:  # no room for one more process, say
            message = f"It could not be started: {error}"
            self._on_end(Ended(RunOutcome.CRASHED, 0.0, error=message))
            return
        self._selector.register(run.report, selectors.EVENT_READ, partial(self._on_report, run))

    def _on_report(self, run: RunProcess) -> None:
        if run.listen():  # That was all: its end, which comes as a signal, is near.
            self._selector.unregister(run.report)

    def _forget_run(self, run: RunProcess) -> None:
        self._run = None
        with contextlib.suppress(KeyError):  # It may have said all.
            self._selector.unregister(run.report)
        run.close()

    def _kill(self, run: RunProcess) -> None:
        log.emit("run_killed", seconds=round(time.monotonic() - run.started))
        run.kill()
        run.kill_at = float("inf")

    def _on_end(self, ended: Ended) -> None:
        now = time.monotonic()
        if ended.outcome is RunOutcome.CRASHED:
            log.emit("run_crashed", error=ended.error)
        if ended.outcome in WORKED:
            self._worked_at = now
        self._schedule.ended(ended.outcome, now)
        phases = [asdict(phase) for phase in ended.phases]
        self._tell("ended", outcome=ended.outcome, seconds=ended.seconds, phases=phases)

    # Signals and the watcher ---------------------------------------------------------------------

    def _on_signal(self) -> None:
        for number in os.read(self._signals, 64):
            if number in STOPPING:
                self._stop()

    def _stop(self) -> None:
        """The run in flight may finish; who asks twice does not want to wait for it."""
        if self._stopping and self._run is not None:
            self._kill(self._run)
        elif not self._stopping:
            log.emit("controller_stopping", run_in_flight=self._run is not None)
        self._stopping = True

    def _see_to_the_watcher(self, now: float) -> None:
        if self._watcher.line is None and now >= self._watcher.start_at:
            self._start_watcher()
        if now >= self._watcher.silent_at:
            self._on_word()  # Perhaps it is we who did not hear it: we may have been stopped.
        if now >= self._watcher.silent_at:
            self._lose_watcher("It is silent.")

    def _start_watcher(self) -> None:
        now = time.monotonic()
        try:
            line = self._watcher.start(now)
        except OSError as error:  # no room for one more process, say
            self._watcher.replace_later(now, f"It could not be started: {error}")
            return
        self._selector.register(line, selectors.EVENT_READ, self._on_word)
        self._tell("resumed", running=self._run is not None, worked_at=self._worked_at)

    def _on_word(self) -> None:
        causes = self._watcher.causes(time.monotonic())
        if causes is None:
            self._lose_watcher("It ended.")
        else:
            for cause in causes:
                self._schedule.wake(cause)

    def _lose_watcher(self, error: str) -> None:
        if self._watcher.line is not None:
            self._selector.unregister(self._watcher.line)
        self._watcher.replace_later(time.monotonic(), error)

    def _tell(self, event: str, **details: object) -> None:
        self._told_at = time.monotonic()
        self._watcher.tell(event, **details)


def _watch(config: Config, bound: socket.socket, interval: float, line: socket.socket) -> int:
    from . import watcher  # In the child: the controller itself has no use for it.

    return watcher.watch(config, line, bound, interval)


def _warm_up(config: Config) -> None:
    """Everything a run imports, once; and no collection of garbage may touch, and so copy, what
    parent and children share."""
    from .. import attempt, site  # noqa: F401

    site.warm_up(config)
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def _signals() -> Iterator[int]:
    """A pipe on which the signals' numbers arrive: waiting for them is waiting for a file."""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    os.set_blocking(theirs, False)
    before = {each: signal.signal(each, lambda *_: None) for each in (*STOPPING, signal.SIGCHLD)}
    wakeup = signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)
    try:
        yield ours
    finally:
        signal.set_wakeup_fd(wakeup)
        for each, handler in before.items():
            signal.signal(each, handler)
        os.close(ours)
        os.close(theirs)
