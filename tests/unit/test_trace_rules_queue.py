"""What a job that waits is told: what it waits for, as the last plan said."""

from dataclasses import replace
from typing import Any

import pytest

from tests.trace_cases import (
    CAME,
    NOW,
    OTHER_APP,
    PLANNED,
    a_job,
    a_limit,
    a_queue,
    a_wait,
    facts,
    failed_worker,
    first,
    kinds,
    of_job,
    some_boards,
    trouble,
    waiting,
)
from tests.trace_events import ENTITY, moment
from webhook_fn.trace.facts import Supply
from webhook_fn.trace.finding import Kind

# What it waits for ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("waiting_for", "kind"),
    [
        (None, Kind.NOT_PLANNED_YET),
        ("runner", Kind.RUNNER_COMING),
        ("no_board", Kind.WAITING_FOR_BOARD),
        ("cap_reached", Kind.CAP_REACHED),
        ("backing_off", Kind.BACKING_OFF),
        ("parked", Kind.BACKING_OFF),
        ("rate_limited", Kind.GITHUB_LIMIT),
        ("no_access", Kind.NO_ACCESS),
        ("of_next_year", Kind.NOTHING_WRONG),
    ],
)
@pytest.mark.parametrize("since", [CAME, PLANNED + 5], ids=["planned", "came-since"])
def test_what_the_plan_says_of_its_kind_is_the_answer(
    waiting_for: str | None, kind: Kind, since: int
) -> None:
    job = a_job(created_at=moment(since))
    assert kinds(of_job(known=facts(job=job, queue=a_queue(waiting_for)))) == [kind]


def test_a_word_of_the_plan_that_nobody_knows_is_passed_on() -> None:
    found = first(waiting("of_next_year"), Kind.NOTHING_WRONG)
    assert found.summary == "The job waits. The last plan says for what: of_next_year."


# GitHub's limit ------------------------------------------------------------------------------


def blocked(until: float, key: str = "installation:7") -> dict[str, Any]:
    return {"limits": (a_limit(key, blocked_until=moment(until)),)}


def test_a_limit_that_lasts_says_until_when() -> None:
    found = first(waiting("rate_limited", **blocked(NOW + 600)), Kind.GITHUB_LIMIT)
    assert "there is room again after 2026-03-02 09:27:40 UTC." in found.summary
    said = first(
        waiting("rate_limited", wait=a_wait("rate_limited", until=moment(NOW + 60))),
        Kind.GITHUB_LIMIT,
    )
    assert "after 2026-03-02 09:18:40 UTC." in said.summary


def test_a_limit_that_ended_is_not_told_to_last() -> None:
    wait = a_wait("rate_limited", until=moment(NOW - 5))
    case = waiting("rate_limited", wait=wait, **blocked(NOW - 5))
    found = first(case, Kind.GITHUB_LIMIT)
    assert "left no room" in found.summary
    assert "the next run tries again" in found.summary
    assert not any("asked to wait" in each.what for each in found.evidence)


def test_a_limit_that_was_met_since_the_plan_does_not_explain_what_the_plan_found() -> None:
    for waiting_for in ("no_board", "cap_reached"):
        assert Kind.GITHUB_LIMIT not in kinds(waiting(waiting_for, **blocked(NOW + 60)))
    assert kinds(waiting(None, **blocked(NOW + 60)))[0] is Kind.GITHUB_LIMIT
    assert Kind.GITHUB_LIMIT not in kinds(waiting(None, **blocked(NOW - 60)))


@pytest.mark.parametrize("key", [f"app:{OTHER_APP}", "installation:99"])
def test_somebody_else_s_limit_is_not_the_job_s(key: str) -> None:
    assert Kind.GITHUB_LIMIT not in kinds(waiting(None, **blocked(NOW + 60, key)))
    found = first(waiting("rate_limited", **blocked(NOW + 60, key)), Kind.GITHUB_LIMIT)
    assert not any(key in each.what for each in found.evidence)


def test_of_two_limits_the_one_that_lasts_counts() -> None:
    both = (*blocked(NOW - 60)["limits"], *blocked(NOW + 60, "app:1")["limits"])
    found = first(waiting("rate_limited", limits=both), Kind.GITHUB_LIMIT)
    assert "there is room again after 2026-03-02 09:18:40 UTC." in found.summary
    same = a_limit(
        blocked_until=moment(NOW - 60),
        rate_limit=5000,
        rate_remaining=0,
        rate_resets_at=moment(NOW + 60),
    )
    alone = first(waiting("rate_limited", limits=(same,)), Kind.GITHUB_LIMIT)
    assert alone.summary == found.summary


def test_figures_of_an_hour_that_is_over_are_not_shown() -> None:
    def figures(resets: float) -> Any:
        return a_limit(rate_limit=5000, rate_remaining=0, rate_resets_at=moment(resets))

    open_hour = waiting("rate_limited", limits=(figures(NOW + 60),))
    found = first(open_hour, Kind.GITHUB_LIMIT)
    assert "0 of 5000 requests left until 2026-03-02 09:18:40" in found.evidence[0].what
    assert "room again after 2026-03-02 09:18:40" in found.summary
    over = first(waiting("rate_limited", limits=(figures(NOW - 60),)), Kind.GITHUB_LIMIT)
    assert not any("requests left" in each.what for each in over.evidence)


# Trouble -------------------------------------------------------------------------------------


def test_trouble_that_is_left_over_is_not_what_a_job_without_a_board_waits_for() -> None:
    left = trouble(retry_at=moment(NOW - 60))
    assert kinds(waiting("no_board", trouble=left)) == [Kind.WAITING_FOR_BOARD]
    assert kinds(waiting("cap_reached", trouble=left)) == [Kind.CAP_REACHED]
    assert kinds(waiting(None, trouble=left)) == [Kind.NOT_PLANNED_YET]


def test_trouble_that_lasts_holds_back_a_job_that_came_since_the_plan() -> None:
    assert kinds(waiting(None, wait=None, trouble=trouble())) == [Kind.BACKING_OFF]
    assert kinds(waiting(None, trouble=trouble())) == [Kind.BACKING_OFF]


def test_trouble_that_the_plan_knew_is_not_told_where_the_plan_found_something_else() -> None:
    assert kinds(waiting("no_board", trouble=trouble())) == [Kind.WAITING_FOR_BOARD]
    since = trouble(failed_at=moment(PLANNED + 1))
    assert kinds(waiting("no_board", trouble=since)) == [Kind.BACKING_OFF, Kind.WAITING_FOR_BOARD]


@pytest.mark.parametrize(
    ("failures", "retry_at", "said"),
    [
        (1, NOW + 300, "failed 1 time in a row, last with pod_failed (It crashed). The next is"),
        (3, NOW + 300, "is tried after 2026-03-02 09:22:40 UTC, in 5 minutes."),
        (1, NOW - 5, "It is tried again at the next run."),
        (2, NOW - 5, "One is tried at a time until one of them works."),
    ],
)
def test_trouble_says_what_comes_next(failures: int, retry_at: int, said: str) -> None:
    it = trouble(failures=failures, retry_at=moment(retry_at))
    queue = a_queue("backing_off", trouble=it)
    case = of_job(known=facts(queue=queue, failures=(failed_worker(),)))
    assert said in first(case, Kind.BACKING_OFF).summary


def test_the_message_is_of_a_failure_of_that_kind() -> None:
    lost = failed_worker(reason="board_lost", message="The board went.", completed_at=moment(1049))
    known = facts(queue=a_queue("backing_off", trouble=trouble()), failures=(lost, failed_worker()))
    found = first(of_job(known=known), Kind.BACKING_OFF)
    assert "pod_failed (It crashed)." in found.summary
    assert len(found.evidence) == 2
    alone = replace(known, failures=(lost,))
    assert "with pod_failed. The next" in first(of_job(known=alone), Kind.BACKING_OFF).summary


# Caps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("has", "cap", "said"),
    [
        (20, 20, "riseproject has 20 runners of the 20 that it may have at once, over all pools"),
        (1, 1, "riseproject has 1 runner of the 1"),
        (25, 20, "riseproject has 25 runners of the 20"),
        (3, None, "riseproject has 3 runners, over all pools"),
        (0, 0, "riseproject may have no runner at all: its `max_workers` is 0."),
        (19, 20, "had all of the 20 runners that it may have when it was last planned, and has 19"),
    ],
)
def test_a_cap_and_what_the_account_has(has: int, cap: int | None, said: str) -> None:
    case = waiting(
        "cap_reached",
        wait=a_wait("cap_reached", max_workers=cap),
        supply=Supply(has, {ENTITY: has}, None, 0),
    )
    assert kinds(case) == [Kind.CAP_REACHED]
    assert said in first(case, Kind.CAP_REACHED).summary


# Boards --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("boards", "said"),
    [
        (None, "There is no board of the pool scw-em-rv1 in the cluster."),
        (some_boards(slots=0, usable=0, in_use=0), "There is no board of the pool"),
        (some_boards(usable=0), "all are cordoned or not ready"),
        (some_boards(usable=1), "The only usable board of scw-em-rv1 is busy."),
        (some_boards(), "All 3 usable boards of scw-em-rv1 are busy."),
        (some_boards(in_use=1, free=2), "All 3 usable boards of scw-em-rv1 are busy or promised"),
    ],
)
def test_boards_and_what_becomes_of_them(boards: Any, said: str) -> None:
    case = waiting("no_board", boards=boards)
    found = first(case, Kind.WAITING_FOR_BOARD)
    assert said in found.summary
    unusable = boards is None or boards.usable == 0
    assert ("kubectl get nodes" in found.advice) is unusable
    assert ("cannot be told" in found.summary) is unusable


def test_how_long_it_takes_is_told_if_boards_were_given_back_of_late() -> None:
    # Number 1, and three boards that are held for ten minutes each.
    found = first(waiting("no_board"), Kind.WAITING_FOR_BOARD)
    assert found.summary.endswith(
        "The job is number 1 in the queue of scw-em-rv1, which takes about 3 minutes."
    )
    nobody = first(waiting("no_board", supply=Supply(0, {}, None, 0)), Kind.WAITING_FOR_BOARD)
    assert nobody.summary.endswith("cannot be told: no board was given back of late.")
