"""`make bundle`: the function's deployable zip.

It holds webhook_fn and what `project.dependencies` names, at the versions of requirements.lock,
as wheels for Lambda's Python and platform. The same inputs give the same bytes.
"""

import argparse
import compileall
import py_compile
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
LAMBDA_PYTHON = "3.13"  # template.yaml's Runtime
LAMBDA_PLATFORM = "x86_64-manylinux2014"
EARLIEST_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
NOT_NEEDED = ("bin", "**/__pycache__", "**/*.pyi", "**/.lock", "**/*.dist-info/RECORD")
# Served by others than Lambda.
NOT_FOR_LAMBDA = ("webhook_fn/wsgi.py", "webhook_fn/__main__.py")


class BundleError(Exception):
    """The bundle could not be built; the message says why."""


def build(output: Path, python: str, platform: str, routes: Path | None = None) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        contents = Path(scratch)
        _install_dependencies(contents, python, platform)
        shutil.copytree(ROOT / "webhook_fn", contents / "webhook_fn")
        if routes is not None:
            shutil.copyfile(routes, contents / "routes.toml")
        _remove(contents, NOT_NEEDED + NOT_FOR_LAMBDA)
        if python == sysconfig.get_python_version():
            _compile(contents)
        output.parent.mkdir(parents=True, exist_ok=True)
        _zip(contents, output)


def _install_dependencies(target: Path, python: str, platform: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        raise BundleError("uv is not installed; run this as `make bundle`.")
    command = [uv, "pip", "install", "--quiet", "--target", str(target)]
    command += ["--python", sys.executable, "--python-version", python]
    command += ["--python-platform", platform, "--only-binary", ":all:"]
    command += ["--constraints", str(ROOT / "requirements.lock"), *project["dependencies"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BundleError(f"The dependencies could not be installed: {done.stderr.strip()}")


def _remove(contents: Path, patterns: tuple[str, ...]) -> None:
    for path in [path for pattern in patterns for path in contents.glob(pattern)]:
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()


def _compile(contents: Path) -> None:
    """Lambda's file system is read-only, so without this every cold start compiles all of it.

    Only the same version of Python can do it. By hash, not by time: a zip has no good times.
    """
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(
        contents, quiet=1, invalidation_mode=mode, stripdir=str(contents), prependdir="/var/task"
    )


def _zip(contents: Path, output: Path) -> None:
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(path for path in contents.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(contents).as_posix(), EARLIEST_ZIP_TIME)
            entry.external_attr = 0o100644 << 16  # Lambda runs as a user who must read them.
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make bundle", description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "dist" / "webhook_fn.zip")
    parser.add_argument("--python", default=LAMBDA_PYTHON, help="Lambda's Python (%(default)s)")
    parser.add_argument("--platform", default=LAMBDA_PLATFORM, help="uv's name (%(default)s)")
    parser.add_argument("--routes", type=Path, help="put this ROUTES_FILE in as routes.toml")
    options = parser.parse_args(arguments)
    try:
        build(options.output, options.python, options.platform, options.routes)
    except (BundleError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    size = options.output.stat().st_size / 1024 / 1024
    sys.stdout.write(f"{options.output}: {size:.1f} MiB for Python {options.python}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
