"""What `reconcile trace` reads of a real database: by which names, page by page, and no more."""

import base64
import json
from collections.abc import Iterator
from datetime import timedelta

import pytest

from reconcile import cli, config, store
from reconcile.errors import ConfigError, StoreError
from reconcile.settings import RunLimits
from reconcile.sim.cluster.images import Behaviour
from tests.database import Database
from tests.integration.test_schema import dump
from tests.simulation import situations as it
from tests.system import System, system
from tests.tracing import ask, command

CANARY = "canary-7f3a91"


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


# By which names ------------------------------------------------------------------------------


def test_an_account_is_found_by_each_of_its_names_in_any_case(s: System) -> None:
    accounts = s.world.github.accounts
    accounts.rename(s.organization, "risen")
    s.world.time.step(5)
    subject = f"account {s.organization.id} (risen)"
    for name in ("risen", "RISEN", "riseproject", "RiseProject", str(s.organization.id)):
        assert command(s, "--entity", name, "--json").document["subject"] == subject
    assert command(s, "--entity", "rise").code == 1


def test_a_name_that_somebody_else_has_now_is_of_who_has_it(s: System) -> None:
    s.world.github.accounts.rename(s.organization, "risen")
    s.world.time.step(5)
    newcomer, _, _ = s.tenant("riseproject")
    s.world.time.step(5)
    document = command(s, "--entity", "riseproject", "--json").document
    assert document["subject"] == f"account {newcomer.id} (riseproject)"


def test_digits_are_a_number_and_if_nobody_has_that_a_name(s: System) -> None:
    digits, _, _ = s.tenant("12345")
    s.world.time.step(5)
    found = command(s, "--entity", "12345", "--json").document
    assert found["subject"] == f"account {digits.id} (12345)"
    rival, _, _ = s.tenant(str(s.organization.id))
    s.world.time.step(5)
    by_number = command(s, "--entity", str(s.organization.id), "--json").document
    assert by_number["subject"] == f"account {s.organization.id} (riseproject)"
    assert command(s, "--entity", str(rival.id), "--json").document["known"]


@pytest.mark.parametrize(
    "name",
    ["", " ", "nobody", "%", "rise_roject", "9" * 30, "\uff10\uff11", "naïve", "\udcff", "-1"],
)
def test_names_that_nobody_has_are_not_known(s: System, name: str) -> None:
    said = command(s, f"--entity={name}")
    assert said.code == 1
    assert said.text.startswith("Nothing is known of an account")
    assert not command(s, f"--entity={name}", "--json").document["known"]


def test_what_nobody_knows_is_exit_1_and_a_sentence(s: System) -> None:
    for asked, of in [("--installation", "installation 99"), ("--payload", "no event 99")]:
        said = command(s, asked, "99")
        assert said.code == 1
        assert of in said.text
        told = command(s, asked, "99", "--json").document
        assert told == {"known": False, "error": said.text.strip()}
    said = command(s, "--job", "99")
    assert said.code == 1
    assert "1. webhook_never_arrived: No webhook about job 99 has arrived." in said.text
    assert command(s, "--job", "99", "--json").document["known"] is False


# Page by page --------------------------------------------------------------------------------


def pages(s: System, *arguments: str, limit: int) -> list[list[int]]:
    found: list[list[int]] = []
    before: tuple[str, ...] = ()
    while True:
        more = [*arguments, "--limit", str(limit), *before, "--json"]
        document = command(s, *more).document
        found.append([each["event_id"] for each in document["timeline"]])
        if document["older"] is None:
            return found
        assert document["older"] == found[-1][0]
        before = ("--before", str(document["older"]))


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 1000])
def test_pages_have_every_event_once(s: System, limit: int) -> None:
    s.push(count=4)
    s.world.time.step(5)
    # Some of them at the same moment, and in the wrong order.
    s.database.execute(
        "UPDATE installation_events SET received_at = received_at - (id % 3) * interval '9 seconds'"
    )
    s.database.execute("UPDATE installation_events SET received_at = now() WHERE id IN (4, 5)")
    for column, value, asked in [
        ("entity_id", s.organization.id, "--entity"),
        ("installation_id", s.installation.id, "--installation"),
    ]:
        rows = s.database.rows(
            f"SELECT id FROM installation_events WHERE {column} = %s ORDER BY received_at, id",
            value,
        )
        found = pages(s, asked, str(value), limit=limit)
        assert all(len(page) == limit for page in found[:-1])
        assert [each for page in reversed(found) for each in page] == [row["id"] for row in rows]


def test_each_page_has_the_same_answer(s: System) -> None:
    s.push(count=3)
    s.world.time.step(5)
    s.world.github.accounts.suspend(s.installation)
    s.world.time.step(5)
    whole = command(s, "--entity", "riseproject", "--json").document
    first = command(s, "--entity", "riseproject", "--limit", "1", "--json").document
    rest = ["--before", str(first["older"]), "--limit", "1", "--json"]
    for document in (first, command(s, "--entity", "riseproject", *rest).document):
        assert document["findings"] == whole["findings"]
        assert document["account"] == whole["account"]
    assert "… older ones: --before" in command(s, "--entity", "riseproject", "--limit", "1").text


# When ----------------------------------------------------------------------------------------


def test_a_time_without_a_zone_is_utc_and_none_of_the_future(s: System) -> None:
    now = s.world.time.clock.now()
    said = [
        command(s, "--entity", "riseproject", "--json", "--at", at).document["at"]
        for at in (
            now.strftime("%Y-%m-%dT%H:%M:%S"),
            now.strftime("%Y-%m-%d %H:%M:%SZ"),
            (now + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S+02:00"),
        )
    ]
    assert said == [now.strftime("%Y-%m-%dT%H:%M:%SZ")] * 3
    with pytest.raises(ConfigError, match="--at is in the future"):
        command(s, "--entity", "riseproject", "--at", (now + timedelta(seconds=1)).isoformat())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--job", "1", "--at", "noon"],
        ["--job", "1", "--at", "2026-13-01"],
        ["--job", "1", "--at", "9999-12-31T23:59:59-23:59"],
        ["--job", "0"],
        ["--job", "-1"],
        ["--job", "1.5"],
        ["--job", "x"],
        ["--job", "९"],
        ["--job", str(2**63)],
        ["--payload", "#9"],
        ["--job", "1", "--limit", "0"],
        ["--job", "1", "--limit", "1001"],
        ["--job", "1", "--before", "x"],
        ["--job", "1", "--repository", "linux"],
        ["--job", "1", "--repository", "a/b/c"],
        ["--job", "1", "--entity", "x"],
        [],
    ],
)
def test_garbage_is_explained_before_anything_is_asked(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["trace", *arguments])
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "usage: reconcile trace" in said.err


def test_the_past_of_what_was_not_there_yet_is_not_known(s: System) -> None:
    before = s.world.time.clock.now()
    s.world.time.step(60)
    _, _, installation = s.tenant("later")
    s.world.time.step(5)
    at = ["--at", before.isoformat()]
    for arguments in (["--entity", "later"], ["--installation", str(installation.id)]):
        assert command(s, *arguments).code == 0
        said = command(s, *arguments, *at)
        assert said.code == 1
        assert said.text.startswith("Nothing was known of")


# Other repositories --------------------------------------------------------------------------


def test_a_repository_of_somebody_else_is_left_out_and_that_is_said(s: System) -> None:
    said = command(s, "--entity", "riseproject", "--repository", "octodog/toys", "--json").document
    assert [each["finding"] for each in said["findings"]] == ["nothing_wrong"]
    assert "octodog/toys is no repository of riseproject: it was left out." in said["notes"]
    own = command(s, "--entity", "riseproject", "--repository", "RiseProject/any", "--json")
    assert "covers RiseProject/any" in own.document["findings"][0]["summary"]


# No more than that ---------------------------------------------------------------------------


def situations(s: System) -> list[list[str]]:
    """Of each kind of job one, and what else can be asked about."""
    s.toml = "[back_off]\nfirst = 600\n"
    s.boards(2)
    s.world.cluster.next_pod(Behaviour.CRASHES)
    failing = s.push()
    s.world.time.step(2)
    s.good_run()
    s.world.time.step(60)
    s.good_run()
    working = it.working(s, s.personal, seconds=3600)
    refused = s.push(labels=("riscv",))
    s.world.time.step(2)
    it.lose(s, "queued")
    lost = s.push()
    s.world.time.step(2)
    runs = [failing, working, refused, lost]
    return [
        *(["--job", str(run.jobs[0].id)] for run in runs),
        ["--installation", str(s.installation.id)],
        ["--entity", "riseproject"],
        ["--entity", "octodog"],
        ["--entity", "riseproject", "--repository", "riseproject/firmware"],
    ]


def test_neither_payloads_nor_secrets_nor_logs_are_in_a_trace(s: System) -> None:
    asked = situations(s)
    _plant(s)
    tokens = [CANARY, CANARY.encode().hex(), base64.b64encode(CANARY.encode()).decode()]
    leaked = s.database.rows("SELECT failure_info::text AS it FROM workers WHERE status = 'failed'")
    assert leaked
    assert CANARY in str(leaked), "it was planted"
    for arguments in asked:
        path = f"/trace/{arguments[0].removeprefix('--')}/{arguments[1]}"
        said = [
            command(s, *arguments).text,
            command(s, *arguments, "--json").text,
            json.dumps(ask(s, path).body),
        ]
        for text in said:
            assert len(text) > 100
            assert not [each for each in tokens if each in text], arguments


def _plant(s: System) -> None:
    """Wherever something is kept that a trace does not tell."""
    s.database.execute(
        "UPDATE installation_events SET payload = payload || jsonb_build_object('note', %s::text,"
        " 'head_commit', jsonb_build_object('message', %s::text))",
        CANARY,
        CANARY,
    )
    for table in ("workers", "jobs"):
        s.database.execute(
            f"UPDATE {table} SET failure_info = COALESCE(failure_info, '{{}}')"
            " || jsonb_build_object('log', %s::text, 'logs', %s::text, 'events', %s::text)",
            *[CANARY] * 3,
        )
    s.database.execute("UPDATE github_credentials SET token = %s", CANARY.encode())
    s.database.execute("UPDATE github_scopes SET pages = jsonb_build_array(%s::text)", CANARY)


def test_one_event_is_shown_with_its_payload(s: System) -> None:
    _plant(s)
    said = command(s, "--payload", "1")
    assert said.code == 0
    assert said.document["event"] == "installation.created"
    assert said.document["payload"]["note"] == CANARY
    assert said.document["payload"]["installation"]["id"] == s.installation.id
    assert command(s, "--payload", "1", "--json").text == said.text


def test_nothing_is_written(s: System) -> None:
    asked = situations(s)
    before = dump(s.database)
    calls = len(s.world.github_server.calls), len(s.world.cluster_server.calls)
    for arguments in asked:
        command(s, *arguments)
        command(s, *arguments, "--at", s.world.time.clock.now().isoformat())
    command(s, "--payload", "1")
    assert dump(s.database) == before
    assert calls == (len(s.world.github_server.calls), len(s.world.cluster_server.calls))


def test_the_session_could_not_write_if_it_wanted_to(s: System) -> None:
    settings = config.for_trace(s.settings())
    with store.connect(settings.conninfo, "prod", RunLimits(), read_only=True) as database:
        with pytest.raises(StoreError, match="read-only transaction"):
            database.read(b"UPDATE jobs SET k8s_pool = 'x'", {})
        with database.one_moment(), pytest.raises(StoreError, match="read-only transaction"):
            database.read(b"DELETE FROM installation_events", {})


def test_either_role_may_ask(s: System) -> None:
    run = s.push()
    s.world.time.step(2)
    asked = ["--job", str(run.jobs[0].id), "--json"]
    as_run = command(s, *asked).document
    s.environment["POSTGRES_URL"] = s.database.role_url("prod_webhook_fn")
    assert command(s, *asked).document == as_run


def test_jobs_of_one_run_are_told_apart(s: System) -> None:
    run = s.push(count=2)
    s.world.time.step(2)
    numbers = [each.id for each in run.jobs]
    told = [command(s, "--job", str(number), "--json").document for number in numbers]
    assert [each["job"]["id"] for each in told] == numbers
