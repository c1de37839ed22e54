"""Each thing that can leak or be lost is found, and what is kept on purpose is not."""

from dataclasses import replace

import pytest

from reconcile.demo.checks import Held, Known, checks, unheard

NAMES = ["pods", "Secrets", "registrations", "workers", "jobs"]
HELD = Held(
    pods={"one": True, "two": True},
    secrets={"secret-one": "one"},
    runners=frozenset(),
    jobs={1: "success", 2: "cancelled"},
)
KNOWN = Known(
    workers={"one": "completed", "two": "failed", "gone": "completed"},
    jobs={1: ("completed", "success"), 2: ("completed", "cancelled"), 3: ("failed", None)},
)


def failed(held: Held, known: Known = KNOWN) -> dict[str, str]:
    found = checks(held, known)
    assert [check.name for check in found] == NAMES
    return {check.name: check.detail for check in found if not check.ok}


def test_what_is_kept_on_purpose_is_no_leak() -> None:
    assert failed(HELD) == {}


@pytest.mark.parametrize(
    ("held", "name", "detail"),
    [
        (replace(HELD, pods={"stranger": True}), "pods", "1 without a worker (stranger)"),
        (replace(HELD, pods={"one": False}), "pods", "1 left running (one)"),
        (replace(HELD, secrets={"s": "gone"}), "Secrets", "1 without a pod (s)"),
        (replace(HELD, secrets={"s": None}), "Secrets", "1 without a pod (s)"),
        (
            replace(HELD, runners=frozenset({"one"})),
            "registrations",
            "1 of runners that are over (one)",
        ),
        (
            replace(HELD, runners=frozenset({"never"})),
            "registrations",
            "1 of runners that are over (never)",
        ),
        (replace(HELD, jobs={9: "success"}), "jobs", "1 never heard of (9)"),
        (replace(HELD, jobs={1: None}), "jobs", "1 not over (1)"),
        (replace(HELD, jobs={1: "failure"}), "jobs", "1 told otherwise (1)"),
        (replace(HELD, jobs={3: "success"}), "jobs", "1 told otherwise (3)"),
    ],
)
def test_each_leak_is_found(held: Held, name: str, detail: str) -> None:
    assert failed(held)[name] == detail


def test_a_job_never_heard_of_while_it_waited_is_lost_though_it_was_heard_of_later() -> None:
    waiting = replace(HELD, jobs={1: "success", 9: None, 2: None})
    assert unheard(waiting, KNOWN) == {9}
    known = replace(KNOWN, jobs={**KNOWN.jobs, 9: ("completed", "cancelled")})
    held = replace(HELD, jobs={**HELD.jobs, 9: "cancelled"})
    assert [check.ok for check in checks(held, known)] == [True] * 5
    lost = [check for check in checks(held, known, unheard(waiting, KNOWN)) if not check.ok]
    assert [(each.name, each.detail) for each in lost] == [("jobs", "1 never heard of (9)")]


def test_a_worker_that_is_not_over_is_told() -> None:
    known = replace(KNOWN, workers={**KNOWN.workers, "three": "running"})
    held = replace(HELD, pods={**HELD.pods, "three": False}, runners=frozenset({"three"}))
    assert failed(held, known) == {"workers": "1 still active (three)"}


def test_of_many_only_some_are_named() -> None:
    held = replace(HELD, runners=frozenset({"a", "b", "c", "d"}))
    assert failed(held)["registrations"] == "4 of runners that are over (a, b, c, …)"
