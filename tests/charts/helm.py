"""The chart, rendered by the real helm."""

import functools
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

Object = dict[str, Any]

ROOT = Path(__file__).parent.parent.parent
CHART = ROOT / "charts" / "reconciler"
VALUES = Path(__file__).parent / "values"
EVERY_FILE = sorted(path.stem for path in VALUES.glob("*.yaml"))
RELEASE, NAMESPACE = "rise", "ci-system"
HELM = shutil.which("helm", path=str(Path(sys.executable).parent)) or shutil.which("helm")

needs_helm = pytest.mark.skipif(HELM is None, reason="helm is not installed")


@dataclass(frozen=True)
class Pod:
    labels: dict[str, str]
    annotations: dict[str, str]
    spec: Object

    @classmethod
    def of(cls, template: Object) -> "Pod":
        metadata = template["metadata"]
        return cls(metadata["labels"], metadata.get("annotations", {}), template["spec"])

    @property
    def container(self) -> Object:
        [container] = self.spec["containers"]
        assert isinstance(container, dict)
        return container

    @property
    def env(self) -> dict[str, Any]:
        """By name: the value, or where it is from."""
        listed = self.container["env"]
        found = {each["name"]: each.get("value", each.get("valueFrom")) for each in listed}
        assert len(found) == len(listed), "a name twice"
        return found


@dataclass(frozen=True)
class Rendered:
    objects: list[Object]

    def of(self, kind: str) -> list[Object]:
        return [each for each in self.objects if each["kind"] == kind]

    def one(self, kind: str, ending: str = "") -> Object:
        [found] = [each for each in self.of(kind) if each["metadata"]["name"].endswith(ending)]
        return found

    @property
    def pods(self) -> dict[str, Pod]:
        """Whatever kind of object makes them, by component."""
        templates = [each["spec"]["template"] for each in self.of("Deployment")]
        jobs = [each["spec"]["jobTemplate"] for each in self.of("CronJob")]
        templates += [job["spec"]["template"] for job in jobs]
        templates += self.of("Pod")
        pods = [Pod.of(template) for template in templates]
        return {pod.labels["app.kubernetes.io/component"]: pod for pod in pods}

    @property
    def names(self) -> set[tuple[str, str, str]]:
        """By which Kubernetes tells objects apart."""
        return {
            (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"])
            for each in self.objects
        }


def call(
    command: str, *arguments: str, files: tuple[str, ...], values: Mapping[str, Any] | None
) -> subprocess.CompletedProcess[str]:
    assert HELM is not None
    layers = [part for name in files for part in ("-f", str(VALUES / f"{name}.yaml"))]
    return subprocess.run(
        [HELM, command, *arguments, *layers, "-f", "-"],
        input=yaml.safe_dump(dict(values or {})),
        capture_output=True,
        text=True,
        check=False,
    )


def render(
    *files: str,
    values: Mapping[str, Any] | None = None,
    release: str = RELEASE,
    namespace: str = NAMESPACE,
    options: tuple[str, ...] = (),
    chart: Path = CHART,
) -> Rendered:
    """What would be applied to the cluster. Later values win over earlier ones."""
    where = (release, str(chart), "-n", namespace, *options)
    done = call("template", *where, files=files, values=values)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return Rendered([each for each in yaml.safe_load_all(done.stdout) if each])


@functools.cache
def example(name: str) -> Rendered:
    """What one of the values files makes. Shared by the tests, none of which may change it."""
    return render(name)


def changed_chart(directory: Path, files: Mapping[str, str]) -> Path:
    """A copy of the chart in which some files, by their paths, are made or replaced."""
    chart = Path(shutil.copytree(CHART, directory / CHART.name))
    for path, text in files.items():
        (chart / path).write_text(text)
    return chart


def refusal(*files: str, values: Mapping[str, Any] | None = None) -> str:
    """What helm says of values that cannot be used."""
    where = (RELEASE, str(CHART), "-n", NAMESPACE)
    done = call("template", *where, files=files, values=values)
    assert done.returncode != 0, "these values were taken"
    assert done.stdout == ""
    return done.stderr
