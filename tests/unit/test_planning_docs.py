"""docs/planning.md: its options are all there are, and its example is what is printed."""

import argparse
import re
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from reconcile.demo.planning import command
from reconcile.demo.planning.csv_file import COLUMNS, OPTIONAL
from reconcile.demo.planning.engine import Pace
from tests.documents import ROOT

TEXT = (ROOT / "docs" / "planning.md").read_text()
MORNING = datetime(2026, 11, 18, 8, tzinfo=UTC)
# Account, jobs, their mean length in seconds.
USUAL = (
    ("riseproject", 140, 900),
    ("glacierdb", 90, 700),
    ("vectorlab", 60, 240),
    ("tidewater-linux", 45, 300),
    ("mira-k", 20, 120),
)


def day() -> list[str]:
    """Twelve hours of five accounts, and after two of them 180 jobs at once of a sixth."""
    chance = Random(3)
    rows = []
    for account, jobs, mean in USUAL:
        for _ in range(jobs):
            at = MORNING + timedelta(seconds=round(chance.random() * 12 * 3600))
            large = chance.random() < 0.15
            pool, label = ("jupiter", "riscv-2xlarge") if large else ("rv1", "riscv")
            rows.append((at, account, pool, label, round(mean * 2 * chance.random())))
    flood = MORNING + timedelta(hours=2)
    rows += [
        (flood, "bulkbuild", "rv1", "riscv", 300 + round(600 * chance.random())) for _ in range(180)
    ]
    return [f"{at:%Y-%m-%dT%H:%M:%SZ},{','.join(map(str, rest))}" for at, *rest in sorted(rows)]


@pytest.fixture
def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="reconcile demo plan")
    command.add_arguments(made)
    return made


def test_example_is_what_is_printed(
    parser: argparse.ArgumentParser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("day.csv").write_text("\n".join([",".join(COLUMNS), *day()]))
    found = re.search(r"^\$ reconcile demo plan (.+)\n((?s:.+?))^```", TEXT, flags=re.MULTILINE)
    assert found is not None
    assert command.main(parser.parse_args(found[1].split())) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert found[2].splitlines() == printed


def test_every_option_is_documented_and_no_other(parser: argparse.ArgumentParser) -> None:
    there = set(re.findall(r"--[a-z-]+", parser.format_help())) - {"--help"}
    assert set(re.findall(r"^\| `(--[a-z-]+)", TEXT, flags=re.MULTILINE)) == there


def test_columns_are_documented() -> None:
    assert ",".join(COLUMNS) in [line.strip() for line in TEXT.splitlines()]
    assert all(f"`{column}`" in TEXT for column in OPTIONAL)


def test_delays_are_documented() -> None:
    section = TEXT.partition("## What is modelled\n")[2].partition("\n## ")[0]
    told = {float(number) for number in re.findall(r"(\d+(?:\.\d+)?) s\b", section)}
    pace = Pace()
    assert {getattr(pace, field.name) for field in fields(pace)} - {pace.run} <= told
