"""What messages may say in public: no private repository, no address of ours, and all the rest.

The messages are those that really occur, made by the code that makes them.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.client import ApiException
from urllib3 import exceptions as http

from reconcile.github.pages import unreadable
from reconcile.github.shapes import ShapeError
from reconcile.github.transport import Answer, Call
from reconcile.kube.failures import explain
from reconcile.model import Reason
from reconcile.phases.outcome import Outcome
from static_site import reading
from static_site.errors import DatabaseError
from static_site.privacy import BEFORE_ANY_JOB, HIDDEN, log_is_public, public_text, without

SECRET = "ada/hush-engine"


def call(method: str, path: str) -> Call:
    return Call(method, path, "installation:7", "token")


def answer(method: str, path: str, status: int, message: str) -> Answer:
    return Answer(call(method, path), status, None, message, None, None)


def refused(method: str, path: str, status: int = 404, message: str = "Not Found") -> str:
    return str(answer(method, path, status, message).refusal())


BASE = f"/repos/{SECRET}/actions"
OF_GITHUB = {
    refused("GET", f"{BASE}/runners?per_page=100"): (
        f"GET /repos/{HIDDEN}/actions/runners: 404 Not Found"
    ),
    refused("POST", f"{BASE}/runners/generate-jitconfig", 403, "Resource not accessible"): (
        f"POST /repos/{HIDDEN}/actions/runners/generate-jitconfig: 403 Resource not accessible"
    ),
    refused("GET", f"/repos/{SECRET}"): f"GET /repos/{HIDDEN}: 404 Not Found",
    refused("GET", f"https://ghe.internal.example/api/v3{BASE}/runs/7/jobs?page=2"): (
        f"GET /api/v3/repos/{HIDDEN}/actions/runs/7/jobs: 404 Not Found"
    ),
    refused("GET", "/orgs/riseproject/actions/runner-groups"): (
        "GET /orgs/riseproject/actions/runner-groups: 404 Not Found"
    ),
    str(unreadable(answer("GET", f"{BASE}/jobs/5", 200, ""), ShapeError("it is not a list"))): (
        f"GET /repos/{HIDDEN}/actions/jobs/5: an answer that cannot be used: it is not a list."
    ),
    refused("GET", f"{BASE}/runs/7", 451, f"See https://github.com/{SECRET}/settings."): (
        f"GET /repos/{HIDDEN}/actions/runs/7: 451 See https://…/{HIDDEN}/settings."
    ),
}


@pytest.mark.parametrize("text", OF_GITHUB)
def test_message_about_github_names_no_repository(text: str) -> None:
    assert public_text(text) == OF_GITHUB[text]


def test_every_message_of_a_phase_is_looked_at() -> None:
    """They are told in one line, with commas and semicolons between."""
    outcome = Outcome()
    for number in range(25):
        outcome.problem(f"rise-{number} could not be provisioned: {refused('GET', BASE)}")
    assert outcome.error is not None
    told = public_text(outcome.error)
    assert "hush" not in told
    assert told.count(f"GET /repos/{HIDDEN}/actions: 404 Not Found; ") == 20
    assert told.endswith("; and 5 more")


def cluster_says(status: int, message: str, reason: str = "InternalError") -> str:
    cause = ApiException(status=status, reason="-")
    cause.body = json.dumps({"kind": "Status", "reason": reason, "message": message})
    return str(explain("Reading the log of rise-1", cause, writes=False).error)


OF_THE_CLUSTER = {
    cluster_says(
        500,
        'Get "https://10.20.30.40:10250/containerLogs/runners/rise-1/runner?tailLines=9": dial tcp '
        "10.20.30.40:10250: i/o timeout",
    ): (
        'Reading the log of rise-1: 500 Get "https://…/containerLogs/runners/rise-1/runner'
        '?tailLines=9": dial tcp …: i/o timeout'
    ),
    cluster_says(500, "dial tcp [fd00:12::4]:10250: connect: no route to host"): (
        "Reading the log of rise-1: 500 dial tcp …: connect: no route to host"
    ),
    cluster_says(500, "dial tcp: lookup db.internal.example on 10.20.30.40:53: no such host"): (
        "Reading the log of rise-1: 500 dial tcp: lookup … on …: no such host"
    ),
    cluster_says(403, 'pods is forbidden: User "run" cannot list resource "pods"', "Forbidden"): (
        'Reading the log of rise-1: 403 pods is forbidden: User "run" cannot list resource "pods"'
    ),
    str(
        explain(
            "Listing the pods",
            http.MaxRetryError(
                None,  # type: ignore[arg-type]
                "https://10.20.30.40:6443/api",
                http.NewConnectionError(None, "10.20.30.40: refused"),  # type: ignore[arg-type]
            ),
            writes=False,
        ).error
    ): "Listing the pods: the cluster cannot be reached.",
}


@pytest.mark.parametrize("text", OF_THE_CLUSTER)
def test_message_about_the_cluster_has_no_address(text: str) -> None:
    assert public_text(text) == OF_THE_CLUSTER[text]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_message_about_the_database_has_no_address(host: str) -> None:
    with (
        pytest.raises(DatabaseError) as failure,
        reading.connect(f"host={host} port=1 connect_timeout=2", "prod"),
    ):
        raise AssertionError("nobody listens there")
    told = public_text(str(failure.value))
    assert told.startswith("The database cannot be reached: ")
    assert host not in told
    assert "127.0.0.1" not in told


MESSAGES = {
    'connection to server at "db.internal.example" (10.20.30.40), port 5432 failed': (
        'connection to server at "…" (…), port 5432 failed'
    ),
    'connection to server at "db.internal.example" (fd00:12::4), port 5432 failed': (
        'connection to server at "…" (…), port 5432 failed'
    ),
    "failed to resolve host 'db.internal.example': [Errno -2] Name or service not known": (
        "failed to resolve host '…': [Errno -2] Name or service not known"
    ),
    'could not translate host name "db.internal.example" to address: unknown': (
        'could not translate host name "…" to address: unknown'
    ),
    'no pg_hba.conf entry for host "fd00:12::4", user "reconcile"': (
        'no pg_hba.conf entry for host "…", user "reconcile"'
    ),
    "HTTPSConnectionPool(host='db.internal.example', port=443): Read timed out.": (
        "HTTPSConnectionPool(host='…', port=443): Read timed out."
    ),
    "Hostname mismatch, certificate is not valid for 'db.internal.example'.": (
        "Hostname mismatch, certificate is not valid for '…'."
    ),
    'Could not connect to the endpoint URL: "https://db.internal.example/site/status/index.html"': (
        'Could not connect to the endpoint URL: "https://…/site/status/index.html"'
    ),
    "postgresql://run:hunter2@db.internal.example:5432/prod": "postgresql://…/prod",
    "listening on fe80::1%eth0 and 10.20.30.40:6443": "listening on … and …",
    f"git@github.com:{SECRET}.git": f"git@github.com:{HIDDEN}",
}


@pytest.mark.parametrize("text", MESSAGES)
def test_address_is_hidden_and_the_rest_stays(text: str) -> None:
    assert public_text(text) == MESSAGES[text]


@pytest.mark.parametrize(
    "text",
    [
        "The pod failed (Evicted).",
        "0/12 nodes are available: 12 Insufficient riscv/boards. preemption: 0/12 nodes",
        "Pod was active on the node longer than the specified deadline",
        "3 attempts in a row failed (pod_failed); the next is at 2026-11-18 12:30:05 UTC.",
        "exit code 137 at 2026-11-18T12:30:05Z, after 00:01:02.345",
        'Failed to pull image "registry.example/ubuntu:prod": ErrImagePull, v1.31.4',
        "Nothing is sent for installation:7 until 12:30:05: the limit is used up.",
        "error in std::vector at key:value:other [12:30]",
        "jobs.2.html: no space left",
    ],
)
def test_what_is_no_address_stays_as_it_is(text: str) -> None:
    assert public_text(text) == text


@given(
    st.sampled_from(["{}", "x: {}", "({}) failed", '"{}"', "dial tcp {}: refused", "a {}, b"]),
    st.ip_addresses(),
    st.sampled_from(["", ":443"]),
)
def test_no_address_survives_wherever_it_stands(frame: str, address: object, port: str) -> None:
    text = str(address)
    shown = f"[{text}]{port}" if ":" in text and port else text + port
    told = public_text(frame.format(shown))
    assert text not in told
    assert told == frame.format("…")


@given(st.text("abc/repos:. '\"?", max_size=60))
def test_public_text_of_public_text_is_the_same(text: str) -> None:
    once = public_text(text)
    assert public_text(once) == once


@pytest.mark.parametrize("reason", [*Reason, "unknown", ""])
@pytest.mark.parametrize("public_job", [True, False, None])
def test_log_is_shown_of_a_public_job_or_of_none_at_all(
    reason: str, public_job: bool | None
) -> None:
    none_at_all = public_job is None and reason in BEFORE_ANY_JOB
    assert log_is_public(reason, public_job) is (public_job is True or none_at_all)


@pytest.mark.parametrize("reason", [*Reason, "unknown"])
def test_log_that_names_a_job_is_not_shown_unless_it_is_known_to_be_public(reason: str) -> None:
    """The runner came and went before anybody looked, and the webhook is missing."""
    log = "√ Connected to GitHub\n2026-11-18 12:00:00Z: Running job: hush\n"
    assert not log_is_public(reason, None, log)
    assert not log_is_public(reason, False, log)
    assert log_is_public(reason, True, log)


def test_reasons_before_any_job_are_reasons_that_there_are() -> None:
    assert set(BEFORE_ANY_JOB) <= set(Reason)


def test_name_is_taken_out_wherever_it_stands() -> None:
    document = {
        "a": [f"x {SECRET} y", {"b": ("ADA/Hush-Engine", 7, None)}],
        "c": SECRET,
        "d": "ada",
        "e": True,
    }
    assert without(document, SECRET) == {
        "a": [f"x {HIDDEN} y", {"b": [HIDDEN, 7, None]}],
        "c": HIDDEN,
        "d": "ada",
        "e": True,
    }
    assert without(document, None) == document
    assert without(document, "") == document
