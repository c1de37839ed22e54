"""`reconcile demo`, `reconcile demo act …` and `reconcile demo plan …`: their arguments."""

import argparse
import contextlib
import random
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from .. import exit_codes, trace_arguments
from ..errors import ConfigError
from ..settings import Scheduling
from .planning import command as planning
from .scenarios import SCENARIOS
from .spans import parse_span

USUAL_SPEED = 30.0
SLOWEST, FASTEST = 0.1, 120.0
USUAL_SCENARIO = "burst"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    scenarios = "; ".join(f"{each.name}: {each.about}" for each in SCENARIOS.values())
    parser.add_argument(
        "--scenario",
        choices=SCENARIOS,
        default=USUAL_SCENARIO,
        help=f"what happens (%(default)s). {scenarios}",
    )
    parser.add_argument(
        "--for",
        dest="duration",
        type=_span,
        metavar="SPAN",
        help="end by itself after so long (60s, 5m), with checks and an exit code: 1 if anything "
        "leaked or was lost",
    )
    parser.add_argument(
        "--speed",
        type=_speed,
        default=USUAL_SPEED,
        help="seconds of the world that pass in one of ours (%(default)g)",
    )
    parser.add_argument("--seed", type=int, help="the same pushes and incidents as last time")
    parser.add_argument(
        "--order",
        choices=[str(each) for each in Scheduling],
        help="who gets the next board (the scenario's: fair)",
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep site, logs and tables in a new directory"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="where the site is served (%(default)s)"
    )
    parser.add_argument(
        "--port", type=_port, help="its port (8000, or the next that is free; 0 is any)"
    )
    parser.set_defaults(command=_demo, json=False)
    more = parser.add_subparsers(title="beside a running demo, or without one", metavar="")
    act = more.add_parser("act", help="do something to the demo that runs in another terminal")
    _add_act_arguments(act)
    act.set_defaults(command=_act, json=False)
    trace = more.add_parser(
        "trace", help="why a job of the demo is not picked up; without arguments, the oldest one's"
    )
    trace_arguments.add_arguments(trace, required=False)
    trace.add_argument("--demo", help="which, if several are running: its process id")
    trace.set_defaults(command=_trace)
    plan = more.add_parser("plan", help="what waits would have been with other boards, caps, order")
    planning.add_arguments(plan)
    plan.set_defaults(command=_plan)


def _add_act_arguments(parser: argparse.ArgumentParser) -> None:
    from .acts import ACTS

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = "Times are the world's: at speed 30 five minutes are ten seconds."
    shown = {
        name: " ".join((name, *(f"[{each}]" for each in act.takes))) for name, act in ACTS.items()
    }
    widest = max(map(len, shown.values()))
    lines = [f"  {shown[name]:<{widest}}  {act.about}" for name, act in ACTS.items()]
    parser.epilog = "\n".join(("acts:", *lines))
    parser.add_argument("act", choices=ACTS, metavar="ACT", help="one of those below")
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT")
    parser.add_argument("--demo", help="which, if several are running: its process id")


def _demo(given: argparse.Namespace, environ: Mapping[str, str]) -> int:
    _need_the_extra()
    from .course import main
    from .stage import Options

    scenario = SCENARIOS[given.scenario]
    seed = random.randrange(10**6) if given.seed is None else given.seed  # noqa: S311
    order = given.order or scenario.order
    options = Options(
        scenario, given.speed, seed, order, given.keep, given.host, given.port, environ
    )
    return main(options, given.duration)


def _plan(given: argparse.Namespace, _: Mapping[str, str]) -> int:
    if not given.json:
        _need_the_extra()
    return planning.main(given)


def _need_the_extra() -> None:
    if find_spec("rich") is None:
        raise ConfigError("The demo needs the extra riscv-runners[demo].")


def _act(given: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from .acts import ActError
    from .children import DemoError
    from .control import ask

    try:
        sys.stdout.write(ask(given.act, given.arguments, environ, given.demo) + "\n")
    except (ActError, DemoError) as error:
        sys.stderr.write(f"{error}\n")
        return exit_codes.FAILED if isinstance(error, ActError) else exit_codes.UNUSABLE
    return exit_codes.DONE


def _trace(given: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from .. import config, tracing
    from .children import DemoError
    from .control import settings
    from .reading import AwayError, Reading

    wanted = trace_arguments.wanted(given)
    try:
        read = config.for_trace(settings(environ, given.demo))
        if (wanted.job, wanted.installation, wanted.entity, wanted.payload) == (None,) * 4:
            with Reading.connect(read.conninfo) as reading:
                wanted = replace(wanted, job=reading.oldest_waiting())
    except (DemoError, AwayError) as error:
        sys.stderr.write(f"{error}\n")
        return exit_codes.UNUSABLE
    if (wanted.job, wanted.installation, wanted.entity, wanted.payload) == (None,) * 4:
        sys.stdout.write("No job waits at the moment: every one that came was picked up.\n")
        return exit_codes.DONE
    return tracing.main(read, wanted, json=given.json)


def _span(text: str) -> float:
    try:
        return parse_span(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _speed(text: str) -> float:
    with contextlib.suppress(ValueError):
        if SLOWEST <= (speed := float(text)) <= FASTEST:
            return speed
    raise argparse.ArgumentTypeError(f"must be from {SLOWEST:g} to {FASTEST:g}")


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError("must be a number below 65536")
