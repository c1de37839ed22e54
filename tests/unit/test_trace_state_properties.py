"""What holds for any history of an account and any order in which it is told."""

import copy
import json
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta, timezone
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trace_events import NAME, Installed, State, Telling, World, event, moment
from tests.trace_folding import FIELDS
from webhook_fn.trace.facts import StateEvent
from webhook_fn.trace.state import Account, Installation, fold

REPOSITORIES = ("linux", "qemu", "llvm", "gcc")
NAMES = (NAME, "risc-v", "rvsoft")
CHOICES = st.none() | st.sets(st.sampled_from(REPOSITORIES))
ENDS = ("installation.created", "installation.deleted")


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Several changes may be of one second, and some leave the date as it was."""
    world = World(repositories=set(draw(st.sets(st.sampled_from(REPOSITORIES), min_size=1))))
    _install(draw, world)
    for _ in range(draw(st.integers(0, 12))):
        world.wait(draw(st.integers(0, 2)))
        _step(draw, world)
    return world


def _step(draw: st.DrawFn, world: World) -> None:
    kinds = ["create", "delete", "rename", "fail"]
    if len(world.installations) < 4:
        kinds.append("install")
    if world.there:
        kinds += ["uninstall", "suspension", "accept", "select", "select"]
    kind = draw(st.sampled_from(kinds))
    if kind == "install":
        _install(draw, world)
    elif kind == "create":
        missing = [each for each in REPOSITORIES if each not in world.repositories]
        if missing:
            world.create_repository(draw(st.sampled_from(missing)))
    elif kind == "delete":
        world.delete_repository(draw(st.sampled_from(REPOSITORIES)))
    elif kind == "rename":
        world.rename(draw(st.sampled_from([each for each in NAMES if each != world.name])))
    elif kind == "fail":
        number = draw(st.sampled_from(sorted(world.installations)))
        world.fail_to_authenticate(number, draw(st.sampled_from(["404", "other_error"])))
    else:
        it = draw(st.sampled_from(world.there))
        _change(draw, world, it, kind)


def _install(draw: st.DrawFn, world: World) -> None:
    world.wait()  # Nobody uninstalls, renames, renames back and installs in one second.
    chosen = draw(CHOICES)
    world.install(draw(st.sampled_from([1, 2])), chosen and chosen & world.repositories)


def _change(draw: st.DrawFn, world: World, it: Installed, kind: str) -> None:
    dated = draw(st.booleans())
    if kind == "uninstall":
        world.uninstall(it.number)
    elif kind == "suspension" and it.suspended is None:
        world.suspend(it.number)
    elif kind == "suspension":
        world.unsuspend(it.number, dated=dated)
    elif kind == "accept":
        name, level = draw(st.sampled_from(["actions", "pages"])), draw(st.sampled_from("rw"))
        world.accept(it.number, **{name: level})
    else:
        chosen = draw(CHOICES)
        chosen = None if chosen is None else chosen & world.repositories
        covered = world.repositories if it.chosen is None else it.chosen
        if covered != (world.repositories if chosen is None else chosen):  # Else nothing is told.
            world.select(it.number, chosen, dated=dated)


DELAYS = st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=2), max_size=40)


def folded(events: Iterable[StateEvent]) -> Account:
    account = fold(events)
    assert account is not None
    return account


def of(account: Account, number: int) -> Installation:
    installation = account.installation(number)
    assert installation is not None
    return installation


def assert_claims_are_true(it: Installation, true: Installed, state: State) -> None:
    """Nobody may know. But what is said of a repository must be so."""
    assert it.repositories.selection in (true.selection, None)
    for name in REPOSITORIES:
        claim = it.repositories.covers(f"{NAME}/{name}")
        if true.chosen is not None:
            assert claim in (name in true.chosen, None), name
        elif name in state.repositories and not true.deleted:
            assert claim in (True, None), name
    if it.repositories.complete:
        assert set(it.repositories.included) == true.chosen
    if true.chosen is not None:
        assert set(it.repositories.included) <= true.chosen
        assert not set(it.repositories.removed) & true.chosen


def by_date(world: World, number: int) -> list[list[Telling]]:
    """What is told of an installation, a list for each second of GitHub's, the last one last. Its
    beginning and its end need no date."""
    found: dict[int, list[Telling]] = {}
    for each in world.told:
        if each.installation == number and each.whole and each.event not in ENDS:
            found.setdefault(each.after.installations[number].changed, []).append(each)
    return [found[second] for second in sorted(found)]


def last_word(world: World, number: int) -> list[Installed]:
    """What the end shows, or else each event of the last second, or else the beginning."""
    true = world.installations[number]
    seconds = by_date(world, number)
    if true.deleted or not seconds:
        return [true]
    return [each.after.installations[number] for each in seconds[-1]]


def undetermined(world: World, number: int) -> set[str]:
    """Repositories of which some second tells two things."""
    found: set[str] = set()
    for second in by_date(world, number):
        found |= named(second, "added") & named(second, "removed")
        if len({each.said["selection"] for each in second}) > 1:
            return set(REPOSITORIES)
    return found


def named(told: Iterable[Telling], key: str) -> set[str]:
    return {each["name"] for telling in told for each in telling.said.get(key, ())}


# In order -----------------------------------------------------------------------------------


@given(worlds())
@settings(deadline=None)
def test_in_order_the_state_is_the_true_one_at_every_moment(world: World) -> None:
    log = world.log()
    for place, telling in enumerate(world.told):
        if not telling.settled:
            continue
        account = folded(log[: place + 1])
        for number, true in telling.after.installations.items():
            it = of(account, number)
            assert (it.status, it.app_id, it.began) == (true.status, true.app, True)
            assert it.permissions == true.permissions
            assert it.repositories.selection == true.selection
            failure = it.auth_failure and it.auth_failure.row.id - 1
            assert failure == true.failed
            assert_claims_are_true(it, true, telling.after)
            if true.chosen is not None and not true.narrowed:
                assert it.repositories.complete
        if not telling.event.startswith("auth_attempt."):
            assert account.name == telling.after.name


# Missing beginnings -------------------------------------------------------------------------


@given(worlds(), st.data())
@settings(deadline=None)
def test_without_the_beginning_nothing_is_claimed_that_is_not_so(
    world: World, data: st.DataObject
) -> None:
    log = world.log()
    begin = data.draw(st.integers(0, len(log) - 1))
    for end in range(begin + 1, len(log) + 1):
        last = world.told[end - 1]
        if not last.settled:
            continue
        account = folded(log[begin:end])
        for it in account.installations:
            true = last.after.installations[it.id]
            assert_claims_are_true(it, true, last.after)
            heard = [each for each in world.told[begin:end] if each.installation == it.id]
            assert it.began == any(each.event == "installation.created" for each in heard)
            if any(each.whole for each in heard):
                assert it.status == true.status
                assert it.permissions == true.permissions
                assert it.repositories.selection == true.selection


# Any order ----------------------------------------------------------------------------------


@given(worlds(), DELAYS)
@settings(deadline=None, max_examples=300)
def test_in_any_order_the_state_is_the_true_one_wherever_the_dates_determine_it(
    world: World, delays: list[list[int]]
) -> None:
    """They do where all events of an installation's last second agree, or its end tells. Of a
    repository they do if no second tells both that it came and that it went, or two selections."""
    account = folded(world.delivered(delays))
    state = world.state()
    for number, true in state.installations.items():
        it = of(account, number)
        last = last_word(world, number)
        assert (it.app_id, it.began) == (true.app, True)
        assert it.status in [each.status for each in last]
        assert it.permissions in [each.permissions for each in last]
        assert it.repositories.selection in [each.selection for each in last]
        for name in set(REPOSITORIES) - undetermined(world, number):
            claim = it.repositories.covers(f"{NAME}/{name}")
            if true.chosen is not None:
                unknown = [None] if true.narrowed else []
                assert claim in [name in true.chosen, *unknown], name
            elif name in state.repositories and not true.deleted:
                assert claim is True, name


@given(worlds(), DELAYS)
@settings(deadline=None, max_examples=300)
def test_in_any_order_the_name_is_the_true_one_while_an_installation_is_there(
    world: World, delays: list[list[int]]
) -> None:
    """Else nobody is told of a change, and of several that are gone nobody knows which went last.
    Each of the changes is told of, if not one of the same names to another installation."""
    account = folded(world.delivered(delays))
    path = [*world.names, world.name]
    assert account.name in path
    if world.there:
        assert account.name == world.name
    told = {(each.said["renamed_from"], each.after.name) for each in world.told if each.renamed}
    assert {(each.name, each.event.entity_name) for each in account.renames} == told
    if len(told) == len(world.names):
        assert len(account.renames) == len(told)


@given(worlds(), DELAYS)
@settings(deadline=None)
def test_an_installation_is_what_its_own_events_tell(world: World, delays: list[list[int]]) -> None:
    log = world.delivered(delays)
    account = folded(log)
    for it in account.installations:
        assert of(folded(each for each in log if each.row.installation_id == it.id), it.id) == it


# Replays ------------------------------------------------------------------------------------


@given(worlds(), DELAYS, st.data())
@settings(deadline=None)
def test_a_log_with_anything_delivered_again_tells_the_same(
    world: World, delays: list[list[int]], data: st.DataObject
) -> None:
    log = world.delivered([each[:1] for each in delays])
    replayed = list(log)
    for number in range(data.draw(st.integers(0, 5))):
        it = data.draw(st.sampled_from(log))
        place = data.draw(st.integers(replayed.index(it) + 1, len(replayed)))
        if "delivery" in it.said:  # What a run wrote is there only once, but may be read twice.
            it = replace(it, row=replace(it.row, id=1000 + number, at=replayed[place - 1].row.at))
        replayed.insert(place, it)
    assert fold(replayed) == fold(log)
    assert fold([*log, *log]) == fold(log)


# Until, and whoever asks again --------------------------------------------------------------


@given(worlds(), DELAYS, st.integers(-1, 60))
@settings(deadline=None)
def test_until_is_the_same_as_not_having_read_on(
    world: World, delays: list[list[int]], second: int
) -> None:
    log = world.delivered(delays)
    then = moment(second + 0.5)
    assert fold(log, until=then) == fold([each for each in log if each.row.at <= then])
    assert fold(log, until=log[-1].row.at) == fold(log)


@given(worlds(), DELAYS)
@settings(deadline=None)
def test_folding_changes_nothing_and_gives_the_same_again(
    world: World, delays: list[list[int]]
) -> None:
    log = world.delivered(delays)
    before = copy.deepcopy(log)
    once = fold(log)
    assert fold(each for each in log) == once
    assert fold(tuple(copy.deepcopy(log))) == once
    assert log == before


# Anything -----------------------------------------------------------------------------------

EVENTS = (
    "installation.created",
    "installation.deleted",
    "installation.suspend",
    "installation.unsuspend",
    "installation.new_permissions_accepted",
    "installation_repositories.added",
    "installation_repositories.removed",
    "installation_target.renamed",
    "auth_attempt.404",
    "installation.",
    "installation",
    "",
)
ZONES = st.none() | st.integers(-1439, 1439).map(lambda each: timezone(timedelta(minutes=each)))
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.datetimes(timezones=ZONES).map(lambda each: each.isoformat())
    | st.sampled_from(["all", "selected", "full_name", "name", "linux"])
)
KEYS = st.sampled_from(["full_name", "name", "actions"])
ANYTHING = SCALARS | st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=5,
)
SAID = st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=6)
ROWS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(EVENTS),
        "at": st.integers(0, 9),
        "installation": st.none() | st.integers(1, 2),
        "app": st.none() | st.integers(1, 2),
        "entity_id": st.none() | st.integers(1, 2),
        "entity": st.none() | st.text(max_size=2),
        "kind": st.none() | st.sampled_from(["User", "Organization"]),
    }
)


@given(st.lists(st.tuples(ROWS, SAID), max_size=5), st.text())
@settings(deadline=None)
def test_whatever_an_event_says_it_can_be_folded_and_told_in_json(
    events: list[tuple[dict[str, Any], dict[str, Any]]], name: str
) -> None:
    log = [
        replace(event(number=number, **row), said=said)
        for number, (row, said) in enumerate(events, 1)
    ]
    account = fold(log)
    if account is None:
        assert not events
        return
    assert json.loads(json.dumps(account.document(), allow_nan=False)) == account.document()
    for it in account.installations:
        assert it.repositories.covers(name) in (True, False, None)
        assert not set(it.repositories.included) & set(it.repositories.removed)


# As many as are ever read ---------------------------------------------------------------------


def test_thousands_of_events_are_folded_at_once() -> None:
    world = World(repositories={f"repository-{number}" for number in range(40)})
    number = world.install(chosen=set())
    names = sorted(world.repositories)
    for turn in range(1250):
        world.wait()
        world.select(number, set(names[turn % 20 : turn % 20 + 20]))
        world.rename(NAMES[turn % 2])
        world.fail_to_authenticate(number)
    log = world.log()
    assert len(log) >= 5000 - 10
    began = time.perf_counter()
    account = folded(reversed(log))
    assert time.perf_counter() - began < 1  # It takes a few hundredths.
    assert account.installations[0].began
