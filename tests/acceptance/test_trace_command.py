"""`reconcile trace` as whoever calls it sees it: what it prints, its exit code, what it needs."""

import json
import os
import subprocess
from collections.abc import Iterator

import pytest

from reconcile.sim.github.model import Run
from tests.acceptance.command import KEEP_BYTECODE, MODULE, SCRIPT, Done, call
from tests.acceptance.test_run_command import CLOSED_PORT, bare_environment
from tests.database import Database
from tests.system import System, system

NEEDED = ("POSTGRES_URL", "RUNNERS_ENV", "GHAPP_ORG_ID", "GHAPP_PERSONAL_ID")


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


def environment(s: System, **more: str) -> dict[str, str]:
    """What it needs, and nothing else."""
    needed = {name: s.settings()[name] for name in NEEDED}
    clock = {"RUNNERS_CLOCK": s.world.time.clock.now().isoformat()}
    return {**bare_environment(), **needed, **clock, **more}


def trace(s: System, *arguments: str, **more: str) -> Done:
    return call(environment(s, **more), "trace", *arguments)


def waiting(s: System) -> Run:
    """Second in the queue of the only board, which is held for a minute."""
    s.boards(1)
    s.push(seconds=60)
    s.ticks(12)
    s.push(seconds=3600)
    s.ticks(4)
    s.push(s.personal)
    s.world.time.step(2)
    run = s.push()
    s.world.time.step(2)
    s.good_run()
    return run


# Once each -----------------------------------------------------------------------------------


def test_a_job_is_answered_for_in_the_first_lines(s: System) -> None:
    job = waiting(s).jobs[0]
    done = trace(s, "--job", str(job.id), COLUMNS="80")
    assert (done.code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    now = s.world.time.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    assert lines[3].startswith("https://github.com/riseproject/firmware/actions/runs/")
    assert [*lines[:3], *lines[4:7]] == [
        f"job {job.id}, as of {now}",
        "riseproject/firmware  CI / build  [pending]",
        "labels ubuntu-24.04-riscv  pool scw-em-rv1",
        "",
        "1. waiting_for_board: The only usable board of scw-em-rv1 is busy. The job is",
        "   number 2 in the queue of scw-em-rv1, which takes about 4 minutes.",
    ]
    assert max(map(len, lines)) <= 80
    document = trace(s, "--job", str(job.id), "--json").document
    assert document["findings"][0]["finding"] == "waiting_for_board"
    assert document["job"]["id"] == job.id


def test_an_account_by_its_name_and_an_installation_by_its_number(s: System) -> None:
    s.world.github.accounts.suspend(s.installation)
    s.world.time.step(5)
    for asked in (["--entity", "RiseProject"], ["--installation", str(s.installation.id)]):
        done = trace(s, *asked)
        assert (done.code, done.stderr) == (0, "")
        assert "\n1. suspended: The App's installation on riseproject is suspended" in done.stdout
        assert "  #3  installation.suspend\n" in done.stdout
        document = trace(s, *asked, "--json").document
        assert [each["finding"] for each in document["findings"]] == ["suspended"]
        assert document["account"]["installations"][0]["status"] == "suspended"


def test_an_event_with_its_payload(s: System) -> None:
    done = trace(s, "--payload", "1")
    assert (done.code, done.stderr) == (0, "")
    assert done.document["event"] == "installation.created"
    assert done.document["payload"]["installation"]["id"] == s.installation.id


def test_the_script_does_the_same(s: System) -> None:
    asked = ("trace", "--entity", "riseproject")
    by_script = call(environment(s), *asked, program=(str(SCRIPT),))
    assert by_script == call(environment(s), *asked)


# Exit codes ----------------------------------------------------------------------------------


def test_what_is_not_known_is_exit_1(s: System) -> None:
    done = trace(s, "--entity", "nobody")
    assert (done.code, done.stderr) == (1, "")
    assert done.stdout.startswith("Nothing is known of an account nobody: ")
    assert trace(s, "--job", "1", "--json").code == 1


def test_settings_that_are_missing_or_malformed_are_one_message_and_exit_2() -> None:
    given = {"GHAPP_ORG_ID": "none", "RUNNERS_CLOCK": "noon", "ROUTES_FILE": "/nowhere.toml"}
    done = call({**bare_environment(), **given}, "trace", "--job", "1")
    assert (done.code, done.stdout) == (2, "")
    [line] = done.lines
    assert line["event"] == "config_error"
    for name in (*NEEDED, *given):
        assert name in line["error"], name
    for name in ("KEY", "K8S", "SITE"):
        assert name not in line["error"], name
    as_json = call({**bare_environment(), **given}, "trace", "--job", "1", "--json")
    assert (as_json.code, as_json.document) == (2, {"status": "failed", "error": line["error"]})


@pytest.mark.parametrize("arguments", [[], ["--json"]], ids=["text", "json"])
def test_a_database_that_is_down_is_exit_2_and_one_line(s: System, arguments: list[str]) -> None:
    done = trace(s, "--job", "1", *arguments, POSTGRES_URL=CLOSED_PORT)
    assert done.code == 2
    [line] = done.lines
    assert (line["event"], line["status"]) == ("trace", "failed")
    assert "The database cannot be reached" in line["error"]
    told = {"status": "failed", "error": line["error"]}
    assert (done.stdout and json.loads(done.stdout)) == (told if arguments else "")


def test_a_database_without_the_schema_is_exit_2(s: System, empty_database: Database) -> None:
    url = empty_database.role_url("prod_reconcile")
    done = trace(s, "--entity", "riseproject", POSTGRES_URL=url)
    assert (done.code, done.stdout) == (2, "")
    assert "does not exist" in done.lines[0]["error"]


def test_a_time_to_come_is_exit_2(s: System) -> None:
    done = trace(s, "--job", "1", "--at", "2040-01-01")
    assert (done.code, done.stdout) == (2, "")
    assert done.lines[0]["error"] == "Cannot answer: --at is in the future."


@pytest.mark.parametrize("arguments", [[], ["--job", "x"], ["--job", "1", "--at", "noon"]])
def test_arguments_that_make_no_sense_are_exit_2(arguments: list[str]) -> None:
    done = call(bare_environment(), "trace", *arguments)
    assert (done.code, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert "usage: reconcile trace" in done.stderr


# Where it is read ----------------------------------------------------------------------------


def test_who_stops_reading_gets_no_traceback(s: System) -> None:
    s.push(count=20)
    s.world.time.step(5)
    reading, writing = os.pipe()
    os.close(reading)
    for arguments in (["--entity", "riseproject"], ["--entity", "riseproject", "--json"]):
        done = subprocess.run(
            [*MODULE, "trace", *arguments],
            env={**environment(s), **KEEP_BYTECODE},
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
    os.close(writing)


@pytest.mark.parametrize("columns", ["1", "60", "95", "400"])
def test_text_is_as_wide_as_can_be_read(s: System, columns: str) -> None:
    done = trace(s, "--job", "41", COLUMNS=columns)
    widest = max(map(len, done.stdout.splitlines()))
    assert max(60, min(110, int(columns))) - 25 < widest <= max(60, min(110, int(columns)))


def test_a_terminal_that_knows_few_letters_gets_the_others_escaped(s: System) -> None:
    run = s.push()
    s.world.time.step(2)
    s.database.execute("UPDATE jobs SET job_name = 'bâtiment 構築'")
    done = trace(s, "--job", str(run.jobs[0].id), PYTHONIOENCODING="ascii")
    assert done.code == 0
    assert "CI / b\\xe2timent \\u69cb\\u7bc9  [pending]" in done.stdout
    whole = trace(s, "--job", str(run.jobs[0].id))
    assert "CI / bâtiment 構築  [pending]" in whole.stdout


def test_a_name_of_a_job_does_not_move_the_cursor(s: System) -> None:
    run = s.push()
    s.world.time.step(2)
    s.database.execute("UPDATE jobs SET workflow_name = E'\\x1b[2J\\x1b[H1. all is well'")
    done = trace(s, "--job", str(run.jobs[0].id))
    assert "\x1b" not in done.stdout
    assert "\x1b" not in trace(s, "--job", str(run.jobs[0].id), "--json").stdout
