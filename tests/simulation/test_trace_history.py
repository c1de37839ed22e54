"""Asking about then gives what was answered then, for a job at each stage of its life and for an
account with all that becomes of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from reconcile.sim.cluster.images import Behaviour
from reconcile.sim.github.model import Run
from tests.database import Database
from tests.simulation import situations as it
from tests.system import System, system
from tests.tracing import command

Document = dict[str, Any]
# Of a job that waits the queue is not kept; of the others everything is.
OF_ITS_LIFE = ("subject", "at", "known", "job", "account", "timeline", "older")


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


@dataclass
class Memory:
    """What was answered, and when."""

    s: System
    question: list[str]
    told: list[tuple[datetime, Document]] = field(default_factory=list)

    def ask(self) -> Document:
        now = self.s.world.time.clock.now()
        self.told.append((now, command(self.s, *self.question, "--json").document))
        return self.told[-1][1]

    def again(self, moment: datetime) -> Document:
        return command(self.s, *self.question, "--at", moment.isoformat(), "--json").document

    def watch(self, ticks: int) -> None:
        for _ in range(ticks):
            self.s.world.time.step(15)
            self.s.run()
            self.ask()

    @property
    def stages(self) -> list[str]:
        """In their order, each once."""
        stages: list[str] = []
        for _, document in self.told:
            job = document["job"]
            stage = (
                "unknown" if job is None else job["reason"] or job["conclusion"] or job["status"]
            )
            if stage not in stages[-1:]:
                stages.append(stage)
        return stages


def stepped(s: System, seconds: int) -> None:
    s.world.time.step(seconds)


def with_nothing_in_its_way(s: System, memory: Memory) -> Run:
    """It waits for a board, gets one, runs, and ends."""
    run = s.push(seconds=90)
    stepped(s, 2)
    memory.watch(3)
    s.boards(1)
    memory.watch(14)
    return run


def cancelled_in_the_queue(s: System, memory: Memory) -> Run:
    run = s.push()
    stepped(s, 2)
    memory.watch(2)
    stepped(s, 1)
    s.world.github.engine.cancel(run)
    memory.watch(2)
    return run


def deleted_at_github(s: System, memory: Memory) -> Run:
    s.toml = "[run]\npoll_interval = 1\n"
    run = s.push()
    stepped(s, 2)
    memory.watch(2)
    s.world.github.engine.delete(run)
    memory.watch(7)
    return run


def uninstalled_while_it_ran(s: System, memory: Memory) -> Run:
    s.toml = "[run]\npoll_interval = 1\n"
    s.boards(1)
    run = s.push(seconds=3600)
    stepped(s, 2)
    memory.watch(4)
    s.world.github.accounts.uninstall(s.installation)
    memory.watch(6)
    return run


def on_a_runner_that_dies(s: System, memory: Memory) -> Run:
    s.boards(1)
    run = s.push(seconds=600)
    stepped(s, 2)
    memory.watch(5)
    stepped(s, 1)
    [worker] = s.workers()
    it.remove_pod(s, worker["pod_name"])
    memory.watch(60)
    return run


def after_runners_that_failed(s: System, memory: Memory) -> Run:
    s.boards(1)
    s.world.cluster.next_pod(Behaviour.CRASHES)
    run = s.push(seconds=60)
    stepped(s, 2)
    memory.watch(16)
    return run


LIVES: list[tuple[Callable[[System, Memory], Run], list[str]]] = [
    (with_nothing_in_its_way, ["unknown", "pending", "running", "success"]),
    (cancelled_in_the_queue, ["unknown", "pending", "cancelled"]),
    (deleted_at_github, ["unknown", "pending", "job_gone"]),
    (uninstalled_while_it_ran, ["unknown", "pending", "running", "installation_gone"]),
    (on_a_runner_that_dies, ["unknown", "pending", "running", "failure"]),
    (after_runners_that_failed, ["unknown", "pending", "running", "success"]),
]


@pytest.mark.parametrize(("life", "stages"), LIVES, ids=lambda each: getattr(each, "__name__", ""))
def test_a_job_at_each_stage_of_its_life(
    s: System, life: Callable[[System, Memory], Run], stages: list[str]
) -> None:
    memory = Memory(s, ["--job", "41000000001"])
    stepped(s, 5)
    memory.ask()
    run = life(s, memory)
    assert run.jobs[0].id == 41000000001
    assert memory.stages == stages
    # What comes after it is over is not its.
    s.world.github.accounts.rename(s.organization, "risen")
    stepped(s, 3600)
    for moment, then in memory.told:
        now = memory.again(moment)
        for name in OF_ITS_LIFE:
            assert now[name] == then[name], (moment, name)
        waits = then["job"] is not None and then["job"]["status"] == "pending"
        if then["job"] is None:
            assert [each["finding"] for each in now["findings"]] == ["webhook_never_arrived"]
            assert "had arrived by then: it came on" in now["findings"][0]["summary"]
        elif waits:
            assert [each["finding"] for each in now["findings"]] == ["nothing_wrong"]
            assert "the queue of that time" in str(now["notes"]).lower()
        else:
            assert now["findings"] == then["findings"], moment
    ended = command(s, "--job", "41000000001", "--json").document
    assert ended["findings"] == memory.told[-1][1]["findings"]
    assert ended["timeline"] == memory.told[-1][1]["timeline"]


def test_a_job_that_waits_is_told_of_runs_that_stopped_then(s: System) -> None:
    run = s.push()
    stepped(s, 2)
    s.good_run()
    stepped(s, 400)
    then = s.world.time.clock.now()
    asked = ["--job", str(run.jobs[0].id), "--json"]
    live = command(s, *asked).document["findings"]
    s.ticks(3)
    past = command(s, *asked, "--at", then.isoformat()).document["findings"]
    assert past == live[:1]
    assert past[0]["finding"] == "reconciler_stale"


# Accounts ------------------------------------------------------------------------------------


def happenings(s: System) -> Iterator[None]:
    """One after the other; what is installed and how it is called changes with each."""
    accounts = s.world.github.accounts
    other = accounts.add_repository(s.organization, "other", private=True)
    yield
    accounts.suspend(s.installation)
    yield
    accounts.unsuspend(s.installation)
    yield
    accounts.rename(s.organization, "risen")
    yield
    accounts.select(s.installation, [other])
    yield
    s.push(other)
    yield
    accounts.accept_permissions(s.installation, administration="write")
    yield
    accounts.uninstall(s.installation)
    yield
    accounts.install(s.personal_installation.app, s.organization)
    yield
    accounts.install(s.installation.app, s.organization)
    yield
    accounts.rename(s.organization, "riseproject")
    yield


@pytest.mark.parametrize("about", ["entity", "installation"])
def test_an_account_before_and_after_all_that_became_of_it(s: System, about: str) -> None:
    number = s.organization.id if about == "entity" else s.installation.id
    memory = Memory(
        s, [f"--{about}", str(number), "--repository", "riseproject/firmware", "--limit", "1000"]
    )
    memory.ask()
    for _ in happenings(s):
        stepped(s, 7)
        memory.ask()
    stepped(s, 3600)
    answers = {document["findings"][0]["finding"] for _, document in memory.told}
    expected = {"nothing_wrong", "suspended", "renamed", "repository_removed"}
    assert expected < answers
    for moment, then in memory.told:
        assert memory.again(moment) == then, moment


def test_an_account_whose_access_came_back_was_without_it_then(s: System) -> None:
    asked = ["--entity", str(s.organization.id), "--json"]
    s.push()
    stepped(s, 2)
    s.world.github.accounts.suspend(s.installation)
    s.ticks(1, good=False)
    s.database.execute("DELETE FROM installation_events WHERE event = 'installation.suspend'")
    then = s.world.time.clock.now()
    live = command(s, *asked).document["findings"]
    assert live[0]["finding"] == "no_access"
    stepped(s, 120)
    s.world.github.accounts.unsuspend(s.installation)
    stepped(s, 2)
    s.database.execute("DELETE FROM installation_events WHERE event = 'installation.unsuspend'")
    s.good_run()
    assert command(s, *asked).document["findings"][0]["finding"] == "nothing_wrong"
    past = command(s, *asked, "--at", then.isoformat()).document["findings"]
    assert past[0]["finding"] == "no_access"


def test_where_runs_of_then_are_not_kept_any_more_nobody_is_told_that_there_were_none(
    s: System,
) -> None:
    s.push()
    s.ticks(2)
    then = s.world.time.clock.now().isoformat()
    question = ("--job", "41000000001", "--at", then, "--json")
    assert "not kept any more" not in str(command(s, *question).document["notes"])
    stepped(s, 3600)
    s.database.execute("DELETE FROM reconcile_runs")
    document = command(s, *question).document
    assert [each["finding"] for each in document["findings"]] == ["nothing_wrong"]
    assert "runs of that time are not kept any more" in str(document["notes"])
