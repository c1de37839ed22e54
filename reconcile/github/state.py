"""What a client knows of its credentials, and what of that outlives a run."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..model import Scope

AUTH_ATTEMPT = "auth_attempt."
WELL_AGAIN = f"{AUTH_ATTEMPT}ok"  # after one that failed
GONE = "404"
OTHER_FAILURE = "other_error"


def installation_key(installation_id: int) -> str:
    return f"installation:{installation_id}"


def app_key(app_id: int) -> str:
    return f"app:{app_id}"


@dataclass(slots=True)
class Credential:
    """One per installation and per App, by its key; a row of the database between runs."""

    key: str
    token: bytes | None = field(default=None, repr=False)  # encrypted; installations only
    token_expires_at: datetime | None = None  # when we stop using it
    auth_failure: str | None = None  # GONE or OTHER_FAILURE: the failure that continues
    auth_failed_at: datetime | None = None  # when it was last tried
    rate_limit: int | None = None  # of X-RateLimit-*, like the next two
    rate_remaining: int | None = None
    rate_resets_at: datetime | None = None
    blocked_until: datetime | None = None  # nothing is sent before
    # What was sent of late, by the second: [[epoch second, points, polling points, polling
    # requests that cost], …], oldest first.
    recent: list[list[float]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AuthFailure:
    """An installation stopped giving tokens, or gives them again: a row of installation_events."""

    installation_id: int
    app_id: int
    scope: Scope
    status: int
    event: str  # auth_attempt.404, auth_attempt.other_error or auth_attempt.ok
    message: str = ""


class Credentials:
    """All of them, and which have changed. Whoever reads or changes one holds the lock."""

    def __init__(self, loaded: Iterable[Credential]) -> None:
        self.lock = threading.RLock()
        self._by_key = {each.key: _copy(each) for each in loaded}
        self._changed: set[str] = set()

    def of(self, key: str) -> Credential:
        found = self._by_key.get(key)
        if found is None:
            found = self._by_key[key] = Credential(key)
        return found

    def change(self, key: str) -> Credential:
        """The same, to be changed."""
        self._changed.add(key)
        return self.of(key)

    def take_changed(self) -> list[Credential]:
        """Copies of those that changed since they were loaded or last taken."""
        with self.lock:
            taken = [_copy(self._by_key[key]) for key in sorted(self._changed)]
            self._changed.clear()
            return taken


def _copy(credential: Credential) -> Credential:
    return replace(credential, recent=[list(entry) for entry in credential.recent])
