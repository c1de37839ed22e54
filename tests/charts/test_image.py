"""The image: pinned, small, nobody's root, and made of exactly what is tested."""

import json
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

from reconcile import cli
from tests.charts.docker import PACKAGES, PROJECT, Pin, context, instructions, lock, sent, stages
from tests.charts.helm import CHART, ROOT, example, needs_helm
from tools import bundle

HADOLINT = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which(
    "hadolint"
)


@pytest.mark.skipif(HADOLINT is None, reason="hadolint is not installed")
def test_hadolint_is_clean() -> None:
    assert HADOLINT is not None
    done = subprocess.run(
        [HADOLINT, "--no-color", str(ROOT / "Dockerfile")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


# What it is based on.


def base() -> re.Match[str]:
    """One image for both stages: what is compiled in one runs in the other."""
    [image] = {stage[0].text.partition(" ")[0] for stage in stages()}
    found = re.fullmatch(r"python:(3\.\d+)\.(\d+)-slim-([a-z]+)(@sha256:[0-9a-f]{64})?", image)
    assert found is not None, f"{image} is not pinned"
    return found


def test_base_is_pinned_by_version() -> None:
    assert base()[0]


def test_python_is_one_that_the_project_supports_and_the_function_has() -> None:
    """In production there is one Python."""
    assert base()[1] in SpecifierSet(PROJECT["project"]["requires-python"])
    assert base()[1] == bundle.LAMBDA_PYTHON


def test_standard_library_is_compiled_where_it_is() -> None:
    paths = re.findall(r"/usr/local/lib/python([\d.]+)", str(instructions()))
    assert paths == [base()[1]]


# What it runs, and as whom.


def last(name: str) -> str:
    """Of the final stage."""
    return [each.text for each in stages()[-1] if each.name == name][-1]


@needs_helm
def test_user_is_a_number_and_the_one_of_the_chart() -> None:
    user, group = map(int, last("USER").split(":"))
    assert user > 0
    for pod in example("minimal").pods.values():
        security = pod.spec["securityContext"]
        assert (security["runAsUser"], security["runAsGroup"]) == (user, group)


def test_entry_point_is_the_command() -> None:
    assert json.loads(last("ENTRYPOINT")) == list(PROJECT["project"]["scripts"]) == ["reconcile"]
    given = cli._parser().parse_args(json.loads(last("CMD")))
    assert given.port == int(last("EXPOSE"))


def test_final_stage_takes_nothing_but_what_was_built() -> None:
    copies = [each.text for each in stages()[-1] if each.name in ("COPY", "ADD")]
    assert copies == ["--from=build /opt/reconcile /opt/reconcile"]


# What the build is given.


def test_what_is_copied_exists_and_is_sent() -> None:
    copied = [each.text.split()[:-1] for each in stages()[0] if each.name == "COPY"]
    sources = {source for each in copied for source in each}
    assert sources > {"."}
    for source in sources - {"."}:
        assert (ROOT / source).is_file()
        assert sent(source)


def test_wheel_can_be_built_of_what_is_sent() -> None:
    given = {str(path) for path in context()}
    project = PROJECT["project"]
    assert {"pyproject.toml", project["readme"], *project["license-files"]} <= given
    for package in PACKAGES:
        assert f"{package}/__init__.py" in given


def test_nothing_else_is_sent() -> None:
    names = {path.parts[0] for path in context()}
    files = {"LICENSE", "README.md", "pyproject.toml", "schema.sql"}
    locks = {"requirements-build.lock", "requirements-image.lock"}
    assert names - files - locks <= {*PACKAGES, "static_site"}


@pytest.mark.parametrize(
    "path",
    [
        *(".git/config", ".venv/bin/python", ".env", "requirements.lock", "tests/conftest.py"),
        *("reconcile/__pycache__/cli.cpython-313.pyc", "reconcile/store/__pycache__/x.pyc"),
        *("reconcile/.env", "reconcile/sim/.DS_Store", "webhook_fn/.cache/key.pem"),
    ],
)
def test_secrets_and_leftovers_are_not_sent(path: str) -> None:
    assert not sent(path)


# What it installs.

TESTED = lock(ROOT / "requirements.lock")
IMAGE = lock(ROOT / "requirements-image.lock")
BUILD = lock(ROOT / "requirements-build.lock")


def there() -> dict[str, str]:
    """What a requirement's marker is about, in the image."""
    return {
        "python_version": base()[1],
        "python_full_version": f"{base()[1]}.{base()[2]}",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "sys_platform": "linux",
    }


def needed(requirements: list[str]) -> set[NormalizedName]:
    """These distributions, and all that they need themselves."""
    found: set[tuple[NormalizedName, str]] = set()
    waiting = [(Requirement(each), "") for each in requirements]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({**there(), "extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for wanted in {"", *requirement.extras}:
            if (name, wanted) not in found:
                found.add((name, wanted))
                below = distribution(name).requires or []
                waiting += [(Requirement(each), wanted) for each in below]
    return {name for name, _ in found}


def installed(pins: dict[NormalizedName, Pin]) -> set[NormalizedName]:
    return {
        name
        for name, pin in pins.items()
        if pin.marker is None or pin.marker.evaluate({**there(), "extra": ""})
    }


@pytest.mark.parametrize("pins", [IMAGE, BUILD], ids=["image", "build"])
def test_versions_are_those_that_are_tested(pins: dict[NormalizedName, Pin]) -> None:
    assert pins
    for name, pin in pins.items():
        assert pin.hashes
        assert (name, pin.version) == (name, TESTED[name].version)
        assert pin.hashes == TESTED[name].hashes


def test_image_has_what_a_run_needs_and_nothing_else() -> None:
    project = PROJECT["project"]
    requirements = project["dependencies"] + project["optional-dependencies"]["reconcile"]
    assert installed(IMAGE) == needed(requirements)


def test_build_has_what_a_wheel_needs_and_nothing_else() -> None:
    assert installed(BUILD) == needed(PROJECT["build-system"]["requires"])


# Its version.


def test_chart_and_project_are_of_one_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = PROJECT["project"]["version"]
    assert chart["appVersion"] == chart["version"] == version
    assert (
        f"docker build -t {PROJECT['project']['name']}:{version} ."
        in (ROOT / "Dockerfile").read_text()
    )
