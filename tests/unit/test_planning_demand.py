"""What the planner shows the plan of what waits: less than all, and never too little."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from reconcile.demo.planning.demand import Demand, as_pending
from reconcile.demo.planning.load import LoadJob
from reconcile.policy.plan import PendingJob, Snapshot, plan
from reconcile.settings import Scheduling, Settings

BEGINNING = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
IDS = {"a": 1, "b": 2, "c": 3}
POOLS = ("p", "q", "r")

loads = st.lists(
    st.builds(
        LoadJob,
        entity=st.sampled_from(sorted(IDS)),
        repository=st.sampled_from([None, None, "me/toys"]),
        labels=st.sampled_from([("riscv",), ("big",)]),
        pool=st.sampled_from(POOLS),
        created_at=st.integers(0, 5).map(lambda second: BEGINNING + timedelta(seconds=second)),
        seconds=st.just(60.0),
    ),
    max_size=60,
)
counts = st.dictionaries(st.sampled_from(POOLS), st.integers(1, 6))
in_use = st.dictionaries(
    st.tuples(st.sampled_from(POOLS), st.sampled_from(sorted(IDS.values()))), st.integers(1, 4)
)


def waiting(load: list[LoadJob]) -> list[PendingJob]:
    return as_pending(sorted(load, key=lambda job: job.created_at), IDS)


@given(
    loads,
    counts,
    in_use,
    st.lists(st.integers(0, 59)),
    st.integers(0, 8),
    st.sampled_from(list(Scheduling)),
)
def test_oldest_jobs_are_planned_for_as_if_all_were_looked_at(
    load: list[LoadJob],
    free: dict[str, int],
    boards: dict[tuple[str, int], int],
    covered: list[int],
    cap: int,
    order: Scheduling,
) -> None:
    jobs, settings = waiting(load), Settings(order, cap)
    demand = Demand()
    for job in jobs:
        demand.add(job)
    for place in {place for place in covered if place < len(jobs)}:
        demand.cover(jobs[place].key)
    of_entity: Counter[int] = Counter()
    for (_, entity_id), count in boards.items():
        of_entity[entity_id] += count
    oldest = demand.oldest(free, of_entity, settings)
    assert oldest == sorted(oldest, key=lambda job: job.job_id)

    def provision(looked_at: list[PendingJob]) -> list[PendingJob]:
        snapshot = Snapshot(BEGINNING, looked_at, demand.spare, boards, free)
        return plan(snapshot, settings).provision

    assert provision(oldest) == provision(jobs)


def test_thousands_that_wait_are_not_looked_at() -> None:
    demand = Demand()
    for job in waiting([LoadJob("a", None, ("riscv",), "p", BEGINNING, 60)] * 5000):
        demand.add(job)
    demand.cover(waiting([LoadJob("a", None, ("riscv",), "p", BEGINNING, 60)])[0].key)
    found = demand.oldest({"p": 3}, {}, Settings())
    assert [job.job_id for job in found] == [0, 1, 2, 3], "one has a worker, three may get one"
    assert demand.oldest({"p": 9}, {1: 18}, Settings()) == found[:3], "two more, and it is capped"
    assert demand.oldest({}, {}, Settings()) == []
    assert demand.oldest({"p": 3}, {1: 20}, Settings()) == []


@given(loads)
def test_jobs_are_taken_in_their_order_and_none_twice(load: list[LoadJob]) -> None:
    demand, jobs = Demand(), waiting(load)
    for job in jobs:
        demand.add(job)
        demand.cover(job.key)
    assert demand.uncovered == 0
    taken: dict[object, list[int]] = {}
    for job in jobs:
        taken.setdefault(job.key, []).append(demand.take(job.key).job_id)
    assert sorted(number for each in taken.values() for number in each) == list(range(len(jobs)))
    assert all(each == sorted(each) for each in taken.values())
    assert not demand.spare
