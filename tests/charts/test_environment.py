"""The settings that a process in a pod finds, as the code itself reads them."""

import re
from pathlib import Path
from typing import Any

import pytest

from reconcile import settings_file
from reconcile.config import Config, FileSite, S3Site, from_environment
from tests.charts.given_secrets import secrets, with_keys
from tests.charts.helm import (
    CHART,
    EVERY_FILE,
    NAMESPACE,
    RELEASE,
    ROOT,
    Rendered,
    call,
    example,
    needs_helm,
    render,
)
from tests.simulated import private_key

pytestmark = needs_helm

# Set by every cluster in every pod.
OF_KUBERNETES = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
# For simulations only; and a path, in place of which the chart takes the text.
NOT_FOR_THE_CHART = {"RUNNERS_CLOCK", "KUBECONFIG"}


def documented() -> set[str]:
    table = (ROOT / "docs" / "configuration.md").read_text().partition("## Environment\n")[2]
    return set(re.findall(r"^\| `([A-Z0-9_]+)` \|", table.partition("\n## ")[0], re.MULTILINE))


def environment(rendered: Rendered, root: Path) -> dict[str, str]:
    """The controller's, with the files that would be mounted put below `root`."""
    pod, known, found = rendered.pods["controller"], secrets(rendered), dict(OF_KUBERNETES)
    for name, value in pod.env.items():
        if isinstance(value, dict):
            reference = value["secretKeyRef"]
            found[name] = known.get((reference["name"], reference["key"]), "of another Secret")
        else:
            found[name] = value
    mounted = {each["name"]: each["mountPath"] for each in pod.container["volumeMounts"]}
    for volume in pod.spec["volumes"]:
        maps = [
            each["data"]
            for each in rendered.of("ConfigMap")
            if each["metadata"]["name"] == volume.get("configMap", {}).get("name")
        ]
        for data in maps:
            directory = mounted[volume["name"]]
            for file, text in data.items():
                (root / file).write_bytes(text.encode())
            for name, value in found.items():
                found[name] = re.sub(f"^{directory}(?=/)", str(root), value)
    return found


# The variables.


@pytest.mark.parametrize("name", EVERY_FILE)
def test_settings_are_such_as_the_code_takes(name: str, tmp_path: Path) -> None:
    config = from_environment(environment(with_keys(name), tmp_path))
    assert config.organization.private_key == config.personal.private_key == private_key()
    assert "host=db.example" in config.conninfo
    assert "sslmode=verify-full" in config.conninfo


def read(name: str, tmp_path: Path) -> Config:
    return from_environment(environment(with_keys(name), tmp_path))


def test_defaults_are_those_of_the_code(tmp_path: Path) -> None:
    config = read("minimal", tmp_path)
    assert (config.environment, config.namespace) == ("prod", "default")
    assert (config.organization.id, config.personal.id) == (1234567, 1234568)
    assert config.github_api_url == "https://api.github.com"
    assert config.settings == settings_file.load("\n")
    assert (config.site, config.aws_endpoint_url, config.routes) == (None, None, None)
    assert (config.kubeconfig_text, config.kubeconfig_path) == (None, None)


def test_everything_that_can_be_set_arrives(tmp_path: Path) -> None:
    config = read("everything", tmp_path)
    assert config.namespace == "runners"
    assert config.github_api_url == "https://github.example/api/v3"
    assert config.site == S3Site("site-bucket", "status")
    assert config.aws_endpoint_url == "https://s3.example"
    assert config.settings.scheduling == "fair"
    assert config.settings.max_workers == {21003710: 40}
    assert config.settings.run.deadline == 90
    assert config.routes is not None
    assert config.routes.banned_entities.include(666, None)
    assert [route.pool for route in config.routes.routes] == ["scw-em-rv1"]


def test_another_environment_and_another_cluster_arrive(tmp_path: Path) -> None:
    staging = read("staging", tmp_path)
    assert (staging.environment, staging.site) == ("staging", FileSite(Path("/srv/site")))
    other = read("other_cluster", tmp_path)
    assert other.kubeconfig_text is not None
    assert "https://boards.example:6443" in other.kubeconfig_text


def own_variables() -> set[str]:
    """Those that the chart itself sets, whatever the values."""
    extra = {"AWS_REGION", "AWS_SESSION_TOKEN"}  # of everything.yaml
    return {name for each in EVERY_FILE for name in example(each).pods["controller"].env} - extra


def test_every_variable_is_one_that_the_code_reads(tmp_path: Path) -> None:
    readers = [set(read(name, tmp_path).sources) for name in EVERY_FILE]
    assert own_variables() <= set.union(*readers)


def test_every_documented_variable_can_be_set() -> None:
    assert own_variables() == documented() - NOT_FOR_THE_CHART


def test_no_variable_can_be_set_past_its_value() -> None:
    """`extraEnv` is for others: of two variables of one name, only one would count."""
    values = {"extraEnv": [{"name": name, "value": "mine"} for name in sorted(own_variables())]}
    where = (RELEASE, str(CHART), "-n", NAMESPACE)
    told = call("template", *where, files=("minimal",), values=values).stderr
    assert set(re.findall(r"extraEnv: (\w+) has", told)) == own_variables()


@pytest.mark.parametrize(
    "given", [1234567, 2**53 - 1, "1234567890123456789"], ids=lambda given: f"{given!r}"
)
def test_app_id_is_written_in_digits(given: Any) -> None:
    values = {"github": {"organizationAppId": given, "personalAppId": 99}}
    env = render("minimal", values=values).pods["controller"].env
    assert env["GHAPP_ORG_ID"] == str(given)


def test_flags_do_as_well_as_a_file() -> None:
    """The five settings without a default, given as a README would."""
    flags = {
        "image.repository": "registry.example/riscv-runners",
        "environment": "prod",
        "github.organizationAppId": "1234567",
        "github.personalAppId": "1234568",
        "secret.existingName": "reconciler-secrets",
    }
    options = [part for key, value in flags.items() for part in ("--set", f"{key}={value}")]
    assert render(options=tuple(options)).objects == example("minimal").objects
