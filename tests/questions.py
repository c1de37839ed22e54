"""Requests to the trace and to the setup pages, gone wrong in every way a seed can think of, thrown
at the function: used by the test and by the bench."""

import contextlib
import io
import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, unquote

import psycopg

from tests import github
from tests.database import Database
from tests.function import environment
from tests.fuzz import Books
from tests.mutations import HEADER_JUNK, JUNK
from webhook_fn import app, config
from webhook_fn.receiver import Receiver

TOKEN = "a-token-of-24-characters"
CANARY = "yellow-bird"  # in every text of every row
PASSABLE = {200, 400, 401, 404, 405}

KINDS = ("job", "installation", "entity", "payload")
NUMBERS = ["1", "2", "5", "7001", "7002", "41000000001", "21003710", "0", "-1", "007", "1e3", "0x1"]
NUMBERS += [
    str(2**31),
    str(2**63 - 1),
    str(2**63),
    "9" * 39,
    "9" * 5000,
    "²",
    "\N{ARABIC-INDIC DIGIT ONE}",
    " 1",
    "1\n",
    "1/",
]
NAMES = [
    CANARY,
    CANARY.upper(),
    "octocat",
    "a/b",
    "..",
    ".",
    "",
    "x" * 40,
    "é",
    "%s",
    "'; --",
    "\x00",
]
TIMES = ["2026-03-02T10:00:00Z", "2026-03-02T10:00:00+14:00", "2026-03-02T10:00:00 01:00", "now"]
TIMES += [
    "2026-W10-1",
    "20260302T100000Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59-14:00",
    "1",
]
TIMES += ["0001-01-01T00:00:00+14:00", "2026-03-02T24:00:00Z", "2026-03-02T10:00:60Z", "infinity"]
REPOSITORIES = [f"{CANARY}/{CANARY}", "a/b", "a/b/c", "a", "/", "a/", "a/..", "é/é", "a/\x00"]
NAMED = [
    "at",
    "repository",
    "before",
    "limit",
    "installation_id",
    "setup_action",
    "looks",
    "AT",
    "",
]
NAMED += ["at[]", "\x00", "é", CANARY]
VALUES = NUMBERS + NAMES + TIMES + REPOSITORIES
VALUES += [
    "install",
    "update",
    "request",
    "<script>alert(1)</script>",
    "\r\nSet-Cookie: a=b",
    "x" * 3000,
]
METHODS = (
    ["GET"] * 30 + ["HEAD"] * 5 + ["POST", "PUT", "get", "OPTIONS", "TRACE", "", "\x00", "x" * 99]
)


@dataclass(frozen=True)
class Question:
    event: Any
    may_ask: bool  # whether it has the token


def questions(seed: int, count: int) -> Iterator[Question]:
    for number in range(count):
        yield question(random.Random(f"{seed}:{number}"))


def question(choose: random.Random) -> Question:
    path = _path(choose)
    headers: dict[str, Any] = {"host": "fn.example"}
    given = choose.random()
    if given < 0.6:
        scheme = choose.choice(["Bearer", "bearer", "BEARER "])
        headers[choose.choice(["authorization", "Authorization"])] = f"{scheme} {TOKEN}"
    elif given < 0.9:
        headers["authorization"] = choose.choice(_wrong(choose))
    event = github.lambda_event(
        b"", headers, method=choose.choice(METHODS), path=path, query=_query(choose)
    )
    if choose.random() < 0.1:
        _mutate(choose, event)
    return Question(event, _has_token(event))


def _path(choose: random.Random) -> str:
    if choose.random() < 0.25:
        path = choose.choice(["/setup/org", "/setup/personal"])
    else:
        kind = choose.choice(KINDS)
        likely = {"entity": ["21003710", CANARY], "job": ["41000000001"], "installation": ["7001"]}
        names = likely.get(kind, ["1", "2", "3"]) if choose.random() < 0.6 else NUMBERS + NAMES
        path = f"/trace/{kind}/{choose.choice(names)}"
    match choose.randrange(12):
        case 0:
            return quote(path, safe="/" if choose.random() < 0.5 else "")
        case 1:
            return "".join(f"%{ord(each):02x}" if each != "/" else each for each in path)
        case 2:
            cut = choose.randrange(len(path))
            return path[:cut] + choose.choice(["", "/", "%", "%00", "%ff", "é", "\ud800", "?", "#"])
        case 3:
            return path + choose.choice(["/", "//", "%2F", "?at=now", "%0A", "\n", ";x", ".json"])
        case 4:
            return choose.choice(["/", ""]) + path
        case _:
            return path


def _query(choose: random.Random) -> str:
    if choose.random() < 0.25:
        return ""
    if choose.random() < 0.4:  # One that may pass.
        likely = {
            "at": TIMES[0],
            "repository": choose.choice(REPOSITORIES[:2]),
            "before": str(choose.randrange(1, 9)),
            "limit": str(choose.randrange(1, 9)),
        }
        if choose.random() < 0.3:
            likely = {"installation_id": choose.choice(NUMBERS[:6]), "setup_action": "update"}
        names = choose.sample(list(likely), choose.randrange(1, len(likely)))
        return "&".join(f"{name}={quote(likely[name])}" for name in names)
    pairs = [
        (choose.choice(NAMED), choose.choice(VALUES))
        for _ in range(choose.choice([1, 1, 2, 3, 30]))
    ]
    if choose.random() < 0.2:
        return choose.choice(["&", "=", "&&&", "a", "%", "%%%", "+", "\ud800", "a=b=c", "?", "é=é"])
    if choose.random() < 0.3:
        return "&".join(f"{name}={value}" for name, value in pairs)
    return "&".join(f"{quote(name)}={quote(value)}" for name, value in pairs)


def _wrong(choose: random.Random) -> list[str]:
    cut = choose.randrange(len(TOKEN))
    return [
        *HEADER_JUNK,
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer {TOKEN[:cut]}",
        f"Bearer {TOKEN[:cut]}{choose.choice('é☃x')}{TOKEN[cut + 1 :]}" + "x",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {TOKEN}\n",
        "Bearer \ud800",
        "Bearer " + "x" * 5000,
    ]


def _mutate(choose: random.Random, event: github.Payload) -> None:
    key = choose.choice(["rawQueryString", "rawPath", "headers", "body", "isBase64Encoded"])
    if choose.random() < 0.3:
        del event[key]
    else:
        event[key] = choose.choice(JUNK)


def _has_token(event: github.Payload) -> bool:
    """As the header's definition has it: a scheme in any case, spaces, the token, and no more."""
    headers = event.get("headers")
    if not isinstance(headers, dict):
        return False
    given = {str(name).lower(): value for name, value in headers.items()}.get("authorization")
    if not isinstance(given, str):
        return False
    scheme, _, token = given.partition(" ")
    return scheme.lower() == "bearer" and token.strip(" ") == TOKEN


# The throw ---------------------------------------------------------------------------------------


def plant(database: Database) -> None:
    """Rows about everything that can be asked for, with the canary in every text."""
    settings = config.from_environment(environment(database.role_url("prod_webhook_fn")))
    receiver = app.make_receiver(settings)
    owner = github.account(login=CANARY)
    deliveries = [
        ("installation", github.installation("created", owner)),
        ("workflow_job", github.WorkflowJob(owner=owner, runner=CANARY).payload("queued")),
        (
            "workflow_job",
            github.WorkflowJob(job_id=5, owner=owner, runner=CANARY).payload("queued"),
        ),
        ("workflow_job", github.WorkflowJob(job_id=5, owner=owner).payload("in_progress")),
        ("installation_repositories", github.installation_repositories("added")),
        ("installation", github.installation("suspend", owner)),
        ("installation", github.installation("created", github.account(9, CANARY, "User"), 7002)),
    ]
    for event, payload in deliveries:
        body = github.encode(json.loads(json.dumps(payload).replace("llvm-project", CANARY)))
        headers = github.headers(event, body)
        with contextlib.redirect_stdout(io.StringIO()):
            answer = app.respond(github.lambda_event(body, headers), receiver)
        assert answer.status == 200, answer
    receiver.store.close()
    database.execute(PLANTED.replace("CANARY", CANARY))


PLANTED = """
    UPDATE installation_events
       SET payload = payload || '{"note": "CANARY"}', entity_name = 'CANARY';
    UPDATE jobs SET job_name = 'CANARY', workflow_name = 'CANARY', sender_name = 'CANARY',
                    html_url = 'https://github.com/CANARY', repo_full_name = 'CANARY/CANARY';
    INSERT INTO installation_events (source, event, outcome, installation_id, app_id, entity_type,
                                     entity_id, entity_name, payload)
    VALUES ('scheduler', 'auth_attempt.404', 'auth_failed', 7001, 1001, 'Organization', 21003710,
            'CANARY', '{"status": 404, "message": "CANARY"}');
    INSERT INTO reconcile_runs (started_at, completed_at, status, error)
    VALUES (now(), now(), 'failed', 'CANARY');
    INSERT INTO reconcile_phases (run_id, phase, success, error)
    SELECT id, 'sync_jobs', false, 'CANARY' FROM reconcile_runs;
    INSERT INTO webhook_redeliveries (app_id, guid, delivery_id, attempts, failed_at, event,
                                      installation_id, job_id, status_code)
    VALUES (1001, 'CANARY', 1, 1, now(), 'workflow_job.queued', 7001, 2, 500);
"""


def throw(database: Database, seed: int, count: int) -> Books:
    """No exception escapes, no 5xx, nothing of any row without the token, and never on a page that
    everybody sees. Nothing is written. Neither an answer nor the log has the token."""
    plant(database)
    books = Books()
    settings = config.from_environment(
        environment(database.role_url("prod_webhook_fn")) | {"TRACE_API_SECRET": TOKEN}
    )
    receiver = app.make_receiver(settings)
    nobody = app.make_receiver(replace(settings, trace_secret=None))
    before = _rows(database)
    for number, asked in enumerate(questions(seed, count)):
        place = f"seed {seed}, question {number}"
        public = not asked.may_ask or _is_page(asked.event)
        told = _ask(receiver, asked, place, books, public=public)
        if told is not None:
            books.statuses[told["statusCode"]] += 1
            # Counted as accepted: answers that have something to tell.
            books.accepted += CANARY in told["body"]
        _ask(nobody, asked, f"{place} without a secret", books, public=True)
    receiver.store.close()
    nobody.store.close()
    if _rows(database) != before:
        books.complaints.append(f"seed {seed}: something was written")
    return books


def _ask(
    receiver: Receiver, asked: Question, place: str, books: Books, *, public: bool
) -> dict[str, Any] | None:
    log = io.StringIO()
    try:
        with contextlib.redirect_stdout(log):
            response = app.write_response(app.respond(asked.event, receiver))
            told = json.dumps(response)
    except Exception as error:  # noqa: BLE001 any exception at all is a finding
        books.complaints.append(f"{place}: {error!r} escaped")
        return None
    complaints = {
        f"{response['statusCode']} {response['body'][:200]}": (
            response["statusCode"] not in PASSABLE
        ),
        # Nor does anything come back of what a stranger wrote himself.
        f"told {told[:300]}": public and CANARY in told,
        "the token came back": TOKEN in told,
        "a header with a line end": not all(map(str.isprintable, response["headers"].values())),
        # The path is logged, and is what somebody has made of it.
        "the log has the token": TOKEN in log.getvalue(),
    }
    books.complaints += [f"{place}: {what}" for what, is_so in complaints.items() if is_so]
    return response


def trace_everything(database: Database) -> Books:
    """Whatever was accepted can be traced: no exception escapes, no 5xx."""
    books = Books()
    settings = config.from_environment(
        environment(database.role_url("prod_webhook_fn")) | {"TRACE_API_SECRET": TOKEN}
    )
    receiver = app.make_receiver(settings)
    headers = {"authorization": f"Bearer {TOKEN}"}
    for kind, query in KNOWN.items():
        for row in database.rows(query):
            path = f"/trace/{kind}/{quote(str(row['it']), safe='')}"
            event = github.lambda_event(b"", headers, method="GET", path=path)
            told = _ask(receiver, Question(event, may_ask=True), path, books, public=False)
            books.statuses[told["statusCode"] if told else 500] += 1
    receiver.store.close()
    return books


KNOWN = {
    "job": "SELECT job_id AS it FROM jobs"
    " UNION SELECT job_id FROM installation_events WHERE job_id IS NOT NULL",
    "installation": "SELECT DISTINCT installation_id AS it FROM installation_events"
    " WHERE installation_id IS NOT NULL",
    "entity": "SELECT DISTINCT unnest(ARRAY[entity_id::text, entity_name]) AS it"
    " FROM installation_events",
    "payload": "SELECT id AS it FROM installation_events",
}


def _is_page(event: github.Payload) -> bool:
    path = event.get("rawPath")
    return isinstance(path, str) and "setup" in unquote(path)


def _rows(database: Database) -> Counter[str]:
    tables = ("jobs", "installation_events", "reconcile_runs", "webhook_redeliveries")
    with psycopg.connect(database.url) as connection:
        return Counter(
            str(row)
            for table in tables
            for row in connection.execute(f"SELECT * FROM prod.{table}".encode())
        )
