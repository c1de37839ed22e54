"""docs/install.md and docs/operations.md: their commands, values and examples are real."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from reconcile import settings_file
from reconcile.settings import Settings
from reconcile.sim.github import workflow
from tests.charts.helm import CHART, call, needs_helm, render
from tests.documents import (
    BOTH,
    INSTALL,
    OPERATIONS,
    ROOT,
    VALUES,
    Document,
    names_of_values,
    parameters,
    value_exists,
)
from tests.function import environment
from tests.unit.test_docs_configuration import github_permissions, settings_there
from webhook_fn import routes
from webhook_fn.config import from_environment
from webhook_fn.receiver import ROUTES

RELEASES = ("reconciler", "staging")
NAMESPACE = "runners-system"

Values = dict[str, Any]


# The chart ---------------------------------------------------------------------------------------


def is_file(name: str) -> bool:
    return name.endswith((".json", ".md", ".pem", ".py", ".sql", ".toml", ".yaml"))


def test_a_value_that_is_not_there_is_noticed() -> None:
    assert value_exists("alerts.rules.queueDrainSlow.threshold")
    assert value_exists("controller.resources.limits.memory")
    assert not value_exists("alerts.rules.queueDrainFast")
    assert not value_exists("controller.replicas")


@BOTH
def test_every_value_and_setting_named_exists(document: Document) -> None:
    """`a.b`: a value of the chart, or a key of RUNNERS_CONFIG. Some begin alike."""
    settings = settings_there()
    first = {key.partition(".")[0] for key in settings} | set(VALUES["properties"])
    named = set()
    for span in document.spans:
        dotted = re.fullmatch(r"\w+(?:\.[\w<>]+)+", span)
        if dotted and span.partition(".")[0] in first and not is_file(span):
            assert value_exists(span) or span in settings, span
            named.add(span)
        if re.fullmatch(r"[a-z]+(?:[A-Z][a-z]*)+", span):
            assert span in set(names_of_values()), span
    assert named


@BOTH
def test_every_value_set_on_a_command_line_exists(document: Document) -> None:
    for path in re.findall(r"--set(?:-file|-string)? ([\w.]+)=", " ".join(document.commands)):
        assert value_exists(path), path


def examples() -> list[Values]:
    """YAML for the chart; what is no workflow."""
    loaded = [yaml.safe_load(code) for code in INSTALL.blocks("yaml")]
    return [each for each in loaded if "jobs" not in each]


@needs_helm
@pytest.mark.parametrize("example", examples(), ids=lambda each: "-".join(each))
def test_every_example_of_values_renders(example: Values) -> None:
    """What does not stand for itself is to be added to the first one."""
    values = example if "image" in example else {**examples()[0], **example}
    rendered = render(values=values, release="reconciler", namespace=NAMESPACE)
    assert rendered.one("Deployment")
    config = values.get("config", {})
    if "runners" in config:
        assert settings_file.load(config["runners"]) != Settings()


@needs_helm
def test_the_routes_example_is_one_and_is_taken_by_the_chart(tmp_path: Path) -> None:
    [example] = INSTALL.blocks("toml")
    path = tmp_path / "routes.toml"
    path.write_text(example)
    assert routes.load(path).routes
    where = ("reconciler", str(CHART), "-n", NAMESPACE)
    option = ("--set-file", f"config.routes={path}")
    done = call("template", *where, *option, files=(), values=examples()[0])
    assert done.returncode == 0, done.stderr
    config = next(
        each for each in yaml.safe_load_all(done.stdout) if each and each["kind"] == "ConfigMap"
    )
    assert config["data"]["routes.toml"].strip() == example.strip()


def test_examples_of_settings_are_settings() -> None:
    for example in OPERATIONS.blocks("toml"):
        assert settings_file.load(example) != Settings()


@needs_helm
def test_objects_are_called_what_the_commands_call_them() -> None:
    full, staging = (each for each in examples() if "image" in each)
    made = set()
    for release, values in zip(RELEASES, (full, staging), strict=True):
        rendered = render(values=values, release=release, namespace=NAMESPACE)
        made |= {(kind.lower(), name) for kind, _, name in rendered.names}
    for document in (INSTALL, OPERATIONS):
        commands = " ".join(document.commands)
        named = set(re.findall(r"\b(deployment|cronjob)/(\S+)", commands))
        named |= {("pod", name) for name in re.findall(r"delete pod (reconciler\S+)", commands)}
        assert named
        assert named <= made
    assert any(name.startswith("staging-reconciler-") for _, name in made)


@BOTH
def test_releases_and_namespaces_are_those_of_the_beginning(document: Document) -> None:
    typed = [*document.commands, *document.spans]
    namespaces = {name for line in typed for name in re.findall(r" -n (\S+)", line)}
    assert namespaces <= {NAMESPACE, "runners"}
    helm = [line.split() for line in typed if line.startswith("helm ")]
    releases = {
        words[3 if words[1] == "get" else 2]
        for words in helm
        if len(words) > 3 and not words[2].startswith("-")
    }
    assert "reconciler" in releases
    assert releases <= set(RELEASES)


def test_secrets_have_the_keys_that_the_pods_read() -> None:
    template = (CHART / "templates" / "_env.tpl").read_text()
    [listed] = re.findall(r'range \$name := list ((?:"\w+" ?)+)', template)
    wanted = set(re.findall(r'"(\w+)"', listed))
    [creation] = [line for line in INSTALL.commands if "create secret generic" in line]
    assert set(re.findall(r"--from-file=(\w+)=", creation)) == wanted
    patched = re.findall(r'\\"data\\": \{\\"(\w+)\\"', " ".join(OPERATIONS.commands))
    assert patched
    assert set(patched) <= wanted


def test_the_image_is_of_the_charts_version() -> None:
    version = yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]
    tags = re.findall(r"riscv-runners:(\S+)", " ".join(INSTALL.commands))
    assert set(tags) == {version}


# The function ------------------------------------------------------------------------------------


@BOTH
def test_deployments_give_every_parameter_that_must_be_given(document: Document) -> None:
    deployments = [line for line in document.commands if line.startswith("sam deploy")]
    assert deployments
    for line in deployments:
        given = re.findall(r"\b([A-Z]\w+)=", line.partition("--parameter-overrides")[2])
        needed = {name for name, each in parameters().items() if "Default" not in each}
        assert needed <= set(given) <= set(parameters())
    for name in re.findall(r"`([A-Z][a-z]\w+)=", document.text):
        assert name in parameters(), name


def test_the_functions_secret_has_the_keys_that_the_template_resolves() -> None:
    template = (ROOT / "template.yaml").read_text()
    [example] = INSTALL.blocks("json")
    assert set(json.loads(example)) == set(re.findall(r":SecretString:(\w+)\}", template))


def test_setup_urls_are_paths_of_the_function_and_outputs_of_the_stack() -> None:
    paths = set(re.findall(r"`https://webhook\.example(/setup/\w+)`", INSTALL.text))
    assert paths == {path for path in ROUTES if path.startswith("/setup/")}
    template = (ROOT / "template.yaml").read_text()
    for output in re.findall(r"`(\w+SetupUrl)`", INSTALL.text):
        assert f"  {output}:\n" in template


def test_example_of_the_trace_secret_is_one() -> None:
    [document] = INSTALL.blocks("json")
    examples = {json.loads(document)["TRACE_API_SECRET"]}
    for line in INSTALL.commands:
        examples |= set(re.findall(r"^export TRACE_API_SECRET=(.*)$", line))
    assert len(examples) == 1
    settings = environment("postgresql://localhost/x") | {"TRACE_API_SECRET": examples.pop()}
    assert from_environment(settings).trace_secret


def test_options_of_the_server_exist() -> None:
    source = (ROOT / "webhook_fn" / "__main__.py").read_text()
    [line] = [line for line in INSTALL.commands if "-m webhook_fn" in line]
    options = re.findall(r"--\w+", line)
    assert options
    assert set(options) <= set(re.findall(r'add_argument\("(--\w+)"', source))


def test_the_first_workflow_has_a_route() -> None:
    [example] = [code for code in INSTALL.blocks("yaml") if "runs-on" in code]
    workflow.parse(example)
    jobs = yaml.safe_load(example)["jobs"].values()
    [routed] = INSTALL.blocks("toml")
    for job in jobs:
        assert f'labels = ["{job["runs-on"]}"]' in routed


# GitHub ------------------------------------------------------------------------------------------


def permissions_in_table() -> tuple[dict[str, str], dict[str, str]]:
    rows = re.findall(
        r"^\| [^|`]+ \(`(\w+)`\) \|([^|]*)\|([^|]*)\|$", INSTALL.text, flags=re.MULTILINE
    )
    organizations, personal = (
        {row[0]: row[column].strip() for row in rows if row[column].strip()} for column in (1, 2)
    )
    return organizations, personal


def test_permissions_are_those_of_the_configuration() -> None:
    assert permissions_in_table() == github_permissions()


def test_links_to_the_form_ask_for_these_permissions_and_events() -> None:
    links = [line for line in INSTALL.commands if line.startswith("https://github.com/")]
    asked = [parse_qs(urlsplit(link).query, strict_parsing=True) for link in links]
    configuration = (ROOT / "docs" / "configuration.md").read_text()
    [subscribed] = re.findall(r"Both subscribe to the events (.+?);", configuration, re.DOTALL)
    about = {"name", "url", "public", "webhook_active", "webhook_url", "events[]"}
    for parameter, wanted in zip(asked, github_permissions(), strict=True):
        assert parameter["webhook_active"] == ["true"], "else no event can be chosen"
        assert parameter["events[]"] == re.findall(r"`(\w+)`", subscribed)
        assert len(parameter["name"][0]) <= 34
        given = {name: values[0] for name, values in parameter.items() if name not in about}
        assert given == wanted
