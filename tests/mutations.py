"""Deliveries gone wrong in every way a seed can think of: headers, bodies, encodings, types."""

import contextlib
import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests import github

JUNK: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**63 - 1, 2**63, -(2**70), 10**400, 0.5, 1e308, 5e-324,
    "", " ", "x" * 5000, "\x00", "a\x00b", "\ud800", "\udfff\ud800", "☃", "\u202e", "%s", "'; --",
    "2026-03-02T10:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1",
    [], [None], [[]], [{}], ["x"], [1, "x", None], {}, {"id": 1}, {"": ""}, {"\x00": "\x00"},
    {"login": "x", "id": 1, "type": "User"}, {"a": {"a": {"a": {"a": {}}}}},
]  # fmt: skip
HEADER_JUNK = [
    "",
    " ",
    "0",
    "-1",
    "x" * 10_000,
    "\x00",
    "é",
    "☃",
    "\ud800",
    "a,b",
    "\r\nx: y",
    "1e3",
]
STAGED = github.account(777_777_777, "early-adopter")
EVENTS = [
    "workflow_job",
    "installation",
    "installation_repositories",
    "installation_target",
    "ping",
]
EVENTS += ["push", "unknown_event", "workflow_run"]


@dataclass(frozen=True)
class Mutant:
    event: Any  # what Lambda hands to the function
    signed: bool  # whether the body that arrives really carries a valid signature
    staged: bool  # whether it may be about the account that belongs to staging


def mutants(seed: int, count: int) -> Iterator[Mutant]:
    for number in range(count):
        yield mutant(random.Random(f"{seed}:{number}"))


def mutant(choose: random.Random) -> Mutant:
    event_name, payload = copy.deepcopy(_original(choose))
    for _ in range(choose.choice([0, 1, 1, 1, 2, 4])):
        _mutate_field(choose, payload)
    body = _encode(choose, payload)
    if choose.random() < 0.25:
        body = choose.choice(BODY_MUTATIONS)(choose, body)
    headers = github.headers(event_name, body, choose.choice([github.ORG_APP, github.PERSONAL_APP]))
    if choose.random() < 0.15:
        headers["x-hub-signature-256"] = choose.choice(
            [*HEADER_JUNK, github.signature(body, "wrong"), github.signature(body + b" ")]
        )
    if choose.random() < 0.25:
        _mutate_headers(choose, headers)
    event = github.lambda_event(body, headers, encoded=choose.random() < 0.5 or not _is_text(body))
    if choose.random() < 0.1:
        _mutate_event(choose, event)
    staged = str(STAGED["id"]).encode() in body
    return Mutant(event, signed=_is_signed(event), staged=staged)


def _original(choose: random.Random) -> tuple[str, github.Payload]:
    name = choose.choice(EVENTS + ["workflow_job"] * 8)
    if name == "workflow_job":
        job = github.WorkflowJob(
            # Few enough to meet again, or too many to: a row from a refused one stands alone.
            job_id=choose.randrange(1, choose.choice([500, 2**62])),
            owner=STAGED if choose.random() < 0.02 else github.account(),
            labels=choose.choice(
                [(github.LABEL,), ("ubuntu-latest",), ("self-hosted", github.LABEL)]
            ),
            runner=choose.choice([None, "rise-riscv-runner-x"]),
            private=choose.random() < 0.5,
        )
        return name, job.payload(choose.choice(["queued", "in_progress", "completed", "waiting"]))
    if name == "installation":
        return name, github.installation(choose.choice(["created", "deleted", "suspend"]))
    if name == "installation_repositories":
        return name, github.installation_repositories(choose.choice(["added", "removed"]))
    if name == "installation_target":
        return name, github.installation_target()
    return name, github.ping()


def _mutate_field(choose: random.Random, payload: github.Payload) -> None:
    """Any field at any depth: gone, or of any other type."""
    places: list[tuple[Any, Any]] = []

    def collect(value: Any) -> None:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in pairs:
            places.append((value, key))
            if isinstance(item, (dict, list)):
                collect(item)

    collect(payload)
    # Half of the time one of the fields that are read, so that depth is not all noise.
    read = [place for place in places if place[1] in READ_FIELDS]
    if not places:
        return
    container, key = choose.choice(read if read and choose.random() < 0.5 else places)
    if isinstance(container, dict) and choose.random() < 0.2:
        del container[key]
    else:
        container[key] = copy.deepcopy(choose.choice(JUNK))


READ_FIELDS = {
    "action", "workflow_job", "repository", "installation", "sender", "owner", "account", "id",
    "login", "type", "full_name", "private", "labels", "steps", "run_id", "run_attempt", "name",
    "workflow_name", "html_url", "created_at", "started_at", "completed_at", "conclusion",
    "runner_name", "target_type", "organization",
}  # fmt: skip


def _encode(choose: random.Random, payload: github.Payload) -> bytes:
    if choose.random() < 0.5:
        return json.dumps(payload).encode()
    return json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass")


BODY_MUTATIONS: list[Callable[[random.Random, bytes], bytes]] = [
    lambda choose, body: body[: choose.randrange(len(body) + 1)],
    lambda choose, body: body + choose.randbytes(choose.randrange(1, 20)),
    lambda choose, body: choose.randbytes(choose.randrange(0, 200)),
    lambda choose, body: _flip(choose, body),
    lambda choose, body: body.decode("utf-8", "replace").encode("utf-16"),
    lambda choose, body: body.decode("utf-8", "replace").encode("latin-1", "replace"),
    lambda choose, body: b"\xef\xbb\xbf" + body,
    lambda choose, body: b"[" * choose.randrange(1, 3000) + body,
    lambda choose, body: b'{"a":' * choose.randrange(1, 900) + b"1" + b"}" * 900,
    lambda choose, body: body.replace(b"null", choose.choice([b"NaN", b"1e999", b"-Infinity"])),
    lambda choose, body: body.replace(b'"id": ', b'"id": ' + b"9" * choose.choice([1, 20, 5000])),
    lambda choose, body: b"payload=" + body,
    lambda choose, body: body[:-1] + b',"action":"queued","action":{}}',
    lambda choose, body: b"",
]


def _flip(choose: random.Random, body: bytes) -> bytes:
    changed = bytearray(body)
    for _ in range(choose.randrange(1, 8)):
        changed[choose.randrange(len(changed))] = choose.randrange(256)
    return bytes(changed)


def _mutate_headers(choose: random.Random, headers: dict[str, str]) -> None:
    name = choose.choice(list(headers))
    match choose.randrange(4):
        case 0:
            del headers[name]
        case 1:
            headers[name.upper()] = headers.pop(name)
        case 2:
            headers[name] = choose.choice(HEADER_JUNK)
        case 3:
            headers[choose.choice(HEADER_JUNK)] = choose.choice(HEADER_JUNK)


def _mutate_event(choose: random.Random, event: github.Payload) -> None:
    match choose.randrange(4):
        case 0:
            _mutate_field(choose, event)
        case 1:
            event["isBase64Encoded"] = choose.choice([True, False, None, "true", 1, []])
        case 2:
            if choose.random() < 0.3:
                event["requestContext"]["http"]["method"] = "GET"
            event["rawPath"] = choose.choice(
                ["/webhook", "/health", "", "//", "/../", "/\x00", "/☃"]
            )
        case 3:
            event["requestContext"]["http"]["method"] = choose.choice(
                ["GET", "PUT", "post", "", "\x00"]
            )


def _is_signed(event: github.Payload) -> bool:
    """Whether the event, as it is in the end, carries a body with that body's signature."""
    headers = event.get("headers")
    if not isinstance(headers, dict) or not isinstance(event.get("body"), str):
        return False
    given = [v for k, v in headers.items() if k.lower() == "x-hub-signature-256"]
    body = event["body"]
    candidates = [body.encode("utf-8", "replace")]
    with contextlib.suppress(ValueError):
        candidates.append(github.decode_base64(body))
    return any(github.signature(candidate) in given for candidate in candidates)


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True
