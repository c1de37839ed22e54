"""Text from outside, made fit to be shown: names and errors are read, never obeyed."""

import re
import unicodedata

# What a terminal would take for a command, with all that belongs to it: ESC and its 8-bit forms.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, the cursor, the screen
    # titles, links
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)
_SIMPLER = str.maketrans({"█": "#", "░": ".", "─": "-", "·": "-", "…": "~"})


def shown(text: str) -> str:
    """On one line, without anything that has an effect: control characters, marks that turn the
    direction of the text, halves of characters."""
    return " ".join("".join(map(_shown, _SEQUENCES.sub("", text))).split())


def _shown(character: str) -> str:
    match unicodedata.category(character):
        case "Cc" | "Zl" | "Zp":
            return " "
        case "Cf":
            return ""
        case "Cs":
            return "\N{REPLACEMENT CHARACTER}"
        case _:
            return character


def in_ascii(text: str) -> str:
    """As long as before, for whoever can show nothing else."""
    return text.translate(_SIMPLER).encode("ascii", "replace").decode("ascii")
