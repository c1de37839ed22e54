"""How durations, shares, counts and moments are written for people."""

from datetime import datetime, timedelta

from static_site.formats import MONTHS

MINUTE, HOUR, DAY = 60, 3600, 86_400


def duration(seconds: float | None) -> str:
    """Two units at most: 27 s, 4 min 10 s, 1 h 5 min, 2 d 3 h."""
    if seconds is None:
        return "-"
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return _two(whole, MINUTE, "min", 1, "s")
    if whole < DAY:
        return _two(whole, HOUR, "h", MINUTE, "min")
    return _two(whole, DAY, "d", HOUR, "h")


def _two(seconds: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = seconds % large // small
    return f"{seconds // large} {large_name}" + (f" {rest} {small_name}" if rest else "")


def share(part: float) -> str:
    return f"{100 * part:.0f} %"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def moment(at: datetime, span: timedelta) -> str:
    """As much of it as tells it apart within the span."""
    if span < timedelta(days=1):
        return f"{at:%H:%M}" if span >= timedelta(minutes=10) else f"{at:%H:%M:%S}"
    return f"{dated(at)} {at:%H:%M}"


def dated(at: datetime) -> str:
    return f"{at.day} {MONTHS[at.month - 1]}"
