"""Spans of time: seconds to words, and the words of an option to seconds."""

import re

MINUTE, HOUR, DAY = 60, 3600, 86400
LONGEST_DAYS = 7
_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
_SPAN = re.compile(
    rf"(?:{_NUMBER} ?d)? ?(?:{_NUMBER} ?h)? ?(?:{_NUMBER} ?m(?:in)?)? ?(?:{_NUMBER} ?s)?"
)
_SECONDS = re.compile(_NUMBER)


def in_words(seconds: float) -> str:
    """Two units at most: `0.2 s`, `45 s`, `4 min 10 s`, `1 h 5 min`, `2 d 3 h`."""
    seconds = max(0.0, seconds)
    if round(seconds, 1) < 10:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return _two(whole // MINUTE, "min", whole % MINUTE, "s")
    minutes = round(seconds / MINUTE)
    if minutes < DAY // MINUTE:
        return _two(minutes // 60, "h", minutes % 60, "min")
    hours = round(seconds / HOUR)
    return _two(hours // 24, "d", hours % 24, "h")


def _two(large: int, unit: str, small: int, smaller_unit: str) -> str:
    return f"{large} {unit} {small} {smaller_unit}" if small else f"{large} {unit}"


def parse_span(text: str) -> float:
    """The seconds of `90`, `60s`, `5m`, `1h30m` or `4 min 10 s`. Raises ValueError, with a
    sentence, for what is none or is out of bounds."""
    text = text.strip().lower()
    if _SECONDS.fullmatch(text):
        parts: tuple[str | None, ...] = (None, None, None, text)
    elif (found := _SPAN.fullmatch(text)) and any(found.groups()):
        parts = found.groups()
    else:
        raise ValueError(f"{_shown(text)} is no span of time: write 90, 60s, 5m or 1h30m.")
    seconds = sum(
        float(part) * unit
        for part, unit in zip(parts, (DAY, HOUR, MINUTE, 1), strict=True)
        if part is not None
    )
    if seconds <= 0:
        raise ValueError(f"{_shown(text)} is no time at all: it must be more than 0 seconds.")
    if seconds > LONGEST_DAYS * DAY:
        raise ValueError(f"{_shown(text)} is too long: at most {LONGEST_DAYS} days.")
    return seconds


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")
