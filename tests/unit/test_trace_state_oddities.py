"""Whatever GitHub may write: odd values make nothing up."""

import json
import math
from typing import Any

import pytest

from tests.trace_events import ASKED, NAME, World, event, numbered, stamp
from tests.trace_folding import EVENTS, FIELDS, account, covered, only
from webhook_fn.trace.state import Status

ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    1e300,
    10**400,
    "",
    "soon",
    "2026-03-02T09:00:00+99:99",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    [],
    [None],
    [[]],
    [{}],
    [{"full_name": 3}],
    [{"full_name": ""}],
    {},
    {"linux": {}},
    {"full_name": "linux"},
)


@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:30])
@pytest.mark.parametrize("name", FIELDS)
def test_odd_values_in_any_field_of_any_event_make_nothing_up(name: str, value: Any) -> None:
    world = World()
    number = world.install(chosen={"linux"})
    world.suspend(number)
    for kind in EVENTS:
        log = [*world.log(), event(kind, 9, at=9, **{name: value})]
        whole = account(log)
        json.dumps(whole.document(), allow_nan=False)
        [it] = whole.installations
        linux, qemu = covered(it, "linux", "qemu")
        assert linux is True
        assert qemu is not True
        assert it.permissions in (ASKED, {}, value)
        renamed = name == "renamed_from" and kind == "installation_target.renamed"
        names = [value] if renamed and isinstance(value, str) and value else []
        assert [each.name for each in whole.renames] == names
        assert whole.name == NAME


@pytest.mark.parametrize(
    "value", [True, "soon", "2026-03-02T09:00:00+99:99", 10**400, math.inf, math.nan, [], {}]
)
def test_an_odd_date_is_as_good_as_none(value: Any) -> None:
    log = [
        event("installation.suspend", updated_at=stamp(5)),
        event("installation.unsuspend", updated_at=value),
    ]
    assert only(numbered(log)).status is Status.INSTALLED


@pytest.mark.parametrize("value", ["", 7, [], {}])
def test_an_odd_delivery_is_not_taken_for_another_one(value: Any) -> None:
    log = [
        event("installation.suspend", delivery=value),
        event("installation.unsuspend", delivery=value),
    ]
    assert only(numbered(log)).status is Status.INSTALLED


def test_permissions_of_odd_levels_are_left_out() -> None:
    levels = {"actions": "read", "pages": None, "checks": ["write"], "issues": 3}
    assert only([event("installation.created", permissions=levels)]).permissions == {
        "actions": "read"
    }
