"""Lines of the screen, and what they are made of: cells of a given width, bars, titles. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from rich.text import Text

from .shown_text import shown

USED, FREE, UNUSABLE, RULE = "█", "░", "x", "─"
STYLES = {USED: "blue", FREE: "dim", UNUSABLE: "yellow"}
TITLE = "bold"
LONGEST_NAME = 28


def title(words: str, width: int) -> Text:
    line = Text.assemble((words, TITLE), " ")
    line.append(RULE * max(0, width - line.cell_len), "dim")
    return line


def clock(moment: datetime) -> str:
    return moment.strftime("%H:%M:%S")


def cell(text: str, width: int, align: Literal["left", "right"] = "left") -> Text:
    """Exactly so wide; what is too long ends with an ellipsis."""
    made = Text(shown(text))
    made.truncate(max(0, width), overflow="ellipsis")
    made.align(align, max(0, width))
    return made


def name_width(names: Sequence[str], most: int) -> int:
    longest = max((Text(shown(name)).cell_len for name in names), default=0)
    return max(1, min(longest, LONGEST_NAME, most))


def apart(left: Text, right: Text, width: int) -> Text:
    """One at each end; the right one is the one that must be read."""
    right.truncate(width, overflow="ellipsis")
    space = width - right.cell_len - 2
    if space < 1:
        return right
    left.truncate(space, overflow="ellipsis", pad=True)
    return left.append("  ").append_text(right)


def rest_is_called(count: int, shown_before: int) -> str:
    return f"… and {count} more" if shown_before else f"all {count}"


def shares(parts: Mapping[str, int], cells: int) -> dict[str, int]:
    """So many cells in all, and at least one for what is there at all, if there are enough."""
    whole = sum(parts.values())
    if not whole:
        return {}
    exact = {sign: part * cells / whole for sign, part in parts.items()}
    given = {sign: int(share) or (1 if share else 0) for sign, share in exact.items()}
    while sum(given.values()) < cells:
        given[max(given, key=lambda sign: exact[sign] - given[sign])] += 1
    while sum(given.values()) > cells:
        can_spare = [sign for sign in given if given[sign] > 1] or list(given)
        given[max(can_spare, key=lambda sign: given[sign] - exact[sign])] -= 1
    return given


def bar(parts: Mapping[str, int]) -> Text:
    return Text.assemble(*((sign * count, STYLES[sign]) for sign, count in parts.items()))
