"""The trace over HTTP: who may ask, how, and in which order a request is refused."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest

from tests import github
from tests.function import Answer, Function
from webhook_fn import app

TOKEN = "a-token-of-24-characters"
JOB = 41000000001
INSTALLATION = 7001
ENTITY = 21003710
PATHS = (
    f"/trace/job/{JOB}",
    f"/trace/installation/{INSTALLATION}",
    f"/trace/entity/{ENTITY}",
    "/trace/entity/riseproject",
    "/trace/payload/1",
)


@pytest.fixture
def asked(function: Function) -> Function:
    """Something to ask about, and a secret to ask with."""
    function.configure(TRACE_API_SECRET=TOKEN)
    created = github.installation("created")
    assert function.deliver("installation", created).outcome == "recorded"
    queued = github.WorkflowJob(job_id=JOB).payload("queued")
    assert function.deliver("workflow_job", queued).outcome == "job_stored"
    return function


def error(answer: Answer, status: int) -> str:
    assert answer.status == status, answer
    sentence: str = answer.body["error"]
    assert sentence.endswith(".")
    return sentence


# Who may ask -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_without_a_secret_there_is_no_trace(asked: Function, path: str) -> None:
    asked.configure(TRACE_API_SECRET="")
    nothing = asked.get("/nothing")
    for answer in (asked.get(path), asked.get(path, token=TOKEN), asked.get(path, method="POST")):
        assert answer == nothing, "as if there were no such path"


@pytest.mark.parametrize("path", PATHS)
def test_who_has_the_token_is_answered(asked: Function, path: str) -> None:
    answer = asked.get(path, token=TOKEN)
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", [*PATHS, "/trace/job/2", "/trace/entity/nobody"])
@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN.upper()}",
        f"Bearer x {TOKEN}",
        f"Bearer\t{TOKEN}",
        f"Bearer {TOKEN}, Bearer {TOKEN}",
        "Bearer é☃\ud800",
        "Bearer " + "x" * 10_000,
    ],
)
def test_who_has_not_is_told_nothing(asked: Function, path: str, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    answer = asked.get(path, "nonsense=1", **headers)
    assert error(answer, 401) == "The header Authorization does not hold the token."
    assert list(answer.body) == ["error"]
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
def test_scheme_is_read_without_regard_to_case(asked: Function, scheme: str) -> None:
    assert asked.get(PATHS[0], Authorization=f"{scheme} {TOKEN}").status == 200


def test_token_in_the_query_is_none(asked: Function) -> None:
    error(asked.get(PATHS[0], f"access_token={TOKEN}"), 401)


# What can be asked for ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *("/trace", "/trace/", "/trace/job", "/trace/job/", "/trace/jobs/1", "/trace/run/1"),
        *("/trace/job/0", "/trace/job/-1", "/trace/job/+1", "/trace/job/1.0", "/trace/job/1/"),
        *("/trace/job/01", "/trace/job/0x1", "/trace/job/1_0", "/trace/job/x", "/trace/job/%20"),
        *("/trace/job/²", "/trace/job/%D9%A1", "/trace/job/1%00", "/trace/job/1%0A"),
        *(f"/trace/job/{2**63}", f"/trace/payload/{'9' * 5000}", "/trace/installation/riseproject"),
        *("/trace/entity/a/b", "/trace/entity/a%2Fb", "/trace/entity/a.b", "/trace/entity/é"),
        *(f"/trace/entity/{'x' * 40}", "/trace/entity/%F0", "/TRACE/job/1", "//trace/job/1"),
    ],
)
def test_what_is_no_path_of_the_trace_is_404_for_everybody(asked: Function, path: str) -> None:
    for answer in (asked.get(path), asked.get(path, token=TOKEN), asked.get(path, method="PUT")):
        assert error(answer, 404) == "There is nothing at this path."


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get", ""])
def test_other_methods_are_405_for_everybody(asked: Function, method: str) -> None:
    for token in (None, TOKEN):
        answer = asked.get(PATHS[0], "nonsense=1", method=method, token=token)
        assert error(answer, 405) == "This path takes GET and HEAD."
        assert answer.headers["allow"] == "GET, HEAD"


def test_head_is_answered_as_get_without_a_body(asked: Function) -> None:
    for path, status in ((PATHS[1], 200), ("/trace/job/2", 404)):
        answer = asked.get(path, "", method="HEAD", token=TOKEN)
        assert (answer.status, answer.text) == (status, "")
        assert answer.headers == asked.get(path, token=TOKEN).headers
    assert asked.get(PATHS[0], method="HEAD").status == 401


def test_path_is_read_as_a_server_decodes_it(asked: Function) -> None:
    answer = asked.get(f"/trace/%6Aob/%34{str(JOB)[1:]}", token=TOKEN)
    assert answer.body["subject"] == f"job {JOB}"
    assert asked.get("/trace/entity/rise%70roject", token=TOKEN).status == 200


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/trace/installation/7002", "this installation"),
        ("/trace/entity/1", "this account"),
        ("/trace/entity/nobody_here", "this account"),
        (f"/trace/entity/{'9' * 39}", "this account"),
        (f"/trace/payload/{2**63 - 1}", "no such event"),
    ],
)
def test_what_nobody_knows_is_404(asked: Function, path: str, words: str) -> None:
    answer = asked.get(path, token=TOKEN)
    assert words in error(answer, 404)
    assert list(answer.body) == ["error"]


def test_unknown_job_is_404_and_nevertheless_a_diagnosis(asked: Function) -> None:
    answer = asked.get("/trace/job/5", "repository=riseproject/llvm-project", token=TOKEN)
    assert error(answer, 404) == "Nothing is known of this job."
    assert answer.body["subject"] == "job 5"
    assert answer.body["known"] is False
    assert answer.body["findings"]


def test_account_is_found_by_a_name_of_digits(asked: Function) -> None:
    owner = github.account(99, "12345")
    asked.deliver("installation", github.installation("created", owner, 7003))
    assert asked.get("/trace/entity/12345", token=TOKEN).body["account"]["id"] == 99
    later = github.account(12345, "someone-else")
    asked.deliver("installation", github.installation("created", later, 7004))
    assert asked.get("/trace/entity/12345", token=TOKEN).body["account"]["id"] == 12345


# How it can be asked -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "query", "words"),
    [
        (PATHS[0], "at=yesterday", "at must be an ISO 8601 time"),
        (PATHS[0], "at=", "at must be an ISO 8601 time"),
        (PATHS[0], "at", "at must be an ISO 8601 time"),
        (PATHS[0], "at=2026-03-02T10:00:00", "at must be an ISO 8601 time with its zone"),
        (PATHS[0], "at=2026-03-02", "at must be an ISO 8601 time with its zone"),
        (PATHS[0], "at=0001-01-01T00:00:00%2B14:00", "at must be an ISO 8601 time"),
        (PATHS[0], "at=9000-01-01T00:00:00Z", "at must not be in the future"),
        (PATHS[0], "at=2026-03-02T10:00:00Z&at=2026-03-02T10:00:00Z", "at is given more than once"),
        (PATHS[0], "repository=llvm-project", "repository must be owner/name"),
        (PATHS[0], "repository=a/b/c", "repository must be owner/name"),
        (PATHS[0], "repository=a/%00", "repository must be owner/name"),
        (PATHS[0], "repository=a/%ff", "repository must be owner/name"),
        (PATHS[1], "before=0", "before must be a whole number from 1"),
        (PATHS[1], f"before={2**63}", "before must be a whole number from 1"),
        (PATHS[1], "before=²", "before must be a whole number"),
        (PATHS[2], "limit=0", "limit must be a whole number from 1 to 100"),
        (PATHS[2], "limit=101", "limit must be a whole number from 1 to 100"),
        (PATHS[2], "limit=ten", "limit must be a whole number from 1 to 100"),
        (PATHS[2], "limit=1&limit=1", "limit is given more than once"),
        (PATHS[2], "limit=" + "1" * 2000, "longer than 1000 characters"),
    ],
)
def test_malformed_parameter_is_400(asked: Function, path: str, query: str, words: str) -> None:
    assert words in error(asked.get(path, query, token=TOKEN), 400)


@pytest.mark.parametrize(
    ("path", "name", "known"),
    [
        (PATHS[0], "before", ["at", "repository"]),
        (PATHS[0], "limit", ["at", "repository"]),
        (PATHS[1], "At", ["at", "repository", "before", "limit"]),
        (PATHS[4], "at", []),
        (PATHS[4], "", []),
    ],
)
def test_unknown_parameter_is_named(
    asked: Function, path: str, name: str, known: list[str]
) -> None:
    answer = asked.get(path, f"{name}=1", token=TOKEN)
    assert "parameters" in error(answer, 400)
    assert answer.body["unknown"] == [name]
    assert answer.body["known"] == known


@pytest.mark.parametrize(
    "at",
    [
        *("2026-03-02T10:00:00Z", "2026-03-02T11:00:00%2B01:00", "2026-03-02T11:00:00+01:00"),
        *("2026-03-02%2011:00+01", "2026-03-02T10:00Z", "2026-03-02T05:00:00-05:00"),
        "2026-03-02 11:00:00 0100",
    ],
)
def test_time_is_read_also_if_its_plus_became_a_space(asked: Function, at: str) -> None:
    answer = asked.get(PATHS[0], f"at={at}", token=TOKEN)
    assert answer.body["at"] == "2026-03-02T10:00:00Z"


def test_time_of_the_trace_is_now_if_none_is_asked_for(asked: Function) -> None:
    assert asked.get(PATHS[0], token=TOKEN).body["at"] > "2026-03-02T10:00:00Z"


# Pages -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS[1:4])
def test_pages_lead_through_the_whole_log(asked: Function, path: str) -> None:
    for number in range(2, 9):
        asked.deliver("workflow_job", github.WorkflowJob(job_id=number).payload("queued"))
    seen: list[int] = []
    address = f"https://fn.example/runners{path}?limit=4&repository=riseproject/llvm-project"
    for _ in range(3):
        parts = urlsplit(address)
        answer = asked.get(path, parts.query, token=TOKEN)
        assert answer.status == 200
        page = [each["event_id"] for each in answer.body["timeline"]]
        assert len(page) <= 4
        seen += sorted(page, reverse=True)
        if answer.body["next"] is None:
            assert "link" not in answer.headers
            break
        assert answer.headers["link"] == f'<{answer.body["next"]}>; rel="next"'
        address = urljoin(address, answer.body["next"])
        assert urlsplit(address).path == f"/runners{path}"
        assert parse_qs(urlsplit(address).query)["repository"] == ["riseproject/llvm-project"]
    assert seen == sorted((event["id"] for event in asked.events()), reverse=True)


def test_next_page_is_of_the_same_time(asked: Function) -> None:
    answer = asked.get(PATHS[1], "limit=1&at=2900-01-01T00:00:00+01:00", token=TOKEN)
    assert answer.status == 400
    asked.database.execute("UPDATE installation_events SET received_at = '2026-03-02T10:00:00Z'")
    answer = asked.get(PATHS[1], "limit=1&at=2026-03-02T12:00:00+01:00", token=TOKEN)
    assert answer.body["next"] == "?at=2026-03-02T11:00:00Z&before=2&limit=1"


def test_only_lists_have_pages(asked: Function) -> None:
    assert "next" not in asked.get(PATHS[0], token=TOKEN).body
    assert asked.get(PATHS[1], token=TOKEN).body["next"] is None


# What it says, and what not ----------------------------------------------------------------------

CANARY = "canary in the payload"


@pytest.mark.parametrize("path", PATHS[:4])
def test_only_a_payload_has_a_payload(asked: Function, path: str) -> None:
    asked.database.execute(
        "UPDATE installation_events SET payload = payload || %s",
        json.dumps({"description": CANARY}),
    )
    assert CANARY not in asked.get(path, token=TOKEN).text
    shown = asked.get("/trace/payload/1", token=TOKEN).body
    assert shown["payload"]["description"] == CANARY
    assert shown["event"] == "installation.created"


def test_requests_write_nothing(asked: Function) -> None:
    before = asked.events(), asked.jobs()
    for path in PATHS:
        asked.get(path, token=TOKEN)
    assert (asked.events(), asked.jobs()) == before


def test_log_has_the_path_and_neither_query_nor_token_nor_rows(
    asked: Function, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    asked.get(PATHS[4], token=TOKEN)
    asked.get(PATHS[1], "before=123456789", token=TOKEN)
    asked.get(PATHS[1], f"{TOKEN}=secret", token=TOKEN)
    asked.get(PATHS[1], "limit=secret", token=TOKEN)
    asked.get(PATHS[1], f"token={TOKEN}")
    asked.get("/trace/job/5", "repository=secret/secret", token=TOKEN)
    output = capsys.readouterr().out
    lines = [json.loads(line) for line in output.splitlines()]
    assert [line["status"] for line in lines] == [200, 200, 400, 400, 401, 404]
    assert lines[0]["path"] == PATHS[4]
    for line in lines:
        assert line["github_event"] is line["outcome"] is line["delivery"] is None
        assert (line["error"] is None) == (line["status"] == 200)
    for secret in (TOKEN, "secret", "123456789", "riseproject", "="):
        assert secret not in output


# When it cannot be answered ----------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_unreachable_database_is_503(
    asked: Function, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked.configure(POSTGRES_URL="postgresql://someone:hunter2@127.0.0.1:1/none")
    assert error(asked.get(path, token=TOKEN), 503) == "The database could not be read."
    assert asked.get(path).status == 401, "nobody is told who should not ask"
    output = capsys.readouterr().out
    assert "database_error" in output
    assert "hunter2" not in output


def test_locked_table_is_503_and_the_next_request_is_answered(asked: Function) -> None:
    assert asked.get(PATHS[0], token=TOKEN).status == 200
    app._receiver().store._connection.execute("SET lock_timeout = '50ms'")  # type: ignore[union-attr]
    with asked.database.connect() as other, other.transaction():
        other.execute("LOCK TABLE installation_events IN ACCESS EXCLUSIVE MODE")
        error(asked.get(PATHS[0], token=TOKEN), 503)
    assert asked.get(PATHS[0], token=TOKEN).status == 200
    assert asked.deliver("ping", github.ping()).outcome == "pong"


# What a webhook pays -----------------------------------------------------------------------------

COLD_START = """
import sys
from tests import github
from webhook_fn import app
body = github.encode(github.WorkflowJob().payload("queued"))
event = github.lambda_event(body, github.headers("workflow_job", body))
assert app.handler(event, None)["statusCode"] == 200
assert app.handler(github.lambda_event(b"", {}, method="GET", path="/trace/job/1"), None) == (
    app.handler(github.lambda_event(b"", {"authorization": "Bearer x"}, method="GET",
                                    path="/trace/job/1"), None))
loaded = sorted(name for name in sys.modules if name.startswith("webhook_fn."))
print(*loaded, file=sys.stderr)
"""


def test_webhooks_and_strangers_import_no_trace(asked: Function) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COLD_START],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent.parent.parent,
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stderr.split()
    assert "webhook_fn.receiver" in loaded
    assert [name for name in loaded if "trace" in name or "setup" in name] == []
