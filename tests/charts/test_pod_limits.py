"""What the pods are kept from, and by what the rest of the cluster knows them."""

from typing import Any

import pytest

from reconcile.kube import manifests
from tests.charts.helm import EVERY_FILE, Object, Pod, example, needs_helm, render

pytestmark = needs_helm


@pytest.fixture(params=EVERY_FILE)
def pods(request: pytest.FixtureRequest) -> list[Pod]:
    """Of one values file; their labels say which is which."""
    return list(example(request.param).pods.values())


def test_pods_are_restricted(pods: list[Pod]) -> None:
    """Kubernetes' own standard of that name, and a root file system that cannot be written."""
    for pod in pods:
        for key in ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "initContainers"):
            assert key not in pod.spec
        security = pod.spec["securityContext"]
        assert security["runAsNonRoot"] is True
        assert security["runAsUser"] > 0
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod.container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert not [port for port in pod.container.get("ports", ()) if "hostPort" in port]
        kinds = {kind for volume in pod.spec["volumes"] for kind in volume if kind != "name"}
        assert kinds <= {"emptyDir", "configMap", "persistentVolumeClaim"}


def test_temporary_files_are_in_memory(pods: list[Pod]) -> None:
    """The keys of a kubeconfig are such files."""
    for pod in pods:
        assert {"name": "tmp", "mountPath": "/tmp"} in pod.container["volumeMounts"]
        [volume] = [each for each in pod.spec["volumes"] if each["name"] == "tmp"]
        assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": "64Mi"}


def test_pods_say_what_they_need_and_are_limited_in_memory(pods: list[Pod]) -> None:
    """But not in CPU: a throttled controller makes jobs wait."""
    for pod in pods:
        assert set(pod.container["resources"]["requests"]) == {"cpu", "memory"}
        assert set(pod.container["resources"]["limits"]) == {"memory"}


def test_no_pod_can_be_taken_for_a_runner(pods: list[Pod]) -> None:
    """A run would find it, know no worker of its name and remove it."""
    assert all(pod.labels.get("app") != manifests.APP for pod in pods)


def test_no_service_adds_variables_to_the_environment(pods: list[Pod]) -> None:
    assert all(pod.spec["enableServiceLinks"] is False for pod in pods)


@pytest.mark.parametrize(("name", "token"), [("minimal", True), ("other_cluster", False)])
def test_token_of_the_cluster_is_there_only_if_it_is_of_use(name: str, token: bool) -> None:
    rendered = example(name)
    assert rendered.one("ServiceAccount")["automountServiceAccountToken"] is False
    for pod in rendered.pods.values():
        assert pod.spec["automountServiceAccountToken"] is token


def test_pods_stay_off_the_boards_unless_told_otherwise() -> None:
    affinity = example("minimal").pods["controller"].spec["affinity"]["nodeAffinity"]
    [term] = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": manifests.BOARD, "operator": "DoesNotExist"}]
    assert "affinity" not in example("other_cluster").pods["controller"].spec


def test_everything_that_can_be_said_about_a_pod_is_said_of_each() -> None:
    for component, pod in example("everything").pods.items():
        assert pod.labels["team"] == "runners"
        assert pod.labels["app.kubernetes.io/component"] == component
        assert pod.annotations["example.com/owner"] == "the runners' team"
        assert pod.spec["imagePullSecrets"] == [{"name": "my-registry"}]
        assert pod.spec["nodeSelector"] == {"kubernetes.io/arch": "amd64"}
        assert [each["key"] for each in pod.spec["tolerations"]] == ["control-plane"]
        assert pod.spec["priorityClassName"] == "system-cluster-critical"
        assert pod.container["envFrom"] == [{"secretRef": {"name": "s3-credentials"}}]
        assert pod.env["AWS_REGION"] == "eu-west-3"
        mounted = {each["name"]: each["mountPath"] for each in pod.container["volumeMounts"]}
        assert mounted["authorities"] == "/etc/company"


def test_annotations_of_the_chart_win() -> None:
    """One that took the place of a checksum would keep a changed file from being noticed."""
    annotations = {
        "checksum/config": "mine",
        "kubectl.kubernetes.io/default-container": "mine",
        "helm.sh/hook": "pre-install",
        "mine": "too",
    }
    pods = render("everything", values={"podAnnotations": annotations}).pods
    usual = example("everything").pods
    for component, key in (
        ("controller", "checksum/config"),
        ("controller", "kubectl.kubernetes.io/default-container"),
        ("check", "helm.sh/hook"),
    ):
        assert pods[component].annotations[key] == usual[component].annotations[key]
    assert {pod.annotations["mine"] for pod in pods.values()} == {"too"}


# Who is selected by what.


def matches(selector: Object, labels: dict[str, str]) -> bool:
    wanted: dict[str, Any] = selector["matchLabels"]
    return wanted.items() <= labels.items()


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("Deployment", {"controller"}),
        ("PodMonitor", {"controller"}),
        ("NetworkPolicy", {"controller", "backstop", "check"}),
    ],
)
def test_selector_finds_the_pods_it_is_about(kind: str, found: set[str]) -> None:
    """Of this release alone, though its values try to give the pods another component."""
    rendered, other = example("everything"), render("everything", release="other")
    spec = rendered.one(kind)["spec"]
    selector = spec.get("selector") or spec["podSelector"]
    assert {key for key, pod in rendered.pods.items() if matches(selector, pod.labels)} == found
    assert not [key for key, pod in other.pods.items() if matches(selector, pod.labels)]


def test_network_policy_lets_out_what_a_run_needs() -> None:
    """Names, GitHub and S3, PostgreSQL, the cluster; and what the values add."""
    rules = example("everything").one("NetworkPolicy")["spec"]["egress"]
    ports = [[(each["protocol"], each["port"]) for each in rule["ports"]] for rule in rules]
    assert ports == [
        [("UDP", 53), ("TCP", 53)],
        [("TCP", 443), ("TCP", 5432), ("TCP", 6443)],
        [("TCP", 6432)],
    ]
    assert ["to" in rule for rule in rules] == [False, False, True]


def test_no_egress_ports_are_none_and_not_all() -> None:
    """A rule without ports would be one for all of them."""
    [names] = example("other_cluster").one("NetworkPolicy")["spec"]["egress"]
    assert {each["port"] for each in names["ports"]} == {53}


def test_who_may_read_the_metrics_can_be_said() -> None:
    [rule] = example("everything").one("NetworkPolicy")["spec"]["ingress"]
    assert [list(each) for each in rule["from"]] == [["namespaceSelector"]]
    [open_to_all] = example("other_cluster").one("NetworkPolicy")["spec"]["ingress"]
    assert "from" not in open_to_all
