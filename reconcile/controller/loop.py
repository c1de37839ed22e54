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
from .watching import Watching

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
        self._signals = signals
        self._schedule = Schedule(interval, next_tick=time.monotonic() + interval)
        self._watching = Watching(partial(_watch, config, bound, interval), keep=bound.fileno())
        self._run: RunProcess | None = None
        self._worked_at: float | None = None  # when a run last did its work
        self._stopping = False
        self._told_at = 0.0
        self._selector = selectors.DefaultSelector()
        self._selector.register(signals, selectors.EVENT_READ, self._on_signal)

    def start(self) -> None:
        """The watcher first: it needs little of what a run needs."""
        self._start_watcher()
        _warm_up()

    def step(self) -> bool:
        """One look at everything, after something happened or it is time. False at the end."""
        now = time.monotonic()
        if self._run is not None and now >= self._run.kill_at:
            log.emit("run_killed", seconds=round(now - self._run.started))
            self._run.kill()
            self._run.kill_at = float("inf")
        if self._run is not None and (ended := self._run.ended()) is not None:
            self._forget_run(self._run)
            self._on_end(ended)
        if self._run is None:
            if self._stopping:
                return False
            if (cause := self._schedule.due(time.monotonic())) is not None:
                self._begin(cause)
        if self._watching.line is None and now >= self._watching.start_at:
            self._start_watcher()
        if now - self._told_at >= SIGN_OF_LIFE_SECONDS:
            self._tell("alive")
        for key, _ in self._selector.select(self._patience()):
            key.data()
        return True

    def close(self) -> None:
        if self._run is not None:
            self._run.kill()
        self._watching.stop()
        self._selector.close()

    def _patience(self) -> float:
        now = time.monotonic()
        moments = [self._told_at + SIGN_OF_LIFE_SECONDS]
        moments.append(self._run.kill_at if self._run else self._schedule.next_at)
        if self._watching.line is None:
            moments.append(self._watching.start_at)
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
            self._on_end(Ended(RunOutcome.CRASHED, 0.0), f"It could not be started: {error}")
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

    def _on_end(self, ended: Ended, error: str = "It ended without a word.") -> None:
        now = time.monotonic()
        if ended.outcome is RunOutcome.CRASHED:
            log.emit("run_crashed", error=error)
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
            log.emit("run_killed", seconds=round(time.monotonic() - self._run.started))
            self._run.kill()
        elif not self._stopping:
            log.emit("controller_stopping", run_in_flight=self._run is not None)
        self._stopping = True

    def _start_watcher(self) -> None:
        now = time.monotonic()
        try:
            line = self._watching.start(now)
        except OSError as error:  # no room for one more process, say
            self._watching.replace_later(now, f"It could not be started: {error}")
            return
        self._selector.register(line, selectors.EVENT_READ, partial(self._on_word, line))
        self._tell("resumed", running=self._run is not None, worked_at=self._worked_at)

    def _on_word(self, line: socket.socket) -> None:
        causes = self._watching.causes(line)
        if causes is None:
            self._selector.unregister(line)
            self._watching.replace_later(time.monotonic(), "It ended.")
        else:
            for cause in causes:
                self._schedule.wake(cause)

    def _tell(self, event: str, **details: object) -> None:
        self._told_at = time.monotonic()
        self._watching.tell(event, **details)


def _watch(config: Config, bound: socket.socket, interval: float, line: socket.socket) -> int:
    from . import watcher  # In the child: the controller itself has no use for it.

    return watcher.watch(config, line, bound, interval)


def _warm_up() -> None:
    """Everything a run imports, once; and no collection of garbage may touch, and so copy, what
    parent and children share."""
    from .. import attempt  # noqa: F401

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
