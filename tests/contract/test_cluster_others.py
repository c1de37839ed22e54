"""Secrets, nodes, and who one is to the API."""

import base64

import pytest
from kubernetes import client as k8s

from tests.contract.cluster import Kube


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_secret_holds_what_it_is_given(kube: Kube) -> None:
    secret = kube.create_secret(data={"a": encoded("one")}, stringData={"b": "two"})
    assert secret["data"] == {"a": encoded("one"), "b": encoded("two")}
    assert "stringData" not in secret
    assert secret["type"] == "Opaque"
    name = secret["metadata"]["name"]
    found = kube.call(
        "list_namespaced_secret", kube.namespace, field_selector=f"metadata.name={name}"
    )
    assert [one["data"] for one in found["items"]] == [secret["data"]]
    patched = kube.call(
        "patch_namespaced_secret", name, kube.namespace, {"stringData": {"a": "three"}}
    )
    assert patched["data"] == {"a": encoded("three"), "b": encoded("two")}


def test_deleted_secret_leaves_a_status(kube: Kube) -> None:
    secret = kube.create_secret()
    name = secret["metadata"]["name"]
    status = kube.call("delete_namespaced_secret", name, kube.namespace)
    assert (status["kind"], status["status"]) == ("Status", "Success")
    assert status["details"]["uid"] == secret["metadata"]["uid"]
    assert kube.is_gone("read_namespaced_secret", name)
    assert kube.is_gone("delete_namespaced_secret", name)


def test_secret_must_be_base64(kube: Kube) -> None:
    body = {"metadata": {"name": kube.name()}, "data": {"a": "no base64!"}}
    status = kube.refused("create_namespaced_secret", kube.namespace, body)
    assert (status["code"], status["reason"]) == (400, "BadRequest")


def test_immutable_secret_stays_as_it_is(kube: Kube) -> None:
    name = kube.create_secret(stringData={"a": "one"}, immutable=True)["metadata"]["name"]
    for change in ({"stringData": {"a": "two"}}, {"immutable": False}, {"data": None}):
        status = kube.refused("patch_namespaced_secret", name, kube.namespace, change)
        assert (status["code"], status["reason"]) == (422, "Invalid")
    kube.call("patch_namespaced_secret", name, kube.namespace, {"metadata": {"labels": {"a": "b"}}})


def owner(name: str, uid: str) -> dict[str, str]:
    return {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid}


def test_secret_goes_with_its_pod(kube: Kube) -> None:
    pod = kube.create(kube.pod_body())
    reference = owner(pod["metadata"]["name"], pod["metadata"]["uid"])
    name = kube.create_secret(metadata={"ownerReferences": [reference]})["metadata"]["name"]
    assert not kube.is_gone("read_namespaced_secret", name)
    kube.delete(pod)
    kube.until(lambda: kube.is_gone("read_namespaced_secret", name))


def test_secret_of_a_pod_that_never_was_goes_too(kube: Kube) -> None:
    reference = owner(f"{kube.prefix}-none", "e2c4c9a8-0000-4000-8000-000000000000")
    name = kube.create_secret(metadata={"ownerReferences": [reference]})["metadata"]["name"]
    kube.until(lambda: kube.is_gone("read_namespaced_secret", name))


def test_nodes_say_what_they_have(kube: Kube) -> None:
    nodes = kube.call("list_node")
    assert nodes["metadata"]["resourceVersion"]
    node = nodes["items"][0]
    name = node["metadata"]["name"]
    assert node["metadata"]["labels"]["kubernetes.io/hostname"]
    assert {"cpu", "memory", "pods"} <= node["status"]["allocatable"].keys()
    assert "Ready" in {condition["type"] for condition in node["status"]["conditions"]}
    assert kube.call("read_node", name)["metadata"]["uid"] == node["metadata"]["uid"]
    found = kube.call("list_node", field_selector=f"metadata.name={name}")
    assert [one["metadata"]["name"] for one in found["items"]] == [name]
    status = kube.refused("read_node", f"{kube.prefix}-none")
    assert status["details"] == {"name": f"{kube.prefix}-none", "kind": "nodes"}


def test_models_of_the_client_can_read_it_all(kube: Kube) -> None:
    kube.create(kube.pod_body())
    pods = kube.core.list_namespaced_pod(kube.namespace, label_selector=f"run={kube.prefix}").items
    assert pods[0].status.phase == "Pending"
    assert pods[0].metadata.creation_timestamp.tzinfo is not None
    assert kube.core.list_node().items[0].status.node_info.kubelet_version.startswith("v1.")
    everywhere = kube.core.list_pod_for_all_namespaces(label_selector=f"run={kube.prefix}").items
    assert {pod.metadata.namespace for pod in everywhere} == {kube.namespace}


def test_namespace_can_be_read(kube: Kube) -> None:
    namespace = kube.call("read_namespace", kube.namespace)
    assert namespace["status"]["phase"] == "Active"
    status = kube.refused("read_namespace", f"{kube.prefix}-none")
    assert (status["code"], status["reason"]) == (404, "NotFound")


def test_version_can_be_read(kube: Kube) -> None:
    assert k8s.VersionApi(kube.api).get_code().git_version.startswith("v1.")


def test_wrong_token_is_unauthorized(kube: Kube) -> None:
    configuration = k8s.Configuration(host=kube.api.configuration.host)
    configuration.ssl_ca_cert = kube.api.configuration.ssl_ca_cert
    configuration.verify_ssl = kube.api.configuration.verify_ssl
    configuration.api_key = {"authorization": "Bearer wrong"}
    with k8s.ApiClient(configuration) as api, pytest.raises(k8s.ApiException) as refusal:
        k8s.CoreV1Api(api).list_namespaced_pod(kube.namespace)
    assert refusal.value.status == 401
    assert '"reason":"Unauthorized"' in refusal.value.body.replace(" ", "")


def test_one_can_ask_what_one_may(kube: Kube) -> None:
    attributes = k8s.V1ResourceAttributes(namespace=kube.namespace, verb="create", resource="pods")
    review = k8s.V1SelfSubjectAccessReview(
        spec=k8s.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
    )
    answer = k8s.AuthorizationV1Api(kube.api).create_self_subject_access_review(review)
    assert answer.status.allowed is True
