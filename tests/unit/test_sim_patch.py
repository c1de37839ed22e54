"""The three kinds of patches, on plain values."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconcile.sim.cluster.json_patch import json_patch
from reconcile.sim.cluster.patch import PatchError, PatchFailedError, merge, strategic_merge

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3)
NAMES = st.text("abc", min_size=1, max_size=2)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(NAMES, JSON, max_size=4)


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return value


@given(OBJECTS, OBJECTS)
def test_merge_is_idempotent_and_leaves_its_input_alone(
    target: dict[str, Any], patch: dict[str, Any]
) -> None:
    before = copy.deepcopy(target)
    once = merge(target, patch)
    assert target == before
    assert merge(once, patch) == once


@given(OBJECTS, OBJECTS)
def test_merging_into_nothing_gives_the_patch_without_its_nulls(
    target: dict[str, Any], patch: dict[str, Any]
) -> None:
    assert merge({}, patch) == without_nulls(patch)
    assert merge(target, {}) == target


@given(OBJECTS, OBJECTS)
def test_without_lists_to_merge_both_merges_agree(
    target: dict[str, Any], patch: dict[str, Any]
) -> None:
    assert strategic_merge(target, patch) == merge(target, patch)


def test_lists_with_a_key_are_merged_by_it() -> None:
    pod = {
        "spec": {
            "containers": [
                {"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}]},
                {"name": "b", "image": "1"},
            ]
        }
    }
    patch = {
        "spec": {
            "containers": [
                {"name": "c", "image": "3"},
                {"name": "a", "image": "2", "env": [{"name": "Y", "value": "2"}]},
                {"name": "b", "$patch": "delete"},
            ]
        }
    }
    assert strategic_merge(pod, patch)["spec"]["containers"] == [
        {
            "name": "a",
            "image": "2",
            "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}],
        },
        {"name": "c", "image": "3"},
    ]


def test_lists_without_a_key_are_replaced() -> None:
    pod = {"spec": {"tolerations": [{"key": "a"}], "taints": [{"key": "a"}]}}
    patch = {"spec": {"tolerations": [{"key": "b"}], "taints": []}}
    assert strategic_merge(pod, patch) == patch


def test_finalizers_are_a_set_that_can_be_added_to_and_taken_from() -> None:
    value = {"metadata": {"finalizers": ["a", "b"]}}
    added = strategic_merge(value, {"metadata": {"finalizers": ["b", "c"]}})
    assert added["metadata"]["finalizers"] == ["a", "b", "c"]
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}
    assert strategic_merge(added, patch)["metadata"]["finalizers"] == ["b", "c"]


def test_directives_replace_delete_and_keep() -> None:
    value = {"spec": {"a": {"x": 1, "y": 2}, "b": {"x": 1}, "c": {"x": 1, "y": 2}}}
    patch = {
        "spec": {
            "a": {"$patch": "replace", "z": 3},
            "b": {"$patch": "delete"},
            "c": {"$retainKeys": ["y", "z"], "z": 3},
        }
    }
    assert strategic_merge(value, patch)["spec"] == {"a": {"z": 3}, "b": {}, "c": {"y": 2, "z": 3}}


def test_elements_can_be_put_in_order() -> None:
    value = {"spec": {"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}}
    patch = {"spec": {"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}]}}
    names = [one["name"] for one in strategic_merge(value, patch)["spec"]["containers"]]
    assert names == ["c", "a", "b"]


@pytest.mark.parametrize(
    "patch",
    [{"spec": {"$patch": "surprise"}}, {"spec": {"containers": [{"image": "nameless"}]}}],
)
def test_malformed_merges_are_refused(patch: dict[str, Any]) -> None:
    with pytest.raises(PatchError):
        strategic_merge({}, patch)


@pytest.mark.parametrize(
    ("operation", "after"),
    [
        ({"op": "add", "path": "/a/b", "value": 1}, {"a": {"b": 1}, "l": [1, 2]}),
        ({"op": "add", "path": "/l/-", "value": 3}, {"a": {}, "l": [1, 2, 3]}),
        ({"op": "add", "path": "/l/0", "value": 0}, {"a": {}, "l": [0, 1, 2]}),
        ({"op": "remove", "path": "/l/0"}, {"a": {}, "l": [2]}),
        ({"op": "remove", "path": "/a"}, {"l": [1, 2]}),
        ({"op": "replace", "path": "/l/1", "value": 5}, {"a": {}, "l": [1, 5]}),
        ({"op": "move", "from": "/l/0", "path": "/a/x"}, {"a": {"x": 1}, "l": [2]}),
        ({"op": "copy", "from": "/l", "path": "/a/x"}, {"a": {"x": [1, 2]}, "l": [1, 2]}),
        ({"op": "test", "path": "/l", "value": [1, 2]}, {"a": {}, "l": [1, 2]}),
        ({"op": "add", "path": "/a~1b~0c", "value": 1}, {"a": {}, "l": [1, 2], "a/b~c": 1}),
    ],
)
def test_operations_do_what_they_say(operation: dict[str, Any], after: dict[str, Any]) -> None:
    before: dict[str, Any] = {"a": {}, "l": [1, 2]}
    assert json_patch(before, [operation]) == after
    assert before == {"a": {}, "l": [1, 2]}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/none"},
        {"op": "replace", "path": "/none", "value": 1},
        {"op": "add", "path": "/none/deeper", "value": 1},
        {"op": "add", "path": "/l/7", "value": 1},
        {"op": "add", "path": "/l/01", "value": 1},
        {"op": "test", "path": "/l/0", "value": True},
        {"op": "test", "path": "/none", "value": None},
        {"op": "move", "from": "/a", "path": "/a/b"},
        {"op": "add", "path": "/x"},
        {"op": "add", "path": "x", "value": 1},
    ],
)
def test_what_does_not_fit_changes_nothing(operation: dict[str, Any]) -> None:
    before: dict[str, Any] = {"a": {}, "l": [1, 2]}
    with pytest.raises(PatchFailedError):
        json_patch(before, [{"op": "add", "path": "/new", "value": 1}, operation])
    assert before == {"a": {}, "l": [1, 2]}


@pytest.mark.parametrize("patch", [{}, ["add"], [{"op": "sing", "path": "/a"}], [{"op": "add"}]])
def test_what_is_no_patch_is_refused(patch: Any) -> None:
    with pytest.raises(PatchError):
        json_patch({}, patch)


@given(OBJECTS, JSON)
def test_what_was_added_can_be_tested_and_removed(value: dict[str, Any], new: Any) -> None:
    operations = [
        {"op": "add", "path": "/zz9", "value": new},
        {"op": "test", "path": "/zz9", "value": new},
        {"op": "remove", "path": "/zz9"},
    ]
    assert json_patch(value, operations) == value
