"""Markdown as GitHub reads it: headings and their anchors, links, sections, code. And what the
documents name that code cannot be asked for: the chart's values, the stack's parameters."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
EVERY = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"^( *)```([a-z]*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"`([^`]+)`")
_HEADING = re.compile(r"^(#{1,6}) +(.+?) *$", re.MULTILINE)
_LINK = re.compile(r"\[(?:[^\[\]`]|`[^`]*`)*\]\(([^()\s]+)\)")


@dataclass(frozen=True)
class Heading:
    level: int
    title: str


@dataclass(frozen=True)
class Document:
    path: Path

    @property
    def text(self) -> str:
        return self.path.read_text()

    @property
    def prose(self) -> str:
        """Without its blocks of code, in which nothing is a heading or a link."""
        return _BLOCK.sub("", self.text)

    @property
    def headings(self) -> list[Heading]:
        return [Heading(len(marks), title) for marks, title in _HEADING.findall(self.prose)]

    @property
    def anchors(self) -> list[str]:
        """Of every heading; the second of the same name has a number behind it."""
        seen: Counter[str] = Counter()
        anchors = []
        for heading in self.headings:
            slug = slugified(heading.title)
            anchors.append(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
        return anchors

    @property
    def links(self) -> list[str]:
        # What is shown as code within a line is no link; what a link shows may be code.
        return _LINK.findall(self.prose)

    @property
    def spans(self) -> list[str]:
        """Code within a line."""
        return _SPAN.findall(self.prose)

    def blocks(self, language: str) -> list[str]:
        """Blocks of code in that language; "" are those that do not say: commands to be typed."""
        return [
            re.sub(rf"^{indent}", "", code, flags=re.MULTILINE)
            for indent, said, code in _BLOCK.findall(self.text)
            if said == language
        ]

    @property
    def commands(self) -> list[str]:
        """Each on a line of its own."""
        lines = "\n".join(self.blocks("")).replace("\\\n", " ").splitlines()
        return [re.sub(r" +", " ", line).strip() for line in lines if line.strip()]

    def section(self, title: str) -> str:
        """From a heading of the second level to the next."""
        found = self.text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
        assert found, f"{self.path.name} has no section {title}"
        return found


INSTALL = Document(ROOT / "docs" / "install.md")
OPERATIONS = Document(ROOT / "docs" / "operations.md")
BOTH = pytest.mark.parametrize("document", [INSTALL, OPERATIONS], ids=lambda each: each.path.name)


def slugified(title: str) -> str:
    """GitHub's anchor for a heading."""
    shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
    return re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


def entries(section: str) -> dict[str, str]:
    """A section's headings of the third level, each with what is under it."""
    parts = re.split(r"^### +(.+?) *$", section, flags=re.MULTILINE)
    titles, texts = parts[1::2], parts[2::2]
    assert len(set(titles)) == len(titles), "each has one entry"
    return dict(zip(titles, texts, strict=True))


# What is named --------------------------------------------------------------------------------

VALUES = json.loads((ROOT / "charts" / "reconciler" / "values.schema.json").read_text())


def value_exists(path: str) -> bool:
    """Whether the chart has such a value."""
    node: Any = VALUES
    for key in path.split("."):
        node = resolved(node)
        inside = node.get("properties", {})
        if key in inside:
            node = inside[key]
        elif isinstance(node.get("additionalProperties"), dict):
            node = node["additionalProperties"]
        else:
            return False
    return True


def resolved(node: Any) -> dict[str, Any]:
    while "$ref" in node:
        node = VALUES["definitions"][node["$ref"].removeprefix("#/definitions/")]
    assert isinstance(node, dict)
    return node


def names_of_values(node: Any = VALUES) -> Iterator[str]:
    """All there are, at whatever depth."""
    for name, inner in resolved(node).get("properties", {}).items():
        yield name
        yield from names_of_values(inner)


class _Loader(yaml.SafeLoader):
    """Passes over CloudFormation's !Tags."""


_Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


def parameters() -> dict[str, dict[str, Any]]:
    text = (ROOT / "template.yaml").read_text()
    loaded: dict[str, dict[str, Any]] = yaml.load(text, _Loader)["Parameters"]  # noqa: S506 is safe
    return loaded
