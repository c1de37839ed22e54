"""The end of a container's log: whole lines, scrubbed, bounded.

The server's own bounds do not fit: `tailLines` counts lines, however long, and `limitBytes` then
keeps the beginning of those, not the end. So as many lines are asked for as are likely to do, and
fewer as long as too much comes back.
"""

from collections.abc import Callable
from dataclasses import dataclass

from .scrubbing import scrub

FEWEST_LINES = 2  # the first of them may be cut, the other is whole

Fetch = Callable[[int, int], bytes]  # the last so many lines, of those the first so many bytes


@dataclass(frozen=True, slots=True)
class Bounds:
    kept_bytes: int = 64 * 1024
    fetched_bytes: int = 512 * 1024
    fetched_lines: int = 2_000
    # Runtimes break long lines into pieces, of 8 or 16 KiB. The server counts the pieces and puts
    # them together again.
    piece_bytes: int = 4 * 1024


USUAL = Bounds()


def tail(fetch: Fetch, bounds: Bounds = USUAL) -> str:
    lines = bounds.fetched_lines
    data = fetch(lines, bounds.fetched_bytes)
    while len(data) >= bounds.fetched_bytes and lines > FEWEST_LINES:
        lines = max(FEWEST_LINES, min(lines, data.count(b"\n")) // 4)
        data = fetch(lines, bounds.fetched_bytes)
    return last_bytes(scrub(whole_lines(data, lines, bounds)), bounds.kept_bytes)


def whole_lines(data: bytes, asked_lines: int, bounds: Bounds = USUAL) -> str:
    """Without the lines that the server cut: half a credential looks like nothing."""
    text = data.decode("utf-8", "replace")
    is_cut = len(data) >= bounds.fetched_bytes
    if is_cut:
        text = text[: text.rfind("\n") + 1]
    pieces = text.count("\n") + len(data) // bounds.piece_bytes + 1
    if is_cut or pieces >= asked_lines:
        # The log may have begun earlier, in the middle of this line.
        text = text.partition("\n")[2]
    return text


def last_bytes(text: str, limit: int) -> str:
    """Of a scrubbed text; from the start of a line if there is one."""
    data = text.encode()
    if len(data) <= limit:
        return text
    kept = data[-limit:].decode("utf-8", "ignore")
    cut, _, rest = kept.partition("\n")
    return rest or cut
