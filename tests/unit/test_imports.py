"""Which package may import what: three packages that meet in the database."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
OURS = {"webhook_fn", "reconcile", "static_site"}


def imports(package: str) -> Iterator[tuple[Path, str]]:
    """Every module imported anywhere in the package, by its top-level name."""
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from ((path, alias.name.partition(".")[0]) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                yield path, node.module.partition(".")[0]


@pytest.mark.parametrize("package", ["webhook_fn", "static_site"])
def test_function_and_site_import_nothing_from_the_others(package: str) -> None:
    others = OURS - {package}
    assert [(p.name, module) for p, module in imports(package) if module in others] == []


def test_function_needs_psycopg_and_nothing_else() -> None:
    outside = {
        (path.name, module)
        for path, module in imports("webhook_fn")
        if module not in sys.stdlib_module_names and module != "webhook_fn"
    }
    assert {module for _, module in outside} == {"psycopg", "waitress"}
    assert {path for path, module in outside if module == "waitress"} == {"__main__.py"}


# The site's own adapters, and by what they speak to the outside.
SITE_ADAPTED = {
    "psycopg": {"reading.py"},
    "jinja2": {"render.py"},
    "boto3": {"s3.py"},
    "botocore": {"s3.py"},
    "waitress": {"__main__.py"},
}


def test_site_needs_few_libraries_and_each_in_one_place() -> None:
    knowing: dict[str, set[str]] = {}
    for path, module in imports("static_site"):
        if module not in sys.stdlib_module_names:
            knowing.setdefault(module, set()).add(path.name)
    assert knowing == SITE_ADAPTED


SITE_DECISIONS = [
    *sorted((ROOT / "static_site" / "pages").glob("*.py")),
    *(
        ROOT / "static_site" / f"{name}.py"
        for name in ("cuts", "formats", "privacy", "routing", "words")
    ),
]
SITE_VALUES = ("model", "rows", "words", "privacy", "pages", "headers", "formats")
SITE_PURE = {
    "collections",
    "dataclasses",
    "datetime",
    "functools",
    "ipaddress",
    "json",
    "re",
    "typing",
    "urllib",
}


@pytest.mark.parametrize("path", SITE_DECISIONS, ids=lambda path: path.name)
def test_pages_are_made_of_values_alone(path: Path) -> None:
    for module in absolute_imports(path):
        top, _, rest = module.partition(".")
        assert top in SITE_PURE or (top == "static_site" and rest.startswith(SITE_VALUES)), module


SIMULATOR = ROOT / "reconcile" / "sim"


def absolute_imports(path: Path) -> Iterator[str]:
    """Everything that a file imports, by its full name: `from .. import store` is
    `reconcile.store`."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = [*above, *([node.module] if node.module else [])]
            yield from (".".join([*module, alias.name]) for alias in node.names)


def test_simulators_share_no_code_with_what_they_test() -> None:
    """Nor with the client that it is tested through."""
    for path in SIMULATOR.rglob("*.py"):
        for module in absolute_imports(path):
            ours = module.split(".")[0] in OURS
            assert not ours or module.startswith("reconcile.sim"), f"{path}: {module}"
            assert module.split(".")[0] != "kubernetes", path


def test_the_two_simulators_meet_only_in_the_world() -> None:
    for one, other in (("github", "cluster"), ("cluster", "github")):
        for path in (SIMULATOR / one).rglob("*.py"):
            modules = list(absolute_imports(path))
            assert not [m for m in modules if m.startswith(f"reconcile.sim.{other}")], path


RUN = ROOT / "reconcile"
# Who speaks to the outside, and by what.
ADAPTED = {
    "requests": ("github/",),
    "jwt": ("github/",),
    "cryptography": ("github/", "demo/keys.py"),
    "kubernetes": ("kube/",),
    "psycopg": ("store/", "demo/database_link.py"),
    "prometheus_client": ("controller/",),
    "rich": ("demo/",),
    "waitress": ("controller/", "demo/serving.py"),
    "boto3": ("check.py",),
    "botocore": ("check.py",),
}


def parts_of_the_run() -> list[Path]:
    return [path for path in sorted(RUN.rglob("*.py")) if not path.is_relative_to(SIMULATOR)]


@pytest.mark.parametrize("library", ADAPTED)
def test_library_is_known_only_to_whoever_adapts_it(library: str) -> None:
    knowing = {
        path.relative_to(RUN).as_posix()
        for path in parts_of_the_run()
        if library in {module.partition(".")[0] for module in absolute_imports(path)}
    }
    assert knowing, "else the rule is out of date"
    assert [name for name in knowing if not name.startswith(ADAPTED[library])] == []


def test_the_site_and_the_demo_are_imported_only_by_who_has_one() -> None:
    """boto3 takes as long to import as everything else together."""
    program = "import reconcile.attempt, reconcile.check, reconcile.cli, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split()
    assert "reconcile.site" in loaded
    assert not {"static_site", "boto3", "jinja2", "rich", "reconcile.demo"} & set(loaded)


# What decisions may be made of: values, and nothing that could look or act.
PURE = {"collections", "dataclasses", "datetime", "enum", "fnmatch", "heapq", "typing"}
DECISIONS = [*(RUN / "policy").rglob("*.py"), RUN / "model.py", RUN / "settings.py"]
VALUES = ("reconcile.model", "reconcile.settings", "reconcile.policy")


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.name)
def test_decisions_are_made_of_values_alone(path: Path) -> None:
    for module in absolute_imports(path):
        top = module.partition(".")[0]
        assert top in PURE or module.startswith(VALUES), f"{path.name} imports {module}"


@pytest.mark.parametrize("adapter", ["github", "kube"])
def test_adapters_know_neither_decisions_nor_rows_nor_each_other(adapter: str) -> None:
    strangers = {"store", "phases", "policy", "run", "config", "github", "kube"} - {adapter}
    for path in (RUN / adapter).rglob("*.py"):
        for module in absolute_imports(path):
            names = module.split(".")
            assert names[0] != "reconcile" or names[1] not in strangers, f"{path}: {module}"


def test_phases_reach_the_outside_only_through_what_they_are_given() -> None:
    for path in (RUN / "phases").rglob("*.py"):
        for module in absolute_imports(path):
            outside = ("reconcile.github", "reconcile.kube", "reconcile.config", "reconcile.run")
            assert not module.startswith(outside), f"{path}: {module}"


@pytest.mark.parametrize("program", ["supervisor.py", "janitor.py"])
def test_what_outlives_us_needs_nothing_at_all(program: str) -> None:
    modules = {m for p, m in imports("reconcile") if p.name == program}
    assert modules <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("package", ["webhook_fn", "reconcile", "static_site", "tools"])
def test_nobody_reads_the_clock_or_the_environment_out_of_place(package: str) -> None:
    """The environment is read where a process starts, the clock where it is injected."""
    doors = {"app.py", "__main__.py", "cli.py", "clock.py", "postgres.py"}
    doors |= {"function_process.py", "picture.py"}  # which are programs
    for path in (ROOT / package).rglob("*.py"):
        if path.name not in doors:
            source = path.read_text()
            assert "os.environ" not in source, path
            assert "datetime.now" not in source, path
