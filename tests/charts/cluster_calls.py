"""Which calls of the cluster's API the code makes: read off its source, and off the client's.

The official client is generated: each of its methods names the path and the HTTP method that it
uses, and from these two follows what Kubernetes asks whether one may do.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import kubernetes.client

from tests.charts.helm import ROOT

PACKAGE = ROOT / "reconcile" / "kube"
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}
# Anybody who is known to the cluster at all may ask what he may do.
FOR_EVERYBODY = {"selfsubjectaccessreviews"}


@dataclass(frozen=True, order=True)
class Allowed:
    verb: str
    resource: str  # pods, pods/log
    namespaced: bool = True
    group: str = ""


def modules(package: Path = PACKAGE) -> Iterator[ast.Module]:
    for path in sorted(package.rglob("*.py")):
        yield ast.parse(path.read_text(), str(path))


def _apis(tree: ast.Module) -> dict[str, str]:
    """Attributes that hold a part of the client, as in `self._core = CoreV1Api(api)`."""
    return {
        node.targets[0].attr: node.value.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id.endswith("Api")
    }


def methods_used(package: Path = PACKAGE) -> set[tuple[str, str]]:
    """The client's class and method, of each mention of one."""
    used: set[tuple[str, str]] = set()
    for tree in modules(package):
        apis, known = _apis(tree), set[ast.AST]()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                if node.value.attr in apis:
                    used.add((apis[node.value.attr], node.attr))
                    known.add(node.value)
            elif isinstance(node, ast.Assign):
                known.update(node.targets)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in apis:
                assert node in known, f"line {node.lineno}: what is called cannot be seen here"
    return used


def parts_of_the_client(package: Path = PACKAGE) -> set[str]:
    """Every class of the client's that is for calls, in whatever way it is used."""
    names = {
        node.id if isinstance(node, ast.Name) else node.attr
        for tree in modules(package)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    }
    return {name for name in names if re.fullmatch(r"[A-Z]\w*Api", name)}


def permission(api: str, method: str) -> Allowed:
    """What a method's request needs to be allowed."""
    source = inspect.getsource(getattr(getattr(kubernetes.client, api), f"{method}_with_http_info"))
    [(path, http)] = re.findall(r"'(/apis?/[^']+)', '([A-Z]+)'", source)
    found = re.fullmatch(
        r"/(?:api/v1|apis/(?P<group>[^/]+)/[^/]+)(?P<scope>/namespaces/\{namespace\})?"
        r"/(?P<resource>[a-z]+)(?P<one>/\{name\})?(?:/(?P<sub>[a-z]+))?",
        path,
    )
    assert found is not None, path
    named = found["one"] is not None
    verb = (
        VERBS.get(http)
        or {
            ("GET", True): "get",
            ("GET", False): "list",
            ("DELETE", True): "delete",
            ("DELETE", False): "deletecollection",
        }[http, named]
    )
    resource = "/".join(filter(None, (found["resource"], found["sub"])))
    return Allowed(verb, resource, found["scope"] is not None, found["group"] or "")


def permissions_needed(package: Path = PACKAGE) -> set[Allowed]:
    needed = {permission(api, method) for api, method in methods_used(package)}
    return {each for each in needed if each.resource not in FOR_EVERYBODY}
