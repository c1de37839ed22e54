"""What can be done to the world while it runs: by a scenario, or by hand (`reconcile demo act …`).

Each says in a sentence what it did. Times are the world's: at speed 30 five minutes take ten
seconds.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..sim import faults
from ..sim.cluster.images import Behaviour
from ..sim.github.deliveries import Mishap, MishapRule
from . import fleet, load
from .spans import in_words, parse_span
from .stage import Stage

USUAL_SPAN = "5m"
SHORTEST_ABSENCE = 1.0  # of a process, in seconds of ours
RESTART_SECONDS = 10  # of the world: as long as a kubelet takes to start a pod anew
USUAL_FLOOD, LARGEST_FLOOD = 150, 2000
USUAL_CRASHES, MOST_CRASHES = 3, 100


R = TypeVar("R")


class ActError(Exception):
    """It cannot be done; the message says why."""


@dataclass(frozen=True, slots=True)
class Act:
    name: str
    takes: tuple[str, ...]  # its arguments, all of which may be left out
    about: str
    do: Callable[[Stage, Sequence[str]], str]


def perform(stage: Stage, name: str, arguments: Sequence[str]) -> str:
    """Raises ActError."""
    act = ACTS.get(name)
    if act is None:
        raise ActError(f"There is no act {name!r}; there are {', '.join(ACTS)}.")
    if len(arguments) > len(act.takes):
        raise ActError(f"{name} takes {' '.join(f'[{each}]' for each in act.takes) or 'nothing'}.")
    if stage.director.stopped and name != "heal":
        raise ActError("The demo is coming to its end.")
    # One after the other, and at one moment of the world.
    with stage.world.time.timeline.lock:
        sentence = act.do(stage, arguments)
        stage.director.tell(sentence)
    return sentence


# Boards ----------------------------------------------------------------------------------------


def _kill_board(stage: Stage, arguments: Sequence[str]) -> str:
    board = _board(stage, arguments, but=stage.dead)
    stage.world.cluster.silence(board)
    stage.dead.append(board)
    return f"Board {board} lost its power."


def _revive_board(stage: Stage, arguments: Sequence[str]) -> str:
    board = _one_of(stage.dead, arguments, "dead")
    stage.world.cluster.revive(board)
    stage.dead.remove(board)
    return f"Board {board} is back."


def _cordon(stage: Stage, arguments: Sequence[str]) -> str:
    board = _board(stage, arguments, but=[*stage.cordoned, *stage.dead])
    stage.world.cluster.cordon(board)
    stage.cordoned.append(board)
    return f"Board {board} is cordoned: it finishes its job and gets no other."


def _uncordon(stage: Stage, arguments: Sequence[str]) -> str:
    board = _one_of(stage.cordoned, arguments, "cordoned")
    stage.world.cluster.uncordon(board)
    stage.cordoned.remove(board)
    return f"Board {board} may take jobs again."


def _board(stage: Stage, arguments: Sequence[str], but: Sequence[str]) -> str:
    """The one that is named, or one of those that work, for that is where it hurts."""
    everyone = [pool.node(number) for pool in fleet.POOLS for number in range(1, pool.boards + 1)]
    if arguments:
        if arguments[0] not in everyone:
            pools = ", ".join(f"{pool.node(1)} to {pool.node(pool.boards)}" for pool in fleet.POOLS)
            raise ActError(f"There is no board {arguments[0]!r}; there are {pools}.")
        if arguments[0] in but:
            raise ActError(f"{arguments[0]} is so already.")
        return arguments[0]
    left = [board for board in everyone if board not in but]
    if not left:
        raise ActError("There is no board left.")
    pods = stage.world.cluster.pods()
    busy = {pod["spec"].get("nodeName") for pod in pods if pod["status"]["phase"] == "Running"}
    return stage.chance.choice([board for board in left if board in busy] or left)


def _one_of(boards: Sequence[str], arguments: Sequence[str], what: str) -> str:
    if arguments and arguments[0] not in boards:
        raise ActError(f"{arguments[0]} is not {what}.")
    if not boards:
        raise ActError(f"No board is {what}.")
    return arguments[0] if arguments else boards[0]


# Services --------------------------------------------------------------------------------------


def _break_github(stage: Stage, arguments: Sequence[str]) -> str:
    return _break(stage, "github.*", "GitHub's API", arguments)


def _break_cluster(stage: Stage, arguments: Sequence[str]) -> str:
    return _break(stage, "k8s.*", "the cluster's API", arguments)


def _break(stage: Stage, endpoints: str, what: str, arguments: Sequence[str]) -> str:
    seconds = _span(arguments)
    rule = stage.world.faults.always(endpoints, faults.status(503))
    name = f"{what[0].upper()}{what[1:]}"
    _until(stage, seconds, what, rule, stage.world.faults.remove, f"{name} answers again.")
    return f"{name} answers everything with 503 for {in_words(seconds)}."


def _drop_webhooks(stage: Stage, arguments: Sequence[str]) -> str:
    seconds = _span(arguments)
    deliveries = stage.world.github.deliveries
    rule = deliveries.misbehave(MishapRule(Mishap.REFUSE))
    sentence = "Webhooks arrive again; those that failed are in GitHub's log."
    _until(stage, seconds, "webhooks", rule, deliveries.forget, sentence)
    return f"Webhooks do not reach the function for {in_words(seconds)}."


def _until(
    stage: Stage,
    seconds: float,
    what: str,
    rule: R,
    forget: Callable[[R], None],
    sentence: str,
) -> None:
    """Told only if nothing else breaks it any more: there may be a longer one."""
    in_force = stage.outages.setdefault(what, set())
    in_force.add(rule)

    def mend() -> None:
        if rule in in_force:  # Else it was healed before.
            in_force.discard(rule)
            forget(rule)
            if not in_force:
                stage.director.tell(sentence)

    stage.world.time.timeline.after(seconds, mend)


def _stop_database(stage: Stage, arguments: Sequence[str]) -> str:
    seconds = max(_span(arguments or ("1m",)), SHORTEST_ABSENCE * stage.options.speed)
    if not stage.database_is_there.acquire(blocking=False):
        raise ActError("The database is away already.")
    stage.come_back.clear()

    def absence() -> None:
        try:
            with stage.database.stopped():
                stage.come_back.wait(seconds / stage.options.speed)
            stage.director.tell("The database is back.")
        finally:
            stage.database_is_there.release()

    _beside("stop-database", absence)
    return f"The database is away for {in_words(seconds)}."


def _kill_controller(stage: Stage, arguments: Sequence[str]) -> str:  # noqa: ARG001 takes none
    if not stage.controller_is_there.acquire(blocking=False):
        raise ActError("The controller is away already.")

    def absence() -> None:
        try:
            stage.controller.pause()
            time.sleep(max(SHORTEST_ABSENCE, RESTART_SECONDS / stage.options.speed))
            stage.controller.resume()
        finally:
            stage.controller_is_there.release()

    _beside("kill-controller", absence)
    return "The controller was killed, and the run with it; Kubernetes starts it anew."


def _beside(name: str, work: Callable[[], None]) -> None:
    """Processes take their time, and the world's lock must not be held so long."""
    threading.Thread(target=work, name=f"demo-{name}", daemon=True).start()


# Work ------------------------------------------------------------------------------------------


def _flood(stage: Stage, arguments: Sequence[str]) -> str:
    login = arguments[0] if arguments else fleet.FLOODING
    tenant = next((each for each in fleet.TENANTS if each.login == login), None)
    if tenant is None:
        logins = ", ".join(each.login for each in fleet.TENANTS)
        raise ActError(f"There is no account {login!r}; there are {logins}.")
    jobs = _count(arguments[1:], USUAL_FLOOD, LARGEST_FLOOD)
    now = stage.world.time.timeline.now()
    seed = stage.chance.randrange(2**32)
    stage.director.follow(load.flood(0, seed, tenant, jobs), stage.director.push, now)
    return f"{login} asks for {jobs} jobs at once."


def _crash_runners(stage: Stage, arguments: Sequence[str]) -> str:
    count = _count(arguments, USUAL_CRASHES, MOST_CRASHES)
    stage.world.cluster.next_pod(Behaviour.CRASHES, count)
    return f"Of the runners to start, the next {count} will crash."


def heal(stage: Stage, arguments: Sequence[str] = ()) -> str:  # noqa: ARG001 takes none
    """Everything is as it was. What left traces is for the system to clean up."""
    stage.come_back.set()
    for rules in stage.outages.values():
        rules.clear()
    stage.world.faults.clear()
    stage.world.github.deliveries.behave()
    stage.world.cluster.next_pods_as_usual()
    for board in list(stage.dead):
        _revive_board(stage, [board])
    for board in list(stage.cordoned):
        _uncordon(stage, [board])
    return "All boards and services are well again."


def _span(arguments: Sequence[str]) -> float:
    try:
        return parse_span(arguments[0] if arguments else USUAL_SPAN)
    except ValueError as error:
        raise ActError(str(error)) from error


def _count(arguments: Sequence[str], usual: int, largest: int) -> int:
    if not arguments:
        return usual
    if not (arguments[0].isascii() and arguments[0].isdigit() and 0 < int(arguments[0]) <= largest):
        raise ActError(f"{arguments[0]!r} is no number from 1 to {largest}.")
    return int(arguments[0])


ACTS = {
    act.name: act
    for act in (
        Act(
            "kill-board",
            ("BOARD",),
            "cut a board's power, a busy one's if none is named",
            _kill_board,
        ),
        Act("revive-board", ("BOARD",), "give it back, to the first that lost it", _revive_board),
        Act("cordon", ("BOARD",), "let a board take no new job", _cordon),
        Act("uncordon", ("BOARD",), "let it again", _uncordon),
        Act("break-github", ("SPAN",), "GitHub answers 503 for a while (5m)", _break_github),
        Act("break-cluster", ("SPAN",), "so does the cluster", _break_cluster),
        Act("drop-webhooks", ("SPAN",), "no webhook arrives for a while (5m)", _drop_webhooks),
        Act("stop-database", ("SPAN",), "PostgreSQL is away for a while (1m)", _stop_database),
        Act("kill-controller", (), "SIGKILL; it is started anew after a moment", _kill_controller),
        Act("crash-runners", ("COUNT",), "the next few runners crash (3)", _crash_runners),
        Act("flood", ("ACCOUNT", "JOBS"), "one account asks for many jobs at once (150)", _flood),
        Act("heal", (), "end all of this", heal),
    )
}
