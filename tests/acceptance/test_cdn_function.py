"""The CDN's function in template.yaml, run by node: the table's cases in events as CloudFront
makes them, and whatever else static_site/routing.py is asked, for the two must agree."""

import functools
import json
import random
import re
import shutil
import subprocess
from datetime import UTC, date, datetime
from typing import Any

import pytest

from static_site import headers
from static_site.routing import Found, resolve
from tests.acceptance.test_template import loaded
from tests.unit.test_site_routing import TABLE, shown

CODE: str = loaded("Resources")["SiteFunction"]["Properties"]["FunctionCode"]
LIMIT_BYTES = 10 * 1024
HOST = "riscv.example"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed: nothing runs it")

# Each event's request goes through the function; what comes of it is fetched, and the response
# goes through again: once with the viewer's request and once with the one that was made of it,
# since CloudFront does not promise which. Strict, as the runtime is.
HARNESS = """
const vm = require("vm");
const copy = (value) => JSON.parse(JSON.stringify(value));
const {code, events} = JSON.parse(require("fs").readFileSync(0, "utf8"));
const world = vm.createContext({});
const handler = vm.runInContext('"use strict";' + code + "; handler", world);
const run = (eventType, event) =>
  copy(handler({...copy(event), context: {...event.context, eventType}}));
process.stdout.write(JSON.stringify(events.map((event) => {
  vm.runInContext(`Date.now = function () { return ${event.now}; }`, world);
  const {now, response, ...asking} = event;
  const request = run("viewer-request", asking);
  if (request.statusCode) return {request, responses: []};
  const requests = [event.request, request];
  const fetched = (each) => run("viewer-response", {...asking, request: each, response});
  return {request, responses: requests.map(fetched)};
})));
"""
# Node has a parser within; ES 5.1 is what the runtime has without exception.
PARSE = """
const acorn = require("internal/deps/acorn/acorn/dist/acorn");
acorn.parse(require("fs").readFileSync(0, "utf8"), {ecmaVersion: 5});
"""


def node(script: str, given: str, *options: str) -> str:
    assert NODE is not None
    done = subprocess.run(
        [NODE, *options, "-e", script],
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def event(
    path: str, query: str, today: date, pages: str | None = None, status: int = 200
) -> dict[str, Any]:
    """As CloudFront makes it: parameters as they are in the URL, those of one name together."""
    querystring: dict[str, Any] = {}
    for each in query.split("&") if query else []:
        name, _, value = each.partition("=")
        if name in querystring:
            first = {"value": querystring[name]["value"]}
            querystring[name].setdefault("multiValue", [first]).append({"value": value})
        elif each:
            querystring[name] = {"value": value}
    answered = {"content-type": {"value": "text/html"}, "cache-control": {"value": headers.ARCHIVE}}
    if pages is not None:
        answered[f"x-amz-meta-{headers.PAGES_METADATA}"] = {"value": pages}
    midnight = datetime(today.year, today.month, today.day, tzinfo=UTC).timestamp()
    return {
        "version": "1.0",
        "now": round((midnight + random.Random(path).randrange(24 * 60 * 60)) * 1000) + 999,
        "context": {
            "distributionDomainName": "d111111abcdef8.cloudfront.net",
            "distributionId": "EDFDVBD6EXAMPLE",
            "requestId": "EXAMPLEntjQpEXAMPLE_SG5Z-EXAMPLEPmPfEXAMPLEu3EqEXAMPLE==",
        },
        "viewer": {"ip": "198.51.100.11"},
        "request": {
            "method": "GET",
            "uri": path,
            "querystring": querystring,
            "headers": {"host": {"value": HOST}, "accept": {"value": "*/*"}},
            "cookies": {},
        },
        "response": {
            "statusCode": status,
            "statusDescription": "whatever",
            "headers": answered,
            "cookies": {},
        },
    }


def ran(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    outcomes: list[dict[str, Any]] = json.loads(
        node(HARNESS, json.dumps({"code": CODE, "events": events}))
    )
    return outcomes


def found(outcome: dict[str, Any]) -> Found:
    request = outcome["request"]
    if "statusCode" not in request:
        return Found(request["uri"])
    assert request["statusCode"] == 400
    assert request["headers"]["content-type"] == {"value": headers.CONTENT_TYPES["json"]}
    assert request["body"]["encoding"] == "text"
    [(name, error)] = json.loads(request["body"]["data"]).items()
    assert name == "error"
    return Found(error=error)


def links(outcome: dict[str, Any]) -> list[str | None]:
    """Of the responses to both requests."""
    return [each["headers"].get("link", {}).get("value") for each in outcome["responses"]]


def event_of(case: dict[str, Any]) -> dict[str, Any]:
    today = date.fromisoformat(case.get("today", TABLE["today"]))
    pages = str(case["pages"]) if "pages" in case else None
    path: str = case["path"] if "path" in case else case["file"]
    return event(path, case.get("query", ""), today, pages)


CASES = [*TABLE["cases"], *TABLE["links"]]


@functools.cache
def outcomes() -> list[dict[str, Any]]:
    """Of all the cases, in one process."""
    return ran([event_of(case) for case in CASES])


@pytest.mark.parametrize("number", range(len(CASES)), ids=[shown(case) for case in CASES])
def test_function_does_what_the_table_says(number: int) -> None:
    case, outcome = CASES[number], outcomes()[number]
    assert found(outcome) == Found(case.get("file"), TABLE["errors"].get(case.get("error")))
    if "file" in case:
        assert links(outcome) == [case.get("link")] * 2


def test_function_changes_nothing_else_of_a_request() -> None:
    for case, outcome in zip(CASES, outcomes(), strict=True):
        if "file" in case:
            assert outcome["request"] == {**event_of(case)["request"], "uri": case["file"]}


def test_function_agrees_with_the_local_server_on_anything() -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"random.Random({seed})")
    chance = random.Random(seed)
    names = ["jobs", "history", "workers", "runs", "days", "2026-11-17", "x", "..", "%2E", "%zz"]
    ends = ["", "", ".html", ".json", ".2", ".2.json", "/", "%0A", "%00", "ö", "+"]
    values = ["2026-11-17", "2026-11-18", "-1d", "-01d", "-0d", "", "2", "02", "1", "99999", "x"]
    values += ["2026-02-30", "2024-02-29", "%2D1d", "-1d%0A", "2+", "%", "%FF", "9999-12-31"]
    asked = []
    for _ in range(5000):
        path = "/" + "/".join(chance.choices(names, k=chance.choice((1, 1, 1, 2, 3))))
        pairs = [
            f"{chance.choice(['page', 'start', 'end', 'end', 'p%61ge', 'q'])}={value}"
            for value in chance.choices(values, k=chance.randrange(4))
        ]
        today = date.fromordinal(chance.randrange(730000, 760000))
        asked.append((path + chance.choice(ends), "&".join(pairs), today))
    for each, outcome in zip(asked, ran([event(*each) for each in asked]), strict=True):
        assert found(outcome) == resolve(*each), each


@pytest.mark.parametrize(
    ("pages", "status", "linked"),
    [
        ("2", 200, True),
        ("2", 304, True),
        ("2", 206, False),
        ("2", 404, False),
        ("2", 500, False),
        (None, 200, False),
        ("1", 200, False),
        ("0", 200, False),
        ("", 200, False),
        ("many", 200, False),
        ("-2", 200, False),
        ("2.5", 200, False),
        ("2\n", 200, False),
        ("99999", 200, False),
        ("NaN", 200, False),
    ],
)
def test_link_needs_a_count_and_a_page(pages: str | None, status: int, linked: bool) -> None:
    asked = event("/jobs.json", "", date(2026, 11, 18), pages, status)
    [outcome] = ran([asked])
    assert [link is not None for link in links(outcome)] == [linked] * 2
    if not linked:
        assert outcome["responses"] == [asked["response"]] * 2, "nothing else is changed"


def test_day_counted_back_from_today_is_not_kept_after_it() -> None:
    """The file is kept for good, but tomorrow the URL means another."""
    counted = ["start=-1d&end=-1d", "start=-1d&end=2026-11-17", "start=-0d", "start=%2D1d&end=-1d"]
    named = ["start=2026-11-17&end=2026-11-17", "page=2", ""]
    asked = [event("/jobs.json", each, date(2026, 11, 18)) for each in [*counted, *named]]
    said = [
        {each["headers"]["cache-control"]["value"] for each in outcome["responses"]}
        for outcome in ran(asked)
    ]
    assert said == [{headers.SETTLING}] * len(counted) + [{headers.ARCHIVE}] * len(named)


def test_refusal_is_kept_by_nobody() -> None:
    [outcome] = ran([event("/jobs.json", "start=-7d", date(2026, 11, 18))])
    assert outcome["request"]["headers"]["cache-control"] == {"value": headers.REVALIDATE}


# What the runtime can take -----------------------------------------------------------------------


def test_function_fits_into_the_limit() -> None:
    assert len(CODE.encode()) <= LIMIT_BYTES


def test_function_is_written_in_the_language_that_the_runtime_has() -> None:
    available = "try { require('internal/deps/acorn/acorn/dist/acorn') } catch { process.exit(1) }"
    if subprocess.run([str(NODE), "--expose-internals", "-e", available], check=False).returncode:
        pytest.skip("this node has no parser of its own")
    node(PARSE, CODE, "--expose-internals")


# Of the documentation's lists, in "JavaScript runtime 2.0 features for CloudFront Functions".
METHODS = {
    *("exec", "test"),
    *("concat", "hasOwnProperty", "indexOf", "join", "replace", "slice"),
    *("UTC", "now", "toISOString", "floor", "min", "stringify"),
}
GLOBALS = {"Date", "Infinity", "JSON", "Math", "NaN", "Number", "decodeURIComponent"}
# Comments, strings and regular expressions.
LITERAL = re.compile(
    r"""//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?<=[(= ])/(?:\\.|\[[^\]]*\]|[^/\n])+/g?"""
)


def test_function_uses_only_what_the_runtime_is_documented_to_have() -> None:
    plain = LITERAL.sub("_", CODE)
    assert set(re.findall(r"\.(\w+)\(", plain)) <= METHODS
    known = set(re.findall(r"(?:function|var) (\w+)", plain)) | GLOBALS
    called = set(re.findall(r"(?<![.\w])(\w+)\(", plain)) - {"if", "for", "function", "catch"}
    assert called <= known
    assert set(re.findall(r"(?<![.\w])([A-Z]\w*)", plain)) <= known
    for missing in ("eval", "require", "import", "setTimeout", "console", "async", "=>", "`"):
        assert missing not in plain
