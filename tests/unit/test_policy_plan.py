"""Which jobs get a runner: what holds for any snapshot, found by hypothesis."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconcile.model import ORGANIZATION, Boards, DemandKey, Node, Pod, Reason, Scope
from reconcile.policy.back_off import Trouble
from reconcile.policy.plan import PendingJob, Plan, Snapshot, Wait, boards, free_boards, plan
from reconcile.settings import Scheduling, Settings

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
ENTITIES = (1, 2, 3, 4)
POOLS = {"a": "rv1", "b": "rv1", "c": "rv2"}  # by label, as routes do it


def installation(entity: int) -> int:
    return entity * 10


def key(entity: int, label: str) -> DemandKey:
    return DemandKey(entity, "", (label,))


def pending(number: int, entity: int, label: str) -> PendingJob:
    scope = Scope(installation(entity), entity, f"org-{entity}", ORGANIZATION)
    made = NOW - timedelta(hours=1) + timedelta(seconds=number // 3)  # some of the same moment
    return PendingJob(number, key(entity, label), scope, POOLS[label], "image", made)


def troubled(failures: int, retry_in: float) -> Trouble:
    retry_at = NOW + timedelta(seconds=retry_in)
    return Trouble(failures, Reason.POD_FAILED, NOW, retry_at, parked=failures >= 5)


keys = st.builds(key, st.sampled_from(ENTITIES), st.sampled_from(sorted(POOLS)))
places = st.tuples(st.sampled_from(sorted(set(POOLS.values()))), st.sampled_from(ENTITIES))
troubles = st.builds(troubled, st.integers(0, 6), st.sampled_from([-60.0, 0.0, 1.0, 60.0]))
installations = st.sampled_from([installation(entity) for entity in ENTITIES])
snapshots = st.builds(
    Snapshot,
    now=st.just(NOW),
    jobs=st.lists(
        st.tuples(st.sampled_from(ENTITIES), st.sampled_from(sorted(POOLS))), max_size=25
    ).map(lambda each: [pending(number, *of) for number, of in enumerate(each)]),
    spare=st.dictionaries(keys, st.integers(0, 3), max_size=4),
    boards=st.dictionaries(places, st.integers(0, 6), max_size=6),
    free=st.dictionaries(st.sampled_from(["rv1", "rv2", "rv3"]), st.integers(1, 8)),
    trouble=st.dictionaries(keys, troubles, max_size=4),
    refused=st.dictionaries(
        installations, st.sampled_from([Wait.RATE_LIMITED, Wait.NO_ACCESS]), max_size=1
    ),
    room=st.dictionaries(installations, st.integers(0, 5), max_size=2),
)
caps = st.dictionaries(st.sampled_from(ENTITIES), st.integers(0, 8), max_size=3)
settings = st.builds(
    Settings,
    scheduling=st.sampled_from(Scheduling),
    default_max_workers=st.integers(0, 10),
    max_workers=caps,
)
fifo = settings.map(lambda it: Settings(Scheduling.FIFO, it.default_max_workers, it.max_workers))
fair = settings.map(lambda it: Settings(Scheduling.FAIR, it.default_max_workers, it.max_workers))


def entities_boards(snapshot: Snapshot) -> Counter[int]:
    boards: Counter[int] = Counter()
    for (_, entity), count in snapshot.boards.items():
        boards[entity] += count
    return boards


def waits_for(made: Plan, snapshot: Snapshot, wait: Wait) -> list[PendingJob]:
    return [job for job in snapshot.jobs if made.waiting.get(job.job_id) is wait]


# Limits ----------------------------------------------------------------------------------------


@given(snapshots, settings)
def test_no_pool_gives_more_than_it_has(snapshot: Snapshot, given_settings: Settings) -> None:
    given_away = Counter(job.pool for job in plan(snapshot, given_settings).provision)
    assert all(count <= snapshot.free.get(pool, 0) for pool, count in given_away.items())


@given(snapshots, settings)
def test_no_entity_exceeds_its_cap_by_what_it_is_given(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    before = entities_boards(snapshot)
    got = Counter(job.key.entity_id for job in plan(snapshot, given_settings).provision)
    for entity, count in got.items():
        assert before[entity] + count <= given_settings.cap(entity)


@given(snapshots, settings)
def test_no_installation_gets_more_than_githubs_limits_leave(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    got = Counter(job.scope.installation_id for job in plan(snapshot, given_settings).provision)
    for number, count in got.items():
        assert count <= snapshot.room.get(number, count)
        assert number not in snapshot.refused


# Accounts --------------------------------------------------------------------------------------


@given(snapshots, settings)
def test_every_job_is_provisioned_for_once_or_waits_for_something(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    made = plan(snapshot, given_settings)
    provisioned = [job.job_id for job in made.provision]
    assert len(provisioned) == len(set(provisioned))
    assert not made.waiting.keys() & set(provisioned)
    assert made.waiting.keys() | set(provisioned) == {job.job_id for job in snapshot.jobs}


@given(snapshots, settings)
def test_the_plan_is_the_same_for_the_same_snapshot(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    assert plan(snapshot, given_settings) == plan(snapshot, given_settings)


@given(snapshots, settings)
def test_spare_workers_cover_the_oldest_jobs_of_their_demand(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    covered = waits_for(plan(snapshot, given_settings), snapshot, Wait.RUNNER)
    for demand in {job.key for job in snapshot.jobs}:
        jobs = [job for job in snapshot.jobs if job.key == demand]
        expected = jobs[: snapshot.spare.get(demand, 0)]
        assert [job for job in covered if job.key == demand] == expected


@given(snapshots, settings)
def test_a_job_waits_for_a_board_only_if_none_is_left(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    made = plan(snapshot, given_settings)
    given_away = Counter(job.pool for job in made.provision)
    for job in waits_for(made, snapshot, Wait.NO_BOARD):
        assert given_away[job.pool] == snapshot.free.get(job.pool, 0)


@given(snapshots, settings)
def test_a_job_waits_for_its_cap_only_if_that_is_reached(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    made = plan(snapshot, given_settings)
    boards = entities_boards(snapshot) + Counter(job.key.entity_id for job in made.provision)
    for job in waits_for(made, snapshot, Wait.CAP_REACHED):
        assert boards[job.key.entity_id] >= given_settings.cap(job.key.entity_id)


# Order -----------------------------------------------------------------------------------------


@given(snapshots, settings)
def test_no_job_overtakes_an_older_one_of_its_demand(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    made = plan(snapshot, given_settings)
    for job in made.provision:
        older = [it for it in snapshot.jobs if it.key == job.key and it.job_id < job.job_id]
        assert all(made.waiting.get(it.job_id, Wait.RUNNER) is Wait.RUNNER for it in older)


@given(snapshots, fifo)
def test_fifo_gives_no_board_past_an_older_job_that_only_needs_one(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    made = plan(snapshot, given_settings)
    for waiting in waits_for(made, snapshot, Wait.NO_BOARD):
        younger = [job for job in made.provision if job.job_id > waiting.job_id]
        assert all(job.pool != waiting.pool for job in younger)


@given(snapshots, fair)
def test_fair_gives_nobody_two_boards_more_than_whoever_still_waits(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    made = plan(snapshot, given_settings)
    boards = Counter(dict(snapshot.boards))
    boards.update((job.pool, job.key.entity_id) for job in made.provision)
    got = {(job.pool, job.key.entity_id) for job in made.provision}
    for waiting in waits_for(made, snapshot, Wait.NO_BOARD):
        mine = boards[waiting.pool, waiting.key.entity_id]
        for pool, entity in got:
            if pool == waiting.pool:
                assert boards[pool, entity] <= mine + 1


# Trouble ---------------------------------------------------------------------------------------


@given(snapshots, settings)
def test_nothing_is_tried_before_its_back_off_is_over(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    made = plan(snapshot, given_settings)
    for job in made.provision:
        trouble = snapshot.trouble.get(job.key)
        assert trouble is None or trouble.failures == 0 or trouble.retry_at <= NOW


@given(snapshots, settings)
def test_after_two_failures_one_worker_proves_itself_before_the_next(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    tried = Counter(job.key for job in plan(snapshot, given_settings).provision)
    for demand, count in tried.items():
        trouble = snapshot.trouble.get(demand)
        if trouble is not None and trouble.failures >= 2:
            assert count + snapshot.spare.get(demand, 0) == 1


@given(snapshots, settings)
def test_what_waits_for_its_back_off_says_whether_it_is_parked(
    snapshot: Snapshot, given_settings: Settings
) -> None:
    made = plan(snapshot, given_settings)
    for wait, parked in ((Wait.BACKING_OFF, False), (Wait.PARKED, True)):
        for job in waits_for(made, snapshot, wait):
            assert snapshot.trouble[job.key].parked is parked


def snapshot_of(jobs: list[PendingJob], **known: Any) -> Snapshot:
    facts: dict[str, Any] = {"spare": {}, "boards": {}, "free": {"rv1": 3, "rv2": 3}, **known}
    return Snapshot(NOW, jobs, **facts)


@pytest.mark.parametrize(
    ("trouble", "provisioned", "wait"),
    [
        (troubled(0, 60), 3, None),  # A row without failures is history.
        (troubled(1, 1), 0, Wait.BACKING_OFF),
        (troubled(1, 0), 3, None),
        (troubled(2, 0), 1, Wait.BACKING_OFF),
        (troubled(5, 60), 0, Wait.PARKED),
        (troubled(5, 0), 1, Wait.PARKED),
    ],
)
def test_how_many_of_a_failing_demand_are_tried(
    trouble: Trouble, provisioned: int, wait: Wait | None
) -> None:
    jobs = [pending(number, 1, "a") for number in range(3)]
    made = plan(snapshot_of(jobs, trouble={jobs[0].key: trouble}), Settings())
    assert len(made.provision) == provisioned
    assert set(made.waiting.values()) == ({wait} if wait else set())


def test_demand_behind_a_failing_one_gets_its_boards() -> None:
    failing, behind = pending(0, 1, "a"), pending(3, 2, "a")
    known = snapshot_of([failing, behind], free={"rv1": 1}, trouble={failing.key: troubled(1, 60)})
    assert plan(known, Settings()).provision == [behind]


def test_fair_prefers_whoever_has_the_fewest_boards_in_the_pool() -> None:
    jobs = [pending(0, 1, "a"), pending(3, 1, "a"), pending(6, 2, "a")]
    known = snapshot_of(jobs, free={"rv1": 1}, boards={("rv1", 1): 1, ("rv2", 2): 9})
    assert plan(known, Settings(Scheduling.FAIR)).provision == [jobs[2]]
    assert plan(known, Settings(Scheduling.FIFO)).provision == [jobs[0]]


# Capacity --------------------------------------------------------------------------------------


def node(
    name: str = "n1", *, slots: int = 1, pool: str | None = "rv1", usable: bool = True
) -> Node:
    return Node(name, pool, slots, schedulable=usable, unreachable=False)


def pod(node_name: str | None, phase: str = "Running", *, deleting: bool = False) -> Pod:
    return Pod(
        "it", "uid", "1", phase, "rv1", node_name, NOW, None, None, deleting,
        stopping=False, reason=None, waiting=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("nodes", "pods", "unseen", "free"),
    [
        ([node()], [], {}, {"rv1": 1}),
        ([node(), node("n2", slots=3)], [], {}, {"rv1": 4}),
        ([node(), node("n2", pool="rv2")], [], {}, {"rv1": 1, "rv2": 1}),
        ([node(pool=None)], [], {}, {}),
        ([node(slots=0)], [], {}, {}),
        ([node(usable=False)], [], {}, {}),
        # A pod counts against the node it sits on: not against others, and not below nothing.
        ([node(), node("n2")], [pod("n1")], {}, {"rv1": 1}),
        ([node(), node("n2", usable=False)], [pod("n2")], {}, {"rv1": 1}),
        ([node(), node("n2")], [pod("n1"), pod("n1")], {}, {"rv1": 1}),
        ([node()], [pod("a node that is gone")], {}, {"rv1": 1}),
        # One that goes is still there; one that ended is not.
        ([node()], [pod("n1", deleting=True)], {}, {}),
        ([node()], [pod("n1", "Unknown")], {}, {}),
        ([node()], [pod("n1", "Succeeded"), pod("n1", "Failed")], {}, {"rv1": 1}),
        # An unscheduled one counts against its pool, and so does one that is not listed yet.
        ([node(), node("n2")], [pod(None, "Pending")], {}, {"rv1": 1}),
        ([node()], [pod(None, "Failed")], {}, {"rv1": 1}),
        ([node(), node("n2")], [], {"rv1": 1}, {"rv1": 1}),
        ([node()], [pod(None, "Pending")], {"rv1": 5}, {}),
        ([node()], [], {"rv2": 1}, {"rv1": 1}),
    ],
)
def test_free_boards(
    nodes: list[Node], pods: list[Pod], unseen: dict[str, int], free: dict[str, int]
) -> None:
    assert free_boards(nodes, pods, unseen) == free


def test_boards_are_told_by_pool_whether_usable_taken_or_free() -> None:
    nodes = [
        node("n1"),
        node("n2", slots=3),
        node("n3", usable=False),
        node("n4", pool="rv2", usable=False),
        node("n5", pool=None),
    ]
    pods = [pod("n2"), pod("n3"), pod("n3", "Failed"), pod("n5"), pod(None, "Pending")]
    assert boards(nodes, pods) == [
        Boards("rv1", slots=5, usable=4, in_use=2, free=3),
        Boards("rv2", slots=1, usable=0, in_use=0, free=0),
    ]
