"""docs/configuration.md names every setting there is, with its default, and no other."""

import dataclasses
import re
import tomllib
from pathlib import Path

from reconcile.config import DEFAULT_GITHUB_API_URL
from reconcile.kube.access import REQUIRED
from reconcile.settings import EphemeralStorage, Pool, Settings
from reconcile.settings_file import load
from reconcile.sim.github.accounts import PERMISSIONS

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = (ROOT / "docs" / "configuration.md").read_text()
ALLOWED = "What it must be allowed to do"


def section(heading: str) -> str:
    return DOCUMENT.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def documented(heading: str) -> dict[str, str]:
    """Names and defaults of the section's tables."""
    rows = re.findall(r"^\| `([^`]+)` \| (?:`([^`]*)`)? ?\|", section(heading), flags=re.MULTILINE)
    assert len(rows) == len(dict(rows)), "each is listed once"
    return dict(rows)


def variables_read() -> set[str]:
    source = (ROOT / "reconcile" / "config.py").read_text()
    calls = re.findall(r"env\.read\w*\(([^)]*)\)", source)
    return {name for call in calls for name in re.findall(r'"([A-Z0-9_]+)"', call)}


def text(value: object) -> str:
    return "" if value is None else str(value)


def settings_there() -> dict[str, str]:
    there: dict[str, str] = {}
    for field in dataclasses.fields(Settings):
        if dataclasses.is_dataclass(field.default):
            for inner in dataclasses.fields(field.default):
                there[f"{field.name}.{inner.name}"] = text(inner.default)
        elif field.name == "max_workers":
            there["entities.<id>.max_workers"] = "default_max_workers"
        elif field.name == "pools":
            assert [inner.name for inner in dataclasses.fields(Pool)] == ["ephemeral_storage"]
            for inner in dataclasses.fields(EphemeralStorage):
                there[f"pools.<name>.ephemeral_storage.{inner.name}"] = text(inner.default)
        else:
            there[field.name] = text(field.default)
    return there


def test_every_variable_is_documented() -> None:
    listed = documented("Environment")
    assert set(listed) == variables_read()
    assert {name: default for name, default in listed.items() if default} == {
        "GITHUB_API_URL": DEFAULT_GITHUB_API_URL,
        "K8S_NAMESPACE": "default",
    }


def test_every_key_of_runners_config_is_documented_with_its_default() -> None:
    assert documented("RUNNERS_CONFIG") == settings_there()


def github_permissions() -> tuple[dict[str, str], dict[str, str]]:
    """Of the organizations' App, and of the personal one."""
    rows = re.findall(
        r"^\| [^|`]+ \(`(\w+)`\) \|([^|]*)\|([^|]*)\|$", section(ALLOWED), flags=re.MULTILINE
    )
    organizations, personal = (
        {row[0]: row[column].strip() for row in rows if row[column].strip()} for column in (1, 2)
    )
    return organizations, personal


def test_every_permission_in_the_cluster_is_documented_with_its_place() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (\w+) \|", section(ALLOWED), flags=re.MULTILINE)
    assert rows == [(str(one), "namespace" if one.namespaced else "cluster") for one in REQUIRED]


def test_permissions_at_github_are_those_of_the_simulated_apps() -> None:
    organizations, personal = github_permissions()
    assert organizations | personal == PERMISSIONS


def test_the_example_is_one() -> None:
    [example] = re.findall(r"```toml\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    assert tomllib.loads(example)
    assert load(example) != Settings()
