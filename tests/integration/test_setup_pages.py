"""The setup pages over HTTP, from the deliveries that GitHub sends beside the visitor."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from tests import github
from tests.database import Cluster, Database
from tests.function import Answer, Function
from tests.integration.plans import (
    STATISTICS,
    assert_bounded,
    assert_plan_is_bounded,
    with_history,
)
from webhook_fn import setup, setup_page
from webhook_fn.setup import LOOKS, SECONDS_BETWEEN
from webhook_fn.setup_words import PAGES, Verdict

INSTALLED = "installation_id=7001&setup_action=install"
UPDATED = "installation_id=7001&setup_action=update"
PATHS = ("/setup/org", "/setup/personal")
USER = github.account(583231, "octocat", "User")


def verdict(answer: Answer) -> Verdict:
    """By its title, which each has for itself."""
    assert answer.status == 200, answer
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    [title] = re.findall("<title>(.*)</title>", answer.text)
    found = [
        name
        for name, page in PAGES.items()
        if re.fullmatch(
            page.title.replace("{account}", "(an organization|a personal account)"), title
        )
    ]
    assert len(found) == 1, title
    return found[0]


def long_ago(function: Function) -> None:
    function.database.execute(
        "UPDATE installation_events SET received_at = received_at - interval '61 minutes'"
    )


# What is said ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("app", "owner", "expected"),
    [
        (github.ORG_APP, github.account(), Verdict.INSTALLED),
        (github.PERSONAL_APP, USER, Verdict.INSTALLED),
        (github.ORG_APP, USER, Verdict.WRONG_ACCOUNT),
        (github.PERSONAL_APP, github.account(), Verdict.WRONG_ACCOUNT),
    ],
)
def test_who_has_just_installed_is_told_whether_it_is_right(
    function: Function, path: str, app: int, owner: github.Payload, expected: Verdict
) -> None:
    created = github.installation("created", owner, app_id=app)
    function.deliver("installation", created, app)
    answer = function.get(path, INSTALLED)
    assert verdict(answer) is expected
    assert "refresh" not in answer.headers
    kind = "organizations" if app == github.ORG_APP else "personal accounts"
    assert f"the App for {kind}" in answer.text


def test_who_was_faster_than_the_webhook_sees_it_come(function: Function) -> None:
    first = function.get("/setup/org", INSTALLED)
    assert verdict(first) is Verdict.WAITING
    seconds, _, address = first.headers["refresh"].partition("; url=")
    assert seconds == str(SECONDS_BETWEEN)
    assert address == f"?{INSTALLED}&looks=1"
    function.deliver("installation", github.installation("created"))
    assert verdict(function.get("/setup/org", address[1:])) is Verdict.INSTALLED


@pytest.mark.parametrize("action", ["install", "update"])
def test_page_stops_looking(function: Function, action: str) -> None:
    query, answers = f"installation_id=7001&setup_action={action}", 0
    while True:
        answer = function.get("/setup/org", query)
        answers += 1
        if "refresh" not in answer.headers:
            break
        assert verdict(answer) is Verdict.WAITING
        query = answer.headers["refresh"].partition("?")[2]
    assert verdict(answer) is Verdict.SILENT
    assert answers == LOOKS + 1
    assert "reconcile trace --installation" in answer.text


def test_change_of_repositories(function: Function) -> None:
    function.deliver("installation", github.installation("created"))
    long_ago(function)
    assert verdict(function.get("/setup/org", UPDATED)) is Verdict.WAITING
    function.deliver("installation_repositories", github.installation_repositories("added"))
    assert verdict(function.get("/setup/org", UPDATED)) is Verdict.UPDATED


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/setup/org", Verdict.REQUESTED), ("/setup/personal", Verdict.REQUESTED_WRONGLY)],
)
def test_request_has_no_installation_yet(function: Function, path: str, expected: Verdict) -> None:
    assert verdict(function.get(path, "setup_action=request")) is expected


def test_accounts_of_staging_are_told_by_prod_too(function: Function) -> None:
    function.deliver("installation", github.installation("created"))
    function.database.execute("UPDATE installation_events SET outcome = 'proxied_to_staging'")
    assert verdict(function.get("/setup/org", INSTALLED)) is Verdict.INSTALLED


# What is not said --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("query", [INSTALLED, INSTALLED + "&looks=8", UPDATED])
def test_old_and_unknown_installations_have_the_same_page(
    function: Function, path: str, query: str
) -> None:
    unknown = function.get(path, query)
    for event, payload in (
        ("installation", github.installation("created")),
        ("installation_repositories", github.installation_repositories("removed")),
        ("installation", github.installation("suspend")),
        ("installation", github.installation("deleted")),
    ):
        function.deliver(event, payload)
        long_ago(function)
        assert function.get(path, query) == unknown, "status, headers and every letter"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("query", [INSTALLED, INSTALLED + "&looks=8", UPDATED])
@pytest.mark.parametrize("owner", [github.account(), USER], ids=["organization", "user"])
@pytest.mark.parametrize("action", ["suspend", "deleted"])
def test_suspended_or_deleted_within_the_hour_has_the_page_of_an_unknown_one(
    function: Function, path: str, query: str, owner: github.Payload, action: str
) -> None:
    unknown = function.get(path, query)
    function.deliver("installation", github.installation("created", owner))
    assert function.get(path, query) != unknown
    function.deliver("installation", github.installation(action, owner))
    assert function.get(path, query) == unknown, "status, headers and every letter"


def test_page_of_one_number_is_that_of_another(function: Function) -> None:
    one = function.get("/setup/org", INSTALLED)
    other = function.get("/setup/org", INSTALLED.replace("7001", "8002"))
    assert one.text == other.text
    assert one.headers["refresh"].replace("7001", "8002") == other.headers["refresh"]


def test_what_a_run_wrote_is_nobodys_word(function: Function) -> None:
    function.deliver("installation", github.installation("created"))
    function.database.execute("UPDATE installation_events SET source = 'scheduler'")
    assert verdict(function.get("/setup/org", INSTALLED)) is Verdict.WAITING


@pytest.mark.parametrize("owner", [github.account(), USER], ids=["organization", "user"])
def test_neither_names_nor_times_are_told(function: Function, owner: github.Payload) -> None:
    function.deliver("installation", github.installation("created", owner))
    answer = function.get("/setup/org", INSTALLED)
    assert verdict(answer) is not Verdict.WAITING
    told = answer.text.replace(setup_page.STYLE, "")
    for secret in ("riseproject", "octocat", "21003710", "7001", "1001", "1002", "llvm", "2026"):
        assert secret not in told, secret
    assert set(answer.headers) - set(function.get("/setup/org").headers) == set()


HOSTILE = "%3Cscript%3Ealert(1)%3C/script%3E"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "query",
    [
        *("", "&", "=", "a", "installation_id", "installation_id=", "installation_id=&looks=0"),
        *("installation_id=0", "installation_id=-1", "installation_id=1.5", "installation_id=07"),
        *("installation_id=²", f"installation_id={2**63}", "installation_id=" + "9" * 900),
        *("installation_id=7001%00", "installation_id=7001%0A", "installation_id=%ff"),
        f"installation_id={HOSTILE}&setup_action={HOSTILE}&looks={HOSTILE}&{HOSTILE}=1",
        "installation_id=7001&" + "x" * 2000,
        "\ud800=\udfff",
    ],
)
def test_what_cannot_be_read_is_not_there(function: Function, path: str, query: str) -> None:
    answer = function.get(path, query)
    assert verdict(answer) is Verdict.GENERAL
    assert answer.text == function.get(path).text, "nothing comes back"


@pytest.mark.parametrize("looks", ["-1", "10", "²", "x", HOSTILE, "9" * 900])
def test_odd_count_of_looks_ends_them(function: Function, looks: str) -> None:
    answer = function.get("/setup/org", f"{INSTALLED}&looks={looks}")
    assert verdict(answer) is Verdict.SILENT
    assert "refresh" not in answer.headers


def test_first_of_two_numbers_counts_and_the_action_is_ours(function: Function) -> None:
    answer = function.get("/setup/org", "installation_id=5&installation_id=6&setup_action=x%0Dy")
    assert answer.headers["refresh"].endswith("?installation_id=5&setup_action=install&looks=1")


def test_headers_of_a_page(function: Function) -> None:
    answer = function.get("/setup/org", INSTALLED)
    assert answer.headers.items() >= setup_page.HEADERS.items()
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", PATHS)
def test_only_get_and_head(function: Function, path: str) -> None:
    answer = function.get(path, INSTALLED, method="POST")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    head = function.get(path, INSTALLED, method="HEAD")
    assert (head.status, head.text) == (200, "")
    assert head.headers == function.get(path, INSTALLED).headers


@pytest.mark.parametrize("path", ["/setup", "/setup/", "/setup/org/", "/setup/user", "/Setup/org"])
def test_other_paths_are_404(function: Function, path: str) -> None:
    assert function.get(path, INSTALLED).status == 404


def test_log_has_the_path_alone(function: Function, capsys: pytest.CaptureFixture[str]) -> None:
    function.get("/setup/org", INSTALLED)
    [line] = capsys.readouterr().out.splitlines()
    assert json.loads(line)["path"] == "/setup/org"
    assert "7001" not in line


def test_visit_writes_nothing(function: Function) -> None:
    function.get("/setup/org", INSTALLED)
    assert function.events() == []


def test_unreachable_database_is_a_page_that_says_so(
    function: Function, capsys: pytest.CaptureFixture[str]
) -> None:
    function.configure(POSTGRES_URL="postgresql://someone:hunter2@127.0.0.1:1/none")
    answer = function.get("/setup/org", INSTALLED)
    assert answer.status == 503
    assert PAGES[Verdict.UNREADABLE].title in answer.text
    assert answer.headers["retry-after"]
    output = capsys.readouterr().out
    assert "database_error" in output
    assert "hunter2" not in output
    for query in ("", "setup_action=request"):
        assert function.get("/setup/org", query).status == 200, "it need not be asked"


def test_what_runs_have_said_hides_nothing(function: Function) -> None:
    """Not even if every run of an hour, one each 15 seconds, was refused access."""
    function.deliver("installation", github.installation("created"))
    assert setup.MOST > 3600 / 15
    function.database.execute(
        "INSERT INTO installation_events"
        " (source, event, outcome, installation_id, app_id, payload)"
        " SELECT 'scheduler', 'auth_attempt.404', 'auth_failed', 7001, 1001, '{}'"
        " FROM generate_series(1, 240)"
    )
    assert verdict(function.get("/setup/org", INSTALLED)) is Verdict.INSTALLED


# What it costs -----------------------------------------------------------------------------------

HISTORY = """
    INSERT INTO installation_events
           (source, event, outcome, installation_id, app_id, entity_id, entity_type, payload)
    SELECT CASE WHEN n % 7 = 0 THEN 'scheduler' ELSE 'webhook' END,
           CASE WHEN n % 7 = 0 THEN 'auth_attempt.404'
                WHEN n % 500 = 0 THEN 'installation_repositories.added'
                ELSE 'workflow_job.queued' END,
           'recorded', CASE WHEN n % 3 = 0 THEN 7001 ELSE n % 50 END, 1001, 1, 'Organization', '{}'
      FROM generate_series(1, 60000) AS n
"""


PREPARED = """
    SET plan_cache_mode = force_generic_plan;
    PREPARE asked AS {};
    EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked ({}, {}, ARRAY['{}'], {});
"""
# GitHub's payloads are kilobytes, and kept compressed.
OLD = """
    INSERT INTO installation_events
           (source, event, outcome, installation_id, app_id, entity_id, entity_type, payload,
            received_at)
    SELECT 'webhook', 'installation_repositories.added', 'recorded', 7001, 1001, 1, 'Organization',
           jsonb_build_object('repositories_added', repeat('repository ' || n, 1000)),
           now() - interval '2 hours'
      FROM generate_series(1, 500) AS n
"""
SINCE = """
    INSERT INTO installation_events
           (source, event, outcome, installation_id, app_id, entity_id, entity_type, payload)
    SELECT split_part(it, ' ', 1), split_part(it, ' ', 2), 'recorded', 7001, 1001, 1,
           'Organization', '{}'
      FROM unnest(string_to_array(%s, ',')) AS it
"""


def asked_of(installation_id: int) -> dict[str, Any]:
    return {
        "installation_id": installation_id,
        "most": setup.MOST,
        "done": list(setup.DONE_JUST_NOW),
        "since": datetime.now(UTC) - setup.FRESH,
    }


def explained(database: Database, installation_id: int) -> dict[str, Any]:
    """The plan of an unknown moment: as psycopg has it prepared after a few times, and PostgreSQL
    may plan it once for all."""
    text = setup.QUERIES["heard_of_installation"].decode().rstrip(";").replace("%%", "%")
    for place, name in enumerate(asked_of(installation_id), start=1):
        text = text.replace(f"%({name})s", f"${place}")
    done = "', '".join(setup.DONE_JUST_NOW)
    since = "now() - interval '1 hour'"
    prepared = PREPARED.format(text, installation_id, setup.MOST, done, since)
    with database.connect() as connection:
        told = connection.execute(prepared.encode())
        while told.nextset():
            pass
        [row] = told.fetchall()
    plan: dict[str, Any] = row["QUERY PLAN"][0]["Plan"]
    return plan


def scan_of_payloads(plan: dict[str, Any]) -> dict[str, Any]:
    """That of the statement itself. Those of its looks are below InitPlans."""
    while "Relation Name" not in plan:
        [plan] = [each for each in plan["Plans"] if each["Parent Relationship"] != "InitPlan"]
    return plan


@pytest.mark.parametrize("known", STATISTICS)
@pytest.mark.parametrize("installation_id", [7001, 17, 999_999])
def test_page_costs_the_same_however_long_the_log_is(
    cluster: Cluster, known: str, installation_id: int
) -> None:
    query = setup.QUERIES["heard_of_installation"]
    most = {"installation_events": setup.MOST}
    with with_history(cluster, HISTORY, ["installation_events"], known) as database:
        assert_bounded(database, query, asked_of(installation_id), most)
        assert_plan_is_bounded(explained(database, installation_id), most)


@pytest.mark.parametrize("known", STATISTICS)
def test_no_payload_is_read_unless_somebody_may_just_have_come_from_github(
    cluster: Cluster, known: str
) -> None:
    """Else it would take longer, and the clock would tell strangers what the page does not."""
    with with_history(cluster, HISTORY + ";" + OLD, ["installation_events"], known) as database:
        # The history is of now: only the jobs remain so.
        database.execute(
            "UPDATE installation_events SET received_at = now() - interval '2 hours'"
            " WHERE event NOT LIKE 'workflow_job%'"
        )
        plan = explained(database, 7001)
        assert scan_of_payloads(plan)["Actual Loops"] == 0, "never executed"
        assert_plan_is_bounded(plan, {"installation_events": 1})
        # What nobody here does, and what runs say of it.
        others = (
            "webhook installation.suspend,webhook installation.deleted,scheduler auth_attempt.404"
        )
        database.execute(SINCE, others)
        assert scan_of_payloads(explained(database, 7001))["Actual Loops"] == 0
        database.execute(SINCE, "webhook installation_repositories.added")
        read = scan_of_payloads(explained(database, 7001))
        assert (read["Actual Loops"], read["Actual Rows"]) == (1, setup.MOST)


@pytest.mark.parametrize("query", [INSTALLED, INSTALLED + "&looks=8", UPDATED])
def test_long_history_of_an_old_installation_has_the_page_of_an_unknown_one(
    function: Function, query: str
) -> None:
    unknown = function.get("/setup/org", query)
    function.database.execute(OLD)
    assert function.get("/setup/org", query) == unknown, "status, headers and every letter"
