"""The Dockerfile, what its build is given, and the locks that it installs: read, not run."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.markers import Marker
from packaging.utils import NormalizedName, canonicalize_name

from tests.charts.helm import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES: list[str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


@dataclass(frozen=True)
class Instruction:
    name: str
    text: str


def instructions() -> list[Instruction]:
    """Without comments, each in one line."""
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", text)
    found = (line.split(maxsplit=1) for line in joined.splitlines() if line.strip())
    return [Instruction(name, text) for name, text in found]


def stages() -> list[list[Instruction]]:
    """Each begins with its FROM."""
    found: list[list[Instruction]] = []
    for each in instructions():
        if each.name == "FROM":
            found.append([])
        found[-1].append(each)
    return found


# What is sent to the builder.


def _regex(pattern: str) -> re.Pattern[str]:
    """Of a line of .dockerignore; what is below a directory that it fits, fits as well."""
    parts = re.split(r"(\*\*/|\*)", pattern.strip("/"))
    known = {"**/": "(?:.*/)?", "*": "[^/]*"}
    return re.compile("".join(known.get(part, re.escape(part)) for part in parts) + "(?:/.*)?")


def sent(path: str) -> bool:
    """Whether .dockerignore lets a path through: the last line that fits decides."""
    answer = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if line and not line.startswith("#"):
            again = line.startswith("!")
            if _regex(line.removeprefix("!")).fullmatch(path):
                answer = again
    return answer


def context() -> Iterator[PurePosixPath]:
    """Every file that the builder gets."""
    for top in sorted(ROOT.iterdir()):
        if not sent(top.name):
            continue  # Nothing below it is let through either: no line names a path that is deeper.
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            relative = PurePosixPath(path.relative_to(ROOT))
            if path.is_file() and sent(str(relative)):
                yield relative


# Locks.


@dataclass(frozen=True)
class Pin:
    version: str
    marker: Marker | None
    hashes: frozenset[str]


def lock(path: Path) -> dict[NormalizedName, Pin]:
    """By name."""
    found: dict[NormalizedName, Pin] = {}
    for block in re.split(r"\n(?=\S)", path.read_text()):
        pinned = re.match(r"([\w.-]+)(?:\[.*?\])?==(\S+)(?: ; (.*?))? \\\n", block)
        if pinned is None:
            assert not block.strip() or block.startswith("#"), block
            continue
        name, version, marker = pinned.groups()
        hashes = frozenset(re.findall(r"--hash=(sha256:[0-9a-f]{64})", block))
        found[canonicalize_name(name)] = Pin(version, Marker(marker) if marker else None, hashes)
    return found
