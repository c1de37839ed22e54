"""Both simulators in live time: webhooks from threads, errors that are not lost."""

import contextlib
from collections.abc import Iterator

import pytest

from reconcile.sim.clock import LiveClock
from reconcile.sim.faults import Faults
from reconcile.sim.github import GitHub, workflow
from reconcile.sim.github.deliveries import Mishap, MishapRule
from reconcile.sim.github.model import App, Repository
from reconcile.sim.server import Server
from reconcile.sim.timeline import LiveTime
from tests.receiver import Receiver
from tests.simulated import LABEL, public_key
from tests.waiting import wait_until

BUILD = workflow.uniform((LABEL,), seconds=60)


@contextlib.contextmanager
def live() -> Iterator[tuple[GitHub, Repository, App, Receiver]]:
    receiver = Receiver()
    with LiveTime(LiveClock(speed=100)) as time:
        github = GitHub(time.timeline)
        with Server(receiver, time.timeline, Faults()) as hooks:
            app = github.accounts.add_app(public_key(), webhook_url=hooks.url + "/")
            organization = github.accounts.add_organization("riseproject")
            repository = github.accounts.add_repository(organization, "llvm-project")
            github.accounts.install(app, organization)
            wait_until(lambda: receiver.names() == ["installation.created"])
            receiver.received.clear()
            yield github, repository, app, receiver
    assert not receiver.problems, receiver.problems


def test_every_webhook_arrives() -> None:
    with live() as (github, repository, _, receiver):
        for _ in range(50):
            github.engine.push(repository, BUILD)
        wait_until(lambda: len(receiver.received) == 50)


def test_reordered_delivery_is_overtaken_every_time() -> None:
    with live() as (github, repository, _, receiver):
        github.deliveries.misbehave(MishapRule(Mishap.REORDER))
        for count in range(2, 42, 2):
            pair = [github.engine.push(repository, BUILD).id for _ in range(2)]
            wait_until(lambda count=count: len(receiver.received) == count)  # type: ignore[misc]
            arrived = [each.payload["workflow_job"]["run_id"] for each in receiver.received[-2:]]
            assert arrived == pair[::-1]


def test_what_fails_does_not_stop_time_and_is_raised_at_its_end() -> None:
    done: list[str] = []

    def fail() -> None:
        raise KeyError("an action")

    def fail_outside() -> None:
        raise ValueError("an effect")

    def run() -> None:
        with LiveTime(LiveClock(speed=100)) as time:
            time.timeline.after(1, fail)
            time.timeline.after(2, lambda: fail_outside)
            time.timeline.after(3, lambda: done.append("went on"))
            wait_until(lambda: bool(done) and len(time.errors) == 2)

    with pytest.raises(ExceptionGroup) as raised:
        run()
    assert {type(error) for error in raised.value.exceptions} == {KeyError, ValueError}
