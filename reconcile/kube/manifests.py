"""The bodies of what the cluster is asked to make. Pure."""

import base64

from ..model import JitConfig, Json
from ..settings import EphemeralStorage

APP = "rise-riscv-runner"
BOARD = "riseproject.dev/board"  # the label of nodes and pods that says which pool they are of
SLOT = "riseproject.com/runner"  # what a board's device plugin offers
CONTAINER = "runner"
JIT_VARIABLE = "RUNNER_JITCONFIG"
JIT_KEY = "jitconfig"
DOCKER_SECONDS = "60"  # how long the image's entrypoint waits for its Docker daemon
STOPPED = 1  # no pod is made with so short a deadline: one that has it was stopped


def pod(
    name: str,
    namespace: str,
    pool: str,
    image: str,
    storage: EphemeralStorage | None,
    deadline: int,
) -> Json:
    """A runner. Its configuration comes from the Secret of its name: it starts once that is
    there, and whoever may read pods cannot read it."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app": APP, BOARD: pool},
        },
        "spec": {
            "nodeSelector": {BOARD: pool},
            "restartPolicy": "Never",
            "activeDeadlineSeconds": deadline,
            "hostNetwork": True,
            # What runs in there is other people's code: it gets no credentials of the cluster.
            "automountServiceAccountToken": False,
            "containers": [_container(name, image, storage)],
        },
    }


def _container(pod_name: str, image: str, storage: EphemeralStorage | None) -> Json:
    return {
        "name": CONTAINER,
        "image": image,
        # The Docker daemon in the image programs iptables and makes bridges.
        "securityContext": {"privileged": True},
        "env": [
            {
                "name": JIT_VARIABLE,
                "valueFrom": {"secretKeyRef": {"name": pod_name, "key": JIT_KEY}},
            },
            {"name": "RUNNER_WAIT_FOR_DOCKER_IN_SECONDS", "value": DOCKER_SECONDS},
        ],
        "resources": _resources(storage),
    }


def _resources(storage: EphemeralStorage | None) -> Json:
    if storage is None:
        return {"limits": {SLOT: "1"}}
    return {
        "limits": {SLOT: "1", "ephemeral-storage": storage.limit},
        "requests": {"ephemeral-storage": storage.request},
    }


def secret(name: str, namespace: str, pod_uid: str, jit: JitConfig) -> Json:
    """The configuration of the pod of that name, which owns it: it goes when the pod goes."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": pod_uid}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app": APP},
            "ownerReferences": [owner],
        },
        "data": {JIT_KEY: base64.b64encode(jit.reveal().encode()).decode()},
    }


def stop() -> Json:
    """The merge patch that has the kubelet end a pod."""
    return {"spec": {"activeDeadlineSeconds": STOPPED}}


def deletion(uid: str, version: str | None, *, force: bool) -> Json:
    """Only of the very pod that is meant, or even only as it was seen."""
    preconditions = {"uid": uid} | ({"resourceVersion": version} if version else {})
    grace: Json = {"gracePeriodSeconds": 0} if force else {}
    return {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions} | grace


def access_review(verb: str, resource: str, subresource: str, namespace: str) -> Json:
    """Whether whoever asks may do that; without a namespace, at the cluster's scope."""
    asked = {
        "group": "",
        "verb": verb,
        "resource": resource,
        "subresource": subresource,
        "namespace": namespace,
    }
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": asked},
    }
