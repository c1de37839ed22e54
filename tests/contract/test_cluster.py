"""Pods that run nowhere: what the API server alone makes of them."""

import time
from typing import Any

import pytest

from tests.contract.cluster import Kube


def selector(kube: Kube) -> str:
    return f"run={kube.prefix}"


def test_created_pod_is_filled_in(kube: Kube) -> None:
    limits = {"cpu": "0.5", "memory": "1024Mi", "riseproject.com/runner": 1}
    body = kube.pod_body()
    body["spec"]["containers"][0]["resources"] = {"limits": limits}
    pod = kube.create(body)
    spec, metadata = pod["spec"], pod["metadata"]
    wanted = {"cpu": "500m", "memory": "1Gi", "riseproject.com/runner": "1"}
    assert spec["containers"][0]["resources"] == {"limits": wanted, "requests": wanted}
    assert spec["containers"][0]["imagePullPolicy"] == "IfNotPresent"
    assert spec["containers"][0]["terminationMessagePath"] == "/dev/termination-log"
    assert spec["dnsPolicy"] == "ClusterFirst"
    assert spec["schedulerName"] == "default-scheduler"
    assert spec["terminationGracePeriodSeconds"] == 30
    tolerated = {t.get("key"): t.get("tolerationSeconds") for t in spec["tolerations"]}
    assert tolerated["node.kubernetes.io/not-ready"] == 300
    assert tolerated["node.kubernetes.io/unreachable"] == 300
    assert pod["status"]["phase"] == "Pending"
    assert pod["status"]["qosClass"] == "Guaranteed"
    assert metadata["uid"]
    assert metadata["resourceVersion"]
    assert metadata["creationTimestamp"]
    assert kube.read(pod)["metadata"]["uid"] == metadata["uid"]


def test_name_can_be_generated(kube: Kube) -> None:
    body = kube.pod_body()
    prefix = body["metadata"].pop("name") + "-"
    pod = kube.create(body | {"metadata": body["metadata"] | {"generateName": prefix}})
    assert pod["metadata"]["name"].startswith(prefix)
    assert len(pod["metadata"]["name"]) == len(prefix) + 5


def test_dry_run_creates_nothing(kube: Kube) -> None:
    pod = kube.create(kube.pod_body(), dry_run="All")
    assert pod["status"]["phase"] == "Pending"
    status = kube.refused("read_namespaced_pod", pod["metadata"]["name"], kube.namespace)
    assert (status["code"], status["reason"]) == (404, "NotFound")


def test_name_is_taken_once(kube: Kube) -> None:
    pod = kube.create(kube.pod_body())
    name = pod["metadata"]["name"]
    body = kube.pod_body() | {"metadata": {"name": name}}
    status = kube.refused("create_namespaced_pod", kube.namespace, body)
    assert (status["code"], status["reason"]) == (409, "AlreadyExists")
    assert status["message"] == f'pods "{name}" already exists'
    assert status["details"] == {"name": name, "kind": "pods"}


def test_namespace_must_exist(kube: Kube) -> None:
    status = kube.refused("create_namespaced_pod", f"{kube.prefix}-none", kube.pod_body())
    assert (status["code"], status["reason"]) == (404, "NotFound")
    assert kube.call("list_namespaced_pod", f"{kube.prefix}-none")["items"] == []


CONTAINER = {"name": "runner", "image": "busybox:1.36"}


def resources(**parts: dict[str, Any]) -> dict[str, Any]:
    return {"containers": [CONTAINER | {"resources": parts}]}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"containers": []}, "spec.containers"),
        ({"containers": [CONTAINER, CONTAINER]}, "spec.containers[1].name"),
        ({"containers": [CONTAINER | {"name": "Not_Good"}]}, "spec.containers[0].name"),
        ({"containers": [{"name": "runner"}]}, "spec.containers[0].image"),
        ({"restartPolicy": "Sometimes"}, "spec.restartPolicy"),
        ({"activeDeadlineSeconds": 0}, "spec.activeDeadlineSeconds"),
        ({"nodeSelector": {"board": "not good"}}, "spec.nodeSelector"),
        (
            resources(limits={"a.example/b": "1"}, requests={"a.example/b": "2"}),
            "spec.containers[0].resources.requests",
        ),
        (
            resources(limits={"memory": "1Gi"}, requests={"memory": "2Gi"}),
            "spec.containers[0].resources.requests",
        ),
        (
            resources(limits={"a.example/b": "500m"}),
            "spec.containers[0].resources.limits[a.example/b]",
        ),
        (
            {
                "containers": [
                    CONTAINER
                    | {
                        "env": [
                            {
                                "name": "A",
                                "value": "b",
                                "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}},
                            }
                        ]
                    }
                ]
            },
            "spec.containers[0].env[0].valueFrom",
        ),
    ],
)
def test_bad_pod_is_refused_with_the_field_at_fault(
    kube: Kube, spec: dict[str, Any], field: str
) -> None:
    status = kube.refused("create_namespaced_pod", kube.namespace, kube.pod_body(**spec))
    assert (status["code"], status["reason"]) == (422, "Invalid")
    assert status["details"]["kind"] == "Pod"
    assert field in [cause["field"] for cause in status["details"]["causes"]]


@pytest.mark.parametrize(
    "metadata",
    [{"name": "Not_Good"}, {"labels": {"app": "not good"}}, {"labels": {"-": "x"}}],
)
def test_bad_names_and_labels_are_refused(kube: Kube, metadata: dict[str, Any]) -> None:
    body = kube.pod_body()
    body["metadata"] |= metadata
    status = kube.refused("create_namespaced_pod", kube.namespace, body)
    assert (status["code"], status["reason"]) == (422, "Invalid")
    [field] = {cause["field"] for cause in status["details"]["causes"]}
    assert field in ("metadata.name", "metadata.labels")


@pytest.mark.parametrize(
    "spec",
    [
        resources(limits={"memory": "lots"}),
        {"activeDeadlineSeconds": "soon"},
        {"containers": "none"},
    ],
)
def test_what_cannot_be_read_is_a_bad_request(kube: Kube, spec: dict[str, Any]) -> None:
    status = kube.refused("create_namespaced_pod", kube.namespace, kube.pod_body(**spec))
    assert (status["code"], status["reason"]) == (400, "BadRequest")


def test_pods_are_listed_by_label(kube: Kube) -> None:
    colours = ("red", "green", "")
    for colour in colours:
        body = kube.pod_body()
        body["metadata"]["labels"] |= {"list": kube.prefix} | ({"colour": colour} if colour else {})
        kube.create(body)

    def found(text: str) -> list[str]:
        pods = kube.list_pods(label_selector=f"list={kube.prefix}{text}")
        assert pods["metadata"]["resourceVersion"]
        return sorted(pod["metadata"]["labels"].get("colour", "") for pod in pods["items"])

    assert found("") == ["", "green", "red"]
    assert found(",colour=red") == ["red"]
    assert found(",colour==red") == ["red"]
    assert found(",colour!=red") == ["", "green"]
    assert found(",colour in (red, green)") == ["green", "red"]
    assert found(",colour notin (red)") == ["", "green"]
    assert found(",colour") == ["green", "red"]
    assert found(",!colour") == [""]


def test_bad_selectors_are_refused(kube: Kube) -> None:
    for option in (
        {"label_selector": "a in b"},
        {"label_selector": "a=b c"},
        {"field_selector": "spec.priority=1"},
        {"field_selector": "status.phase"},
    ):
        status = kube.refused("list_namespaced_pod", kube.namespace, **option)
        assert (status["code"], status["reason"]) == (400, "BadRequest")


def test_pods_are_listed_by_field(kube: Kube) -> None:
    name = kube.create(kube.pod_body())["metadata"]["name"]
    for text, hit in (
        ("status.phase=Pending", True),
        ("status.phase!=Pending", False),
        ("spec.nodeName=", True),
        (f"metadata.name={name},status.phase==Pending", True),
        ("metadata.name=another", False),
    ):
        pods = kube.list_pods(field_selector=text, label_selector=selector(kube))["items"]
        assert (name in [pod["metadata"]["name"] for pod in pods]) is hit, text


def test_pages_are_of_one_moment(kube: Kube) -> None:
    label = {"pages": kube.prefix}

    def make() -> dict[str, Any]:
        body = kube.pod_body()
        body["metadata"]["labels"] |= label
        return kube.create(body)

    pods = [make() for _ in range(5)]
    options = {"label_selector": f"pages={kube.prefix}", "limit": 2}
    page = kube.list_pods(**options)
    version = page["metadata"]["resourceVersion"]
    assert "remainingItemCount" not in page["metadata"], "unknown under a selector"
    kube.delete(pods[4])
    make()
    names = [pod["metadata"]["name"] for pod in page["items"]]
    while page["metadata"].get("continue"):
        page = kube.list_pods(_continue=page["metadata"]["continue"], **options)
        assert page["metadata"]["resourceVersion"] == version
        assert len(page["items"]) <= 2
        names += [pod["metadata"]["name"] for pod in page["items"]]
    assert sorted(names) == sorted(pod["metadata"]["name"] for pod in pods)


def test_rest_of_a_list_is_counted(kube: Kube) -> None:
    for _ in range(3):
        kube.create(kube.pod_body())
    page = kube.list_pods(limit=1)["metadata"]
    assert page["continue"]
    assert page["remainingItemCount"] >= 2, "whatever else there is"


def test_continue_tokens_expire(kube: Kube) -> None:
    # Version 1 of meta.k8s.io/v1, from a resource version long gone.
    foreign = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJkZWZhdWx0L2EifQ"
    status = kube.refused("list_namespaced_pod", kube.namespace, limit=1, _continue=foreign)
    assert (status["code"], status["reason"]) == (410, "Expired")
    rest = kube.list_pods(_continue=status["metadata"]["continue"], limit=1)
    assert rest["kind"] == "PodList", "what the refusal offers instead works"
    status = kube.refused("list_namespaced_pod", kube.namespace, limit=1, _continue="nonsense")
    assert (status["code"], status["reason"]) == (400, "BadRequest")


def test_pending_pod_is_deleted_at_once(kube: Kube) -> None:
    pod = kube.create(kube.pod_body())
    deleted = kube.delete(pod)
    assert deleted["kind"] == "Pod"
    assert deleted["metadata"]["uid"] == pod["metadata"]["uid"]
    status = kube.refused("read_namespaced_pod", pod["metadata"]["name"], kube.namespace)
    assert status["message"] == f'pods "{pod["metadata"]["name"]}" not found'
    assert kube.is_gone("delete_namespaced_pod", pod["metadata"]["name"])


def test_deletion_can_name_the_pod_it_means(kube: Kube) -> None:
    pod = kube.create(kube.pod_body())
    for wrong in ({"uid": "another"}, {"resourceVersion": "1"}):
        status = kube.refused(
            "delete_namespaced_pod",
            pod["metadata"]["name"],
            kube.namespace,
            body={"preconditions": wrong},
        )
        assert (status["code"], status["reason"]) == (409, "Conflict")
    right = {"preconditions": {"uid": pod["metadata"]["uid"]}, "gracePeriodSeconds": 0}
    kube.delete(pod, body=right)
    assert kube.is_gone("read_namespaced_pod", pod["metadata"]["name"])


def test_finalizer_holds_a_pod(kube: Kube) -> None:
    body = kube.pod_body()
    body["metadata"]["finalizers"] = ["riseproject.dev/contract"]
    pod = kube.create(body)
    deleted = kube.delete(pod)
    assert deleted["metadata"]["deletionTimestamp"]
    kube.delete(pod, grace_period_seconds=0)
    assert kube.read(pod)["metadata"]["finalizers"] == ["riseproject.dev/contract"]
    kube.patch(pod, {"metadata": {"finalizers": None}})
    assert kube.is_gone("read_namespaced_pod", pod["metadata"]["name"])


def test_unschedulable_pod_says_why(kube: Kube) -> None:
    pod = kube.create(kube.pod_body())

    def conditions() -> dict[str, Any]:
        found = kube.read(pod)["status"].get("conditions", [])
        return {condition["type"]: condition for condition in found}

    kube.until(lambda: "PodScheduled" in conditions())
    scheduled = conditions()["PodScheduled"]
    assert (scheduled["status"], scheduled["reason"]) == ("False", "Unschedulable")
    assert "nodes are available" in scheduled["message"]

    def said() -> list[Any]:
        return [event for event in kube.events(pod) if event["reason"] == "FailedScheduling"]

    kube.until(lambda: bool(said()))
    assert {event["type"] for event in said()} == {"Warning"}
    assert any("nodes are available" in event["message"] for event in said())
    # The scheduler's events have the newer times only, the kubelet's the older ones.
    assert all(event.get("eventTime") or event.get("lastTimestamp") for event in said())
    assert "startTime" not in kube.read(pod)["status"]


def test_deadline_does_not_end_a_pod_that_was_not_scheduled(kube: Kube) -> None:
    pod = kube.create(kube.pod_body(activeDeadlineSeconds=1))
    since = time.monotonic()
    kube.until(lambda: time.monotonic() > since + 3)
    assert kube.read(pod)["status"]["phase"] == "Pending"


def test_secret_goes_with_its_owner_though_another_has_the_name(kube: Kube) -> None:
    body = kube.pod_body()
    first = kube.create(body)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": first["metadata"]["name"]}
    owner["uid"] = first["metadata"]["uid"]
    secret = kube.create_secret(metadata={"ownerReferences": [owner]})
    kube.delete(first, grace_period_seconds=0)
    kube.create(body)
    name = secret["metadata"]["name"]
    kube.until(lambda: kube.is_gone("read_namespaced_secret", name))


def test_log_of_an_unscheduled_pod_is_empty(kube: Kube) -> None:
    assert kube.log(kube.create(kube.pod_body())) == b""


def test_log_options_are_checked(kube: Kube) -> None:
    name = kube.create(kube.pod_body())["metadata"]["name"]
    for options, code in (
        ({"tail_lines": -1}, 422),
        ({"limit_bytes": 0}, 422),
        ({"since_seconds": 0}, 422),
        ({"tail_lines": "many"}, 400),
        ({"container": "another"}, 400),
    ):
        status = kube.refused("read_namespaced_pod_log", name, kube.namespace, **options)
        assert status["code"] == code, options
