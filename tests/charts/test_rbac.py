"""What the pods may do in the cluster: exactly the calls that the code makes."""

import re
import shutil
from pathlib import Path

import pytest

from reconcile.kube import REQUIRED, missing_permissions
from reconcile.sim.timeline import SteppedTime
from reconcile.sim.world import World
from tests.charts.cluster_calls import (
    PACKAGE,
    Allowed,
    methods_used,
    parts_of_the_client,
    permission,
    permissions_needed,
)
from tests.charts.helm import (
    NAMESPACE,
    ROOT,
    Object,
    Rendered,
    example,
    needs_helm,
    render,
)
from tests.integration.kube import BOARD, do_everything, joined

ROLES = ("Role", "ClusterRole")
BINDINGS = ("RoleBinding", "ClusterRoleBinding")


def granted(role: Object) -> set[Allowed]:
    namespaced = role["kind"] == "Role"
    return {
        Allowed(verb, resource, namespaced, group)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def all_granted(rendered: Rendered) -> set[Allowed]:
    return set.union(*(granted(rendered.one(kind)) for kind in ROLES))


# The calls.


def test_only_this_package_calls_the_cluster() -> None:
    """Or it would not be enough to look there."""
    importers = {
        path.relative_to(ROOT / "reconcile").parts[0]
        for path in (ROOT / "reconcile").rglob("*.py")
        if re.search(r"^\s*(from|import) kubernetes\b", path.read_text(), re.MULTILINE)
    }
    assert importers == {"kube"}


def test_every_part_of_the_client_in_use_is_looked_through() -> None:
    assert parts_of_the_client() == {api for api, _ in methods_used()}


@pytest.mark.parametrize(
    ("method", "needs"),
    [
        ("list_namespaced_pod", Allowed("list", "pods")),
        ("list_pod_for_all_namespaces", Allowed("list", "pods", namespaced=False)),
        ("read_namespaced_pod_log", Allowed("get", "pods/log")),
        ("replace_namespaced_config_map", Allowed("update", "configmaps")),
        ("delete_collection_namespaced_secret", Allowed("deletecollection", "secrets")),
        ("create_namespaced_pod_eviction", Allowed("create", "pods/eviction")),
        ("patch_node", Allowed("patch", "nodes", namespaced=False)),
    ],
)
def test_methods_are_understood(method: str, needs: Allowed) -> None:
    assert permission("CoreV1Api", method) == needs


def with_more(returned: str, directory: Path) -> Path:
    """A copy of the package whose client has one more method, which returns that."""
    package = Path(shutil.copytree(PACKAGE, directory / "kube"))
    with (package / "client.py").open("a") as client:
        client.write(f"\n    def more(self) -> object:\n        return {returned}\n")
    return package


@pytest.mark.parametrize(
    "returned",
    ["self._core.read_node", "self._calls.ask('', Safety.READ, self._core.read_node, 'name')"],
)
def test_new_call_is_noticed(returned: str, tmp_path: Path) -> None:
    more = permissions_needed(with_more(returned, tmp_path)) - permissions_needed()
    assert more == {Allowed("get", "nodes", namespaced=False)}


@pytest.mark.parametrize("returned", ["self._core", "getattr(self._core, 'read_node')"])
def test_call_that_cannot_be_seen_is_noticed(returned: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="cannot be seen"):
        methods_used(with_more(returned, tmp_path))


# The roles.


@needs_helm
@pytest.mark.parametrize("name", ["minimal", "everything", "staging"])
def test_roles_are_exactly_what_the_calls_need(name: str) -> None:
    assert all_granted(example(name)) == permissions_needed()


def test_check_asks_for_exactly_what_the_calls_need() -> None:
    asked = {
        Allowed(one.verb, "/".join(filter(None, (one.resource, one.subresource))), one.namespaced)
        for one in REQUIRED
    }
    assert asked == permissions_needed()


@needs_helm
def test_cluster_role_can_list_nodes_and_nothing_else() -> None:
    role = example("minimal").one("ClusterRole")
    assert granted(role) == {Allowed("list", "nodes", namespaced=False)}


@needs_helm
def test_roles_are_enough_to_do_everything() -> None:
    rendered = example("minimal")
    where = rendered.one("Role")["metadata"]["namespace"]
    rules = [
        (where if each.namespaced else None, each.resource, each.verb)
        for each in all_granted(rendered)
    ]
    with World(SteppedTime()) as world:
        world.cluster.add_node("rv1-0", BOARD)
        world.cluster.add_user("token", rules, "reconciler")
        with joined(world, token="token", namespace=where) as kube:
            do_everything(kube)
            assert missing_permissions(kube.client) == []


# Whose they are.


@needs_helm
@pytest.mark.parametrize("name", ["minimal", "everything", "staging"])
def test_roles_are_bound_to_the_account_of_the_pods(name: str) -> None:
    rendered = example(name)
    [account] = {pod.spec["serviceAccountName"] for pod in rendered.pods.values()}
    for role, binding in zip(ROLES, BINDINGS, strict=True):
        bound = rendered.one(binding)
        assert bound["subjects"] == [
            {"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}
        ]
        assert bound["roleRef"]["apiGroup"] == "rbac.authorization.k8s.io"
        assert bound["roleRef"]["kind"] == role
        assert bound["roleRef"]["name"] == rendered.one(role)["metadata"]["name"]


@needs_helm
@pytest.mark.parametrize("name", ["minimal", "everything", "staging"])
def test_role_is_where_the_runners_are(name: str) -> None:
    rendered = example(name)
    where = rendered.pods["controller"].env["K8S_NAMESPACE"]
    for kind in ("Role", "RoleBinding"):
        assert rendered.one(kind)["metadata"]["namespace"] == where


@needs_helm
@pytest.mark.parametrize(
    ("given", "account", "made"),
    [
        ({}, "rise-reconciler", ["rise-reconciler"]),
        ({"name": "mine"}, "mine", ["mine"]),
        ({"create": False}, "default", []),
        ({"create": False, "name": "theirs"}, "theirs", []),
    ],
)
def test_account_is_made_or_named(given: Object, account: str, made: list[str]) -> None:
    rendered = render("minimal", values={"serviceAccount": given})
    assert {pod.spec["serviceAccountName"] for pod in rendered.pods.values()} == {account}
    assert [each["metadata"]["name"] for each in rendered.of("ServiceAccount")] == made
    assert rendered.one("RoleBinding")["subjects"][0]["name"] == account


@needs_helm
@pytest.mark.parametrize(
    "values",
    [{"rbac": {"create": False}}, {"kubeconfig": {"secretKey": "KUBECONFIG"}}],
    ids=["not wanted", "another cluster"],
)
def test_no_role_where_none_is_of_use(values: Object) -> None:
    rendered = render("minimal", values=values)
    assert [each for kind in (*ROLES, *BINDINGS) for each in rendered.of(kind)] == []
