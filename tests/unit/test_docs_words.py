"""docs/install.md and docs/operations.md: every word, command and link in them is one."""

import re
from pathlib import Path

import pytest

from reconcile.cli import _parser
from tests.charts.helm import CHART
from tests.documents import BOTH, EVERY, INSTALL, OPERATIONS, ROOT, Document, slugified
from tests.unit.test_docs_configuration import github_permissions, settings_there, variables_read
from tests.unit.test_docs_controller import shown
from tests.unit.test_docs_operations import REASONS
from tests.unit.test_docs_run import SCHEMA, events
from webhook_fn import routes
from webhook_fn.events import Outcome

# Links -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EVERY, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_and_anchor_leads_somewhere(path: Path) -> None:
    for link in Document(path).links:
        if link.startswith(("http:", "https:")):
            continue
        target, _, anchor = link.partition("#")
        there = (path.parent / target).resolve() if target else path
        assert there.exists(), link
        if anchor:
            assert anchor in Document(there).anchors, link


@pytest.mark.parametrize(
    ("title", "anchor"),
    [
        ("First look", "first-look"),
        ("`pod_failed`", "pod_failed"),
        ("Reasons: a job waits", "reasons-a-job-waits"),
        ("What's *there*, and (why) not", "whats-there-and-why-not"),
        ("See [run.md](run.md#log)", "see-runmd"),
    ],
)
def test_anchors_are_githubs(title: str, anchor: str) -> None:
    assert slugified(title) == anchor


# Commands and words ------------------------------------------------------------------------------


@BOTH
def test_every_make_target_named_exists(document: Document) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))
    typed = "\n".join([*document.commands, *document.spans])
    named = re.findall(r"^make ([a-z]+)", typed, flags=re.MULTILINE)
    assert named
    assert set(named) <= targets


@BOTH
def test_every_subcommand_and_option_of_reconcile_exists(document: Document) -> None:
    named = set()
    for code in (*document.commands, *document.spans):
        for command in re.findall(r"(?:^|-- )reconcile ([a-z]+(?: --[a-z-]+(?: \d+)?)*)", code):
            _parser().parse_args(command.split())
            named.add(command)
    assert "check" in named


@BOTH
def test_every_variable_named_exists(document: Document) -> None:
    function = (ROOT / "webhook_fn" / "config.py").read_text()
    known = variables_read() | set(re.findall(r'read\("([A-Z_]+)"', function))
    others = {
        "ADMIN_URL",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "CAPABILITY_IAM",
        "RUNNER_JITCONFIG",
    }
    for code in (*document.commands, *document.spans):
        for name in re.findall(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b", code):
            assert name in known | others, name


def known_words() -> set[str]:
    """Everything with an underscore that the code, the database or GitHub gives a name to."""
    tables = SCHEMA["tables"]
    words = set(tables) | {column for table in tables.values() for column in table}
    words |= {word for kind in REASONS.values() for word in kind} | set(Outcome)
    words |= set(events()) | set(shown())
    words |= {part for key in settings_there() for part in key.split(".")}
    words |= {*routes.ACCOUNT_LISTS, "webhook_fn"}
    roles = ("webhook_fn", "reconcile")
    words |= {f"{schema}_{role}" for schema in ("prod", "staging") for role in roles}
    words |= set().union(*github_permissions()) | {"workflow_job", "installation_target"}
    rules = (CHART / "templates" / "prometheusrule.yaml").read_text()
    words |= set(re.findall(r'"labels" \(dict "(\w+)"', rules))
    words |= {"sync_jobs", "sync_workers", "demand_match"}
    return words | {"last_reason", "auth_attempt", "other_error", "pg_terminate_backend"}


@BOTH
def test_every_word_of_the_system_exists(document: Document) -> None:
    known = known_words()
    for span in document.spans:
        for word in re.findall(r"\b[a-z]+(?:_[a-z0-9]+)+\b", span.replace("waiting_", "")):
            assert word in known, f"`{span}`"


def test_events_looked_for_in_the_log_are_logged() -> None:
    for document in (INSTALL, OPERATIONS):
        for event in re.findall(r'"event":"(\w+)"', document.text):
            assert event in set(events()), event


def test_the_lock_looked_for_is_the_runs() -> None:
    session = (ROOT / "reconcile" / "store" / "sql" / "session.sql").read_text()
    [name] = re.findall(r"pg_try_advisory_lock\(hashtext\('([^']+)'\)", session)
    assert f"hashtext('{name}')" in OPERATIONS.text
