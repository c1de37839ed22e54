"""Times and counts in words."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta


def stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def told(moment: datetime) -> str:
    """Within a sentence."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def lasting(span: timedelta) -> str:
    """As roughly as anybody wants to know it."""
    seconds = max(0.0, span.total_seconds())
    if seconds < 90:
        return counted(round(seconds), "second")
    if seconds < 5400:
        return counted(round(seconds / 60), "minute")
    if seconds < 172_800:
        return counted(round(seconds / 3600), "hour")
    return counted(round(seconds / 86_400), "day")


def counted(number: int, noun: str, several: str = "") -> str:
    return f"{number} {noun if number == 1 else several or noun + 's'}"


def listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def sentence(text: str) -> str:
    """With an end to it, whoever wrote it."""
    text = " ".join(text.split())
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."
