"""Whatever is sent, the API answers, and whatever it took, the cluster lives with it."""

import copy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reconcile.sim.cluster import Image
from tests.integration.sim_cluster import (
    IMAGE,
    MERGE,
    NODES,
    PODS,
    SECRETS,
    STRATEGIC,
    World,
    pod_body,
)

VALUES = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        10**11,
        2**62,
        10**20,
        "",
        "x",
        "\ud800",
        "Bad Value!",
        "1Gi",
        [],
        [None],
        [1],
        {},
        {"x": 1},
    ]
) | st.sampled_from([[{}], [[]], ["x"], {"name": "x"}, [{"name": "x"}], {"key": "x", "name": "y"}])
FULL = pod_body(
    "full",
    {
        "env": [
            {"name": "RUNNER_JITCONFIG", "value": "x"},
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
        "envFrom": [{"prefix": "P_", "secretRef": {"name": "s", "optional": True}}],
        "ports": [{"containerPort": 80}],
        "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1", "memory": "1Gi"}},
    },
    activeDeadlineSeconds=300,
    hostNetwork=True,
    tolerations=[{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9}],
    terminationGracePeriodSeconds=5,
)
FULL["metadata"]["annotations"] = {"a": "b"}
SECRET: dict[str, Any] = {
    "metadata": {"name": "s"},
    "data": {"k": "eA=="},
    "stringData": {"l": "m"},
}
OWNED = {
    "metadata": {
        "name": "owned",
        "finalizers": ["riseproject.dev/a"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "b"}],
    }
}
PATCH: dict[str, Any] = {
    "metadata": {"labels": {"a": "b"}, "finalizers": ["riseproject.dev/b"]},
    "spec": {
        "activeDeadlineSeconds": 10,
        "containers": [{"name": "runner", "image": "other:1", "$patch": "merge"}],
        "$setElementOrder/containers": [{"name": "runner"}],
        "$retainKeys": ["containers"],
        "unschedulable": True,
        "taints": [{"key": "a", "effect": "NoExecute"}],
    },
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for name, one in value.items():
            found += places(one, (*path, name))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            found += places(one, (*path, index))
    return found


@st.composite
def mutants(draw: st.DrawFn, original: Any) -> Any:
    """The original with one or two of its parts replaced."""
    result = copy.deepcopy(original)
    for _ in range(draw(st.integers(1, 2))):
        *parents, last = draw(st.sampled_from(places(result)))
        holder = result
        for part in parents:
            holder = holder[part]
        holder[last] = copy.deepcopy(draw(VALUES))
    return result


POINTERS = [
    "",
    "/spec",
    "/spec/containers/0",
    "/spec/containers/0/env",
    "/spec/tolerations/-",
    "/metadata/labels",
    "/metadata/name",
    "/status",
    "/kind",
    "/-",
    "x",
]
FEW = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def world() -> World:
    made = World()
    made.cluster.set_image(IMAGE, Image(pull_seconds=1, start_seconds=1))
    return made


@FEW
@given(mutants(FULL), mutants(SECRET), mutants(OWNED))
def test_any_object_is_answered_and_lived_with(pod: Any, secret: Any, owned: Any) -> None:
    made = world()
    for body in (SECRET, secret, owned):
        assert made.send("POST", SECRETS, body).status in (201, 400, 409, 422)
    response = made.send("POST", PODS, pod)
    assert response.status in (201, 400, 422), response.body
    made.step(600)
    for name in made.names():
        made.send("GET", f"{PODS}/{name}/log")
        made.delete(name)
    made.step(60)


@FEW
@given(mutants(PATCH), st.sampled_from([MERGE, STRATEGIC]))
def test_any_patch_is_answered_and_lived_with(patch: Any, media_type: str) -> None:
    made = world()
    made.create("a")
    made.step(30)
    for path in (f"{PODS}/a", f"{NODES}/rv1-0"):
        response = made.send("PATCH", path, patch, media_type=media_type)
        assert response.status in (200, 400, 409, 422), response.body
    made.step(600)


@FEW
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]),
                "path": st.sampled_from(POINTERS),
            },
            optional={"value": VALUES, "from": st.sampled_from(["/spec", "/metadata/labels", "/"])},
        ),
        max_size=3,
    )
)
def test_any_json_patch_is_answered(patch: list[dict[str, Any]]) -> None:
    made = world()
    made.create("a")
    response = made.send("PATCH", f"{PODS}/a", patch, media_type="application/json-patch+json")
    assert response.status in (200, 400, 422), response.body
    made.step(60)
