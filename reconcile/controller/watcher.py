"""The process beside the controller that has all the threads: it listens to the database, reads
its figures and answers on port 8080, and tells the controller when to wake.

Whatever is slow or hangs here delays no run, and a controller that hangs is seen from here.
"""

import json
import os
import random
import socket
import threading
import time
from typing import Any

from .. import log
from ..config import Config
from ..errors import StoreError
from ..run_outcome import RunOutcome
from ..store import figures, listening
from . import web
from .metrics import Metrics
from .schedule import Cause
from .state import State
from .watcher_process import ALIVE, WORDS

FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 15.0
LASTING_SECONDS = 30.0  # a connection that stood that long was a good one
BREATH_SECONDS = 5.0  # nothing takes longer without a sign of life
SLACK_SECONDS = 5.0
FAILED_READINGS = 4  # as long as so many is the wait after one that failed
READING_SECONDS = (1.0, 15.0)  # between two readings of figures: the interval, within these
CHUNK_BYTES = 65536


def watch(config: Config, controller: socket.socket, bound: socket.socket, interval: float) -> int:
    """Until the controller is gone."""
    log.bind(config.clock)
    state = State()
    metrics = Metrics(state.observed)
    app = web.App(state, metrics, interval)
    for work, arguments in ((_follow, (controller, state, metrics)), (web.serve, (app, bound))):
        threading.Thread(target=_or_end, args=(work, *arguments), daemon=True).start()
    _Listener(config, controller, state, metrics, interval).listen_for_ever()
    return 1


def _or_end(work: Any, *arguments: Any) -> None:
    """A thread that dies takes the process along: half a watcher looks like a whole one."""
    try:
        work(*arguments)
    finally:
        os._exit(1)


def _follow(controller: socket.socket, state: State, metrics: Metrics) -> None:
    """What the controller reports, a line of JSON each; its end is ours."""
    rest = b""
    while data := controller.recv(CHUNK_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            _note(json.loads(line), state, metrics)
        state.heard()


def _note(told: dict[str, Any], state: State, metrics: Metrics) -> None:
    match told["event"]:
        case "resumed":
            state.resumed(worked_at=told["worked_at"], running=told["running"])
        case "began":
            state.run_began()
            metrics.run_began(Cause(told["cause"]))
        case "ended":
            outcome = RunOutcome(told["outcome"])
            state.run_ended(outcome)
            metrics.run_ended(outcome, told["seconds"])
            for phase in told["phases"]:
                metrics.phase_ended(phase["phase"], phase["seconds"], success=phase["success"])


class _Listener:
    def __init__(
        self,
        config: Config,
        controller: socket.socket,
        state: State,
        metrics: Metrics,
        interval: float,
    ) -> None:
        self._config, self._controller = config, controller
        self._state, self._metrics = state, metrics
        least, most = READING_SECONDS
        self._reading = max(least, min(interval, most))
        self._trouble = ""  # the last one said: nobody needs it every few seconds

    def listen_for_ever(self) -> None:
        wait = FIRST_WAIT_SECONDS
        while True:
            began = time.monotonic()
            try:
                self._listen()
            except StoreError as error:
                if time.monotonic() - began > LASTING_SECONDS:
                    wait = FIRST_WAIT_SECONDS
                self._state.lost(str(error))
                log.emit("not_listening", error=str(error), retry_seconds=round(wait, 1))
            self._sign_of_life()
            time.sleep(wait * random.uniform(0.8, 1.2))  # noqa: S311 jitter
            self._sign_of_life()
            wait = min(2 * wait, LONGEST_WAIT_SECONDS)

    def _listen(self) -> None:
        """Until the connection is lost, which raises StoreError."""
        with listening.listen(self._config.conninfo, self._config.schema) as session:
            self._state.connected()
            log.emit("listening", schema=self._config.schema)
            # Whatever came while nobody listened.
            self._say(WORDS[Cause.CONNECTED])
            read_at = 0.0
            while True:
                self._sign_of_life()
                now = time.monotonic()
                if now >= read_at:
                    # While it reads it hears nothing: what is not to be had is asked for rarely.
                    readings = 1 if self._read(session) else FAILED_READINGS
                    read_at = now + readings * self._reading
                if session.heard(max(0.0, min(BREATH_SECONDS, read_at - time.monotonic()))):
                    self._say(WORDS[Cause.NOTIFY])

    def _read(self, session: listening.Listening) -> bool:
        """Whether figures could be read. If not, that is no reason to stop listening."""
        before = self._state.observed().figures
        try:
            now = self._config.clock.now()
            with session.within(figures.READ_SECONDS + listening.STATEMENT_SECONDS + SLACK_SECONDS):
                found = figures.read(session.database, now, before.until if before else None)
        except StoreError as error:
            if session.database.broken:
                raise
            if str(error) != self._trouble:
                log.emit("figures_unknown", error=str(error))
            self._trouble = str(error)
            return False
        self._trouble = ""
        self._metrics.learned(found)
        self._state.learned(found)
        return True

    def _sign_of_life(self) -> None:
        self._state.listened()
        self._say(ALIVE)

    def _say(self, word: bytes) -> None:
        try:
            self._controller.send(word, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return  # It has more words before it than it needs.
        except OSError:
            os._exit(1)  # It is gone.
