"""The API where a real cluster cannot be asked for the same: errors, snapshots, permissions."""

import base64
import json

import pytest

from reconcile.sim import faults
from reconcile.sim.cluster import ADMIN_TOKEN
from reconcile.sim.faults import Faults
from reconcile.sim.http import Request
from reconcile.sim.server import Server
from tests.integration.sim_cluster import EVENTS, MERGE, NODES, PODS, SECRETS, World, pod_body


@pytest.fixture
def world() -> World:
    return World()


# Permissions.


def test_stranger_is_unauthorized(world: World) -> None:
    for token in (None, "wrong"):
        status = world.refused("GET", PODS, token=token)
        assert (status["code"], status["reason"], status["message"]) == (
            401,
            "Unauthorized",
            "Unauthorized",
        )


OTHER_PODS = "/api/v1/namespaces/kube-system/pods"
RULES: list[tuple[str | None, str, str]] = [
    ("default", "pods", "list"),
    ("default", "pods", "get"),
    ("default", "pods/log", "get"),
    ("default", "secrets", "*"),
    (None, "nodes", "list"),
]


def test_user_may_do_what_the_rules_say_and_no_more(world: World) -> None:
    world.cluster.add_user("token", RULES, "system:serviceaccount:default:reconciler")
    who = 'User "system:serviceaccount:default:reconciler"'
    name = world.create()
    for method, path in (
        ("GET", PODS),
        ("GET", f"{PODS}/{name}"),
        ("GET", f"{PODS}/{name}/log"),
        ("GET", SECRETS),
        ("GET", NODES),
        ("GET", "/version"),
    ):
        assert world.send(method, path, token="token").status == 200, path
    here, everywhere = 'in the namespace "default"', "at the cluster scope"
    elsewhere = 'in the namespace "kube-system"'
    for method, path, what, how, where in (
        ("POST", PODS, "pods", 'create resource "pods"', here),
        ("DELETE", f"{PODS}/{name}", f'pods "{name}"', 'delete resource "pods"', here),
        ("GET", "/api/v1/pods", "pods", 'list resource "pods"', everywhere),
        ("GET", f"{NODES}/rv1-0", 'nodes "rv1-0"', 'get resource "nodes"', everywhere),
        ("GET", OTHER_PODS, "pods", 'list resource "pods"', elsewhere),
    ):
        status = world.refused(method, path, {}, token="token")
        assert (status["code"], status["reason"]) == (403, "Forbidden")
        assert status["message"] == (
            f'{what} is forbidden: {who} cannot {how} in API group "" {where}'
        )


@pytest.mark.parametrize(
    ("attributes", "allowed"),
    [
        ({"namespace": "default", "verb": "list", "resource": "pods"}, True),
        ({"namespace": "default", "verb": "create", "resource": "pods"}, False),
        ({"namespace": "default", "verb": "get", "resource": "pods", "subresource": "log"}, True),
        ({"namespace": "default", "verb": "delete", "resource": "secrets"}, True),
        ({"verb": "list", "resource": "pods"}, False),
        ({"verb": "list", "resource": "nodes"}, True),
        ({"verb": "list", "resource": "nodes", "group": "metrics.k8s.io"}, False),
    ],
)
def test_review_answers_from_the_same_rules(
    world: World, attributes: dict[str, str], allowed: bool
) -> None:
    world.cluster.add_user("token", RULES, "reconciler")
    review = world.ask(
        "POST",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        {"spec": {"resourceAttributes": attributes}},
        token="token",
    )
    assert review["status"]["allowed"] is allowed


# What is refused.


def test_unknown_paths_and_methods_are_refused(world: World) -> None:
    assert world.send("GET", "/api/v1/surprises").status == 404
    status = world.refused("PUT", f"{PODS}/any")
    assert (status["code"], status["reason"]) == (405, "MethodNotAllowed")
    assert world.send("GET", "/readyz").body == b"ok"


@pytest.mark.parametrize("parameter", ["true", "1"])
def test_watch_is_refused_in_so_many_words(world: World, parameter: str) -> None:
    status = world.refused("GET", PODS, query={"watch": parameter})
    assert status["code"] == 400
    assert "watch is not supported by the simulated cluster" in status["message"]


def test_what_cannot_be_simulated_is_refused(world: World) -> None:
    for policy in ("Always", "OnFailure"):
        body = pod_body("a", restartPolicy=policy)
        assert "simulated kubelet" in world.refused("POST", PODS, body)["message"]
    body = pod_body("a")
    del body["spec"]["restartPolicy"]
    assert "default is Always" in world.refused("POST", PODS, body)["message"]
    for field in ("initContainers", "volumes"):
        body = pod_body("a")
        body["spec"][field] = [{"name": "b"}]
        status = world.refused("POST", PODS, body)
        assert status["code"] == 422
        assert "not supported by the simulated cluster" in status["message"]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"1", b'"pod"', b"null", b'{"metadata": 1}', b'{"spec": {"containers": 1}}'],
)
def test_any_body_is_answered(world: World, body: bytes) -> None:
    status = world.refused("POST", PODS, body)
    assert status["code"] in (400, 422)


def test_kind_must_be_right(world: World) -> None:
    for kind in ({"kind": "Secret"}, {"apiVersion": "v2"}):
        assert world.refused("POST", PODS, pod_body("a") | kind)["code"] == 400
    world.ask("POST", PODS, pod_body("a") | {"kind": "Pod", "apiVersion": "v1"})
    body = pod_body("b")
    body["metadata"]["namespace"] = "other"
    assert world.refused("POST", PODS, body)["code"] == 400
    body["metadata"] = {"name": "b", "resourceVersion": "1"}
    assert world.refused("POST", PODS, body)["code"] == 400
    status = world.refused("POST", PODS, pod_body("c"), media_type="application/yaml")
    assert (status["code"], status["reason"]) == (415, "UnsupportedMediaType")


def test_nulls_are_nothing(world: World) -> None:
    body = pod_body("a", activeDeadlineSeconds=None, tolerations=None)
    body["metadata"]["annotations"] = None
    pod = world.ask("POST", PODS, body)
    assert "activeDeadlineSeconds" not in pod["spec"]
    assert "annotations" not in pod["metadata"]


def test_several_faults_are_all_named(world: World) -> None:
    body = pod_body("Bad_Name", activeDeadlineSeconds=-1)
    status = world.refused("POST", PODS, body)
    fields = [cause["field"] for cause in status["details"]["causes"]]
    assert fields == ["metadata.name", "spec.activeDeadlineSeconds"]
    assert status["message"].startswith('Pod "Bad_Name" is invalid: [metadata.name: Invalid value')


# Lists.


def names(page: dict[str, object]) -> list[str]:
    items = page["items"]
    assert isinstance(items, list)
    return [item["metadata"]["name"] for item in items]


def test_snapshot_stays_as_it_was_while_the_world_changes(world: World) -> None:
    created = [world.create() for _ in range(7)]
    page = world.ask("GET", PODS, query={"limit": 3})
    assert page["metadata"]["remainingItemCount"] == 4
    phases = [item["status"]["phase"] for item in page["items"]]
    seen = names(page)
    for name in created[4:]:
        world.delete(name)
    world.create("aaa")
    world.create("zzz")
    world.step(60)
    while token := page["metadata"].get("continue"):
        page = world.ask("GET", PODS, query={"limit": 3, "continue": token})
        seen += names(page)
        phases += [item["status"]["phase"] for item in page["items"]]
    assert seen == created
    assert set(phases) == {"Pending"}
    assert "remainingItemCount" not in page["metadata"]


def test_old_token_is_gone_and_offers_another(world: World) -> None:
    created = [world.create() for _ in range(4)]
    token = world.ask("GET", PODS, query={"limit": 2})["metadata"]["continue"]
    world.step(301)
    status = world.refused("GET", PODS, query={"limit": 2, "continue": token})
    assert (status["code"], status["reason"]) == (410, "Expired")
    world.create("zzz")
    query = {"limit": 9, "continue": status["metadata"]["continue"]}
    assert names(world.ask("GET", PODS, query=query)) == [*created[2:], "zzz"]


@pytest.mark.parametrize(
    "token",
    [
        "%%%",
        base64.urlsafe_b64encode(b'{"v":"meta.k8s.io/v9","rv":5,"start":"a"}').decode(),
        base64.urlsafe_b64encode(b'{"v":"meta.k8s.io/v1","rv":0,"start":"a"}').decode(),
        base64.urlsafe_b64encode(b"[]").decode(),
    ],
)
def test_what_is_no_token_is_a_bad_request(world: World, token: str) -> None:
    assert world.refused("GET", PODS, query={"continue": token})["code"] == 400


def test_lists_keep_to_their_namespace(world: World) -> None:
    world.cluster.add_namespace("staging")
    world.create("here")
    world.ask("POST", "/api/v1/namespaces/staging/pods", pod_body("there"))
    assert names(world.ask("GET", PODS)) == ["here"]
    assert names(world.ask("GET", "/api/v1/pods")) == ["here", "there"]
    assert [pod["metadata"]["name"] for pod in world.cluster.pods("staging")] == ["there"]


def test_versions_only_grow(world: World) -> None:
    versions = []
    for _ in range(3):
        name = world.create()
        versions.append(int(world.cluster.pod(name)["metadata"]["resourceVersion"]))
        world.step(1)
        versions.append(int(world.ask("GET", PODS)["metadata"]["resourceVersion"]))
    assert versions == sorted(versions)


def test_what_is_looked_at_can_be_changed_without_harm(world: World) -> None:
    name = world.create()
    world.cluster.pod(name)["metadata"]["labels"]["app"] = "changed"
    world.cluster.pods()[0]["spec"].clear()
    assert world.cluster.pod(name)["metadata"]["labels"] == {"app": "rise-riscv-runner"}


# Nodes by the API.


def test_node_can_be_cordoned_and_labelled_by_patch(world: World) -> None:
    change = {"metadata": {"labels": {"room": "7"}}, "spec": {"unschedulable": True}}
    node = world.ask("PATCH", f"{NODES}/rv1-0", change, media_type=MERGE)
    assert node["metadata"]["labels"]["room"] == "7"
    world.step(1)
    assert world.taints("rv1-0") == {("node.kubernetes.io/unschedulable", "NoSchedule")}
    found = world.ask("GET", NODES, query={"fieldSelector": "spec.unschedulable=true"})
    assert names(found) == ["rv1-0"]
    bad = {"spec": {"taints": [{"key": "a", "effect": "Sometimes"}]}}
    assert world.refused("PATCH", f"{NODES}/rv1-0", bad, media_type=MERGE)["code"] == 422


# Garbage.


def test_secret_owned_by_two_goes_with_the_last(world: World) -> None:
    pods = [world.create(), world.create()]
    owners = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": name,
            "uid": world.cluster.pod(name)["metadata"]["uid"],
        }
        for name in pods
    ]
    world.ask("POST", SECRETS, {"metadata": {"name": "jit", "ownerReferences": owners}})
    world.delete(pods[0], gracePeriodSeconds=0)
    world.step(60)
    assert len(world.cluster.secrets()) == 1
    world.delete(pods[1], gracePeriodSeconds=0)
    world.step(60)
    assert world.cluster.secrets() == []


def test_orphan_stays(world: World) -> None:
    name = world.create()
    owner = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": name,
        "uid": world.cluster.pod(name)["metadata"]["uid"],
    }
    world.ask("POST", SECRETS, {"metadata": {"name": "jit", "ownerReferences": [owner]}})
    world.delete(name, propagationPolicy="Orphan", gracePeriodSeconds=0)
    world.step(60)
    [secret] = world.cluster.secrets()
    assert secret["metadata"]["ownerReferences"] == []


# Events and logs.


def test_events_are_counted_and_forgotten_after_an_hour(world: World) -> None:
    container = {
        "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "none", "key": "a"}}}]
    }
    name = world.create(container=container)
    world.step(120)
    query = {"fieldSelector": f"involvedObject.name={name},reason=Failed,type=Warning"}
    [event] = world.ask("GET", EVENTS, query=query)["items"]
    assert event["count"] > 3
    assert event["firstTimestamp"] < event["lastTimestamp"]
    assert event["involvedObject"]["fieldPath"] == "spec.containers{runner}"
    assert event["source"] == {"component": "kubelet", "host": "rv1-0"}
    world.delete(name, gracePeriodSeconds=0)
    world.step(3700)
    assert world.ask("GET", EVENTS)["items"] == []


def test_log_of_a_silent_node_is_out_of_reach(world: World) -> None:
    name = world.running()
    world.cluster.silence("rv1-0", runner_survives=True)
    status = world.refused("GET", f"{PODS}/{name}/log")
    assert status["code"] == 500
    assert "dial tcp" in status["message"]
    world.cluster.revive("rv1-0")
    assert world.log(name)


def test_log_can_begin_late_and_bear_its_times(world: World) -> None:
    name = world.running()
    world.step(100)
    world.github.sessions[0].listener.job_started("build")
    late = world.log(name, sinceSeconds=10).splitlines()
    assert len(late) == 1
    assert late[0].endswith("Running job: build")
    [stamped] = world.log(name, tailLines=1, timestamps="true").splitlines()
    assert stamped.partition(" ")[0].endswith("Z")
    since = stamped.partition(" ")[0]
    assert world.log(name, sinceTime=since[:19] + "Z").splitlines() == late
    both = {"sinceSeconds": 1, "sinceTime": since}
    assert world.refused("GET", f"{PODS}/{name}/log", query=both)["code"] == 422


# Faults.


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
    ],
)
def test_injected_errors_are_worded_as_the_server_would(
    world: World, status: int, reason: str
) -> None:
    response = world.cluster.refusal(status, 7)
    body = json.loads(response.body)
    assert (response.status, body["reason"], body["code"]) == (status, reason, status)
    assert response.headers["Retry-After"] == "7"


def test_gateway_answers_in_html_and_an_expired_token_is_unauthorized(world: World) -> None:
    assert world.cluster.refusal(502, None).body.startswith(b"<html>")
    assert world.cluster.refusal(401, None).status == 401


def test_faults_strike_by_the_name_of_the_endpoint(world: World) -> None:
    rules = Faults()
    rules.next("k8s.create_pod", faults.status(503, after_effect=True))
    with Server(world.cluster, world.time.timeline, rules) as server:
        headers = {"authorization": f"Bearer {ADMIN_TOKEN}", "content-type": "application/json"}
        body = json.dumps(pod_body("twice")).encode()
        request = Request("POST", PODS, {}, headers, body, server.url)
        first, _ = server.exchange(request, PODS)
        second, _ = server.exchange(request, PODS)
    assert first is not None
    assert second is not None
    assert (first.status, second.status) == (503, 409), "it was done and not said"
    assert [call.endpoint for call in server.calls] == ["k8s.create_pod"] * 2
