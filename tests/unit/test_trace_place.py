"""A job's place in the queue, against a queue that is handed out board by board."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trace_cases import CAME, PLANNED, a_queue, a_wait, own_demand, some_boards
from tests.trace_events import moment
from webhook_fn.trace.facts import Queue, QueuedDemand, Supply
from webhook_fn.trace.place import Place, is_covered, place_of, planned_at

ENTITIES = (1, 2, 3)
COMPETING = (None, "no_board", "runner")
OTHERS = ("cap_reached", "backing_off", "parked", "rate_limited", "no_access", "of_next_year")


@dataclass(frozen=True)
class Job:
    number: int  # younger ones have greater numbers
    entity: int
    demand: int  # of the entity


@dataclass(frozen=True)
class Line:
    """Everything that waits in a pool, and the one that is asked about."""

    jobs: Sequence[Job]
    covered: dict[tuple[int, int], int]  # by entity and demand
    boards: dict[int, int]  # by entity
    wanted: Job

    def queue(self, scheduling: str, waiting_for: str | None = "no_board") -> Queue:
        """As the database would give it."""
        demands = sorted({(each.entity, each.demand) for each in self.jobs})
        return a_queue(
            waiting_for,
            boards=some_boards(scheduling=scheduling, usable=3),
            demands=tuple(self._demand(entity, number) for entity, number in demands),
            supply=Supply(0, self.boards, 600.0, 10),
        )

    def _demand(self, entity: int, number: int) -> QueuedDemand:
        its = [each for each in self.jobs if (each.entity, each.demand) == (entity, number)]
        return QueuedDemand(
            entity_id=entity,
            own=(entity, number) == (self.wanted.entity, self.wanted.demand),
            pending=len(its),
            older=sum(each.number < self.wanted.number for each in its),
            covered=min(len(its), self.covered.get((entity, number), 0)),
            waiting_for="no_board",
        )

    def uncovered(self) -> list[Job]:
        """Runners take the oldest of their demand."""
        left = Counter(self.covered)
        waiting = []
        for job in sorted(self.jobs, key=lambda each: each.number):
            if left[job.entity, job.demand] > 0:
                left[job.entity, job.demand] -= 1
            else:
                waiting.append(job)
        return waiting

    def fifo(self) -> list[Job]:
        return self.uncovered()

    def fair(self) -> list[Job]:
        """Board by board, each to whoever has the fewest, the oldest job among equals."""
        boards, left, given_out = Counter(self.boards), self.uncovered(), []
        while left:
            job = min(left, key=lambda each: (boards[each.entity], each.number))
            left.remove(job)
            boards[job.entity] += 1
            given_out.append(job)
        return given_out


@st.composite
def lines(draw: st.DrawFn) -> Line:
    whose = draw(st.lists(st.tuples(st.sampled_from(ENTITIES), st.integers(0, 1)), min_size=1))
    jobs = [Job(number, *its) for number, its in enumerate(whose)]
    demands = sorted({*whose})
    covered = {each: draw(st.integers(0, 3)) for each in demands}
    boards = {each: draw(st.integers(0, 4)) for each in ENTITIES}
    line = Line(jobs, covered, boards, jobs[0])
    waiting = line.uncovered()
    if not waiting:
        line = replace(line, covered={})
        waiting = line.uncovered()
    return replace(line, wanted=draw(st.sampled_from(waiting)))


@given(lines(), st.sampled_from(["fifo", None, "of_next_year"]))
def test_in_order_of_age_it_is_the_number_of_those_before_and_one(
    line: Line, scheduling: str
) -> None:
    place = place_of(line.queue(scheduling), line.wanted.entity)
    assert place.position == line.fifo().index(line.wanted) + 1


@given(lines())
def test_in_fair_order_it_is_the_place_at_which_a_board_is_handed_out(line: Line) -> None:
    place = place_of(line.queue("fair"), line.wanted.entity)
    assert place.position == line.fair().index(line.wanted) + 1


@given(lines(), st.sampled_from(["fifo", "fair"]))
def test_it_is_a_place_among_those_that_wait(line: Line, scheduling: str) -> None:
    place = place_of(line.queue(scheduling), line.wanted.entity)
    assert 1 <= place.position <= len(line.uncovered()) <= len(line.jobs)
    assert place.seconds is not None
    assert place.seconds == pytest.approx(place.position * 200)


@given(lines(), st.sampled_from(["fifo", "fair"]))
def test_whoever_waits_for_something_else_is_not_before_it(line: Line, scheduling: str) -> None:
    queue = line.queue(scheduling)
    alone = place_of(
        replace(queue, demands=tuple(each for each in queue.demands if each.own)),
        line.wanted.entity,
    )
    for slug in OTHERS:
        busy = tuple(
            each if each.own else replace(each, waiting_for=slug) for each in queue.demands
        )
        assert place_of(replace(queue, demands=busy), line.wanted.entity) == alone
    for waiting_for in COMPETING:
        same = tuple(replace(each, waiting_for=waiting_for) for each in queue.demands)
        assert place_of(replace(queue, demands=same), line.wanted.entity) == place_of(
            queue, line.wanted.entity
        )


def test_the_estimate_grows_with_the_place_and_shrinks_with_boards() -> None:
    queue = a_queue("no_board")
    behind = [
        place_of(replace(queue, demands=(own_demand(pending=9, older=older),)), 5).seconds
        for older in range(8)
    ]
    assert behind == [200.0 * (older + 1) for older in range(8)]
    more = replace(queue, boards=some_boards(usable=6))
    assert place_of(more, 5) == Place(1, 100.0)


@pytest.mark.parametrize(
    "queue",
    [
        a_queue("no_board", boards=None),
        a_queue("no_board", boards=some_boards(usable=0)),
        a_queue("no_board", supply=Supply(0, {}, None, 0)),
    ],
)
def test_without_boards_or_a_time_they_are_held_there_is_no_estimate(queue: Queue) -> None:
    assert place_of(queue, 5) == Place(1, None)


# Whether a runner is coming ------------------------------------------------------------------


@given(
    pending=st.integers(1, 6), covered=st.integers(0, 6), older=st.integers(0, 5), gone=st.data()
)
def test_a_job_is_covered_if_it_was_among_the_oldest_when_it_was_planned(
    pending: int, covered: int, older: int, gone: st.DataObject
) -> None:
    """Of those that were planned for, the oldest have left since: their runners took them."""
    covered, older = min(covered, pending), min(older, pending - 1)
    left = gone.draw(st.integers(0, min(covered, older)))
    queue = a_queue(
        wait=a_wait(pending=pending, covered=covered),
        demands=(own_demand(pending=pending - left, older=older - left),),
    )
    assert is_covered(queue, moment(CAME), ()) is (older < covered)


def test_without_a_plan_nothing_is_covered() -> None:
    queue = a_queue(wait=None)
    assert planned_at(queue) == moment(PLANNED)
    assert not is_covered(queue, moment(CAME), ())
    assert planned_at(replace(queue, boards=None)) is None
