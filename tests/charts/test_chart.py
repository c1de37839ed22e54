"""What helm makes of the chart: lint, names, and every object as Kubernetes wants it."""

import itertools
import json
import re
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.charts.helm import (
    CHART,
    EVERY_FILE,
    NAMESPACE,
    RELEASE,
    call,
    needs_helm,
    render,
)

pytestmark = needs_helm

OLDEST = "1.25.0"
NEWEST = kubernetes_validate.latest_version()
CUSTOM = {"PodMonitor", "PrometheusRule"}  # of the Prometheus operator: test_monitoring.py


@pytest.mark.parametrize("name", EVERY_FILE)
def test_lint_is_clean(name: str) -> None:
    done = call("lint", "--strict", str(CHART), files=(name,), values=None)
    assert done.returncode == 0, done.stdout
    assert "[WARNING]" not in done.stdout


def test_oldest_kubernetes_is_the_one_that_the_chart_asks_for() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["kubeVersion"] == f">={OLDEST}-0"


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("name", EVERY_FILE)
def test_every_object_is_valid(name: str, version: str) -> None:
    rendered = render(name, options=("--kube-version", version))
    for each in rendered.objects:
        if each["kind"] not in CUSTOM:
            kubernetes_validate.validate(each, version, strict=True)


def test_minimal_values_make_nothing_that_was_not_asked_for() -> None:
    kinds = sorted(each["kind"] for each in render("minimal").objects)
    assert kinds == [
        *("ClusterRole", "ClusterRoleBinding", "CronJob", "Deployment", "Pod"),
        *("Role", "RoleBinding", "ServiceAccount"),
    ]


def test_everything_makes_every_kind() -> None:
    kinds = {each["kind"] for each in render("everything").objects}
    assert {"ConfigMap", "NetworkPolicy", *CUSTOM} < kinds


@pytest.mark.parametrize("name", EVERY_FILE)
def test_objects_say_where_they_are_and_whose(name: str) -> None:
    rendered = render(name)
    for each in rendered.objects:
        metadata = each["metadata"]
        assert metadata["labels"]["app.kubernetes.io/instance"] == RELEASE
        if each["kind"] in ("ClusterRole", "ClusterRoleBinding"):
            assert "namespace" not in metadata
        elif each["kind"] in ("Role", "RoleBinding"):
            assert metadata["namespace"] == rendered.pods["controller"].env["K8S_NAMESPACE"]
        else:
            assert metadata["namespace"] == NAMESPACE


# Names.

LONG = "a-release-whose-name-is-as-long-as-helm-lets-it-be"
RELEASES = [
    ("prod", "runners"),
    ("staging", "runners"),
    ("prod", "runners-b"),
    ("b-prod", "runners"),
    ("rise.prod", "runners"),
    ("rise-prod", "runners"),
    (f"{LONG}-a", "runners"),
    (f"{LONG}-b", "runners"),
    ("reconciler", "runners"),
]


def test_releases_never_meet_in_one_name() -> None:
    """Though all of them have their roles in the same namespace."""
    found = [
        render("everything", release=release, namespace=namespace).names
        for release, namespace in RELEASES
    ]
    for one, other in itertools.combinations(found, 2):
        assert not one & other


@pytest.mark.parametrize("release", [LONG + "-ab", "x", "rise.prod", "123", "1e3", "on"])
def test_names_are_such_as_kubernetes_takes(release: str) -> None:
    rendered = render("everything", release=release, namespace="123")
    for each in rendered.objects:
        name = each["metadata"]["name"]
        limit = 52 if each["kind"] == "CronJob" else 63
        if each["kind"] not in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"):
            assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", name)
            assert len(name) <= limit
        if each["kind"] not in CUSTOM:
            kubernetes_validate.validate(each, NEWEST, strict=True)


def test_name_can_be_chosen() -> None:
    rendered = render("minimal", values={"fullnameOverride": "on"})
    assert rendered.one("Deployment")["metadata"]["name"] == "on-controller"
    assert rendered.one("ServiceAccount")["metadata"]["name"] == "on"


# The schema.


def schema_of(path: tuple[str, ...] = ()) -> Any:
    found = json.loads((CHART / "values.schema.json").read_text())
    for key in path:
        found = found[key]
    return found


def objects(schema: Any, path: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Every schema of an object in it, with its place."""
    if isinstance(schema, list):
        return [found for each in schema for found in objects(each, path)]
    if not isinstance(schema, dict):
        return []
    here = [(path, schema)] if "object" in schema.get("type", ()) else []
    below = [objects(each, f"{path}/{key}") for key, each in schema.items()]
    return here + list(itertools.chain.from_iterable(below))


def test_schema_refuses_unknown_keys_wherever_it_knows_the_keys() -> None:
    for place, schema in objects(schema_of()):
        if "properties" in schema:
            assert schema["additionalProperties"] is False, place


def test_schema_knows_all_keys_but_those_of_kubernetes_itself() -> None:
    free = {place for place, schema in objects(schema_of()) if "additionalProperties" not in schema}
    names = {place.rpartition("/")[2] for place in free}
    assert names == {
        *("global", "items"),
        *("valueFrom", "configMapRef", "secretRef"),
        *("nodeAffinity", "podAffinity", "podAntiAffinity"),
        *("namespaceSelector", "podSelector", "ipBlock"),
    }


def keys(schema: dict[str, Any], path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for key, each in schema.get("properties", {}).items():
        found |= {(*path, key)} | keys(each, (*path, key))
    return found


def test_every_key_of_the_schema_is_explained_in_the_values() -> None:
    text = (CHART / "values.yaml").read_text()
    for path in keys(schema_of()):
        if path[0] in ("global", "affinity"):
            continue  # They are Helm's and Kubernetes'.
        assert re.search(rf"\b{path[-1]}:", text), ".".join(path)


def test_chart_can_be_a_part_of_another() -> None:
    """Helm hands down `global` then, which nobody asked for."""
    rendered = render("minimal", values={"global": {"region": "eu"}})
    assert rendered == render("minimal")
