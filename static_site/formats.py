"""How values are written: times, durations, counts, shares, and addresses in this site."""

from urllib.parse import quote, urlencode

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH_NAMES = {f"{number:02}": name for number, name in enumerate(MONTHS, 1)}
MINUTE, HOUR, DAY = 60, 3600, 86400


def clock(time: str | None) -> str:
    """2026-11-18T12:00:05Z is 12:00:05. Times are UTC, so their text can be cut."""
    return time[11:19] if time else ""


def day(time: str) -> str:
    """2026-11-18 is 18 Nov 2026."""
    return f"{short_day(time)} {time[:4]}"


def short_day(time: str) -> str:
    """2026-11-18 is 18 Nov."""
    return f"{time[8:10].lstrip('0')} {_MONTH_NAMES.get(time[5:7], '?')}"


def moment(time: str | None) -> str:
    """2026-11-18T12:00:05Z is 18 Nov 12:00:05: lists may span days."""
    return f"{short_day(time)} {time[11:19]}" if time else ""


def duration(seconds: float | None) -> str:
    """Two units at most: 41s, 3m 20s, 1h 05m, 2d 3h."""
    if seconds is None:
        return ""
    whole = max(0, int(seconds))
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m {whole % MINUTE:02}s"
    if whole < DAY:
        return f"{whole // HOUR}h {whole % HOUR // MINUTE:02}m"
    return f"{whole // DAY}d {whole % DAY // HOUR}h"


def short_duration(seconds: float | None) -> str:
    """One unit, for narrow places: 41s, 3m, 1.2h, 14h, 3d."""
    if seconds is None:
        return ""
    whole = max(0, int(seconds))
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m"
    if whole < 10 * HOUR:
        return f"{whole // (HOUR // 10) / 10:.1f}".removesuffix(".0") + "h"
    if whole < 2 * DAY:
        return f"{whole // HOUR}h"
    return f"{whole // DAY}d"


def precise_duration(seconds: float | None) -> str:
    """For what is mostly over within seconds: 0.42s, then as others."""
    if seconds is None:
        return ""
    return f"{seconds:.2f}s" if seconds < 10 else duration(seconds)


def percent(part: int, whole: int) -> str:
    """Never 0% or 100% of what is only nearly so."""
    if whole <= 0:
        return ""
    rounded = round(100 * part / whole)
    if rounded == 0 and part > 0:
        return "<1%"
    return ">99%" if rounded == 100 and part < whole else f"{rounded}%"


def counted(number: int, noun: str) -> str:
    """1 job, 1,200 jobs."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def spoken(slug: str) -> str:
    """timed_out is "timed out"."""
    return slug.replace("_", " ")


# Addresses -------------------------------------------------------------------------------------


def outside(url: str | None) -> str | None:
    """What may be linked to outside this site: https, and nothing that runs."""
    return url if url and url.startswith("https://") else None


def worker_address(name: str) -> str:
    return f"/workers/{quote(name, safe='', errors='replace')}"


def list_address(name: str, day: str | None = None, page: int = 1, *, twin: bool = False) -> str:
    """A page of a list, or a part of a day; its twin is the same with .json."""
    asked = {"start": day, "end": day} if day else {}
    query = urlencode({**asked, **({"page": page} if page > 1 else {})})
    return f"/{name}{'.json' if twin else ''}{f'?{query}' if query else ''}"


def search_address(name: str, **filters: str) -> str:
    """A list with its filters set, which the page's script does."""
    return f"/{name}?{urlencode(filters, errors='replace')}"
