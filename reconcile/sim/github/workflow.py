"""Workflow files: GitHub's own YAML, `needs` and `matrix` included, expanded into jobs. Pure.

The simulated runner understands a little shell: `sleep 90` takes that long (s, m and h as in
coreutils), `exit 1` and `false` fail the step. So a workflow file of the simulated world is a
valid one of the real world too.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

JOBS_A_MATRIX = 256  # GitHub's limit
SET_UP_SECONDS = 1.0
COMPLETE_SECONDS = 1.0
ACTION_SECONDS = 2.0  # a step that uses an action
COMMAND_SECONDS = 1.0  # a step that runs a command that does not sleep
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


class WorkflowError(ValueError):
    """The file is no workflow, or asks for what the simulation does not know."""


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    seconds: float
    fails: bool = False


@dataclass(frozen=True, slots=True)
class JobSpec:
    """One job to be: a matrix has been expanded into many of the same key."""

    key: str
    name: str
    labels: tuple[str, ...]
    steps: tuple[Step, ...]
    needs: tuple[str, ...] = ()
    condition: str = "success"  # of what it needs: success, failure or always
    fail_fast: bool = False
    max_parallel: int | None = None
    continue_on_error: bool = False

    @property
    def seconds(self) -> float:
        return sum(step.seconds for step in self.steps)

    @property
    def fails(self) -> bool:
        return any(step.fails for step in self.steps)


@dataclass(frozen=True, slots=True)
class Workflow:
    name: str
    path: str
    jobs: tuple[JobSpec, ...]


def uniform(
    labels: tuple[str, ...], seconds: float = 60, count: int = 1, *, fails: bool = False
) -> Workflow:
    """Equal jobs, side by side, without a file."""
    steps = _surrounded([Step("Build", seconds, fails)])
    names = ["build"] if count == 1 else [f"build ({number})" for number in range(1, count + 1)]
    jobs = tuple(JobSpec("build", name, labels, steps) for name in names)
    return Workflow("CI", ".github/workflows/ci.yml", jobs)


def parse(text: str, path: str = ".github/workflows/ci.yml") -> Workflow:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise WorkflowError(f"{path} is not YAML: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("jobs"), dict):
        raise WorkflowError(f"{path} has no jobs.")
    jobs = tuple(
        spec for key, job in document["jobs"].items() for spec in _expand(str(key), job, path)
    )
    _check_needs(jobs, path)
    return Workflow(str(document.get("name") or path), path, jobs)


def _expand(key: str, job: Any, path: str) -> Iterator[JobSpec]:
    if not isinstance(job, dict) or "runs-on" not in job:
        raise WorkflowError(f"{path}: job {key} has no runs-on.")
    strategy = job.get("strategy") or {}
    matrix = strategy.get("matrix")
    combinations = [{}] if matrix is None else combine(matrix)
    if len(combinations) > JOBS_A_MATRIX:
        raise WorkflowError(f"{path}: the matrix of {key} makes more than {JOBS_A_MATRIX} jobs.")
    for values in combinations:
        name = _fill(str(job.get("name") or key), values)
        if values and "name" not in job:
            name = f"{key} ({', '.join(str(value) for value in values.values())})"
        yield JobSpec(
            key=key,
            name=name,
            labels=tuple(_fill(label, values) for label in _texts(job["runs-on"])),
            steps=_surrounded([_step(step, values, path) for step in job.get("steps") or []]),
            needs=tuple(_texts(job.get("needs") or [])),
            condition=_condition(job.get("if"), f"{path}: job {key}"),
            fail_fast=matrix is not None and strategy.get("fail-fast", True) is True,
            max_parallel=strategy.get("max-parallel"),
            continue_on_error=job.get("continue-on-error") is True,
        )


def combine(matrix: dict[str, Any]) -> list[dict[str, Any]]:
    """The combinations of a matrix with its `include` and `exclude`, as GitHub defines them."""
    axes = {name: values for name, values in matrix.items() if name not in ("include", "exclude")}
    combinations = [
        dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())
    ]
    if not axes:
        combinations = []
    for excluded in matrix.get("exclude") or []:
        combinations = [
            values
            for values in combinations
            if any(values.get(name) != value for name, value in excluded.items())
        ]
    originals = list(combinations)
    for included in matrix.get("include") or []:
        # It extends every original combination that it contradicts in nothing, or stands alone.
        fitting = [
            values
            for values in originals
            if all(values[name] == value for name, value in included.items() if name in axes)
        ]
        for values in fitting:
            values.update(included)
        if not fitting:
            combinations.append(dict(included))
    return combinations


def _step(step: dict[str, Any], values: dict[str, Any], path: str) -> Step:
    if "uses" in step:
        return Step(str(step.get("name") or f"Run {step['uses']}"), ACTION_SECONDS)
    if "run" not in step:
        raise WorkflowError(f"{path}: a step neither uses nor runs anything.")
    script = _fill(str(step["run"]), values)
    naps = re.findall(r"\bsleep\s+(\d+(?:\.\d+)?)([smh]?)\b", script)
    seconds = sum(float(number) * UNITS[unit] for number, unit in naps)
    fails = re.search(r"\bexit\s+[1-9]|(?:^|[;&\s])false\s*$", script) is not None
    first_line = script.strip().partition("\n")[0]
    name = _fill(str(step.get("name") or f"Run {first_line}"), values)
    return Step(name, seconds if naps else COMMAND_SECONDS, fails)


def _surrounded(steps: list[Step]) -> tuple[Step, ...]:
    """As far as it gets: what follows a failed step is not run."""
    reached = list(steps)
    for index, step in enumerate(steps):
        if step.fails:
            reached = steps[: index + 1]
            break
    return (Step("Set up job", SET_UP_SECONDS), *reached, Step("Complete job", COMPLETE_SECONDS))


def _condition(text: Any, place: str) -> str:
    if text is None:
        return "success"
    condition = re.sub(r"[\s${}]", "", str(text))
    if condition in ("success()", "failure()", "always()"):
        return condition.removesuffix("()")
    raise WorkflowError(f"{place}: the condition {text!r} is not one the simulation knows.")


def _fill(text: str, values: dict[str, Any]) -> str:
    def value(found: re.Match[str]) -> str:
        return str(values.get(found.group(1), ""))

    return re.sub(r"\$\{\{\s*matrix\.([\w-]+)\s*\}\}", value, text)


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _check_needs(jobs: tuple[JobSpec, ...], path: str) -> None:
    needs = {job.key: job.needs for job in jobs}
    settled: set[str] = set()
    while len(settled) < len(needs):
        ready = {key for key in needs if key not in settled and settled.issuperset(needs[key])}
        if not ready:
            stuck = ", ".join(sorted(needs.keys() - settled))
            raise WorkflowError(f"{path}: {stuck} need what does not exist or each other.")
        settled |= ready
