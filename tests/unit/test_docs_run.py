"""docs/run.md and docs/database.md name what the run does, says and keeps, and nothing else."""

import ast
import dataclasses
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from reconcile import config, exit_codes, run
from reconcile.dry_run import Forecast
from reconcile.model import JobReason, Reason
from reconcile.phases.sync_workers import STEPS
from reconcile.policy.back_off import COUNTED
from reconcile.policy.plan import Wait
from reconcile.settings_file import DAYS
from reconcile.store.fingerprint import SCHEMA_JSON
from reconcile.store.runs import PhaseRecord, Totals
from static_site import archive
from tests.simulated import private_key

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = (ROOT / "docs" / "run.md").read_text()
DATABASE = (ROOT / "docs" / "database.md").read_text()
SCHEMA = json.loads(SCHEMA_JSON.read_text())


def section(heading: str, document: str = DOCUMENT) -> str:
    found = document.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    assert found, heading
    return found


def rows(text: str) -> list[tuple[str, str]]:
    """The tables' rows: the name, and the rest."""
    found = re.findall(r"^\| `([^`]+)` \|(.*)\|$", text, flags=re.MULTILINE)
    assert len(found) == len(dict(found)), "each is listed once"
    return found


def names(text: str) -> list[str]:
    return [name for name, _ in rows(text)]


def events(part: str = "", *, without: tuple[str, ...] = ()) -> Iterator[str]:
    """What that part of the code logs: the first argument of every `log.emit`."""
    for path in (ROOT / "reconcile" / part).rglob("*.py"):
        if any(path.is_relative_to(ROOT / "reconcile" / name) for name in without):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "log.emit":
                event = node.args[0]
                assert isinstance(event, ast.Constant), f"{path}: an event is a plain text"
                assert isinstance(event.value, str)
                yield event.value


def settings() -> config.Config:
    return config.from_environment(
        {
            "POSTGRES_URL": "postgresql://127.0.0.1/none",
            "RUNNERS_ENV": "prod",
            "GHAPP_ORG_ID": "1",
            "GHAPP_ORG_PRIVATE_KEY": private_key(),
            "GHAPP_PERSONAL_ID": "2",
            "GHAPP_PERSONAL_PRIVATE_KEY": private_key(),
            "K8S_KUBECONFIG": "{current-context: a, contexts: [{name: a}], clusters: [{name: a}]}",
            "SITE_URL": "file:///srv/site",
        }
    )


def test_phases_and_steps_are_documented_in_their_order() -> None:
    phases, _, steps = section("Phases").partition("The steps of `sync_workers`")
    assert names(phases) == [name for name, _ in run.phases(settings())]
    assert names(steps) == [name for name, _ in STEPS]


def test_every_reason_of_a_worker_is_documented_with_whether_it_counts() -> None:
    documented = dict(rows(section("Why a worker failed")))
    assert set(documented) == set(Reason)
    for reason in Reason:
        does_not = "does not count" in documented[reason]
        assert does_not == (reason not in COUNTED), reason
        assert does_not or "counts" in documented[reason], reason


def test_every_reason_of_a_job_is_documented() -> None:
    assert set(names(section("Why a job was given up"))) == set(JobReason)


def test_everything_a_job_waits_for_is_documented() -> None:
    assert set(names(section("What a job waits for"))) == set(Wait)


def test_every_event_of_the_log_is_documented() -> None:
    assert set(names(section("Log"))) == set(events(without=("sim", "controller")))


def test_exit_codes_and_keys_of_the_output_are_documented() -> None:
    text = section("Output")
    codes = re.findall(r"^\| (\d+) \|", text, flags=re.MULTILINE)
    there = (
        exit_codes.DONE,
        exit_codes.FAILED,
        exit_codes.UNUSABLE,
        exit_codes.INTERRUPTED,
    )
    assert codes == [str(code) for code in there]
    fields = [
        field.name for record in (Totals, PhaseRecord) for field in dataclasses.fields(record)
    ]
    for key in (*fields, *Forecast().document()):
        assert f"`{key}`" in text, key


def test_every_table_is_documented() -> None:
    listed = names(DATABASE.partition("## ")[0])
    assert set(listed) == set(SCHEMA["tables"])


def test_tables_that_a_run_may_delete_from_are_its_memory_and_history() -> None:
    deletable = {
        privilege.removeprefix("DELETE ")
        for privilege in SCHEMA["privileges"]
        if privilege.startswith("DELETE ")
    }
    remembered = set(names(section("What is remembered between runs")))
    kept = dict(rows(section("What is kept, and how long")))
    assert remembered | set(kept) == deletable
    memory = re.findall(r"^\| `(\w+)` .* its memory \|$", DATABASE, flags=re.MULTILINE)
    assert set(memory) == remembered
    for row in kept.values():
        assert re.match(r" `retention\.\w+_days` \|", row), "and for how long"


def test_the_site_knows_from_when_on_rows_may_be_missing() -> None:
    """Later, and it would publish what is left of a day; sooner, and it would not believe a
    database that was restored."""
    assert timedelta(days=DAYS.low) == archive.REMOVED_AFTER


def test_settings_named_in_the_text_exist() -> None:
    there = settings().settings
    known = {
        f"{part.name}.{field.name}"
        for part in dataclasses.fields(there)
        if dataclasses.is_dataclass(value := getattr(there, part.name))
        for field in dataclasses.fields(value)
    }
    documents = [ROOT / "docs" / "run.md", *(ROOT / "docs" / "decisions").glob("*.md")]
    for document in documents:
        named = set(
            re.findall(r"`((?:back_off|timeouts|github|run|retention)\.\w+)`", document.read_text())
        )
        assert named - {"run.md", "run.py", "retention.cut_offs"} <= known, document
