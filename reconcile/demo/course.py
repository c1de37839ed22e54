"""The demo from its first push to its summary: run, heal, settle, check, tell."""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime

from rich.console import Console

from .. import exit_codes
from . import acts, checks, control, summary
from .acts import ActError
from .children import DemoError
from .comparing import compare
from .figures import Check, Fleet, Happening, Picture, Summary
from .reading import AwayError, Marker, Reading
from .scenarios import Incident
from .screen import Screen
from .stage import Options, Stage, started

REFRESH_SECONDS = 0.5
FINISHING_SECONDS = 20.0  # of ours, for jobs to end by themselves when the time is over
# Then all traces must go. The slowest is a runner whose job was cancelled before it came: it is
# given ten minutes of the world. A slow machine needs some seconds of ours in any case.
SETTLING_SECONDS = 60.0
SETTLING_SECONDS_OF_THE_WORLD = 1200.0
# Webhooks that failed are looked for every two minutes, and asked for again.
FINDING_SECONDS_OF_THE_WORLD = 400.0
RETURN_SECONDS = 20.0  # of ours, for what is away on purpose to come back
SHOWN = 50
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(options: Options, duration: float | None) -> int:
    """Until `duration` seconds of ours are over, or somebody stops it."""
    with _stopped_by_signal() as stop:
        try:
            with started(options) as stage:
                stop.watched = True
                course = Course(stage, duration, stop.event)
                told = course.run()
                _tell(told, stage)
        except DemoError as error:
            sys.stderr.write(f"{error}\n")
            return exit_codes.UNUSABLE
        except AwayError as error:
            sys.stderr.write(f"There is no summary. {error}\n")
            return exit_codes.FAILED
        except _StoppedError:
            return exit_codes.DONE
    if duration is None or course.stopped_early:
        return exit_codes.DONE  # Nothing was checked: jobs were in the middle of things.
    return exit_codes.DONE if told.good else exit_codes.FAILED


class Course:
    def __init__(self, stage: Stage, duration: float | None, stop: threading.Event) -> None:
        self._stage, self._duration, self._stop = stage, duration, stop
        self._began = time.monotonic()
        self._begin = stage.world.time.timeline.now()
        self._reading = Reading.connect(stage.database_url)
        self._fleet = Fleet()
        self._marker: Marker | None = None
        self._by_system: list[Happening] = []
        self._trouble: str | None = None
        self.stopped_early = False

    def run(self) -> Summary:
        stage = self._stage
        scenario, seed = stage.options.scenario, stage.options.seed
        director = stage.director
        with self._reading, control.listening(stage), _on_screen() as screen:
            director.follow(scenario.pushes(seed), director.push, self._begin)
            director.follow(scenario.incidents(seed), self._act, self._begin)
            self._watch(screen, "running", self._over, self._duration)
            end = stage.world.time.timeline.now()
            found: list[Check] = []
            if not self._stop.is_set() and self._duration is not None:
                found = self._settle(screen)
            self.stopped_early = self._stop.is_set()
            director.stop()
            stage.come_back.set()
            self._wait_for_the_absent()
        return self._summary(end, found)

    def _wait_for_the_absent(self) -> None:
        for there in (self._stage.database_is_there, self._stage.controller_is_there):
            if there.acquire(timeout=RETURN_SECONDS):
                there.release()

    def _act(self, incident: Incident) -> None:
        with contextlib.suppress(ActError):  # What is so already need not be done.
            acts.perform(self._stage, incident.act, incident.arguments)

    def _over(self) -> bool:
        return self._duration is not None and time.monotonic() - self._began >= self._duration

    def _settle(self, screen: Screen) -> list[Check]:
        """All is well again: now everything must come to its end, and nothing may be left. There
        are no checks if somebody did not wait for it."""
        director, speed = self._stage.director, self._stage.options.speed
        director.stop()
        acts.perform(self._stage, "heal", ())
        self._wait_for_the_absent()
        self._watch(screen, "finishing", _either(director.all_is_over, FINISHING_SECONDS))
        self._watch(
            screen,
            "looking for lost jobs",
            _either(lambda: not self._unheard(), FINDING_SECONDS_OF_THE_WORLD / speed),
        )
        missed = self._unheard()
        if not self._stop.is_set() and (cancelled := director.cancel_the_rest()):
            director.tell(f"Time is up: {cancelled} of the workflow runs had to be cancelled.")
        found: list[Check] = []

        def settled() -> bool:
            nonlocal found
            if known := self._known():
                found = checks.checks(checks.look(self._stage.world), known, missed)
            return bool(found) and all(check.ok for check in found)

        patience = max(SETTLING_SECONDS, SETTLING_SECONDS_OF_THE_WORLD / speed)
        self._watch(screen, "settling", _either(settled, patience))
        return [] if self._stop.is_set() else found

    def _known(self) -> checks.Known | None:
        with contextlib.suppress(AwayError):
            return checks.Known(self._reading.worker_states(), self._reading.job_states())
        return None

    def _unheard(self) -> frozenset[int]:
        held = checks.look(self._stage.world)
        known = self._known()
        return checks.unheard(held, known) if known else frozenset(held.jobs)

    # What is shown -------------------------------------------------------------------------------

    def _watch(
        self,
        screen: Screen,
        phase: str,
        over: Callable[[], bool],
        duration: float | None = None,
    ) -> None:
        """Until it is over, or somebody stops it."""
        while not self._stop.is_set() and not over():
            self._stage.check()
            picture = self._picture(phase, duration)
            with contextlib.suppress(OSError):  # Nobody reads it any more.
                screen.show(picture)
            self._stop.wait(REFRESH_SECONDS)

    def _picture(self, phase: str, duration: float | None) -> Picture:
        stage = self._stage
        now = stage.world.time.timeline.now()
        try:
            self._fleet = self._reading.fleet(now)
            new, self._marker = self._reading.happenings_since(self._marker)
            self._by_system = (self._by_system + new)[-SHOWN:]
            self._trouble = None
        except AwayError as error:
            self._trouble = str(error)
        happenings = sorted(
            (*stage.director.happenings(), *self._by_system), key=lambda each: each.at
        )
        return Picture(
            now=now,
            speed=stage.options.speed,
            scenario=stage.options.scenario.name,
            order=stage.options.order,
            elapsed=time.monotonic() - self._began,
            duration=duration,
            phase=phase,
            site_url=stage.site_url,
            fleet=self._fleet,
            happenings=happenings[-SHOWN:],
            trouble=self._trouble,
        )

    def _summary(self, end: datetime, found: list[Check]) -> Summary:
        stage, options = self._stage, self._stage.options
        with Reading.connect(stage.database_url) as reading:
            told = reading.summary(
                options.scenario.name, options.seed, options.order, self._begin, end, options.speed
            )
            compared = compare(reading, options) if options.scenario.name == "flood" else None
            if options.keep is not None:
                reading.export(stage.directory / "database")
        servers = {
            "GitHub": stage.world.github_server,
            "Kubernetes": stage.world.cluster_server,
        }
        return replace(
            told,
            calls={name: server.counts.total() for name, server in servers.items()},
            refused={name: server.failed for name, server in servers.items()},
            happenings=stage.director.told,
            comparison=compared,
            checks=found,
        )


def _tell(told: Summary, stage: Stage) -> None:
    kept = stage.options.keep is not None
    if kept:
        document = json.dumps(summary.document(told), indent=2)
        (stage.directory / "summary.json").write_text(document + "\n")
    with contextlib.suppress(OSError):  # Nobody reads it any more.
        summary.show(told, Console(highlight=False))
        if kept:
            sys.stdout.write(
                f"Kept in {stage.directory}: site/ (python -m static_site), logs/, "
                "database/ (CSV), summary.json.\n"
            )
        sys.stdout.flush()


@contextlib.contextmanager
def _on_screen() -> Iterator[Screen]:
    """A terminal that is gone need not be put in order."""
    screen = Screen()
    screen.__enter__()
    try:
        yield screen
    finally:
        with contextlib.suppress(OSError):
            screen.__exit__(None, None, None)


def _either(over: Callable[[], bool], seconds: float) -> Callable[[], bool]:
    """Whether it is over, or that much time of ours."""
    end = time.monotonic() + seconds
    return lambda: over() or time.monotonic() >= end


class _StoppedError(Exception):
    """Before it had begun."""


class _Stop:
    """What a signal asks for. While things are being started there is nobody to look at an event,
    and starting is given up where it is: whatever was started ends with us."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.watched = False

    def ask(self, *_: object) -> None:
        if self.event.is_set():
            os._exit(exit_codes.INTERRUPTED)  # Asked twice: at once, then.
        self.event.set()
        if not self.watched:
            raise _StoppedError


@contextlib.contextmanager
def _stopped_by_signal() -> Iterator[_Stop]:
    stop = _Stop()
    before = {each: signal.signal(each, stop.ask) for each in STOPPING}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
