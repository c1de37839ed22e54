"""The bodies that the cluster is sent are those of the specification, and valid."""

import base64

import kubernetes_validate
import pytest

from reconcile.kube import manifests
from reconcile.model import JitConfig, Json
from reconcile.settings import EphemeralStorage, Settings

JIT = JitConfig(7, "aml0IGNvbmZpZ3VyYXRpb24=")
NAME = "rise-riscv-runner-1a2b3c"
POOL = "scw-em-rv1"
IMAGE = "registry.example/ubuntu-24.04:prod"


def runner_pod(storage: EphemeralStorage | None = None) -> Json:
    return manifests.pod(NAME, "runners", POOL, IMAGE, storage, 525_600)


@pytest.mark.parametrize(
    "body",
    [
        runner_pod(),
        runner_pod(EphemeralStorage()),
        manifests.secret(NAME, "runners", "uid-1", JIT),
    ],
    ids=["pod", "pod with storage", "secret"],
)
def test_bodies_are_valid_to_the_letter(body: Json) -> None:
    kubernetes_validate.validate(body, kubernetes_validate.latest_version(), strict=True)


def test_pod_is_exactly_what_the_specification_says() -> None:
    assert runner_pod(EphemeralStorage("40Gi", "90Gi")) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": NAME,
            "namespace": "runners",
            "labels": {"app": "rise-riscv-runner", "riseproject.dev/board": POOL},
        },
        "spec": {
            "nodeSelector": {"riseproject.dev/board": POOL},
            "restartPolicy": "Never",
            "activeDeadlineSeconds": 525_600,
            "hostNetwork": True,
            "automountServiceAccountToken": False,
            "containers": [
                {
                    "name": "runner",
                    "image": IMAGE,
                    "securityContext": {"privileged": True},
                    "env": [
                        {
                            "name": "RUNNER_JITCONFIG",
                            "valueFrom": {"secretKeyRef": {"name": NAME, "key": "jitconfig"}},
                        },
                        {"name": "RUNNER_WAIT_FOR_DOCKER_IN_SECONDS", "value": "60"},
                    ],
                    "resources": {
                        "limits": {"riseproject.com/runner": "1", "ephemeral-storage": "90Gi"},
                        "requests": {"ephemeral-storage": "40Gi"},
                    },
                }
            ],
        },
    }


def test_storage_is_asked_for_only_where_it_is_set() -> None:
    resources = runner_pod()["spec"]["containers"][0]["resources"]
    assert resources == {"limits": {"riseproject.com/runner": "1"}}
    assert Settings().storage("scw-em-rv1") == EphemeralStorage("40Gi", "90Gi")


def test_configuration_is_in_the_secret_alone_and_the_pod_owns_it() -> None:
    secret = manifests.secret(NAME, "runners", "uid-1", JIT)
    assert base64.b64decode(secret["data"]["jitconfig"]).decode() == JIT.reveal()
    [owner] = secret["metadata"]["ownerReferences"]
    assert owner == {"apiVersion": "v1", "kind": "Pod", "name": NAME, "uid": "uid-1"}
    assert secret["type"] == "Opaque"
    assert secret["metadata"]["labels"] == {"app": "rise-riscv-runner"}
    assert JIT.reveal() not in str(runner_pod())


@pytest.mark.parametrize(
    ("version", "force", "expected"),
    [
        (None, False, {"preconditions": {"uid": "u"}}),
        ("12", False, {"preconditions": {"uid": "u", "resourceVersion": "12"}}),
        (None, True, {"preconditions": {"uid": "u"}, "gracePeriodSeconds": 0}),
    ],
)
def test_deletion_names_the_very_pod(version: str | None, force: bool, expected: Json) -> None:
    body = manifests.deletion("u", version, force=force)
    assert {name: body[name] for name in body if name not in ("apiVersion", "kind")} == expected
