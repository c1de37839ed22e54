"""`reconcile demo plan`: its options, what it prints, and how it refuses."""

import argparse
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from reconcile.demo.planning import command

HEADER = "created_at,entity,pool,labels,seconds"
SVG = "{http://www.w3.org/2000/svg}"


def line(minute: float, entity: str, pool: str = "rv1", seconds: float = 300) -> str:
    at = f"2026-11-18T{8 + int(minute // 60):02}:{int(minute % 60):02}:{int(minute * 60 % 60):02}Z"
    return f"{at},{entity},{pool},riscv-{pool},{seconds}"


FLOOD = [
    *(line(0, "bulk") for _ in range(30)),
    *(line(5 + 10 * number, "small") for number in range(6)),
]


def parsed(*arguments: object) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="reconcile demo plan")
    command.add_arguments(parser)
    return parser.parse_args([str(argument) for argument in arguments])


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Path]:
    def write(*lines: str) -> Path:
        made = tmp_path / "load.csv"
        made.write_text("\n".join([HEADER, *(lines or FLOOD)]))
        return made

    return write


Load = Callable[..., Path]


def plan(*arguments: object) -> int:
    return command.main(parsed(*arguments))


# The tables --------------------------------------------------------------------------------------


def test_orders_are_told_side_by_side(load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    assert plan("--load", load(), "--boards", "rv1=4") == 0
    out = capsys.readouterr().out
    assert out.startswith("36 jobs of 2 accounts, queued from 18 Nov 08:00 to 18 Nov 08:55 UTC.\n")
    rows = [each.split("  ") for each in out.splitlines()]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert ["fifo", "fair"] in cells
    assert ["jobs started", "36", "36"] in cells
    [small] = [row for row in cells if row and row[0] == "small"]
    assert small[1] == "6"
    assert small[2].endswith(" min") or " min " in small[2], "in a flood, first come first served"
    [longest] = [row for row in cells if row and row[0] == "wait longest"]
    assert len(longest) == 3
    assert any(row[0] == "use of rv1 (4 boards)" for row in cells if row)
    assert "never started" not in out


def test_one_order_is_told_by_itself(load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    assert plan("--load", load(), "--boards", "rv1=4", "--order", "fair") == 0
    out = capsys.readouterr().out
    assert "fair p50" in out
    assert "fifo" not in out


def test_output_has_no_colours_and_fits_a_narrow_screen(
    load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    plan("--load", load(), "--boards", "rv1=4")
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_names_are_shown_as_they_are(load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    plan("--load", load(line(0, "[red]:smile:[/red]"), line(1, "a" * 60)), "--boards", "rv1=1")
    out = capsys.readouterr().out
    assert "[red]:smile:[/red]" in out
    assert "a" * 60 in out


def test_stream_without_other_letters_gets_plain_ones(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    assert plan("--load", load(*FLOOD, line(3, "über")), "--boards", "rv1=4") == 0
    stream.flush()
    out = raw.getvalue().decode("ascii")
    assert "?ber" in out
    assert "####" in out


def test_accounts_beyond_the_first_are_summed_up(
    load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    many = [line(number, f"account{number:02}") for number in range(20)]
    plan("--load", load(*many, *FLOOD), "--boards", "rv1=4")
    out = capsys.readouterr().out
    assert "7 others" in out
    assert "account12" in out
    assert "account13" not in out


def test_jobs_that_never_start_are_counted_and_said(
    load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    there = load(line(0, "one"), line(1, "two", "rv2"), line(2, "two", "rv2"))
    assert plan("--load", there, "--boards", "rv1=1", "--boards", "unused=3") == 0
    out = capsys.readouterr().out
    assert "fifo: 2 jobs never started" in out
    assert "use of unused (3 boards)" in out


def test_plan_in_which_nothing_starts_is_told_all_the_same(
    load: Load, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    there = load(line(0, "one"))
    assert plan("--load", there, "--boards", "rv1=0", "--svg", tmp_path / "chart.svg") == 0
    assert "fair: 1 job never started" in capsys.readouterr().out
    ET.parse(tmp_path / "chart.svg")  # noqa: S314 our own
    assert plan("--load", there, "--boards", "rv1=0", "--json") == 0
    assert json.loads(capsys.readouterr().out)["orders"]["fifo"]["waits"] is None


def test_what_was_left_out_or_supposed_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = {"entity": "rise", "labels": ["x"], "pool": "rv1", "queued_at": "2026-11-18T12:00:05Z"}
    rows = [
        {"id": 1, **common, "status": "completed", "run_seconds": 60},
        {"id": 2, **common, "status": "completed", "run_seconds": None},
        {"id": 3, **common, "status": "pending", "run_seconds": None},
    ]
    (tmp_path / "jobs.json").write_text(json.dumps({"list_name": "jobs", "rows": rows}))
    assert plan("--load", tmp_path, "--boards", "rv1=1") == 0
    out = capsys.readouterr().out
    assert "Left out: 1 job, each of which ended before it ran." in out
    assert "1 job had not ended: taken to be as long as the median of their account." in out


# Boards, caps, accounts --------------------------------------------------------------------------


def test_document_has_what_the_tables_have(load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    assert plan("--load", load(), "--boards", "rv1=4", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["jobs"], found["boards"]) == ("completed", 36, {"rv1": 4})
    assert (found["left_out"], found["supposed"]) == ({}, 0)
    assert set(found["orders"]) == {"fifo", "fair"}
    for order in found["orders"].values():
        assert set(order["waits"]) == {"jobs", "p50", "p95", "p99", "longest"}
        assert order["never_started"] == 0
        assert 0 < order["uses"]["rv1"] <= 1
        assert max(each["busy"] for each in order["over_time"]) == 4
        assert max(each["waiting"] for each in order["over_time"]) == 30
    small = next(each for each in found["accounts"] if each["name"] == "small")
    assert small["waits"]["fair"]["p99"] < small["waits"]["fifo"]["p99"]


def longest(capsys: pytest.CaptureFixture[str], *arguments: object) -> float:
    assert plan(*arguments, "--boards", "rv1=4", "--order", "fifo", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    wait: float = found["orders"]["fifo"]["waits"]["longest"]
    return wait


def test_caps_and_accounts_left_out_change_the_plan(
    load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    there = load()
    usual = longest(capsys, "--load", there)
    assert longest(capsys, "--load", there, "--cap", "bulk=1") > 3 * usual
    assert longest(capsys, "--load", there, "--max-workers", "1") > 3 * usual
    assert longest(capsys, "--load", there, "--max-workers", "1", "--cap", "bulk=4") == usual
    assert longest(capsys, "--load", there, "--without", "bulk") < 60


def test_several_files_are_one_load(load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    there = load(line(0, "one"))
    assert plan("--load", there, there, "--load", there, "--boards", "rv1=4", "--json") == 0
    assert json.loads(capsys.readouterr().out)["jobs"] == 3


# The picture -------------------------------------------------------------------------------------


def test_picture_is_well_formed_and_has_a_line_for_each_order(
    load: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = tmp_path / "chart.svg"
    assert plan("--load", load(), "--boards", "rv1=4", "--svg", drawn) == 0
    assert "wait p50" in capsys.readouterr().out
    picture = ET.parse(drawn).getroot()  # noqa: S314 our own
    assert picture.tag == f"{SVG}svg"
    panels = picture.findall(f"{SVG}svg")
    assert [len(panel.findall(f"{SVG}path")) for panel in panels] == [2, 2]
    assert all(path.get("d") for panel in panels for path in panel)
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert {"fifo", "fair", "Jobs waiting", "Boards in use"} <= set(texts)


# What is refused ---------------------------------------------------------------------------------


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert plan(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("reconcile demo plan: ")
    assert err.count("\n") == 1
    return err.removeprefix("reconcile demo plan: ").rstrip("\n")


def test_without_boards_the_pools_are_listed(
    load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    there = load(*FLOOD, line(1, "small", "rv2"))
    assert refusal(capsys, "--load", there) == (
        "How many boards are there? The jobs are for rv1 (36 jobs), rv2 (1 job): say "
        "--boards rv1=N --boards rv2=N"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--boards", "rv1=1", "--boards", "rv1=2"], "--boards is given more than once for 'rv1'."),
        (["--boards", "rv1=1", "--cap", "small=1", "--cap", "small=2"], "--cap is given more than"),
        (["--boards", "rv1=1", "--cap", "smal=1"], "The load has no jobs of 'smal'."),
        (["--boards", "rv1=1", "--without", "nobody"], "The load has no jobs of 'nobody'."),
        (["--boards", "rv1=1", "--without", "small", "--without", "bulk"], "no jobs remain"),
        (["--boards", "rv1=1", "--svg", "/nowhere/chart.svg"], "/nowhere/chart.svg cannot be"),
    ],
)
def test_what_cannot_be_planned_is_said(
    load: Load, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert said in refusal(capsys, "--load", load(), *arguments)


def test_file_that_cannot_be_used_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "none.json"
    said = refusal(capsys, "--load", missing, "--boards", "rv1=1")
    assert said == f"{missing} cannot be read: No such file or directory."


def test_history_in_which_nothing_ran_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = {"id": 1, "entity": "rise", "labels": ["x"], "pool": "rv1", "status": "pending"}
    rows = [{**only, "queued_at": "2026-11-18T12:00:05Z", "run_seconds": None}]
    (tmp_path / "jobs.json").write_text(json.dumps({"list_name": "jobs", "rows": rows}))
    assert "No job of the load ran" in refusal(capsys, "--load", tmp_path, "--boards", "rv1=1")


def test_refusal_is_json_where_json_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plan("--load", tmp_path / "none", "--json") == 2
    told = json.loads(capsys.readouterr().out)
    assert told["status"] == "failed"
    assert "cannot be read" in told["error"]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--load"],
        ["--load", "x", "--boards", "rv1"],
        ["--load", "x", "--boards", "=3"],
        ["--load", "x", "--boards", "rv1=-1"],
        ["--load", "x", "--boards", "rv1=1.5"],
        ["--load", "x", "--boards", "rv1=٣"],
        ["--load", "x", "--boards", "rv1=100001"],
        ["--load", "x", "--boards", "rv1=" + "9" * 5000],
        ["--load", "x", "--boards", "\x1b=1"],
        ["--load", "x", "--cap", "small"],
        ["--load", "x", "--max-workers", "many"],
        ["--load", "x", "--order", "lifo"],
    ],
)
def test_options_that_cannot_be_read_end_with_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed(*arguments)
    assert ended.value.code == 2
    assert "usage: reconcile demo plan" in capsys.readouterr().err


def test_command_line_is_read_without_what_only_plans_need() -> None:
    program = "import reconcile.demo.planning.command, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"rich", "static_site", "boto3", "webhook_fn"} & set(loaded)
