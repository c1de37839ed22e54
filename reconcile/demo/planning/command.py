"""`reconcile demo plan`: its options, and what it does with them.

What it needs beside the standard library is imported when it is used: the command line is read
also where nobody plans.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import ConfigError
from ...exit_codes import DONE, UNUSABLE
from ...settings import Scheduling

if TYPE_CHECKING:
    from .comparison import Comparison
    from .files import Loaded
    from .load import LoadJob

BOTH = "both"
MOST_BOARDS = 100_000
MOST_WORKERS = 1_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--load",
        metavar="FILE",
        type=Path,
        nargs="+",
        action="extend",
        required=True,
        help="the jobs: pages of /jobs as the site publishes them, a directory of them, or CSV "
        "files with created_at,entity,pool,labels,seconds",
    )
    parser.add_argument(
        "--boards",
        metavar="POOL=N",
        type=_boards,
        action="append",
        default=[],
        help="how many boards a pool has; once for each pool",
    )
    parser.add_argument(
        "--order",
        choices=[*Scheduling, BOTH],
        default=BOTH,
        help="who gets the next board (both, side by side)",
    )
    parser.add_argument(
        "--max-workers",
        metavar="N",
        type=_workers,
        default=20,
        help="how many workers an account may have at once (20)",
    )
    parser.add_argument(
        "--cap",
        metavar="ENTITY=N",
        type=_cap,
        action="append",
        default=[],
        help="the same for one account; may be given again",
    )
    parser.add_argument(
        "--without",
        metavar="ENTITY",
        action="append",
        default=[],
        help="leave an account's jobs out; may be given again",
    )
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="draw the chart into a file, too")


def main(given: argparse.Namespace) -> int:
    try:
        loaded, comparison = _plan(given)
        if given.svg is not None:
            _draw(comparison, given.svg)
    except ConfigError as error:
        sys.stderr.write(f"reconcile demo plan: {error}\n")
        if given.json:
            sys.stdout.write(json.dumps({"status": "failed", "error": str(error)}) + "\n")
        return UNUSABLE
    if given.json:
        from .document import document

        sys.stdout.write(json.dumps(document(comparison, loaded), indent=2) + "\n")
    else:
        from . import report

        report.write(comparison, loaded, sys.stdout)
    return DONE


def _plan(given: argparse.Namespace) -> "tuple[Loaded, Comparison]":
    from .comparison import compare
    from .files import read
    from .wording import counted

    boards = _unique(given.boards, "--boards")
    caps = _unique(given.cap, "--cap")
    loaded = read(given.load)
    jobs = _chosen(loaded.jobs, given.without, caps)
    if not boards:
        pools = Counter(job.pool for job in jobs)
        named = ", ".join(
            f"{pool} ({counted(count, 'job')})" for pool, count in sorted(pools.items())
        )
        wanted = " ".join(f"--boards {pool}=N" for pool in sorted(pools))
        raise ConfigError(f"How many boards are there? The jobs are for {named}: say {wanted}")
    orders = list(Scheduling) if given.order == BOTH else [Scheduling(given.order)]
    return loaded, compare(jobs, boards, orders, given.max_workers, caps)


def _chosen(
    jobs: "Sequence[LoadJob]", without: Sequence[str], caps: Mapping[str, int]
) -> "list[LoadJob]":
    if not jobs:
        raise ConfigError("No job of the load ran: nothing tells how long they take.")
    there = {job.entity for job in jobs}
    if strangers := sorted({*without, *caps} - there):
        raise ConfigError(f"The load has no jobs of {', '.join(map(ascii, strangers))}.")
    chosen = [job for job in jobs if job.entity not in without]
    if not chosen:
        raise ConfigError("With all accounts left out, no jobs remain.")
    return chosen


def _draw(comparison: "Comparison", file: Path) -> None:
    from .picture import picture

    try:
        file.write_text(picture(comparison), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.") from error


# Options -----------------------------------------------------------------------------------------


def _unique(pairs: Sequence[tuple[str, int]], option: str) -> dict[str, int]:
    if twice := [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]:
        raise ConfigError(f"{option} is given more than once for {', '.join(map(ascii, twice))}.")
    return dict(pairs)


def _boards(text: str) -> tuple[str, int]:
    return _pair(text, MOST_BOARDS)


def _cap(text: str) -> tuple[str, int]:
    return _pair(text, MOST_WORKERS)


def _workers(text: str) -> int:
    return _number(text, MOST_WORKERS)


def _pair(text: str, most: int) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    if not name or not name.isprintable():
        raise argparse.ArgumentTypeError(f"{text!a} is not of the form NAME=N")
    return name, _number(number, most)


def _number(text: str, most: int) -> int:
    """Of the ten digits, not of all that int() reads."""
    if not text.isascii() or not text.isdecimal() or len(text) > len(str(most)) or int(text) > most:
        raise argparse.ArgumentTypeError(f"{text!a} is no whole number from 0 to {most}")
    return int(text)
