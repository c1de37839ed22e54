"""What can be changed of a pod, and how."""

from typing import Any

import pytest
from kubernetes import client as k8s

from tests.contract.cluster import Body, Kube

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


@pytest.fixture
def pod(kube: Kube) -> Body:
    return kube.create(kube.pod_body(activeDeadlineSeconds=525600))


def refused(kube: Kube, pod: Body, change: Any, **options: Any) -> Body:
    name = pod["metadata"]["name"]
    return kube.refused("patch_namespaced_pod", name, kube.namespace, change, **options)


@pytest.mark.parametrize("media_type", [MERGE, STRATEGIC])
def test_labels_are_merged(kube: Kube, pod: Body, media_type: str) -> None:
    change = {"metadata": {"labels": {"colour": "red", "run": None}, "annotations": {"a": "b"}}}
    patched = kube.patch(pod, change, _content_type=media_type)
    assert patched["metadata"]["labels"] == {
        "app": pod["metadata"]["labels"]["app"],
        "colour": "red",
    }
    assert patched["metadata"]["annotations"] == {"a": "b"}
    assert patched["metadata"]["resourceVersion"] != pod["metadata"]["resourceVersion"]
    kube.patch(pod, {"metadata": {"labels": kube.labels()}})


def test_containers_are_merged_by_name(kube: Kube, pod: Body) -> None:
    change = {"spec": {"containers": [{"name": "runner", "image": "busybox:1.37"}]}}
    [container] = kube.patch(pod, change)["spec"]["containers"]
    assert container["image"] == "busybox:1.37"
    assert container["command"] == pod["spec"]["containers"][0]["command"]


def test_owners_are_merged_by_uid(kube: Kube, pod: Body) -> None:
    other = kube.create(kube.pod_body())
    third = kube.create(kube.pod_body())
    for owner in (other, third):
        reference = {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
        }
        pod = kube.patch(pod, {"metadata": {"ownerReferences": [reference]}})
    uids = [owner["uid"] for owner in pod["metadata"]["ownerReferences"]]
    assert uids == [other["metadata"]["uid"], third["metadata"]["uid"]]


def test_deadline_can_be_lowered_and_not_raised(kube: Kube, pod: Body) -> None:
    patched = kube.patch(pod, {"spec": {"activeDeadlineSeconds": 1}})
    assert patched["spec"]["activeDeadlineSeconds"] == 1
    for seconds, why in (
        (2, "must be less than or equal to previous value"),
        (0, "must be between 1 and 2147483647, inclusive"),
        (None, "must not update from a positive integer to nil value"),
    ):
        status = refused(kube, pod, {"spec": {"activeDeadlineSeconds": seconds}})
        assert (status["code"], status["reason"]) == (422, "Invalid")
        [cause] = status["details"]["causes"]
        assert cause["field"] == "spec.activeDeadlineSeconds"
        assert cause["message"].endswith(why)


def test_deadline_can_be_set_where_there_was_none(kube: Kube) -> None:
    pod = kube.create(kube.pod_body())
    patched = kube.patch(pod, {"spec": {"activeDeadlineSeconds": 60}})
    assert patched["spec"]["activeDeadlineSeconds"] == 60
    assert patched["status"]["phase"] == "Pending"


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {"another": "board"}},
        {"restartPolicy": "Always"},
        {"terminationGracePeriodSeconds": 1},
        {"containers": [{"name": "runner", "command": ["true"]}]},
        {"containers": [{"name": "runner", "env": [{"name": "A", "value": "b"}]}]},
    ],
)
def test_rest_of_the_spec_is_immutable(kube: Kube, pod: Body, spec: dict[str, Any]) -> None:
    status = refused(kube, pod, {"spec": spec})
    assert (status["code"], status["reason"]) == (422, "Invalid")
    assert (
        "pod updates may not change fields other than `spec.containers[*].image`"
        in (status["message"])
    )


def test_containers_cannot_be_added(kube: Kube, pod: Body) -> None:
    status = refused(kube, pod, {"spec": {"containers": [{"name": "two", "image": "a:1"}]}})
    assert status["code"] == 422
    assert "pod updates may not add or remove containers" in status["message"]


def test_tolerations_can_only_be_added(kube: Kube, pod: Body) -> None:
    added = {"key": "board", "operator": "Exists"}
    before = pod["spec"]["tolerations"]
    patched = kube.patch(pod, {"spec": {"tolerations": [*before, added]}})
    assert patched["spec"]["tolerations"] == [*before, added]
    status = refused(kube, pod, {"spec": {"tolerations": before}})
    assert status["code"] == 422
    assert "existing toleration can not be modified" in status["message"]


def test_json_patch_tests_what_it_changes(kube: Kube, pod: Body) -> None:
    add = {"op": "add", "path": "/metadata/labels/colour", "value": "red"}
    version = pod["metadata"]["resourceVersion"]
    kube.until(lambda: kube.read(pod)["metadata"]["resourceVersion"] != version)
    held = {"op": "test", "path": "/metadata/uid", "value": pod["metadata"]["uid"]}
    assert kube.patch(pod, [held, add])["metadata"]["labels"]["colour"] == "red"
    failing = {"op": "test", "path": "/metadata/uid", "value": "another"}
    status = refused(kube, pod, [failing, {"op": "remove", "path": "/metadata/labels/colour"}])
    assert (status["code"], status["reason"]) == (422, "Invalid")
    assert kube.read(pod)["metadata"]["labels"]["colour"] == "red"
    status = refused(kube, pod, [{"op": "remove", "path": "/metadata/labels/none"}])
    assert status["code"] == 422


def test_patch_of_an_older_version_conflicts(kube: Kube, pod: Body) -> None:
    kube.patch(pod, {"metadata": {"labels": {"colour": "red"}}})
    version = pod["metadata"]["resourceVersion"]
    change = {"metadata": {"resourceVersion": version, "labels": {"colour": "green"}}}
    status = refused(kube, pod, change)
    assert (status["code"], status["reason"]) == (409, "Conflict")
    assert "the object has been modified" in status["message"]


def test_patch_that_changes_nothing_makes_no_version(kube: Kube, pod: Body) -> None:
    def condition() -> list[Body]:
        found: list[Body] = kube.read(pod)["status"].get("conditions", [])
        return found

    kube.until(lambda: bool(condition()))
    before = kube.patch(pod, {"metadata": {"labels": {"colour": "red"}}})
    after = kube.patch(pod, {"metadata": {"labels": {"colour": "red"}}})
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


def test_patch_can_name_the_pod_it_means(kube: Kube, pod: Body) -> None:
    change = {"metadata": {"uid": "another", "labels": {"colour": "red"}}}
    status = refused(kube, pod, change)
    assert (status["code"], status["reason"]) == (422, "Invalid")
    right = {"metadata": {"uid": pod["metadata"]["uid"], "labels": {"colour": "red"}}}
    assert kube.patch(pod, right)["metadata"]["labels"]["colour"] == "red"


def test_status_is_not_patched_with_the_rest(kube: Kube, pod: Body) -> None:
    assert kube.patch(pod, {"status": {"phase": "Running"}})["status"]["phase"] == "Pending"


def test_patch_has_a_media_type(kube: Kube, pod: Body) -> None:
    status = refused(kube, pod, {"metadata": {}}, _content_type="application/json")
    assert (status["code"], status["reason"]) == (415, "UnsupportedMediaType")


def test_what_is_not_there_cannot_be_patched(kube: Kube) -> None:
    with pytest.raises(k8s.ApiException) as refusal:
        kube.core.patch_namespaced_pod(f"{kube.prefix}-none", kube.namespace, {"metadata": {}})
    assert refusal.value.status == 404
