"""The demo's summary: what it says at the end, and the same as a document."""

import io
import json
from collections import Counter
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from reconcile.demo.figures import Check, Comparison, PoolUse, RunTimes, Summary, Waits
from reconcile.demo.summary import document, show, text, verdict
from tests.demo_pictures import HOSTILE

QUICK = Waits(102, 11, 58, 95, 120)
SLOW = Waits(102, 200, 1300, 1440, 1500)
EMPTY = Summary("calm", 1, "fifo", 0.0, {}, {}, None)
FULL = Summary(
    scenario="flood",
    seed=7,
    order="fair",
    seconds=9000.0,
    jobs={
        "running": 2,
        "pending": 3,
        "failed": 2,
        "cancelled": 5,
        "failure": 20,
        "timed_out": 1,
        "success": 1380,
    },
    workers={
        "completed": 410,
        "running": 2,
        "failed: node_unreachable": 3,
        "failed: pod_failed": 8,
        "failed: a": 1,
        "failed: b": 1,
        "failed: runner_idle": 3,
    },
    waits=Waits(1405, 12.2, 840, 1300, 1501),
    tenants={"bulkbuild": Waits(1300, 600, 900, 1400, 1501), "mira-k": Waits(5, 0, 1.2, 1.5, 2)},
    pools=[PoolUse("scw-em-rv1", 24, 0.93), PoolUse("bpi-f3", 4, 0.004), PoolUse("idle", 4, 0.0)],
    runs=RunTimes({"completed": 300, "partial": 10, "failed": 2}, 0.12, 0.4),
    calls={"GitHub": 1203, "Kubernetes": 13201},
    refused={"GitHub": 12},
    webhooks=2880,
    happenings=12,
    comparison=Comparison(
        "8 accounts beside bulkbuild",
        QUICK,
        {"fifo, planned": SLOW, "without bulkbuild, planned": Waits(102, 9, 50, 84, 100)},
    ),
    checks=[
        Check("pods", True, "412 ended ones are kept for inspection"),
        Check("registrations", False, "2 of runners that are over (rise-1, rise-2)" + "; so" * 9),
    ],
)
ALL_IS_WELL = replace(FULL, checks=[replace(check, ok=True) for check in FULL.checks])


def test_summary_says_what_came_of_it() -> None:
    assert text(FULL).split("\n") == [
        "Summary: flood, fair order, seed 7, 2 h 30 min of the world",
        "",
        "Jobs: 1,413",
        "  1,380 succeeded, 20 failed, 5 cancelled, 2 given up, 1 timed out, 3 pending,",
        "    2 running",
        "Waits, queued to started    jobs         p50         p95         p99     longest",
        "  all                      1,405        12 s      14 min 21 min 40 s  25 min 1 s",
        "  bulkbuild                1,300      10 min      15 min 23 min 20 s  25 min 1 s",
        "  mira-k                       5         0 s       1.2 s       1.5 s         2 s",
        "Boards                                in use",
        "  scw-em-rv1                  24         93%  ████████████████████████████████░░",
        "  bpi-f3                       4         <1%  █░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░",
        "  idle                         4          0%  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░",
        "Workers: 428",
        "  410 completed, 2 running, 16 failed",
        "  failed: 8 pod_failed, 3 node_unreachable, 3 runner_idle, 1 a,",
        "    1 for other reasons",
        "Calls and runs",
        "  1,203 calls to GitHub, 12 of them without success",
        "  13,201 calls to Kubernetes",
        "  2,880 webhooks taken in",
        "  12 things done to the world",
        "  312 runs: 300 completed, 10 partial, 2 failed, taking 0.1 s (p50), 0.4 s (p95)",
        "Waits of 8 accounts beside bulkbuild   p50         p95         p99",
        "  fair, measured                      11 s        58 s  1 min 35 s  █",
        "  fifo, planned                 3 min 20 s 21 min 40 s      24 min  ████████████",
        "  without bulkbuild, planned           9 s        50 s  1 min 24 s  █",
        "Checks",
        "  ✓ pods           412 ended ones are kept for inspection",
        "  ✗ registrations  2 of runners that are over (rise-1, rise-2); so; so; so; so;",
        "                   so; so; so; so; so",
        "",
        "Not good: 1 of 2 checks failed (registrations).",
    ]


def test_summary_of_nothing_says_so() -> None:
    assert text(EMPTY).split("\n") == [
        "Summary: calm, fifo order, seed 1, 0 s of the world",
        "",
        "Jobs: 0",
        "  none came",
        "Waits, queued to started    jobs         p50         p95         p99     longest",
        "  no job was started",
        "Workers: 0",
        "  none were made",
        "Calls and runs",
        "  0 webhooks taken in",
        "  0 things done to the world",
        "  no run came to its end",
        "",
        "Stopped before any job succeeded. Nothing was checked.",
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "Good: 1,380 jobs succeeded, and nothing leaked or was lost."),
        ({"jobs": {"success": 1}}, "Good: 1 job succeeded, and nothing leaked or was lost."),
        ({"checks": ()}, "So far 1,380 jobs succeeded. Nothing was checked."),
        ({"jobs": {"success": 0, "failure": 3}}, "Not good: no job succeeded."),
        ({"checks": FULL.checks}, "Not good: 1 of 2 checks failed (registrations)."),
        (
            {"checks": [replace(check, ok=False) for check in FULL.checks]},
            "Not good: 2 of 2 checks failed (pods, registrations).",
        ),
    ],
)
def test_verdict_is_the_last_line_and_is_that_of_the_exit_code(
    changes: dict[str, Any], line: str
) -> None:
    summary = replace(ALL_IS_WELL, **changes)
    assert verdict(summary) == line
    assert text(summary).split("\n")[-1] == line
    assert line.startswith("Good") == summary.good


def test_accounts_beyond_the_usual_number_are_counted() -> None:
    nine = {f"org-{number}": QUICK for number in range(9)}
    assert "org-8" in text(replace(FULL, tenants=nine))
    lines = text(replace(FULL, tenants=nine | {"org-9": QUICK})).split("\n")
    at = lines.index("  and 2 more")
    assert lines[at - 1].startswith("  org-7 ")


def test_long_title_of_a_comparison_has_a_line_of_its_own() -> None:
    assert FULL.comparison is not None
    comparison = replace(FULL.comparison, of="everybody beside a tenant with a very long name")
    lines = text(replace(FULL, comparison=comparison)).split("\n")
    at = lines.index("Waits of everybody beside a tenant with a very long name")
    assert lines[at + 1] == " " * 39 + "p50         p95         p99"


def test_comparison_in_which_nobody_waited_can_be_drawn() -> None:
    nothing = Waits(3, 0, 0, 0, 0)
    told = text(replace(FULL, comparison=Comparison("all", nothing, {"fifo": nothing})))
    assert "  fifo" + "0 s".rjust(36) in told


def hostile() -> Summary:
    names = [HOSTILE + str(number) + "n" * 40 for number in range(30)]
    return replace(
        FULL,
        scenario=HOSTILE,
        order=HOSTILE,
        jobs=dict.fromkeys(names, 1),
        workers={f"failed: {name}": 1 for name in names} | dict.fromkeys(names, 1),
        tenants=dict.fromkeys(names, SLOW),
        pools=[PoolUse(name, 10**5, 7.0) for name in names[:3]],
        runs=RunTimes(dict.fromkeys(names, 1), 1e6, 1e6),
        calls=dict.fromkeys(names[:3], 1),
        refused=dict.fromkeys(names, 1),
        comparison=Comparison(HOSTILE * 4, QUICK, {names[0]: SLOW}),
        checks=[Check(HOSTILE, False, name * 20) for name in names[:2]],
    )


@pytest.mark.parametrize("summary", [FULL, ALL_IS_WELL, EMPTY])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_summary_fits_a_terminal(summary: Summary, ascii_only: bool) -> None:
    lines = text(summary, ascii_only=ascii_only).split("\n")
    assert len(lines) <= 45
    assert max(map(cell_len, lines)) <= 80
    assert all(line == line.rstrip() for line in lines)
    assert all(line.isascii() for line in lines) or not ascii_only


@pytest.mark.parametrize("ascii_only", [False, True])
def test_hostile_names_have_no_effect(ascii_only: bool) -> None:
    told = text(hostile(), ascii_only=ascii_only)
    assert all(line.isprintable() for line in told.split("\n"))
    assert "[bold red]a[/]" in told
    told.encode("ascii" if ascii_only else "utf-8")


def test_checks_have_words_where_there_are_no_signs() -> None:
    lines = text(FULL, ascii_only=True).split("\n")
    assert "  [ok] pods           412 ended ones are kept for inspection" in lines
    assert any(line.startswith("  [no] registrations  2 of runners") for line in lines)
    assert (
        "  fifo, planned                 3 min 20 s 21 min 40 s      24 min  ############" in lines
    )


@pytest.mark.parametrize("terminal", [False, True])
def test_headings_stand_out_on_a_terminal_only(terminal: bool) -> None:
    file = io.StringIO()
    console = Console(file=file, width=20, force_terminal=terminal, _environ={})
    show(hostile(), console)
    show(FULL, console)
    assert ("\x1b[1mChecks\x1b[0m\n" in file.getvalue()) == terminal
    assert ("\x1b" in file.getvalue()) == terminal
    assert "\x1b[31" not in file.getvalue()
    assert text(FULL).split("\n")[5] in file.getvalue(), "lines are not broken"


def test_document_is_of_plain_values_alone() -> None:
    proxied = replace(FULL, jobs=Counter({"success": 3}), calls=MappingProxyType({"GitHub": 2}))
    told = json.loads(json.dumps(document(proxied), allow_nan=False))
    assert told == document(proxied)
    assert told["scenario"] == "flood"
    assert told["jobs"] == {"success": 3}
    assert told["calls"] == {"GitHub": 2}
    assert told["waits"] == {"jobs": 1405, "p50": 12.2, "p95": 840, "p99": 1300, "longest": 1501}
    assert list(told["tenants"]) == ["bulkbuild", "mira-k"]
    assert told["pools"][0] == {"name": "scw-em-rv1", "boards": 24, "used": 0.93}
    assert told["runs"]["by_status"] == {"completed": 300, "partial": 10, "failed": 2}
    assert told["comparison"]["planned"]["fifo, planned"]["p99"] == 1440
    assert told["checks"][0]["name"] == "pods"
    assert told["good"] is False
    assert document(ALL_IS_WELL)["good"] is True


def test_document_of_nothing_has_every_field() -> None:
    told = document(EMPTY)
    assert told.keys() == document(FULL).keys()
    assert (told["waits"], told["runs"], told["comparison"]) == (None, None, None)
    assert (told["jobs"], told["tenants"], told["pools"], told["checks"]) == ({}, {}, [], [])
