"""The geometry of charts: numbers to shapes, and nothing of how they look.

Charts fill whatever width there is: x is in percent of it, y in pixels from the top, so that text
keeps its size on a phone. Lines are drawn in a stretched box, 100 wide.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .formats import DAY, HOUR, MINUTE, short_duration

HEIGHT = 150  # of the plot, in pixels
GAP = 0.28  # of a bar's place that stays empty
MOST_UNITS = 64  # boards that are drawn one by one

DURATION_STEPS = (
    *(1, 5, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE),
    *(HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 30 * DAY),
)


@dataclass(frozen=True, slots=True)
class Tick:
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a stacked bar; kind is its place in the values."""

    kind: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    width: float
    blocks: list[Block]


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a horizontal bar."""

    kind: int
    x: float
    width: float


def _tidy(number: float) -> float:
    """Two digits after the point are finer than any screen."""
    return round(number, 2)


# Scales ----------------------------------------------------------------------------------------


def _round_steps() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50, …"""
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def _duration_steps() -> Iterator[int]:
    yield from DURATION_STEPS
    step = DURATION_STEPS[-1]
    while True:
        step *= 2
        yield step


def _scale(maximum: float, steps: Iterator[int], most: int) -> list[int]:
    """0 and even steps, the last one at the maximum or just above it."""
    step = next(step for step in steps if step * most >= maximum)
    top = max(1, -int(-maximum // step))
    return [step * number for number in range(top + 1)]


def count_scale(maximum: float, most: int = 4) -> list[int]:
    return _scale(maximum, _round_steps(), most)


def duration_scale(maximum: float, most: int = 4) -> list[int]:
    return _scale(maximum, _duration_steps(), most)


def height_of(value: float, top: float, height: float = HEIGHT) -> float:
    return _tidy(height * value / top)


def ticks(scale: Sequence[int], *, durations: bool = False) -> list[Tick]:
    def label(value: int) -> str:
        if not durations:
            return f"{value:,}"
        return short_duration(value) if value else "0"

    top = scale[-1]
    return [Tick(_tidy(HEIGHT - height_of(value, top)), label(value)) for value in scale]


def centre(index: int, count: int) -> float:
    """The middle of a place among as many as there are, in percent."""
    return _tidy(100 * (index + 0.5) / count)


# Bars ------------------------------------------------------------------------------------------


def stacked(values: Sequence[Sequence[int]], top: float) -> list[Bar]:
    """One bar for each row of values, the first kind at the bottom."""
    place = 100 / len(values) if values else 0
    bars = []
    for index, row in enumerate(values):
        below = 0.0
        blocks = []
        for kind, value in enumerate(row):
            if value > 0:
                height = height_of(value, top)
                blocks.append(Block(kind, _tidy(HEIGHT - below - height), height))
                below += height
        bars.append(Bar(_tidy((index + GAP / 2) * place), _tidy((1 - GAP) * place), blocks))
    return bars


def shares(values: Sequence[int], most: int) -> list[Segment]:
    """The parts of a whole next to each other; a whole of `most` fills the width. Few are drawn
    one by one, so that they can be counted; many as one segment each."""
    whole = max(sum(values), most)
    segments = []
    before = 0
    for kind, value in enumerate(values):
        lengths = [1] * value if whole <= MOST_UNITS else [value] * (value > 0)
        for length in lengths:
            x = 100 * before / whole
            segments.append(Segment(kind, _tidy(x), _tidy(100 * length / whole)))
            before += length
    return segments


# Lines -----------------------------------------------------------------------------------------


def _stretches(known: Sequence[bool]) -> Iterator[range]:
    """Indexes that follow each other without a gap."""
    edges = [i for i, (a, b) in enumerate(pairwise([False, *known, False])) if a != b]
    yield from (range(start, stop) for start, stop in zip(edges[::2], edges[1::2], strict=True))


def line(values: Sequence[float | None], top: float) -> str:
    """A path through what is known, interrupted where nothing is."""
    points = _points(values, top)
    stretches = _stretches([value is not None for value in values])
    return "".join("M" + "L".join(points[i] for i in each) for each in stretches if len(each) > 1)


def dots(values: Sequence[float | None], top: float) -> str:
    """What stands alone, and so is on no line: lines of no length, whose round ends are seen."""
    points = _points(values, top)
    stretches = _stretches([value is not None for value in values])
    return "".join(f"M{points[each[0]]}h0" for each in stretches if len(each) == 1)


def band(lower: Sequence[float | None], upper: Sequence[float | None], top: float) -> str:
    """The area between two lines, where both are known."""
    low, high = _points(lower, top), _points(upper, top)
    known = [a is not None and b is not None for a, b in zip(lower, upper, strict=True)]
    paths = []
    for stretch in _stretches(known):
        around = [high[i] for i in stretch] + [low[i] for i in reversed(stretch)]
        paths.append("M" + "L".join(around) + "Z")
    return "".join(paths)


def _points(values: Sequence[float | None], top: float) -> list[str]:
    count = len(values)
    return [
        f"{centre(index, count):g} {_tidy(HEIGHT - height_of(value or 0, top)):g}"
        for index, value in enumerate(values)
    ]


# Heat ------------------------------------------------------------------------------------------

LEVELS = 5  # 0 is nothing to see, 4 is broken
WAIT_LEVELS = (2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR)
FAILURE_LEVELS = (10, 25, 50)  # percent; 0 has a level of its own
ENOUGH = 3  # jobs; one failure of one job does not tell that a pipeline is broken


def wait_level(seconds: int | None) -> int | None:
    return None if seconds is None else bisect_right(WAIT_LEVELS, seconds)


def failure_level(failed: int, ended: int) -> int | None:
    if ended <= 0:
        return None
    level = 1 + bisect_right(FAILURE_LEVELS, 100 * failed / ended) if failed > 0 else 0
    return level if ended >= ENOUGH else min(level, LEVELS - 2)
