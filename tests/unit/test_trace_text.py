"""A trace as somebody reads it at a terminal."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconcile.trace_text import SHOWN_REPOSITORIES, plain, told
from tests import trace_cases as some
from tests.trace_events import INSTALLATION, World, moment
from tests.trace_strategies import cases
from webhook_fn.trace.finding import Evidence, Finding, Kind
from webhook_fn.trace.rules import diagnose
from webhook_fn.trace.state import fold
from webhook_fn.trace.trace import Entry, Trace

ESCAPES = "\x1b[2J\x1b]0;owned\x07\r\b\x9b\u202e\u2066\u200f\u2028\ufeff"
JOB: dict[str, Any] = {
    "status": "pending",
    "conclusion": None,
    "reason": None,
    "workflow": "CI",
    "name": "build",
    "repository": some.REPOSITORY,
    "labels": ["riscv", "vector"],
    "pool": some.POOL,
    "url": "https://github.com/riseproject/linux/actions/runs/9/job/41",
}


def a_trace(world: World | None = None, **changes: Any) -> Trace:
    case = some.of_job(world, known=some.facts(queue=some.a_queue("no_board")))
    trace = Trace("job 41", moment(some.NOW), True, diagnose(case), case.account, JOB)
    return replace(trace, **changes)


def test_the_answer_stands_above_what_it_rests_on() -> None:
    timeline = (
        Entry(moment(1000), "queued at GitHub"),
        Entry(moment(1001), "workflow_job.queued: stored, waits for a runner", 100),
    )
    assert told(a_trace(timeline=timeline, notes=("The rest is not known.",)), 80) == (
        "job 41, as of 2026-03-02T09:17:40Z\n"
        "riseproject/linux  CI / build  [pending]\n"
        "labels riscv, vector  pool scw-em-rv1\n"
        "https://github.com/riseproject/linux/actions/runs/9/job/41\n"
        "\n"
        "1. waiting_for_board: All 3 usable boards of scw-em-rv1 are busy. The job is\n"
        "   number 1 in the queue of scw-em-rv1, which takes about 3 minutes.\n"
        "   What to do: Wait: boards are given in the order of the queue. More boards\n"
        "   make it shorter.\n"
        "   - 2026-03-02T09:17:30Z  plan: 1 job of its kind waiting, 0 with a runner\n"
        "   - 2026-03-02T09:17:30Z  scw-em-rv1: 4 boards, 3 usable, 3 in use\n"
        "   - a board is held for 10 minutes on average (of the last 10)\n"
        "\n"
        "Note: The rest is not known.\n"
        "\n"
        "Account riseproject (Organization, number 5)\n"
        "  installation 7 of App 1: installed since 2026-03-02T09:00:00Z (#1); all\n"
        "    repositories\n"
        "\n"
        "Timeline\n"
        "  2026-03-02T09:16:40Z        queued at GitHub\n"
        "  2026-03-02T09:16:41Z  #100  workflow_job.queued: stored, waits for a runner"
    )


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "[pending]"),
        ({"reason": "demand_parked"}, "[pending]"),
        ({"status": "completed", "conclusion": "success"}, "[completed: success]"),
        ({"status": "failed", "reason": "job_gone"}, "[failed: job_gone]"),
        ({"workflow": None, "name": None}, "riseproject/linux  [pending]"),
        ({"workflow": None}, "riseproject/linux  build  [pending]"),
    ],
)
def test_the_job_is_told_in_a_line(changes: dict[str, Any], state: str) -> None:
    assert told(a_trace(job={**JOB, **changes}), 80).splitlines()[1].endswith(state)


def test_what_is_not_known_leaves_no_trace() -> None:
    text = told(a_trace(job=None, account=None), 80)
    assert text.splitlines()[:3] == ["job 41, as of 2026-03-02T09:17:40Z", "", text.splitlines()[2]]
    for heading in ("Account", "Timeline", "Note", "None"):
        assert heading not in text
    assert "https" not in told(a_trace(job={**JOB, "url": None}), 80)


def test_an_account_with_its_names_and_installations() -> None:
    world = some.installed(chosen={"qemu", "linux"})
    world.wait(10)
    world.rename("risen")
    world.uninstall(INSTALLATION)
    world.install(some.OTHER_APP)
    lines = told(a_trace(world), 90).partition("Account ")[2].splitlines()
    assert lines == [
        "risen (Organization, number 5)",
        "  called riseproject until 2026-03-02T09:00:10Z (#2)",
        "  installation 7 of App 1: deleted on 2026-03-02T09:00:10Z (#3); selected repositories:",
        "    linux, qemu",
        "  installation 8 of App 2: installed since 2026-03-02T09:00:10Z (#4); all repositories",
    ]


def test_of_many_repositories_some_are_shown_and_the_others_counted() -> None:
    names = {f"repository-{number:03}" for number in range(SHOWN_REPOSITORIES + 5)}
    world = World(repositories=names)
    world.install(chosen=names)
    text = " ".join(told(a_trace(world), 80).split())
    assert text.endswith("repository-018, repository-019 and 5 more")
    few = World(repositories=names)
    few.install(chosen=set())
    assert told(a_trace(few), 200).endswith("selected repositories: none that is known")


def test_an_account_of_which_hardly_anything_is_known() -> None:
    account = fold(some.installed().log())
    assert account is not None
    nameless = replace(account, id=0, name=None, type=None)
    assert "Account unknown (of unknown kind, number ?)" in told(a_trace(account=nameless), 80)


def test_what_is_older_is_told_with_how_to_ask_for_it() -> None:
    timeline = (Entry(moment(0), "installation.created", 7),)
    text = told(a_trace(timeline=timeline, older=7), 80)
    assert text.endswith(
        "Timeline\n  … older ones: --before 7\n  2026-03-02T09:00:00Z  #7  installation.created"
    )


# Widths --------------------------------------------------------------------------------------


@given(cases, st.integers(min_value=60, max_value=110))
def test_no_line_is_wider_than_it_may_be(case: Any, width: int) -> None:
    entries = tuple(Entry(moment(number), "word " * 40, 10**number) for number in range(12))
    trace = Trace("job 41", case.now, True, diagnose(case), case.account, JOB, entries)
    for line in told(trace, width).splitlines():
        # Addresses and what is to be copied are left whole.
        assert len(line) <= width or "https://" in line or "`" in line, line
        assert line == line.rstrip()


def test_what_is_to_be_copied_is_not_broken() -> None:
    command = "`kubectl get nodes -l riseproject.dev/board=scw-em-rv1`"
    it = Finding(Kind.WAITING_FOR_BOARD, "There is none.", f"Look after the boards: {command}.")
    for width in (60, 70, 110):
        assert command in told(a_trace(findings=(it,)), width)


# What others wrote ---------------------------------------------------------------------------


def test_nothing_that_a_terminal_would_obey_comes_through() -> None:
    world = World(name=f"a{ESCAPES}b")
    world.install()
    it = Finding(
        Kind.GIVEN_UP, f"It {ESCAPES} went.", f"See {ESCAPES}.", (Evidence(f"it {ESCAPES} was"),)
    )
    evil = {name: f"{value}{ESCAPES}" for name, value in JOB.items() if isinstance(value, str)}
    text = told(
        a_trace(
            world,
            subject=f"job {ESCAPES}",
            job={**JOB, **evil, "labels": [ESCAPES]},
            findings=(it,),
            timeline=(Entry(moment(0), f"on {ESCAPES}"),),
            notes=(ESCAPES,),
        ),
        80,
    )
    assert not [each for each in ESCAPES if each in text and not each.isprintable()]
    assert all(each.isprintable() for each in text.split("\n"))


def test_a_message_of_several_lines_is_one_in_its_place() -> None:
    it = Finding(Kind.GIVEN_UP, "It went:\naway.", "Start\tit again.")
    assert "1. given_up: It went: away.\n   What to do: Start it again." in (
        told(a_trace(findings=(it,)), 80)
    )


@pytest.mark.parametrize("name", ["構築", "сборка", "bâtiment", "👩\u200d💻", "a b"])
def test_names_of_all_the_world_stay_as_they_are(name: str) -> None:
    assert f"  CI / {name}  [pending]" in told(a_trace(job={**JOB, "name": name}), 80)
    assert plain(name) == name


@given(st.text())
def test_plain_text_is_as_long_and_stays_plain(text: str) -> None:
    said = plain(text)
    assert len(said) == len(text)
    assert plain(said) == said
    assert all(each.isprintable() for each in said if each.isascii())
