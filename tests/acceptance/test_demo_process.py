"""The demo as whoever starts it sees it: its page, its acts, its end, and ports that are taken."""

import json
import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from reconcile.demo.control import ask
from tests.acceptance.controller import needs_proc
from tests.acceptance.demo import demo, run_command
from tests.waiting import wait_until

pytestmark = [pytest.mark.timeout(300), needs_proc]
CALM = ("--scenario", "calm", "--port", "0", "--seed", "1")


def get(url: str) -> requests.Response:
    return requests.get(url, timeout=30)


def test_site_is_served_in_the_time_of_the_world(tmp_path: Path) -> None:
    with demo(tmp_path, *CALM) as it:
        page = get(it.url)
        assert page.status_code == 200
        assert "scw-em-rv1" in page.text
        time, speed = page.headers["Simulated-Time"].split()
        assert speed == "90"
        health = get(f"{it.url}/health.json").json()
        assert health["as_of"][:13] == time[:13]
        wait_until(lambda: "riseproject" in get(f"{it.url}/usage").text, 60)


def test_acts_show_their_consequence(tmp_path: Path) -> None:
    with demo(tmp_path, *CALM) as it:
        url = it.url
        killed = it.act("kill-board", "jupiter-03")
        assert (killed.returncode, killed.stdout) == (0, "Board jupiter-03 lost its power.\n")
        it.wait_for("world +Board jupiter-03 lost its power")

        def usable() -> int:
            found = {each["pool"]: each for each in get(f"{url}/index.json").json()["boards"]}
            return int(found["jupiter"]["slots"] - found["jupiter"]["unusable"])

        wait_until(lambda: usable() == 5, 60)
        assert it.act("revive-board").stdout == "Board jupiter-03 is back.\n"
        wait_until(lambda: usable() == 6, 60)
        flooded = it.act("flood", "quillfont", "60")
        assert flooded.stdout == "quillfont asks for 60 jobs at once.\n"
        wait_until(lambda: "quillfont" in get(f"{url}/usage").text, 60)
        for words in (
            ["kill-board", "no-such"],
            ["flood", "quillfont", "0"],
            ["break-github", "x"],
        ):
            refused = it.act(*words)
            assert (refused.returncode, refused.stdout) == (1, "")
            assert words[-1] in refused.stderr


def test_trace_asks_the_running_demo(tmp_path: Path) -> None:
    with demo(tmp_path, *CALM) as it:
        assert it.url
        account = it.trace("--entity", "riseproject", "--json")
        assert account.returncode == 0, account.stderr
        [installation] = json.loads(account.stdout)["account"]["installations"]
        assert (installation["status"], installation["selection"]) == ("installed", "all")
        assert it.act("flood", "quillfont", "200").returncode == 0
        wait_until(lambda: "quillfont" in it.trace().stdout, 60)
        oldest = it.trace("--json")
        assert json.loads(oldest.stdout)["job"]["status"] == "pending"
        assert it.act("stop-database", "2h").returncode == 0
        away = it.trace()
        assert (away.returncode, away.stdout) == (2, "")
        assert "The database is away" in away.stderr
        assert it.act("heal").returncode == 0


def test_many_acts_at_once_are_all_answered(tmp_path: Path) -> None:
    """More than wait at a socket's door: and the one after them, too."""
    with demo(tmp_path, *CALM) as it, ThreadPoolExecutor(30) as pool:
        assert it.url
        asked = [pool.submit(ask, "crash-runners", ["1"], it.environment) for _ in range(150)]
        answers = {each.result() for each in asked}
        assert answers == {"Of the runners to start, the next 1 will crash."}
        assert it.act("heal").stdout == "All boards and services are well again.\n"


def test_heal_brings_back_what_is_away(tmp_path: Path) -> None:
    with demo(tmp_path, *CALM) as it:
        assert it.url
        assert it.act("stop-database", "2h").stdout == "The database is away for 2 h.\n"
        it.wait_for("The database is away: ")
        assert it.act("stop-database").stderr == "The database is away already.\n"
        assert it.act("heal").returncode == 0
        it.wait_for("world +The database is back")


def test_part_that_ends_by_itself_is_told_with_its_last_words(tmp_path: Path) -> None:
    with demo(tmp_path, *CALM) as it:
        assert it.url
        # The controller itself, which was there before its watcher and its runs: a run under
        # way removes what the two of them had, if it is left to.
        controller = min(
            pid
            for pid, command in it.processes().items()
            if "-m reconcile controller" in command and "supervisor" not in command
        )
        os.kill(controller, signal.SIGKILL)
        assert it.ended() == 2
        assert "The controller ended with exit code 137. It said:" in it.said
        assert "Traceback" not in it.said
        wait_until(lambda: it.processes() == {}, 30)
        assert it.left_behind() == []


def test_act_without_a_demo_says_so(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_RUNTIME_DIR": "", "TMPDIR": str(tmp_path)}
    alone = run_command("demo", "act", "heal", environment=environment)
    assert (alone.returncode, alone.stdout) == (2, "")
    assert "No demo is running" in alone.stderr


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_however_it_ends(ending: signal.Signals, tmp_path: Path) -> None:
    with demo(tmp_path, *CALM) as it:
        assert it.url
        assert len(it.processes()) >= 5  # PostgreSQL, the function, the controller, and more.
        it.process.send_signal(ending)
        code = it.ended()
        wait_until(lambda: it.processes() == {}, 30)
        if ending is not signal.SIGKILL:
            assert code == 0, it.said
            assert it.left_behind() == []
        else:
            wait_until(lambda: [name for name in it.left_behind() if "/" not in name] == [], 30)
        # A socket of one that was killed is in nobody's way.
        assert it.act("heal").returncode == 2
        assert it.left_behind() == []


@pytest.mark.parametrize("moment", [0.4, 0.7, 1.0, 1.4, 1.8])
def test_nothing_is_left_of_a_start_that_was_killed(moment: float, tmp_path: Path) -> None:
    with demo(tmp_path, *CALM) as it:
        time.sleep(moment)
        it.process.kill()
        it.ended()
        wait_until(lambda: it.processes() == {}, 30)
        wait_until(lambda: [name for name in it.left_behind() if "/" not in name] == [], 30)


def test_it_can_be_stopped_while_it_starts(tmp_path: Path) -> None:
    with demo(tmp_path, *CALM) as it:
        wait_until(lambda: len(it.processes()) >= 2, 30)
        it.process.send_signal(signal.SIGINT)
        assert it.ended() == 0, it.said
        wait_until(lambda: it.processes() == {}, 30)
        assert "Traceback" not in it.said


def test_port_that_is_taken_is_passed_over_or_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = run_command("demo", "--port", port)
    assert refused.returncode == 2
    assert f"127.0.0.1:{port}: Address already in use" in refused.stderr
    first, second = tmp_path / "1", tmp_path / "2"
    for directory in (first, second):
        directory.mkdir()
    with demo(first, "--scenario", "calm") as one, demo(second, "--scenario", "calm") as other:
        assert one.url != other.url


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--speed", "0"), "must be from 0.1 to 120"),
        (("--for", "soon"), "is no span of time"),
        (("--scenario", "lunch"), "invalid choice"),
        (("act", "dance"), "invalid choice"),
    ],
)
def test_nonsense_is_refused(words: tuple[str, ...], sentence: str) -> None:
    refused = run_command("demo", *words)
    assert refused.returncode == 2
    assert sentence in refused.stderr


def test_directory_to_keep_must_be_empty(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = run_command("demo", "--keep", str(tmp_path))
    assert refused.returncode == 2
    assert "is not empty" in refused.stderr
