"""What the client needs to be let in, and what it needs to be allowed."""

import base64
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from reconcile.errors import ConfigError, PermanentError
from reconcile.kube import REQUIRED, Permission, missing_permissions
from reconcile.sim.cluster.access import Rule
from reconcile.sim.timeline import SteppedTime
from reconcile.sim.world import World
from tests.integration.kube import BOARD, NAMESPACE, connected, do_everything, joined

TOKEN = "the-runners-own-token"


@pytest.fixture
def world() -> Iterator[World[SteppedTime]]:
    with World(SteppedTime()) as world:
        world.cluster.add_node("rv1-0", BOARD)
        yield world


def rule(permission: Permission) -> Rule:
    resource = permission.resource
    if permission.subresource:
        resource += f"/{permission.subresource}"
    return (NAMESPACE if permission.namespaced else None, resource, permission.verb)


# The verbs of the simulator's endpoints that are not their own names.
VERBS = {"read": "get"}


def needed(endpoint: str) -> tuple[str, str]:
    """The permission that an endpoint is about: `k8s.read_pod_log` is to get pods/log."""
    verb, _, what = endpoint.removeprefix("k8s.").partition("_")
    resource = re.sub(r"^(pod|node|secret|event)s?", r"\1s", what).replace("_", "/")
    return VERBS.get(verb, verb), resource


def test_required_permissions_are_exactly_those_of_the_calls_made(
    world: World[SteppedTime],
) -> None:
    world.cluster.add_user(TOKEN, [rule(one) for one in REQUIRED], "reconciler")
    with joined(world, token=TOKEN) as kube:
        do_everything(kube)
        made = {needed(call.endpoint) for call in world.cluster_server.calls}
        assert made == {(verb, resource) for _, resource, verb in map(rule, REQUIRED)}
        assert missing_permissions(kube.client) == []


@pytest.mark.parametrize("dropped", REQUIRED, ids=str)
def test_no_required_permission_can_be_done_without(
    world: World[SteppedTime], dropped: Permission
) -> None:
    kept = [rule(one) for one in REQUIRED if one != dropped]
    world.cluster.add_user(TOKEN, kept, "reconciler")
    with joined(world, token=TOKEN) as kube:
        with pytest.raises(PermanentError, match="403"):
            do_everything(kube)
        assert missing_permissions(kube.client) == [dropped]


def test_permissions_in_another_namespace_do_not_help(world: World[SteppedTime]) -> None:
    elsewhere = [("elsewhere", "*", "*")]
    world.cluster.add_user(TOKEN, elsewhere, "reconciler")
    with joined(world, token=TOKEN) as kube:
        assert missing_permissions(kube.client) == list(REQUIRED)


# Kubeconfigs.


def test_kubeconfig_by_its_text_and_by_its_path(world: World[SteppedTime], tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(world.kubeconfig)
    for source in ((world.kubeconfig, None), (None, str(path))):
        with connected(*source) as client:
            assert [node.name for node in client.nodes()] == ["rv1-0"]
    with connected(text=world.kubeconfig, path="/no/such/file") as client:
        assert client.pods() == [], "the text goes first"


SECRET = "c2VjcmV0LXRva2Vu"
CONFIG = yaml.safe_load(f"""
current-context: one
clusters: [{{name: one, cluster: {{server: "https://127.0.0.1:1"}}}}]
contexts: [{{name: one, context: {{cluster: one, user: one}}}}]
users: [{{name: one, user: {{token: {SECRET}}}}}]
""")


def changed(**parts: object) -> str:
    config = {**CONFIG, **parts}
    return yaml.safe_dump({name: value for name, value in config.items() if value is not None})


UNUSABLE = {
    "no yaml": f"clusters: [\n  {SECRET}: : {SECRET}",
    "a text": SECRET,
    "a list": f"[{SECRET}]",
    "nothing in it": "{}",
    "no context": changed(**{"current-context": None}),
    "another context": changed(**{"current-context": "two"}),
    "no server": changed(clusters=[{"name": "one", "cluster": {}}]),
    "no such cluster": changed(clusters=[{"name": "two", "cluster": {"server": "https://x"}}]),
    "clusters of a wrong type": changed(clusters=SECRET),
    "users of a wrong type": changed(users=[SECRET]),
    "no base64": changed(
        clusters=[
            {
                "name": "one",
                "cluster": {"server": "https://x", "certificate-authority-data": f"{SECRET}?a"},
            }
        ]
    ),
    "a file that is not there": changed(
        clusters=[
            {"name": "one", "cluster": {"server": "https://x", "certificate-authority": "/no/ca"}}
        ]
    ),
}


@pytest.mark.parametrize("text", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_unusable_kubeconfig_is_refused_without_quoting_it(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    for source in ((text, None), (None, str(path))):
        with pytest.raises(ConfigError, match=r"(?i)kubeconfig") as refusal:
            connected(*source)
        shown = "".join(traceback.format_exception(refusal.value))
        assert SECRET not in shown


def test_kubeconfig_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"KUBECONFIG \(/no/such/file\)"):
        connected(path="/no/such/file")


def test_no_kubeconfig_outside_of_a_cluster_is_refused() -> None:
    with pytest.raises(ConfigError, match="neither K8S_KUBECONFIG nor KUBECONFIG"):
        connected()


def test_keys_of_a_kubeconfig_are_files_only_as_long_as_the_client_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = base64.b64encode(b"a certificate").decode()
    cluster = {"server": "https://127.0.0.1:1", "certificate-authority-data": data}
    user = {"client-certificate-data": data, "client-key-data": data}
    text = changed(
        clusters=[{"name": "one", "cluster": cluster}], users=[{"name": "one", "user": user}]
    )
    with connected(text=text):
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert [path.read_bytes() for path in files] == [b"a certificate"] * 3
        assert all(path.parent.stat().st_mode & 0o077 == 0 for path in files)
    assert list(tmp_path.iterdir()) == []
