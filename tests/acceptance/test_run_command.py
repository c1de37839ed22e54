"""`reconcile run` as whoever calls it sees it: its exit code, what it says, what it keeps."""

import contextlib
import json
import os
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from reconcile.sim import faults
from reconcile.sim.cluster import Behaviour
from reconcile.sim.http import Request, Response
from reconcile.store.database import QUERIES
from tests.acceptance.command import KEEP_BYTECODE, MODULE, PHASES, Issued, call, good_run, run
from tests.database import Database
from tests.integration.test_schema import dump
from tests.simulated import private_key
from tests.system import System, command_environment, system

TOTALS = {
    *("jobs_checked", "jobs_updated"),
    *("workers_checked", "workers_failed", "workers_provisioned"),
    "objects_published",
}
CLOSED_PORT = "postgresql://reconcile@127.0.0.1:1/none"


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    """With a board, and a job that waits for it."""
    with system(database) as made:
        made.boards(1)
        made.push()
        made.world.time.step(60)
        yield made


def bare_environment() -> dict[str, str]:
    """Of a machine on which nothing is set."""
    names = ("POSTGRES", "GHAPP", "K8S", "KUBE", "RUNNERS", "GITHUB", "ROUTES", "SITE", "AWS")
    return {name: value for name, value in os.environ.items() if not name.startswith(names)}


# Exit codes --------------------------------------------------------------------------------------


def test_settings_that_are_missing_or_malformed_are_one_message_and_exit_2() -> None:
    given = {"GITHUB_API_URL": "no url", "K8S_NAMESPACE": "No Name", "RUNNERS_CLOCK": "noon"}
    given["RUNNERS_CONFIG"] = "scheduling = 'lifo'\n[run]\ndedline = 2"
    done = call({**bare_environment(), **given}, "run")
    assert (done.code, done.stdout) == (2, "")
    [line] = done.lines
    assert line["event"] == "config_error"
    missing = [
        *("POSTGRES_URL", "RUNNERS_ENV", "K8S_KUBECONFIG", "KUBECONFIG"),
        *("GHAPP_ORG_ID", "GHAPP_ORG_PRIVATE_KEY"),
        *("GHAPP_PERSONAL_ID", "GHAPP_PERSONAL_PRIVATE_KEY"),
    ]
    for name in (*missing, *given, "scheduling", "run.dedline"):
        assert name in line["error"], name


def test_settings_that_cannot_be_used_are_said_in_json_where_that_is_asked_for() -> None:
    done = call({**bare_environment(), "RUNNERS_ENV": "nonsense"}, "run", "--json")
    [line] = done.lines
    assert (done.code, line["event"]) == (2, "config_error")
    assert done.document == {"status": "failed", "error": line["error"]}
    assert "RUNNERS_ENV must be prod or staging" in line["error"]


def test_damaged_key_is_exit_2_and_not_quoted(s: System) -> None:
    lines = private_key().splitlines()
    s.environment["GHAPP_ORG_PRIVATE_KEY"] = "\n".join([*lines[:5], *lines[6:]])
    done = run(s)
    assert (done.code, done.stdout) == (2, "")
    [line] = done.lines
    assert line["event"] == "config_error"
    assert not [part for part in lines[1:-1] if part in done.stderr]


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--dry-run"]], ids=" ".join)
def test_database_that_is_down_is_exit_2(s: System, arguments: list[str]) -> None:
    s.environment["POSTGRES_URL"] = CLOSED_PORT
    done = run(s, *arguments)
    assert done.code == 2
    assert done.summary["status"] == "failed"
    assert "The database cannot be reached" in done.summary["error"]
    told = {"status": "failed", "error": done.summary["error"]}
    assert (json.loads(done.stdout) if "--json" in arguments else done.stdout) == (
        told if "--json" in arguments else ""
    )
    assert s.pods() == []


def test_database_without_the_schema_is_exit_2(s: System, empty_database: Database) -> None:
    s.environment["POSTGRES_URL"] = empty_database.role_url("prod_reconcile")
    done = run(s)
    assert (done.code, done.stdout) == (2, "")
    assert "does not exist" in done.summary["error"]


def test_failed_item_is_exit_1_and_the_rest_is_done(s: System) -> None:
    s.world.faults.always("k8s.list_nodes", faults.status(500))
    done = run(s, "--json")
    assert done.code == 1
    assert done.summary["status"] == done.document["status"] == "partial"
    assert set(done.errors) == {"sync_workers", "demand_match"}
    [record] = s.database.rows("SELECT * FROM reconcile_runs")
    assert (record["status"], record["jobs_checked"]) == ("partial", 1)
    phases = s.database.rows("SELECT * FROM reconcile_phases ORDER BY id")
    assert [row["phase"] for row in phases] == PHASES
    assert {row["phase"]: row["error"] for row in phases if not row["success"]} == done.errors


def test_database_that_goes_away_in_between_is_exit_1(s: System) -> None:
    def cut(request: Request, response: Response) -> None:
        s.database.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'reconcile'"
        )

    s.world.github_server.observers.append(cut)
    done = run(s)
    assert done.code == 1
    assert done.summary["status"] == "failed"
    assert set(done.errors) == set(PHASES)
    assert s.pods() == []
    assert s.database.rows("SELECT status FROM reconcile_runs") == [{"status": "running"}]
    s.world.github_server.observers.clear()
    s.world.time.step(90)
    assert good_run(s).summary["workers_provisioned"] == 1


# The lock ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def run_under_way(s: System) -> Iterator["subprocess.Popen[str]"]:
    """A run in its first request to GitHub, which is answered at the end of the block."""
    asked, answer = threading.Event(), threading.Event()

    def hold(request: Request, response: Response) -> None:
        asked.set()
        assert answer.wait(60)

    s.world.github_server.observers.append(hold)
    with subprocess.Popen(
        [*MODULE, "run"],
        env={**command_environment(s), **KEEP_BYTECODE},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert asked.wait(60)
            yield process
        finally:
            answer.set()
            _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr


def test_second_run_says_that_another_has_the_lock_and_is_exit_0(s: System) -> None:
    with run_under_way(s):
        done = run(s)
        assert (done.code, done.stdout) == (0, "")
        [line] = done.lines
        assert (line["event"], line["status"]) == ("run", "skipped")
        assert "Another run holds the lock" in line["message"]
    assert len(s.pods()) == 1
    assert s.database.rows("SELECT status FROM reconcile_runs") == [{"status": "completed"}]


def test_lock_is_of_one_environment_and_not_for_those_who_only_look(s: System) -> None:
    with s.database.connect() as other:
        other.execute(QUERIES["take_lock"], {"schema": "prod"})
        assert json.loads(run(s, "--json").stdout)["status"] == "skipped"
        assert run(s, "--dry-run").code == 0
        s.environment["POSTGRES_URL"] = s.database.role_url("staging_reconcile")
        s.environment["RUNNERS_ENV"] = "staging"
        good_run(s)


# What it prints ----------------------------------------------------------------------------------


def test_json_is_one_document_and_the_log_has_one_summary(s: System) -> None:
    done = good_run(s, "--json")
    document = done.document
    assert set(document) == {"run_id", "status", "started_at", "seconds", "phases", *TOTALS}
    assert [phase["phase"] for phase in document["phases"]] == PHASES
    for phase in document["phases"]:
        assert set(phase) == {
            *("phase", "success", "message", "impact", "error", "elapsed_seconds")
        }
    assert (document["workers_provisioned"], document["jobs_checked"]) == (1, 1)
    [record] = s.database.rows("SELECT * FROM reconcile_runs")
    assert document["run_id"] == done.summary["run_id"] == record["id"]
    for name in TOTALS:
        assert document[name] == done.summary[name] == record[name], name
    assert [line["phase"] for line in done.events("phase")] == PHASES
    assert done.lines[-1] == done.summary


def test_without_json_there_is_only_the_log(s: System) -> None:
    assert good_run(s).stdout == ""


def test_no_credential_is_in_what_it_prints_or_keeps(s: System) -> None:
    """Whatever goes wrong on the way."""
    issued = Issued.watch(s)
    s.boards(11)
    s.world.cluster.next_pod(Behaviour.LEAKS, times=12)
    s.push(count=5)
    s.push(s.personal, count=5)
    s.world.time.step(60)
    said = run(s, "--dry-run").stdout
    troubles = [
        ("github.create_token", faults.wrong_json()),
        ("github.create_jit_config_*", faults.half_body()),
        ("github.create_jit_config_*", faults.wrong_json()),
        ("k8s.create_pod", faults.status(500)),
        ("k8s.create_secret", faults.status(422)),
        ("k8s.create_secret", faults.reset(after_effect=True)),
    ]
    rules = [s.world.faults.next(endpoints, fault) for endpoints, fault in troubles]
    for seconds in (0, 240, 700):
        s.world.time.step(seconds)
        done = run(s, "--json")
        said += done.stdout + done.stderr
    said += run(s, "--dry-run", "--json").stdout
    assert "provision_failed" in said
    assert "worker_provisioned" in said
    assert len([each for each in issued.credentials if each.startswith("ghs_")]) >= 3
    assert [rule.times for rule in rules] == [0] * len(rules), "every fault has struck"
    assert issued.found_in(said) == []
    assert issued.found_in(dump(s.database)) == []


# Looking only ------------------------------------------------------------------------------------


def seen(s: System) -> dict[str, Any]:
    """All that a run could change outside."""
    github, cluster = s.world.github, s.world.cluster
    return {
        "pods": cluster.pods(),
        "secrets": cluster.secrets(),
        "nodes": cluster.nodes(),
        "events": cluster.events(),
        "runners": [(each.name, each.online, each.busy) for each in github.runners.all()],
        "groups": [vars(group) for group in github.runners.groups_of(s.organization)],
    }


def writes(s: System) -> Counter[str]:
    calls = [*s.world.github_server.calls, *s.world.cluster_server.calls]
    return Counter(each.endpoint for each in calls if each.method != "GET")


def test_dry_run_says_what_a_run_would_do_and_changes_nothing(s: System) -> None:
    s.world.cluster.next_pod(Behaviour.NEVER_REGISTERS)
    s.good_run()  # Its runner never comes: the worker is to fail.
    s.world.time.step(60)
    s.good_run()
    s.boards(2)
    s.push(count=3)
    s.push(s.personal)
    s.world.time.step(200)
    before, outside, asked = dump(s.database), seen(s), writes(s)

    told = run(s, "--dry-run")
    assert told.code == 0, told.stdout
    [worker] = s.workers()
    text = told.stdout.splitlines()
    assert text[0].startswith(f"worker {worker['pod_name']}: fail runner_never_registered The")
    assert len([line for line in text if "provision a runner (ubuntu-24.04-riscv)" in line]) == 2
    assert {"jobs that wait (runner): 1", "jobs that wait (no_board): 2"} <= set(text)
    assert writes(s) == asked, "it has a token"

    s.database.execute("UPDATE github_credentials SET token = NULL")
    tokenless = dump(s.database)
    document = run(s, "--dry-run", "--json").document
    assert set(document) == {
        *("workers", "provision", "waiting", "pending_jobs"),
        *("remove", "problems"),
    }
    [ending] = document["workers"]
    assert (ending["fate"], ending["reason"]) == ("fail", "runner_never_registered")
    assert [(job["entity"], job["pool"]) for job in document["provision"]] == [
        ("riseproject", "scw-em-rv1")
    ] * 2
    assert document["pending_jobs"] == 5
    assert document["waiting"] == {"runner": 1, "no_board": 2}
    assert set(writes(s) - asked) == {"github.create_token"}
    assert dump(s.database) == tokenless != before
    assert seen(s) == outside


def test_dry_run_of_a_world_at_rest_says_so(database: Database) -> None:
    with system(database) as s:
        done = run(s, "--dry-run")
        assert (done.code, done.stdout, done.stderr) == (0, "Nothing to do.\n", "")


def test_dry_run_that_cannot_see_says_so_and_is_exit_1(s: System) -> None:
    s.world.faults.always("k8s.list_pods", faults.status(403))
    done = run(s, "--dry-run")
    assert done.code == 1
    assert "problem: no plan can be made" in done.stdout


# Time --------------------------------------------------------------------------------------------


def test_run_past_its_deadline_begins_nothing_more(s: System) -> None:
    """GitHub takes five minutes for an answer; the run has two seconds."""
    s.toml = "[run]\ndeadline = 2\n"
    s.world.faults.always("github.*", faults.latency(300))
    done = run(s)
    assert done.code == 1
    assert set(done.errors) == set(PHASES)
    for phase in PHASES[1:]:
        assert "The run's time is over" in done.errors[phase]
    assert s.statuses() == (["pending"], [])
    [record] = s.database.rows("SELECT * FROM reconcile_runs")
    assert record["completed_at"] is not None
    s.world.faults.clear()
    s.toml = ""
    assert good_run(s).summary["workers_provisioned"] == 1
