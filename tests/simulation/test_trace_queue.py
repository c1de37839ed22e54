"""The place in the queue that a trace tells is the place at which the job gets its board."""

import re
from collections.abc import Iterator

import pytest

from tests.database import Database
from tests.system import System, system
from tests.tracing import command

PLACE = re.compile(r"The job is number (\d+) in the queue of scw-em-rv1")
LONG = 36_000  # seconds: no board is given back meanwhile


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


def queued(s: System) -> list[int]:
    """Jobs of three accounts, one of them with two repositories and so with two demands. One
    account has two boards already, another has one."""
    accounts = s.world.github.accounts
    _, code, _ = s.tenant("latecomer")
    more = accounts.add_repository(s.user, "more", private=True)
    s.world.time.step(5)
    s.boards(3)
    for repository in (s.repository, s.repository, s.personal):
        s.push(repository, seconds=LONG)
    s.ticks(4)
    assert s.statuses()[0] == ["running"] * 3
    order = [
        *(s.repository, s.repository, s.personal, more, code),
        *(s.repository, code, s.personal, code, more, code),
    ]
    numbers = []
    for repository in order:
        numbers.append(s.push(repository, seconds=LONG).jobs[0].id)
        s.world.time.step(1)
    s.ticks(1)
    return numbers


def place(s: System, job: int) -> int:
    answer = command(s, "--job", str(job), "--json").document["findings"][0]
    found = PLACE.search(answer["summary"])
    assert found, answer
    return int(found[1])


def waiting(s: System) -> set[int]:
    return {row["job_id"] for row in s.jobs() if row["status"] == "pending"}


@pytest.mark.parametrize("scheduling", ["fifo", "fair"])
def test_boards_are_given_in_the_order_that_was_told(s: System, scheduling: str) -> None:
    s.toml = f'scheduling = "{scheduling}"\n'
    jobs = queued(s)
    told = {job: place(s, job) for job in jobs}
    assert sorted(told.values()) == [*range(1, len(jobs) + 1)]
    assert (sorted(jobs, key=lambda each: told[each]) == jobs) is (scheduling == "fifo")
    for number in range(1, len(jobs) + 1):
        before = waiting(s)
        s.boards(1)
        s.ticks(4)
        [taken] = before - waiting(s)
        assert told[taken] == number
        for job in waiting(s):
            assert place(s, job) == told[job] - number, "everybody moves up by one"


@pytest.mark.parametrize("scheduling", ["fifo", "fair"])
def test_as_many_boards_as_there_are_go_to_the_first_places(s: System, scheduling: str) -> None:
    s.toml = f'scheduling = "{scheduling}"\n'
    told = {job: place(s, job) for job in queued(s)}
    s.boards(5)
    s.ticks(4)
    assert waiting(s) == {job for job, number in told.items() if number > 5}


def test_whoever_is_held_up_by_something_else_is_not_before_anybody(s: System) -> None:
    s.toml = "default_max_workers = 2\n"
    told = {}
    for job in queued(s):
        answer = command(s, "--job", str(job), "--json").document["findings"][0]
        if answer["finding"] == "waiting_for_board":
            told[job] = place(s, job)
        else:
            assert answer["finding"] == "cap_reached"
    organization = {row["job_id"] for row in s.jobs() if row["entity_name"] == "riseproject"}
    assert not organization & {*told}
    assert min(told.values()) == 1
    s.boards(1)
    s.ticks(4)
    [taken] = {*told} - waiting(s)
    assert told[taken] == 1
