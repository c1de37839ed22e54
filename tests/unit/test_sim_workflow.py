"""Workflow files of the simulated GitHub: needs, matrix, steps."""

import pytest

from reconcile.sim.github import workflow
from reconcile.sim.github.workflow import WorkflowError, combine, parse, uniform

FILE = """
name: CI
on: [push]
jobs:
  lint:
    runs-on: ubuntu-24.04-riscv
    steps:
      - uses: actions/checkout@v4
      - run: sleep 30
  build:
    needs: lint
    runs-on: [self-hosted, "${{ matrix.board }}"]
    strategy:
      max-parallel: 2
      matrix:
        board: [rv1, rv2]
        cc: [gcc, clang]
        exclude:
          - {board: rv2, cc: clang}
    steps:
      - name: Build with ${{ matrix.cc }}
        run: sleep 2m
  report:
    needs: [lint, build]
    if: ${{ always() }}
    runs-on: ubuntu-24.04-riscv
    continue-on-error: true
    steps:
      - run: |
          echo late
          sleep 1.5
          exit 3
      - run: echo never
"""


def test_jobs_are_expanded_with_names_labels_and_needs() -> None:
    jobs = parse(FILE).jobs
    assert [(job.name, job.labels, job.needs) for job in jobs] == [
        ("lint", ("ubuntu-24.04-riscv",), ()),
        ("build (rv1, gcc)", ("self-hosted", "rv1"), ("lint",)),
        ("build (rv1, clang)", ("self-hosted", "rv1"), ("lint",)),
        ("build (rv2, gcc)", ("self-hosted", "rv2"), ("lint",)),
        ("report", ("ubuntu-24.04-riscv",), ("lint", "build")),
    ]


def test_strategy_and_condition_are_read() -> None:
    lint, build, *_, report = parse(FILE).jobs
    assert (lint.fail_fast, lint.max_parallel, lint.condition) == (False, None, "success")
    assert (build.fail_fast, build.max_parallel) == (True, 2)
    assert (report.condition, report.continue_on_error) == ("always", True)


def test_steps_take_as_long_as_they_sleep_and_end_where_they_fail() -> None:
    lint, build, *_, report = parse(FILE).jobs
    assert [(step.name, step.seconds) for step in lint.steps] == [
        ("Set up job", 1),
        ("Run actions/checkout@v4", 2),
        ("Run sleep 30", 30),
        ("Complete job", 1),
    ]
    assert (build.steps[1].name, build.seconds, build.fails) == ("Build with gcc", 122, False)
    assert [step.name for step in report.steps] == ["Set up job", "Run echo late", "Complete job"]
    assert (report.seconds, report.fails) == (3.5, True)


def test_include_extends_what_it_fits_and_adds_what_fits_nowhere() -> None:
    matrix = {
        "fruit": ["apple", "pear"],
        "animal": ["cat", "dog"],
        "include": [
            {"color": "green"},
            {"color": "pink", "animal": "cat"},
            {"fruit": "apple", "shape": "circle"},
            {"fruit": "banana"},
            {"fruit": "banana", "animal": "cat"},
        ],
    }
    assert combine(matrix) == [
        {"fruit": "apple", "animal": "cat", "color": "pink", "shape": "circle"},
        {"fruit": "apple", "animal": "dog", "color": "green", "shape": "circle"},
        {"fruit": "pear", "animal": "cat", "color": "pink"},
        {"fruit": "pear", "animal": "dog", "color": "green"},
        {"fruit": "banana"},
        {"fruit": "banana", "animal": "cat"},
    ]


def test_matrix_of_includes_alone_is_just_those() -> None:
    assert combine({"include": [{"a": 1}, {"a": 2}]}) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("jobs: [", "is not YAML"),
        ("name: CI", "has no jobs"),
        ("jobs: {a: {steps: []}}", "a has no runs-on"),
        ("jobs: {a: {runs-on: x, needs: b}}", "does not exist or each other"),
        (
            "jobs: {a: {runs-on: x, needs: b}, b: {runs-on: x, needs: a}}",
            "a, b need what does not exist or each other",
        ),
        ("jobs: {}", "has no jobs"),
        ("jobs: {a: 5}", "a is not a mapping"),
        ("jobs: {a: {runs-on: []}}", "a has no runs-on"),
        ("jobs: {a: {runs-on: x, steps: [5]}}", "a is not a mapping"),
        ("jobs: {a: {runs-on: x, strategy: y}}", "strategy is not a mapping"),
        ("jobs: {a: {runs-on: x, strategy: {matrix: '${{ z }}'}}}", "matrix is not a mapping"),
        ("jobs: {a: {runs-on: x, strategy: {matrix: {n: 5}}}}", "matrix.n is not a list"),
        ("jobs: {a: {runs-on: x, strategy: {matrix: {include: [x]}}}}", "include is not a mapping"),
        ("jobs: {a: {runs-on: x, strategy: {max-parallel: 0}}}", "at least 1"),
        ("jobs: {a: {runs-on: x, timeout-minutes: x}}", "at least 1"),
        ("jobs: {a: {runs-on: x, continue-on-error: perhaps}}", "neither true nor false"),
        ("jobs: {a: {runs-on: x, if: github.ref == 'x'}}", "not one the simulation knows"),
        ("jobs: {a: {runs-on: x, steps: [{name: y}]}}", "neither uses nor runs"),
        (
            f"jobs: {{a: {{runs-on: x, strategy: {{matrix: {{n: {list(range(257))}}}}}}}}}",
            "more than 256 jobs",
        ),
    ],
)
def test_file_that_is_no_workflow_is_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(WorkflowError, match=words):
        parse(text)


def test_labels_may_stand_beside_a_group() -> None:
    [job] = parse("jobs: {a: {runs-on: {group: boards, labels: [x, y]}}}").jobs
    assert job.labels == ("x", "y")


def test_uniform_jobs_need_no_file() -> None:
    made = uniform(("x",), seconds=10, count=3, fails=True)
    assert [job.name for job in made.jobs] == ["build (1)", "build (2)", "build (3)"]
    assert {job.seconds for job in made.jobs} == {10 + 2.0}
    assert all(job.fails for job in made.jobs)
    assert isinstance(made, workflow.Workflow)
