"""Workflow files as people write them, with the times that things take on such boards. Pure: the
same chance gives the same file."""

from enum import StrEnum
from random import Random

SHORTEST, LONGEST = 40, 1500  # seconds of one job
FAILING = 0.06  # part of all jobs that fail by themselves
SUITES = ("unit", "integration", "docs", "packaging", "install", "fuzz")
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
BUILDS = ("debug", "release", "asan", "minimal")


class Shape(StrEnum):
    SINGLE = "single"  # one job
    PIPELINE = "pipeline"  # a build, then tests side by side
    MATRIX = "matrix"  # many at once
    LONG = "long"  # one job that takes long


def text(shape: Shape, label: str, chance: Random) -> str:
    """A workflow file of that shape."""
    if shape is Shape.PIPELINE:
        return _pipeline(label, chance)
    if shape is Shape.MATRIX:
        versions = chance.sample(VERSIONS, k=chance.randint(2, 4))
        builds = chance.sample(BUILDS, k=chance.randint(2, 4))
        return matrix(label, [f"{one}, {other}" for one in versions for other in builds], chance)
    if shape is Shape.LONG:
        return _single("simulate", label, chance, typical=1100)
    return _single("build", label, chance, typical=240)


def matrix(label: str, names: list[str], chance: Random, typical: float = 270) -> str:
    """One job for each name, none of which needs another."""
    return f"name: Matrix\non: push\njobs:\n{_job('build', label, names, chance, typical)}"


def _pipeline(label: str, chance: Random) -> str:
    suites = chance.sample(SUITES, k=chance.randint(2, 4))
    build = _job("build", label, [], chance, typical=330)
    tests = _job("test", label, suites, chance, typical=260, needs="build")
    return f"name: CI\non: [push, pull_request]\njobs:\n{build}{tests}"


def _single(key: str, label: str, chance: Random, typical: float) -> str:
    return f"name: CI\non: push\njobs:\n{_job(key, label, [], chance, typical)}"


def _job(
    key: str, label: str, names: list[str], chance: Random, typical: float, needs: str = ""
) -> str:
    lines = [f"  {key}:", f"    runs-on: {label}"]
    if needs:
        lines.append(f"    needs: {needs}")
    script = _script(chance, typical)
    if names:
        lines += [f"    name: {key} (${{{{ matrix.of }}}})", "    strategy:"]
        lines += ["      fail-fast: false", "      matrix:", "        include:"]
        lines += [
            f'          - {{of: "{name}", do: "{_script(chance, typical)}"}}' for name in names
        ]
        script = "${{ matrix.do }}"
    lines += ["    steps:", "      - uses: actions/checkout@v4"]
    lines += [f"      - name: {key.capitalize()}", f"        run: ./ci/{key}.sh && {script}"]
    return "\n".join(lines) + "\n"


def _script(chance: Random, typical: float) -> str:
    """What the simulated runner understands: how long it takes, and whether it fails."""
    seconds = min(LONGEST, max(SHORTEST, typical * chance.lognormvariate(0, 0.4)))
    return f"sleep {seconds:.0f}" + (" && exit 1" if chance.random() < FAILING else "")
