"""A chart of letters: columns over time, for a terminal of 80."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 79
HEIGHT = 6  # lines
MARKS = 3  # times under the axis


@dataclass(frozen=True, slots=True)
class Letters:
    """What columns are made of: `parts` are a line's height filled more and more, from none."""

    parts: str
    corner: str
    floor: str
    side: str


BLOCKS = Letters(" ▁▂▃▄▅▆▇█", "┴", "─", "│")
PLAIN = Letters(" .#", "+", "-", "|")


def columns(top: int) -> int:
    """How many fit beside the numbers."""
    return WIDTH - len(f"{top:,}") - 2


def chart(values: Sequence[int], top: int, marks: Sequence[str], letters: Letters) -> list[str]:
    """`top` is where the scale ends; `marks` are the times at even distances, from the first column
    to the last."""
    fine = len(letters.parts) - 1
    # What is there is seen, however little it is.
    filled = [-(-value * HEIGHT * fine // top) for value in values]
    margin = len(f"{top:,}")
    lines = []
    for line in reversed(range(HEIGHT)):
        label = f"{top:,}" if line == HEIGHT - 1 else ""
        cells = (letters.parts[max(0, min(fine, each - line * fine))] for each in filled)
        lines.append(f"{label:>{margin}} {letters.side}{''.join(cells)}".rstrip())
    lines.append(f"{0:>{margin}} {letters.corner}{letters.floor * len(values)}")
    lines.append(" " * (margin + 2) + _marks(marks, len(values)))
    return lines


def _marks(marks: Sequence[str], width: int) -> str:
    """The first at the left edge, the last at the right, the others in between."""
    text = ""
    for number, mark in enumerate(marks):
        part = number / (len(marks) - 1) if len(marks) > 1 else 0
        at = round(part * (width - len(mark)))
        if at > len(text) or not text:
            text = text.ljust(at) + mark
    return text
