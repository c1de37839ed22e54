"""Which package may import what: three packages that meet in the database."""

import ast
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


APART = [name for name in ("webhook_fn", "static_site") if (ROOT / name).is_dir()]


@pytest.mark.parametrize("package", APART)
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


SIMULATOR = ROOT / "reconcile" / "sim"


def absolute_imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, relative ones by their full name."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            yield ".".join([*above, *([node.module] if node.module else [])])


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


def test_supervisor_needs_nothing_at_all() -> None:
    modules = {m for p, m in imports("reconcile") if p.name == "supervisor.py"}
    assert modules <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("package", ["webhook_fn", "reconcile", "tools"])
def test_nobody_reads_the_clock_or_the_environment_out_of_place(package: str) -> None:
    """The environment is read where a process starts, the clock where it is injected."""
    doors = {"app.py", "__main__.py", "cli.py", "clock.py", "postgres.py"}
    for path in (ROOT / package).rglob("*.py"):
        if path.name not in doors:
            source = path.read_text()
            assert "os.environ" not in source, path
            assert "datetime.now" not in source, path
