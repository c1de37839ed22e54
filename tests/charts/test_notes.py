"""What helm says after an install: what to do next, with names that are right.

`helm template` leaves the notes out and `helm install --dry-run` wants a cluster, so they are
rendered as a part of a copy of the chart.
"""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.charts.helm import (
    CHART,
    EVERY_FILE,
    NAMESPACE,
    RELEASE,
    ROOT,
    Rendered,
    changed_chart,
    example,
    needs_helm,
    render,
)

pytestmark = needs_helm

AS_AN_OBJECT = """
apiVersion: v1
kind: ConfigMap
metadata: {name: notes}
data: {text: {{ include "notes" . | toJson }}}
"""


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    notes = (CHART / "templates" / "NOTES.txt").read_text()
    return changed_chart(
        tmp_path,
        {
            "templates/_notes.tpl": f'{{{{- define "notes" }}}}{notes}{{{{ end }}}}',
            "templates/notes.yaml": AS_AN_OBJECT,
        },
    )


def notes(chart: Path, *files: str, **options: Any) -> str:
    text: str = render(*files, chart=chart, **options).one("ConfigMap", "notes")["data"]["text"]
    return text


def commands(text: str) -> list[list[str]]:
    """What is to be typed, indented deeper than what is said."""
    return [shlex.split(line) for line in re.findall(r"^ {5}(\S.*)$", text, re.MULTILINE)]


def option(command: list[str], name: str) -> str:
    return command[command.index(name) + 1]


@pytest.mark.parametrize("name", EVERY_FILE)
def test_notes_are_filled_in(chart: Path, name: str) -> None:
    text = notes(chart, name)
    for hole in ("<no value>", "<nil>", "%!", "{{"):
        assert hole not in text
    assert all(line == line.rstrip() for line in text.splitlines())
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("name", EVERY_FILE)
def test_steps_are_numbered_from_one(chart: Path, name: str) -> None:
    numbers = re.findall(r"^(\d+)\. ", notes(chart, name), re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert len(numbers) >= 5


def check_names(command: list[str], rendered: Rendered, release: str, namespace: str) -> None:
    env = rendered.pods["controller"].env
    match command:
        case ["psql", *_]:
            assert f"schema={env['RUNNERS_ENV']}" in command
            assert (ROOT / option(command, "-f")).is_file()
        case ["helm", "test", name, *_]:
            assert name == release
            assert option(command, "-n") == namespace
        case ["kubectl", "label", "node", *_]:
            assert command[-1].startswith("riseproject.dev/board=")
        case ["kubectl", *_]:
            assert option(command, "-n") == namespace
            assert command[-1] == f"deployment/{rendered.one('Deployment')['metadata']['name']}"
        case _:
            raise AssertionError(f"{command}: teach this test what it means")


@pytest.mark.parametrize("name", EVERY_FILE)
@pytest.mark.parametrize(
    ("release", "namespace"), [(RELEASE, NAMESPACE), ("rise.prod", "ci"), ("x" * 53, "ci")]
)
def test_commands_name_what_there_is(chart: Path, name: str, release: str, namespace: str) -> None:
    found = commands(notes(chart, name, release=release, namespace=namespace))
    assert {each[0] for each in found} == {"psql", "kubectl", "helm"}
    rendered = render(name, release=release, namespace=namespace)
    for command in found:
        check_names(command, rendered, release, namespace)


@pytest.mark.parametrize("name", EVERY_FILE)
def test_pages_that_are_mentioned_exist(chart: Path, name: str) -> None:
    pages = re.findall(r"docs/[\w/-]+\.md", notes(chart, name))
    assert pages
    assert [page for page in pages if not (ROOT / page).is_file()] == []


def test_label_of_a_board_is_the_one_that_is_looked_for(chart: Path) -> None:
    affinity = str(example("minimal").pods["controller"].spec["affinity"])
    [label] = set(re.findall(r"(\S+)=POOL", notes(chart, "minimal")))
    assert label in affinity


SAID = {
    "of an existing Secret": ("minimal", {}, "After changing Secret reconciler-secrets"),
    "of no site": ("minimal", {}, "No status site is published"),
    "of no backstop": ("other_cluster", {}, "The backstop is off"),
    "of no PodMonitor": ("minimal", {}, "Prometheus is not told of the metrics"),
    "of no roles": (
        "minimal",
        {"rbac": {"create": False}},
        "Service account rise-reconciler may do what docs/configuration.md lists, in namespace",
    ),
    "of a kubeconfig": ("other_cluster", {}, "The user of the kubeconfig may do what"),
}


@pytest.mark.parametrize(("name", "values", "said"), SAID.values(), ids=SAID)
def test_notes_speak(chart: Path, name: str, values: dict[str, Any], said: str) -> None:
    assert said in notes(chart, name, values=values)
    others = [each for each in EVERY_FILE if each != name]
    assert any(said not in notes(chart, other) for other in others)


def test_no_secret_is_shown(chart: Path) -> None:
    for name in EVERY_FILE:
        assert "password" not in notes(chart, name)
        assert "PRIVATE KEY" not in notes(chart, name)
