"""What is refused, in which order, in which words; and that a refusal writes nothing."""

import json

import pytest

from tests import github
from tests.function import Answer, Function
from webhook_fn.http import BODY_LIMIT

BODY = github.encode(github.WorkflowJob().payload("queued"))


def refused(function: Function, answer: Answer, status: int) -> str:
    assert answer.status == status
    assert function.jobs() == []
    assert function.events() == []
    sentence: str = answer.body["error"]
    assert sentence.endswith(".")
    assert sentence.count(". ") == 0
    return sentence


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize("path", ["/", "/webhook"])
def test_good_delivery_is_accepted(function: Function, path: str, encoded: bool) -> None:
    answer = function.post(BODY, github.headers("workflow_job", BODY), path=path, encoded=encoded)
    assert answer.outcome == "job_stored"


@pytest.mark.parametrize("name", ["X-Hub-Signature-256", "X-GITHUB-EVENT"])
def test_header_names_are_read_without_regard_to_case(function: Function, name: str) -> None:
    headers = github.headers("workflow_job", BODY)
    headers[name] = headers.pop(name.lower())
    assert function.post(BODY, headers).outcome == "job_stored"


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "sha256=",
        "sha256=" + "0" * 64,
        github.signature(BODY, "another secret"),
        github.signature(BODY).removeprefix("sha256="),
        github.signature(BODY).upper(),
        github.signature(BODY) + " ",
        "sha1=" + "0" * 40,
        "sha256=é\udcff☃",
    ],
)
def test_wrong_signature_is_401(function: Function, signature: str) -> None:
    headers = github.headers("workflow_job", BODY) | {"x-hub-signature-256": signature}
    assert "does not match" in refused(function, function.post(BODY, headers), 401)


def test_missing_signature_is_401(function: Function) -> None:
    headers = github.headers("workflow_job", BODY)
    del headers["x-hub-signature-256"]
    assert "missing" in refused(function, function.post(BODY, headers), 401)


def test_signature_is_over_the_raw_bytes(function: Function) -> None:
    headers = github.headers("workflow_job", BODY)
    same_json = json.dumps(json.loads(BODY), indent=1).encode()
    refused(function, function.post(same_json, headers), 401)


def test_lesson_21_unsigned_request_learns_nothing_about_its_faults(function: Function) -> None:
    """No JSON and no header is looked at before the signature is good."""
    headers = {"x-hub-signature-256": "sha256=00"}
    refused(function, function.post(b"not json", headers), 401)


@pytest.mark.parametrize(
    "name",
    ["X-GitHub-Event", "X-GitHub-Delivery", "X-GitHub-Hook-Installation-Target-ID"],
)
@pytest.mark.parametrize("value", [None, "", "no such thing\n", "☃"])
def test_required_headers(function: Function, name: str, value: str | None) -> None:
    headers = github.headers("workflow_job", BODY)
    del headers[name.lower()]
    if value is not None:
        headers[name.lower()] = value
    assert name in refused(function, function.post(BODY, headers), 400)


def test_delivery_for_an_unknown_app_is_refused(function: Function) -> None:
    headers = github.headers("workflow_job", BODY, app_id=1003)
    assert "neither" in refused(function, function.post(BODY, headers), 400)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b'{"a": NaN}', "JSON"),
        (b'{"a": 1e999}', "JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "JSON"),
        (b"\xef\xbb\xbf{}", "JSON"),
        (b'{"a": "\xff"}', "UTF-8"),
        ("{}".encode("utf-16"), "UTF-8"),
        (b"[]", "object"),
        (b'"text"', "object"),
        (b"null", "object"),
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 33 + b"1" + b"}" * 33, "nested"),
    ],
)
def test_malformed_body_is_400(function: Function, body: bytes, word: str) -> None:
    answer = function.post(body, github.headers("ping", body), encoded=True)
    assert word in refused(function, answer, 400)


def test_form_encoded_webhook_is_told_to_send_json(function: Function) -> None:
    body = b"payload=%7B%7D"
    headers = github.headers("ping", body)
    headers["content-type"] = "application/x-www-form-urlencoded"
    assert "application/json" in refused(function, function.post(body, headers), 400)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("workflow_job", None),
        ("workflow_job", []),
        ("workflow_job.id", None),
        ("workflow_job.id", "41000000001"),
        ("workflow_job.id", True),
        ("workflow_job.id", 0),
        ("workflow_job.id", 2**63),
        ("workflow_job.run_attempt", 2**31),
        ("workflow_job.labels", "ubuntu-24.04-riscv"),
        ("workflow_job.labels", [1]),
        ("workflow_job.name", {}),
        ("workflow_job.created_at", "yesterday"),
        ("workflow_job.created_at", "2026-03-02T10:00:00"),
        ("workflow_job.created_at", "0001-01-01T00:00:00+14:00"),
        ("workflow_job.created_at", 1772445600),
        ("workflow_job.steps", {"a": 1}),
        ("workflow_job.steps", ["a"]),
        ("workflow_job.html_url", 3),
        ("repository", None),
        ("repository.private", 0),
        ("repository.private", "false"),
        ("repository.full_name", ""),
        ("repository.owner.id", -1),
        ("repository.owner.type", 7),
        ("installation.id", 1.5),
        ("action", None),
    ],
)
def test_malformed_field_is_named(function: Function, path: str, value: object) -> None:
    payload = github.WorkflowJob().payload("queued")
    *parents, last = path.split(".")
    target = payload
    for key in parents:
        target = target[key]
    target[last] = value
    sentence = refused(function, function.deliver("workflow_job", payload), 400)
    assert path.split(".")[-1] in sentence


@pytest.mark.parametrize(
    "name", ["run_id", "run_attempt", "name", "workflow_name", "html_url", "created_at", "steps"]
)
@pytest.mark.parametrize("value", [None, "absent"])
def test_demand_is_not_turned_away_for_want_of_what_a_dashboard_shows(
    function: Function, name: str, value: str | None
) -> None:
    payload = github.WorkflowJob().payload("queued")
    del payload["workflow_job"][name]
    if value is None:
        payload["workflow_job"][name] = None
    assert function.deliver("workflow_job", payload).outcome == "job_stored"


def test_whether_a_repository_is_private_may_be_unknown(function: Function) -> None:
    payload = github.WorkflowJob().payload("queued")
    del payload["repository"]["private"]
    assert function.deliver("workflow_job", payload).outcome == "job_stored"
    assert function.jobs()[0]["repo_private"] is None


def test_completed_job_without_conclusion_is_completed(function: Function) -> None:
    payload = github.WorkflowJob().payload("completed")
    payload["workflow_job"]["conclusion"] = None
    assert function.deliver("workflow_job", payload).outcome == "job_marked_completed"


def test_what_postgresql_cannot_store_is_replaced(function: Function) -> None:
    payload = github.WorkflowJob().payload("queued")
    payload["workflow_job"]["name"] = "a\x00b\ud800c \N{SLIGHTLY SMILING FACE} \\u0000"
    payload["x\x00"] = ["\udfff"]
    assert function.deliver("workflow_job", payload).outcome == "job_stored"
    assert function.jobs()[0]["job_name"] == "a\ufffdb\ufffdc \N{SLIGHTLY SMILING FACE} \\u0000"
    assert function.events()[0]["payload"]["x\ufffd"] == ["\ufffd"]


@pytest.mark.parametrize("encoded", [False, True])
def test_body_over_the_limit_is_413(function: Function, encoded: bool) -> None:
    body = b" " * (BODY_LIMIT + 1)
    answer = function.post(body, github.headers("ping", body), encoded=encoded)
    assert "25 MiB" in refused(function, answer, 413)


def test_body_of_the_limit_is_taken(function: Function) -> None:
    body = b'{"zen": "%s"}' % (b"x" * (BODY_LIMIT - 11))
    assert len(body) == BODY_LIMIT
    assert function.post(body, github.headers("ping", body), encoded=True).outcome == "pong"


TOO_LARGE = github.lambda_event(b" " * (BODY_LIMIT + 1), {})
NOT_BASE64 = github.lambda_event(b"", {}) | {"body": "no base64!", "isBase64Encoded": True}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/nothing", 404),
        ("GET", "/favicon.ico", 404),
        ("POST", "", 404),
        ("GET", "/", 405),
        ("PUT", "/webhook", 405),
        ("POST", "/health", 405),
    ],
)
@pytest.mark.parametrize("body", [github.lambda_event(b"", {}), TOO_LARGE, NOT_BASE64])
def test_method_and_path_come_first(
    function: Function, method: str, path: str, status: int, body: github.Payload
) -> None:
    answer = function.call(body | {"rawPath": path, "requestContext": {"http": {"method": method}}})
    refused(function, answer, status)
    assert answer.headers.get("allow") == (
        {"/health": "GET, HEAD"}.get(path, "POST") if status == 405 else None
    )


def test_size_comes_before_the_signature(function: Function) -> None:
    refused(function, function.call(TOO_LARGE), 413)


@pytest.mark.parametrize(
    "event",
    [
        None,
        {},
        [],
        "event",
        {"requestContext": {}},
        {"requestContext": {"http": "POST"}, "rawPath": "/"},
        {"requestContext": {"http": {"method": 1}}, "rawPath": "/"},
        github.lambda_event(b"", {}) | {"rawQueryString": 1},
        github.lambda_event(b"", {}) | {"headers": ["a"]},
        github.lambda_event(b"", {}) | {"headers": {"a": 1}},
        github.lambda_event(b"", {}) | {"body": {"a": 1}},
        github.lambda_event(b"", {}) | {"body": "\ud800"},
        github.lambda_event(b"", {}) | {"body": "not base64!", "isBase64Encoded": True},
        github.lambda_event(b"", {}) | {"body": "é", "isBase64Encoded": True},
    ],
)
def test_what_is_no_function_url_event_is_400(function: Function, event: object) -> None:
    refused(function, function.call(event), 400)


def test_event_without_a_query_is_one(function: Function) -> None:
    event = github.lambda_event(b"", {}, method="GET", path="/health")
    del event["rawQueryString"]
    assert function.call(event).status == 200


def test_path_is_decoded(function: Function) -> None:
    """As a WSGI server does it."""
    assert function.get("/%68ealth").status == 200
    assert function.get("/health%00").status == 404


def test_head_is_answered_as_get_without_a_body(function: Function) -> None:
    answer = function.get("/health", method="HEAD")
    assert (answer.status, answer.text) == (200, "")
    assert answer.headers == function.get("/health").headers
    assert function.get("/", method="HEAD").status == 405


def test_no_answer_is_kept_or_taken_for_something_else(function: Function) -> None:
    for answer in (function.get("/health"), function.get("/none"), function.post(b"", {})):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_health_is_ok_while_the_database_answers(function: Function) -> None:
    answer = function.post(b"", {}, method="GET", path="/health")
    assert (answer.status, answer.body) == (200, {"status": "ok"})
