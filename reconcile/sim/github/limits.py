"""GitHub's rate limits: so many requests an hour, so many points a minute, so many at once."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .errors import LimitError

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
READS = ("GET", "HEAD", "OPTIONS")
SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)


@dataclass(frozen=True)
class Limits:
    """GitHub's own by default. None is without limit."""

    requests_an_hour: int | None = 5000
    points_a_minute: int | None = 900
    at_once: int | None = 100


@dataclass
class Usage:
    """What one installation, or one App, has used."""

    resets_at: datetime
    used: int = 0
    points: deque[tuple[datetime, int]] = field(default_factory=deque)
    points_sum: int = 0


class RateLimiter:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._usages: dict[str, Usage] = {}
        self.most_points_a_minute = 0  # the highest seen, of any installation

    def used(self, key: str) -> int:
        """Requests of the primary limit that were charged in this hour's window."""
        return self._usages[key].used if key in self._usages else 0

    def admit(self, key: str, method: str, at_once: int, now: datetime) -> None:
        """Raises the refusal, if it is one. Points are spent either way."""
        usage = self._usage(key, now)
        self._spend_points(usage, 1 if method in READS else 5, now)
        limits = self.limits
        if limits.at_once is not None and at_once > limits.at_once:
            raise LimitError(403, SECONDARY, retry_after=60)
        if limits.points_a_minute is not None and usage.points_sum > limits.points_a_minute:
            raise LimitError(429, SECONDARY, retry_after=60)
        if limits.requests_an_hour is not None and usage.used >= limits.requests_an_hour:
            raise LimitError(403, f"API rate limit exceeded for {key}.")

    def charge(self, key: str, now: datetime) -> None:
        self._usage(key, now).used += 1

    def headers(self, key: str, now: datetime) -> dict[str, str]:
        if self.limits.requests_an_hour is None:
            return {}
        return {
            f"X-RateLimit-{name}": str(value) for name, value in self.state(key, now).items()
        } | {"X-RateLimit-Resource": "core"}

    def state(self, key: str, now: datetime) -> dict[str, int]:
        usage = self._usage(key, now)
        limit = self.limits.requests_an_hour or 5000
        return {
            "Limit": limit,
            "Remaining": max(0, limit - usage.used),
            "Reset": int(usage.resets_at.timestamp()),
            "Used": usage.used,
        }

    def _usage(self, key: str, now: datetime) -> Usage:
        # In whole seconds, as the headers tell it: who waits until then is not turned away.
        ends = now.replace(microsecond=0) + HOUR
        usage = self._usages.setdefault(key, Usage(ends))
        if now >= usage.resets_at:
            usage.resets_at, usage.used = ends, 0
        return usage

    def _spend_points(self, usage: Usage, points: int, now: datetime) -> None:
        while usage.points and usage.points[0][0] <= now - MINUTE:
            usage.points_sum -= usage.points.popleft()[1]
        usage.points.append((now, points))
        usage.points_sum += points
        self.most_points_a_minute = max(self.most_points_a_minute, usage.points_sum)
