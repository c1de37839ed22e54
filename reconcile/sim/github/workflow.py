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

Values = dict[str, Any]


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
    timeout_seconds: float = 360 * 60

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
    declared = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(declared, dict) or not declared:
        raise WorkflowError(f"{path} has no jobs.")
    jobs = tuple(
        spec for key, job in declared.items() for spec in _expand(str(key), job, f"{path}: {key}")
    )
    _check_needs(jobs, path)
    return Workflow(str(document.get("name") or path), path, jobs)


def _expand(key: str, job: Any, place: str) -> Iterator[JobSpec]:
    job = _mapping(job, place)
    strategy = _mapping(job.get("strategy"), f"{place}: strategy")
    matrix = strategy.get("matrix")
    combinations = [{}] if matrix is None else combine(matrix, place)
    if len(combinations) > JOBS_A_MATRIX:
        raise WorkflowError(f"{place}: the matrix makes more than {JOBS_A_MATRIX} jobs.")
    for values in combinations:
        name = _fill(str(job.get("name") or key), values)
        if values and "name" not in job:
            name = f"{key} ({', '.join(str(value) for value in values.values())})"
        steps = _list(job.get("steps"), f"{place}: steps")
        yield JobSpec(
            key=key,
            name=name,
            labels=_labels(job.get("runs-on"), values, place),
            steps=_surrounded([_step(_mapping(each, place), values, place) for each in steps]),
            needs=tuple(_texts(job.get("needs") or [])),
            condition=_condition(job.get("if"), place),
            fail_fast=matrix is not None and _flag(strategy.get("fail-fast", True), values, place),
            max_parallel=_at_least_one(strategy.get("max-parallel"), place),
            continue_on_error=_flag(job.get("continue-on-error", False), values, place),
            timeout_seconds=60 * (_at_least_one(job.get("timeout-minutes"), place) or 360),
        )


def _labels(runs_on: Any, values: Values, place: str) -> tuple[str, ...]:
    if isinstance(runs_on, dict):  # with a group, which the labels are all we need of
        runs_on = runs_on.get("labels")
    labels = tuple(_fill(label, values) for label in _texts(runs_on or []))
    if not labels or not all(labels):
        raise WorkflowError(f"{place} has no runs-on.")
    return labels


def combine(matrix: Any, place: str = "matrix") -> list[Values]:
    """The combinations of a matrix with its `include` and `exclude`, as GitHub defines them."""
    matrix = _mapping(matrix, f"{place}: matrix")
    axes = {
        name: _list(values, f"{place}: matrix.{name}")
        for name, values in matrix.items()
        if name not in ("include", "exclude")
    }
    combinations = [
        dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())
    ]
    if not axes:
        combinations = []
    for excluded in _mappings(matrix.get("exclude"), f"{place}: exclude"):
        combinations = [
            values
            for values in combinations
            if any(values.get(name) != value for name, value in excluded.items())
        ]
    originals = list(combinations)
    for included in _mappings(matrix.get("include"), f"{place}: include"):
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


def _step(step: Values, values: Values, place: str) -> Step:
    if "uses" in step:
        return Step(str(step.get("name") or f"Run {step['uses']}"), ACTION_SECONDS)
    if "run" not in step:
        raise WorkflowError(f"{place}: a step neither uses nor runs anything.")
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


def _fill(text: str, values: Values) -> str:
    def value(found: re.Match[str]) -> str:
        return str(values.get(found.group(1), ""))

    return re.sub(r"\$\{\{\s*matrix\.([\w-]+)\s*\}\}", value, text)


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _mapping(value: Any, place: str) -> Values:
    if value is not None and not isinstance(value, dict):
        raise WorkflowError(f"{place} is not a mapping.")
    return value or {}


def _list(value: Any, place: str) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise WorkflowError(f"{place} is not a list.")
    return value or []


def _mappings(value: Any, place: str) -> list[Values]:
    return [_mapping(each, place) for each in _list(value, place)]


def _flag(value: Any, values: Values, place: str) -> bool:
    """Yes or no, perhaps by an expression over the matrix."""
    word = _fill(str(value), values).lower()
    if word not in ("true", "false"):
        raise WorkflowError(f"{place}: {value!r} is neither true nor false.")
    return word == "true"


def _at_least_one(value: Any, place: str) -> int | None:
    if value is not None and (type(value) is not int or value < 1):
        raise WorkflowError(f"{place}: {value!r} is not a whole number of at least 1.")
    return value


def _check_needs(jobs: tuple[JobSpec, ...], path: str) -> None:
    needs = {job.key: job.needs for job in jobs}
    settled: set[str] = set()
    while len(settled) < len(needs):
        ready = {key for key in needs if key not in settled and settled.issuperset(needs[key])}
        if not ready:
            stuck = ", ".join(sorted(needs.keys() - settled))
            raise WorkflowError(f"{path}: {stuck} need what does not exist or each other.")
        settled |= ready
