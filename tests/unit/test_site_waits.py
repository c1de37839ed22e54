"""What pending jobs wait for: all of them counted, each once, by the plan that was last made."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from static_site.model import WaitCount
from static_site.pages.usage import wait_counts
from static_site.pages.waits import NOTHING_WAITS, Waits
from static_site.rows import BoardsRow, JobRow, LiveCount, WaitRow, WorkerCount

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
LABELS = '["ubuntu-24.04-riscv"]'
POOLS = ("scw-em-rv1", "cloudv10x")
BOARDS = [BoardsRow(pool, 12, 11, 11, 0, NOW) for pool in POOLS]
NO_BOARD = "All 11 usable boards of {} are busy."


def planned(
    pending: int, covered: int = 0, waiting_for: str | None = "no_board", **more: Any
) -> WaitRow:
    row: dict[str, Any] = {
        "entity_id": 1,
        "repo_full_name": "",
        "labels": LABELS,
        "pool": POOLS[0],
        "wait_until": None,
        "failures": None,
        "reason": None,
        **more,
    }
    return WaitRow(pending=pending, covered=covered, waiting_for=waiting_for, **row)


def pending(count: int, pool: str = POOLS[0]) -> LiveCount:
    return LiveCount(1, "riseproject", LABELS, pool, count, 2, NOW)


def counted(live: list[LiveCount], plan: list[WaitRow]) -> list[WaitCount]:
    waits = Waits(plan, frozenset(), BOARDS, [WorkerCount(1, "riseproject", LABELS, 1, 2)])
    return wait_counts(1, "riseproject", live, plan, waits)


def by_reason(found: list[WaitCount]) -> dict[str, int]:
    return {each["waiting"]["reason"]: each["count"] for each in found}


plans = st.builds(
    planned,
    st.integers(0, 30),
    st.integers(0, 35),
    st.sampled_from([None, "no_board", "cap_reached", "backing_off", "of_tomorrow"]),
    pool=st.sampled_from([*POOLS, "gone"]),
    repo_full_name=st.sampled_from(["", "ada/engine", "ada/notes"]),
    wait_until=st.sampled_from([None, NOW]),
)


@given(
    st.dictionaries(st.sampled_from([*POOLS, "new"]), st.integers(0, 40)),
    st.lists(plans, max_size=6, unique_by=lambda row: (row.pool, row.repo_full_name)),
)
def test_counts_add_up_to_what_waits(now: dict[str, int], plan: list[WaitRow]) -> None:
    found = counted([pending(count, pool) for pool, count in now.items()], plan)
    assert sum(each["count"] for each in found) == sum(now.values())
    assert all(each["count"] > 0 for each in found)
    told = [tuple(each["waiting"].values()) for each in found]
    assert len(set(told)) == len(told), "what reads the same is told once"
    assert [each["count"] for each in found] == sorted((e["count"] for e in found), reverse=True)


@given(st.integers(0, 30), st.integers(0, 30))
def test_counts_are_as_planned_while_nothing_has_changed(others: int, covered: int) -> None:
    found = counted([pending(others + covered)], [planned(others + covered, covered)])
    expected = {"no_board": others, "runner": covered}
    assert by_reason(found) == {reason: count for reason, count in expected.items() if count}


def test_jobs_that_came_since_the_plan_have_only_just_come() -> None:
    found = counted([pending(9)], [planned(5, 2)])
    assert by_reason(found) == {"new": 4, "no_board": 3, "runner": 2}


def test_jobs_that_began_since_the_plan_were_those_with_a_runner() -> None:
    assert by_reason(counted([pending(4)], [planned(5, 2)])) == {"no_board": 3, "runner": 1}
    assert by_reason(counted([pending(2)], [planned(5, 2)])) == {"no_board": 2}
    assert counted([pending(0)], [planned(5, 2)]) == []


def test_pools_of_a_group_are_told_apart() -> None:
    plan = [planned(3, pool=POOLS[0]), planned(2, pool=POOLS[1])]
    found = counted([pending(3, POOLS[0]), pending(2, POOLS[1])], plan)
    assert [(each["count"], each["waiting"]["words"]) for each in found] == [
        (3, NO_BOARD.format(POOLS[0])),
        (2, NO_BOARD.format(POOLS[1])),
    ]


def test_plan_of_another_pool_says_nothing() -> None:
    assert by_reason(counted([pending(3)], [planned(5, pool="gone")])) == {"new": 3}


def test_repositories_of_a_personal_account_are_counted_together() -> None:
    plan = [
        planned(2, 1, "backing_off", repo_full_name="ada/engine", wait_until=NOW, failures=3),
        planned(4, 1, "no_board", repo_full_name="ada/notes"),
        planned(3, 0, "no_board", repo_full_name="ada/paper"),
    ]
    found = counted([pending(9)], plan)
    assert by_reason(found) == {"no_board": 6, "runner": 2, "backing_off": 1}


def job(number: int, **more: Any) -> JobRow:
    row: dict[str, Any] = {
        "job_id": number,
        "status": "pending",
        "conclusion": None,
        "reason": None,
        "message": None,
        "entity_id": 1,
        "entity_name": "riseproject",
        "entity_type": "Organization",
        "repo_full_name": "riseproject/firmware",
        "public": True,
        "workflow_name": "ci",
        "job_name": "build",
        "run_attempt": 1,
        "html_url": None,
        "labels": LABELS,
        "pool": POOLS[0],
        "pod": None,
        "worker_failed": False,
        "created_at": NOW,
        "queued_at": NOW,
        "started_at": None,
        "completed_at": None,
        **more,
    }
    return JobRow(**row)


def test_job_waits_for_what_its_demand_waits_for() -> None:
    plan = [
        planned(3, 1, "no_board"),
        planned(1, 0, "cap_reached", pool=POOLS[1]),
        planned(1, 0, "parked", labels='["large"]'),
        planned(1, 0, "rate_limited", entity_id=2),
        planned(1, 0, "no_access", entity_id=3, repo_full_name="ada/engine"),
    ]
    workers = [WorkerCount(1, "r", LABELS, 1, 2), WorkerCount(1, "r", '["large"]', 0, 4)]
    waits = Waits(plan, frozenset({7}), BOARDS, workers)
    person = {"entity_id": 3, "entity_type": "User", "entity_name": "ada"}
    asked = {
        "runner": job(7),
        "no_board": job(8),
        "cap_reached": job(9, pool=POOLS[1]),
        "parked": job(10, labels='["large"]'),
        "rate_limited": job(11, entity_id=2),
        "no_access": job(12, repo_full_name="ada/engine", **person),
        "new": job(13, repo_full_name="ada/notes", **person),
    }
    assert {slug: waits.of(row)["reason"] for slug, row in asked.items()} == {
        slug: slug for slug in asked
    }
    words = waits.of(asked["cap_reached"])["words"]
    assert words == "riseproject has 7 runners, as many as it may have at once.", "of all labels"


def test_job_waits_for_the_next_run_where_nothing_is_planned() -> None:
    assert NOTHING_WAITS.of(job(1))["reason"] == "new"
    all_covered = Waits([planned(1, 1, None)], frozenset(), BOARDS, [])
    assert all_covered.of(job(2))["reason"] == "new", "it came since"


@given(st.lists(st.sampled_from([*POOLS, "new"]), max_size=30), st.integers(0, 10))
def test_jobs_and_counts_tell_the_same(pools: list[str], covered: int) -> None:
    """Of one moment, by organization: as many jobs say something as are counted for it."""
    of_pool = Counter(pools)
    plan = [
        planned(of_pool[pool], min(covered, of_pool[pool]), pool=pool)
        for pool in POOLS
        if of_pool[pool]
    ]
    rows = [job(number, pool=pool) for number, pool in enumerate(pools)]
    has_runner = frozenset(
        row.job_id
        for pool in POOLS
        for row in [each for each in rows if each.pool == pool][:covered]
    )
    waits = Waits(plan, has_runner, BOARDS, [])
    told = Counter(waits.of(row)["words"] for row in rows)
    found = counted([pending(count, pool) for pool, count in of_pool.items()], plan)
    counts: Counter[str] = Counter()
    for each in found:
        counts[each["waiting"]["words"]] += each["count"]
    assert counts == told
