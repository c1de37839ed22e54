"""The limiter alone, on a clock that the test moves."""

from datetime import UTC, datetime, timedelta

import pytest

from reconcile.errors import RateLimitedError
from reconcile.github.limits import Limiter
from reconcile.github.state import Credential, Credentials
from reconcile.settings import GitHubBudget

KEY = "installation:7"
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


class Moved:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> datetime:
        return self.time

    def move(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class Bench:
    def __init__(self, budget: GitHubBudget | None = None, credential: Credential | None = None):
        self.clock = Moved()
        self.credentials = Credentials([credential] if credential else [])
        self.limiter = Limiter(budget or GitHubBudget(), self.clock, self.credentials, patience=0)

    @property
    def credential(self) -> Credential:
        return self.credentials.of(KEY)

    def read(self) -> None:
        self.limiter.admit(KEY, write=False)

    def write(self) -> None:
        self.limiter.admit(KEY, write=True)

    def poll(self, *, costs: bool = True) -> None:
        self.limiter.admit(KEY, write=False, polling=True)
        self.limiter.settle(KEY, costs=costs)

    def headers(self, remaining: int, limit: int = 5000, reset: float = 3600) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(limit),
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Reset": str(int(START.timestamp() + reset)),
        }

    def told(self, remaining: int, limit: int = 5000, reset: float = 3600) -> None:
        self.limiter.learn(KEY, 200, self.headers(remaining, limit, reset))

    def refused_until(self, *, write: bool = False, polling: bool = False) -> float:
        """In seconds from the start."""
        with pytest.raises(RateLimitedError) as caught:
            self.limiter.admit(KEY, write=write, polling=polling)
        assert caught.value.until > self.clock.now()
        return (caught.value.until - START).total_seconds()
