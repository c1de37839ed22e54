"""What the Dockerfile does, as far as it can be done without Docker and without a network: the
wheel is built of what would be sent to the builder, and runs beside the locked dependencies."""

import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.charts.docker import PACKAGES, context, lock
from tests.charts.helm import ROOT


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """In an environment in which nothing is set but what the image sets."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("context")
    for path in context():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, source / path)
    done = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist", cwd=source)
    assert done.returncode == 0, done.stderr
    [made] = (source / "dist").iterdir()
    return made


@pytest.fixture(scope="module")
def image(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel, and the distributions of the image's lock."""
    root = tmp_path_factory.mktemp("image")
    venv.create(root, symlinks=True)
    [packages] = root.glob("lib/python*/site-packages")
    for name, pin in lock(ROOT / "requirements-image.lock").items():
        if pin.marker is None or pin.marker.evaluate():
            found = distribution(name)
            for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
                (packages / top).symlink_to(str(found.locate_file(top)))
    done = run(
        *(sys.executable, "-m", "pip", "--python", root / "bin" / "python"),
        *("install", "--no-compile", "--no-deps", "--no-index", wheel),
        cwd=root,
    )
    assert done.returncode == 0, done.stderr
    return root


def test_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    """The code, and also SQL, the schema's description, the packaged routes, templates, assets."""
    with zipfile.ZipFile(wheel) as opened:
        held = {name for name in opened.namelist() if name.split("/")[0] in PACKAGES}
    there = {str(path) for path in context() if path.parts[0] in PACKAGES}
    assert held == there | {"reconcile/schema.sql"}  # which is the demo's
    kinds = {Path(name).suffix for name in held}
    assert {".py", ".sql", ".json", ".toml", ".html", ".css", ".js", ".svg"} <= kinds


def test_command_runs_from_the_wheel(image: Path) -> None:
    done = run(image / "bin" / "reconcile", "--help", cwd=image)
    assert (done.returncode, done.stderr) == (0, "")
    assert "{run,controller,publish,check" in done.stdout


def test_locked_dependencies_are_enough(image: Path) -> None:
    """For all that the commands import, also what they import late."""
    code = """
import reconcile.attempt, reconcile.check, reconcile.controller.watcher, reconcile.dry_run
import static_site.publish, static_site.s3
import boto3, psycopg, sys
print(reconcile.__file__)
print(psycopg.pq.__impl__)
assert not [path for path in sys.path if path.startswith(sys.argv[1])], sys.path
"""
    done = run(image / "bin" / "python", "-c", code, ROOT, cwd=image)
    assert done.returncode == 0, done.stderr
    where, psycopg = done.stdout.split()
    assert Path(where).is_relative_to(image)
    assert psycopg == "binary"
    checked = run(
        *(sys.executable, "-m", "pip", "--python", image / "bin" / "python", "check"), cwd=image
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("words", [["demo"], ["demo", "plan", "--load", "x", "--boards", "a=1"]])
def test_demo_says_what_it_needs(image: Path, words: list[str]) -> None:
    done = run(image / "bin" / "reconcile", *words, cwd=image)
    assert (done.returncode, done.stdout) == (2, "")
    assert "riscv-runners[demo]" in done.stderr


@pytest.mark.parametrize("command", ["run", "controller", "check"])
def test_command_without_settings_says_which_are_missing(image: Path, command: str) -> None:
    done = run(image / "bin" / "reconcile", command, cwd=image)
    assert done.returncode == 2
    assert "POSTGRES_URL is not set" in " ".join((done.stdout + done.stderr).split())


def test_everything_can_be_compiled_ahead(image: Path, tmp_path: Path) -> None:
    """The file system of a pod is read-only: what is not compiled in the image never is."""
    [packages] = image.glob("lib/python*/site-packages")
    for package in PACKAGES:
        shutil.copytree(packages / package, tmp_path / package)
    options = ("-q", "--invalidation-mode", "unchecked-hash")
    done = run(sys.executable, "-m", "compileall", *options, tmp_path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert len(list(tmp_path.rglob("*.pyc"))) == len(list(tmp_path.rglob("*.py")))
