"""`reconcile demo`: every scenario from its first push to a summary in which nothing leaked."""

import csv
from pathlib import Path

import pytest

from reconcile.demo.scenarios import SCENARIOS
from tests.acceptance.controller import needs_proc
from tests.acceptance.demo import demo, run_command, summary
from tests.waiting import wait_until

pytestmark = pytest.mark.timeout(300)


@needs_proc
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario_comes_to_its_end_and_nothing_leaks(scenario: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with demo(
        tmp_path, "--scenario", scenario, "--for", "9s", "--seed", "5", "--keep", str(kept)
    ) as it:
        code = it.ended()
        assert code == 0, it.said
        wait_until(lambda: it.processes() == {})
        assert it.left_behind() == ["kept"]
    told = summary(kept)
    assert [check for check in told["checks"] if not check["ok"]] == []
    assert told["jobs"]["success"] >= 5
    assert "failure" in told["jobs"]
    assert told["runs"]["by_status"]["completed"] >= 5
    assert told["waits"]["p50"] > 0
    assert all(count > 0 for count in told["calls"].values())
    assert (told["comparison"] is not None) == (scenario == "flood")
    with (kept / "database" / "jobs.csv").open() as file:
        assert len(list(csv.DictReader(file))) == sum(told["jobs"].values())
    planned = run_command(
        "demo",
        "plan",
        "--load",
        str(kept / "site"),
        "--boards",
        "scw-em-rv1=12",
        "--boards",
        "jupiter=6",
        "--boards",
        "bpi-f3=4",
    )
    assert planned.returncode == 0, planned.stderr
    assert "fifo" in planned.stdout
