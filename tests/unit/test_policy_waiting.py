"""What pending jobs are said to wait for: the axes crossed, and what holds for any snapshot."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconcile.model import ORGANIZATION, Scope
from reconcile.phases.demand_match import Planned
from reconcile.policy.back_off import Trouble
from reconcile.policy.plan import PendingJob, Plan, Snapshot, Wait, plan
from reconcile.policy.waiting import (
    DemandWait,
    Group,
    Obstacle,
    Place,
    Result,
    covered_by_spare,
    demand_waits,
)
from reconcile.settings import Settings
from tests.unit.test_policy_plan import (
    NOW,
    entities_boards,
    installation,
    key,
    pending,
    settings,
    snapshots,
    troubled,
)

LATER = NOW + timedelta(seconds=90)
ENTITY, OTHER = 1, 2
KEY = key(ENTITY, "a")
HERE = KEY, "rv1"
SCOPE = Scope(installation(ENTITY), ENTITY, "org-1", ORGANIZATION)


def group(waiting: int, place: Place = HERE, scope: Scope = SCOPE) -> Group:
    return Group(*place, waiting, scope)


def job(number: int, pool: str = "rv1") -> PendingJob:
    return replace(pending(number, ENTITY, "a"), pool=pool)


def snapshot_of(jobs: Sequence[PendingJob] = (), *, spare: int = 0, boards: int = 0) -> Snapshot:
    return Snapshot(NOW, jobs, {KEY: spare}, {("rv2", ENTITY): boards}, {})


# The order of precedence -----------------------------------------------------------------------

# Of each axis: what is the case, and the obstacle that it is, if it is one.
REFUSALS: dict[str, Obstacle | None] = {
    "heard": None,
    "limited": Obstacle(Wait.RATE_LIMITED, LATER),
    "suspended": Obstacle(Wait.NO_ACCESS),
}
TROUBLES: dict[str, tuple[Trouble | None, int, Obstacle | None]] = {
    "none": (None, 0, None),
    "none and a runner": (None, 1, None),
    "over": (troubled(0, 60), 1, None),
    "failed once": (troubled(1, 60), 0, Obstacle(Wait.BACKING_OFF, NOW + timedelta(seconds=60))),
    "due after one": (troubled(1, 0), 1, None),
    "due after two": (troubled(2, 0), 0, None),
    "one proves itself": (troubled(2, -60), 1, Obstacle(Wait.BACKING_OFF)),
    "parked": (troubled(5, 60), 1, Obstacle(Wait.PARKED, NOW + timedelta(seconds=60))),
    "due, parked": (troubled(5, 0), 0, None),
    "one proves itself, parked": (troubled(5, 0), 1, Obstacle(Wait.PARKED)),
}
CAME_TO_NOTHING = {False: None, True: Obstacle(Wait.RUNNER)}
CAPS = {False: None, True: Obstacle(Wait.CAP_REACHED)}
SAID: dict[Wait | None, Obstacle] = {
    None: Obstacle(Wait.NO_BOARD),  # It was not looked at.
    Wait.NO_BOARD: Obstacle(Wait.NO_BOARD),
    Wait.RATE_LIMITED: Obstacle(Wait.RATE_LIMITED),  # The plan used up what GitHub allows.
}


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("trouble", TROUBLES)
def test_first_obstacle_in_the_plans_order_is_told(refusal: str, trouble: str) -> None:
    known, spare, held = TROUBLES[trouble]
    for failed, at_cap, said in product(CAME_TO_NOTHING, CAPS, SAID):
        waits = demand_waits(
            [group(5)],
            {HERE: spare},
            snapshot_of([job(1), job(2)], spare=spare, boards=3),
            Plan([job(1)] if failed else [], {2: said} if said else {}),
            Result(
                {},
                {KEY: known} if known else {},
                {SCOPE.installation_id: why} if (why := REFUSALS[refusal]) else {},
            ),
            Settings(default_max_workers=3 if at_cap else 5),
        )
        obstacles = [REFUSALS[refusal], held, CAME_TO_NOTHING[failed], CAPS[at_cap], SAID[said]]
        first = next(each for each in obstacles if each is not None)
        cap = 3 if at_cap else 5
        assert waits == [DemandWait(*HERE, 5, spare, first, cap)], (failed, at_cap, said)


# How many have a runner ------------------------------------------------------------------------


@pytest.mark.parametrize("spare", [0, 1, 3, 4])
@pytest.mark.parametrize("made", [0, 1, 2, 9])
def test_covered_are_those_with_a_spare_worker_or_a_new_one_and_never_more_than_wait(
    spare: int, made: int
) -> None:
    jobs = [job(number) for number in range(3)]
    known = snapshot_of(jobs, spare=spare)
    covered = covered_by_spare([group(3)], known.spare, jobs)
    result = Result({HERE: made}, {}, {})
    [told] = demand_waits([group(3)], covered, known, Plan([], {}), result, Settings())
    assert (told.pending, told.covered) == (3, min(3, spare + made))
    assert (told.obstacle is None) == (told.covered == 3)


def test_worker_that_failed_while_it_was_made_covers_nothing() -> None:
    jobs = [job(number) for number in range(4)]
    result = Result({HERE: 2}, {KEY: troubled(1, 60)}, {})
    [told] = demand_waits([group(4)], {}, snapshot_of(jobs), Plan(jobs[:3], {}), result, Settings())
    assert (told.covered, told.obstacle) == (
        2,
        Obstacle(Wait.BACKING_OFF, NOW + timedelta(seconds=60)),
    )


def test_new_worker_of_a_failing_demand_is_the_one_that_proves_itself() -> None:
    jobs = [job(number) for number in range(2)]
    result = Result({HERE: 1}, {KEY: troubled(2, 0)}, {})
    [told] = demand_waits([group(2)], {}, snapshot_of(jobs), Plan(jobs[:1], {}), result, Settings())
    assert (told.covered, told.obstacle) == (1, Obstacle(Wait.BACKING_OFF))


def test_failing_demand_without_a_board_waits_for_one_to_prove_itself_on() -> None:
    """The first of them could be tried; the others wait for that."""
    jobs = [job(number) for number in range(3)]
    known = replace(snapshot_of(jobs), trouble={KEY: troubled(2, 0)})
    made = plan(known, Settings())
    assert made.waiting == {0: Wait.NO_BOARD, 1: Wait.BACKING_OFF, 2: Wait.BACKING_OFF}
    result = Result({}, known.trouble, {})
    [told] = demand_waits([group(3)], {}, known, made, result, Settings())
    assert told.obstacle == Obstacle(Wait.NO_BOARD)


def test_cap_that_a_failed_worker_was_to_fill_holds_the_other_demand_up() -> None:
    """As the plan decided: what that leaves free is the next plan's."""
    other = key(ENTITY, "c"), "rv2"
    waits = demand_waits(
        [group(1), group(1, other)],
        {},
        snapshot_of([job(1)]),
        Plan([job(1)], {}),
        Result({}, {KEY: troubled(1, 60)}, {}),
        Settings(default_max_workers=1),
    )
    assert [told.obstacle and told.obstacle.wait for told in waits] == [
        Wait.BACKING_OFF,
        Wait.CAP_REACHED,
    ]


def test_what_holds_one_installation_or_entity_up_is_nobody_elses() -> None:
    theirs = key(OTHER, "a"), "rv1"
    scope = Scope(installation(OTHER), OTHER, "org-2", ORGANIZATION)
    waits = demand_waits(
        [group(1), group(1, theirs, scope)],
        {},
        snapshot_of(boards=2),
        Plan([], {}),
        Result({}, {}, {installation(OTHER): Obstacle(Wait.NO_ACCESS)}),
        Settings(max_workers={ENTITY: 2}),
    )
    assert [told.obstacle and told.obstacle.wait for told in waits] == [
        Wait.CAP_REACHED,
        Wait.NO_ACCESS,
    ]
    assert [told.max_workers for told in waits] == [2, Settings().default_max_workers]


# Two pools -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spare", "covered"),
    [(0, (0, 0)), (1, (0, 1)), (2, (1, 1)), (3, (1, 2)), (4, (2, 2)), (9, (2, 2))],
)
def test_spare_workers_cover_the_oldest_in_whatever_pool_they_are(
    spare: int, covered: tuple[int, int]
) -> None:
    """Their labels were routed elsewhere meanwhile; to GitHub they are the same."""
    there = KEY, "rv2"
    jobs = [job(0, "rv2"), job(3), job(6, "rv2"), job(9)]
    found = covered_by_spare([group(2), group(2, there)], {KEY: spare}, jobs)
    assert (found[HERE], found[there]) == covered


def test_obstacles_are_told_for_each_pool() -> None:
    there = KEY, "rv2"
    jobs = [job(0), job(3), job(6, "rv2")]
    waits = demand_waits(
        [group(2), group(1, there)],
        {},
        snapshot_of(jobs),
        Plan(jobs[:1], {}),
        Result({HERE: 1}, {}, {}),
        Settings(),
    )
    assert [(told.pool, told.covered, told.obstacle) for told in waits] == [
        ("rv1", 1, Obstacle(Wait.NO_BOARD)),
        ("rv2", 0, Obstacle(Wait.NO_BOARD)),
    ]


# For any snapshot ------------------------------------------------------------------------------


def looked_at(full: Snapshot) -> Snapshot:
    """With the jobs that could get a board, as a run has them."""
    keys = {each.key for each in full.jobs if full.free.get(each.pool)}
    taken: Counter[Place] = Counter()
    jobs = []
    for each in full.jobs:
        take = full.free.get(each.pool, 0) + full.spare.get(each.key, 0)
        if each.key in keys and taken[each.key, each.pool] < take:
            taken[each.key, each.pool] += 1
            jobs.append(each)
    return replace(full, jobs=jobs)


def planned(full: Snapshot, seen: Snapshot, given_settings: Settings) -> Planned:
    """`seen` is what the plan is made of, `full` has all that wait."""
    sizes = Counter((each.key, each.pool) for each in full.jobs)
    scopes = {each.key: each.scope for each in full.jobs}
    groups = [group(count, place, scopes[place[0]]) for place, count in sizes.items()]
    covered = covered_by_spare(groups, full.spare, full.jobs)
    return Planned(plan(seen, given_settings), seen, groups, covered)


def told(made: Planned, given_settings: Settings) -> list[DemandWait]:
    """As if every worker of the plan could be made."""
    known = made.snapshot
    assert known is not None
    on_their_way = Counter((each.key, each.pool) for each in made.plan.provision)
    refused: Mapping[int, Obstacle] = {
        number: Obstacle(wait, LATER if wait is Wait.RATE_LIMITED else None)
        for number, wait in known.refused.items()
    }
    result = Result(on_their_way, known.trouble, refused)
    return demand_waits(made.groups, made.covered, known, made.plan, result, given_settings)


def rerouted(known: Snapshot, pools: list[bool]) -> Snapshot:
    """Some of the jobs in another pool than others of their labels."""
    other = {"rv1": "rv2", "rv2": "rv1"}
    jobs = [
        replace(each, pool=other[each.pool]) if moved else each
        for each, moved in zip(known.jobs, pools, strict=False)
    ]
    return replace(known, jobs=jobs)


moves = st.lists(st.booleans(), min_size=25, max_size=25)


@given(snapshots, moves, settings)
def test_rows_add_up_to_what_the_log_says(
    known: Snapshot, moved: list[bool], given_settings: Settings
) -> None:
    full = rerouted(known, moved)
    made = planned(full, looked_at(full), given_settings)
    rows, logged = told(made, given_settings), made.waiting()
    assert sum(row.pending for row in rows) == made.pending == len(full.jobs)
    with_runner = logged.pop(Wait.RUNNER) + len(made.plan.provision)
    assert sum(row.covered for row in rows) == with_runner
    assert sum(row.pending - row.covered for row in rows) == sum(logged.values())
    assert all((row.obstacle is None) == (row.covered == row.pending) for row in rows)
    assert Wait.RUNNER not in {row.obstacle.wait for row in rows if row.obstacle}


@given(snapshots, settings)
def test_rows_are_the_same_as_if_the_plan_had_looked_at_every_job(
    full: Snapshot, given_settings: Settings
) -> None:
    some, every = (planned(full, seen, given_settings) for seen in (looked_at(full), full))
    assert some.plan.provision == every.plan.provision
    assert told(some, given_settings) == told(every, given_settings)


@given(snapshots, settings)
def test_row_says_what_the_plan_says_of_the_oldest_without_a_runner_unless_the_cap_is_reached(
    full: Snapshot, given_settings: Settings
) -> None:
    made = planned(full, full, given_settings)
    boards = entities_boards(full) + Counter(it.key.entity_id for it in made.plan.provision)
    for row in told(made, given_settings):
        mine = [it for it in full.jobs if (it.key, it.pool) == (row.key, row.pool)]
        waits = [made.plan.waiting.get(it.job_id, Wait.RUNNER) for it in mine]
        assert waits[: row.covered] == [Wait.RUNNER] * row.covered, "the oldest are covered"
        assert row.max_workers == given_settings.cap(row.key.entity_id)
        if row.obstacle is None:
            continue
        said = waits[row.covered]
        if row.obstacle.wait is not said:
            assert (said, row.obstacle.wait) == (Wait.NO_BOARD, Wait.CAP_REACHED)
            assert boards[row.key.entity_id] >= given_settings.cap(row.key.entity_id)
