"""GitHub's limits, kept by never running into them: what may be sent now, and if not, when.

A state machine over the credentials, without I/O. It does not wait for time to pass: what does
not fit now is refused with the time at which it will, and the next run goes on. Only a poll waits
for those under way, whose answers may turn out to cost nothing.

Three limits meet here. GitHub's points a minute (a read 1, a write 5) are counted when sent, in
buckets of a second; a bucket leaves the window when all of its second has. The requests an hour
are GitHub's to count, and its answers tell; of these polling may use a share, by a bucket that
leaks evenly, and none while little is left. And what GitHub refused is not asked again before
the time it named.
"""

import math
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from ..clock import Clock
from ..errors import RateLimitedError
from ..settings import GitHubBudget
from .state import Credential, Credentials

READ_POINTS = 1
WRITE_POINTS = 5
WINDOW = 61  # seconds after its start at which a bucket has left the minute
HOUR = 3600
UNLIMITED = 1_000_000
RUNS_A_MINUTE = 4  # polls are spread over them, rather than all made by the first
PATIENCE_SECONDS = 30  # with a poll under way; its own timeout ends before that
ASSUMED_LIMIT = 5000  # requests an hour, until an answer tells
BURST_PART = 0.2  # of polling's hourly share: how much may be used at once
ROUNDING = 1e-6  # of requests: seconds since 1970 are no exact numbers
SECONDARY_SECONDS = 60  # GitHub's advice where it names no time
LONGEST_BLOCK = HOUR  # whatever Retry-After says, it is tried again then
SAME_WINDOW = timedelta(minutes=1)  # reset times that close together are of the same hour


class Limiter:
    def __init__(
        self,
        budget: GitHubBudget,
        clock: Clock,
        credentials: Credentials,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._budget = budget
        self._patience = patience
        self._settled = threading.Condition(credentials.lock)
        self._clock = clock
        self._credentials = credentials
        self._polling_now: Counter[str] = Counter()  # sent and not answered yet
        self._points = _share(budget.points_share, budget.points_per_minute)
        self._polling_points = _share(budget.polling_points_share, budget.points_per_minute)

    def admit(self, key: str, *, write: bool, polling: bool = False) -> None:
        """Counts the request as sent, or raises RateLimitedError. A poll that was admitted must
        be settled."""
        points = WRITE_POINTS if write else READ_POINTS
        with self._credentials.lock:
            while (refusal := self._refusal(key, points, polling, self._clock.now())) is not None:
                if not polling or not self._may_yet_fit(key, points):
                    raise refusal
                if not self._settled.wait(self._patience):
                    raise refusal
            entry = self._bucket(key, self._clock.now())
            entry[1] += points
            if polling:
                entry[2] += points
                self._polling_now[key] += 1

    def settle(self, key: str, *, costs: bool) -> None:
        """A poll is over; an unchanged answer costs nothing of the requests an hour."""
        with self._credentials.lock:
            self._polling_now[key] -= 1
            if costs:
                self._bucket(key, self._clock.now())[3] += 1
            self._settled.notify_all()

    def _may_yet_fit(self, key: str, points: int) -> bool:
        """Whether it is only the polls under way that leave no room."""
        under_way, self._polling_now[key] = self._polling_now[key], 0
        try:
            return (
                under_way > 0
                and self._refusal(key, points, polling=True, now=self._clock.now()) is None
            )
        finally:
            self._polling_now[key] = under_way

    def polls_left(self, key: str) -> int:
        """How many polls the points allow one run. What they cost of the requests an hour is
        known only from their answers, and is settled on the way."""
        with self._credentials.lock:
            now = self._clock.now()
            if self._refusal(key, READ_POINTS, True, now) is not None:
                return 0
            credential = self._credentials.of(key)
            left = _points_left(credential, 1, self._points, now)
            left = min(left, _points_left(credential, 2, self._polling_points, now))
            if self._polling_points is None:
                return left
            return min(left, math.ceil(self._polling_points / RUNS_A_MINUTE))

    def writes_left(self, key: str) -> int:
        with self._credentials.lock:
            now = self._clock.now()
            if self._refusal(key, WRITE_POINTS, False, now) is not None:
                return 0
            credential = self._credentials.of(key)
            left = _points_left(credential, 1, self._points, now) // WRITE_POINTS
            if _open_window(credential, now) and credential.rate_remaining is not None:
                left = min(left, credential.rate_remaining)
            return left

    def refusal(self, key: str) -> RateLimitedError | None:
        """Why nothing may be written now."""
        with self._credentials.lock:
            return self._refusal(key, WRITE_POINTS, False, self._clock.now())

    def learn(
        self, key: str, status: int, headers: Mapping[str, str], message: str = ""
    ) -> datetime | None:
        """What an answer says of the limits. If it is a refusal by one: until when."""
        with self._credentials.lock:
            now = self._clock.now()
            credential = self._credentials.change(key)
            # JIT configurations count against a limit of their own, told in the same headers.
            if headers.get("X-RateLimit-Resource", "core") == "core":
                _remember(credential, headers)
            if status not in (403, 429):
                return None
            until = _refused_until(status, headers, message, now)
            if until is not None and (
                credential.blocked_until is None or until > credential.blocked_until
            ):
                credential.blocked_until = until
            return until

    def _bucket(self, key: str, now: datetime) -> list[float]:
        """That of this second. With a new one, those that have left the minute become one, with
        what polling's bucket held then; what lies ahead was written by a clock that was wrong."""
        moment = now.timestamp()
        second = float(math.floor(moment))
        credential = self._credentials.change(key)
        recent = credential.recent
        if not recent or recent[-1][0] != second:
            past = [entry for entry in recent if entry[0] <= moment - WINDOW]
            minute = [entry for entry in recent if moment - WINDOW < entry[0] <= moment]
            if past and (level := _level(past, self._polling_share(credential), past[-1][0])) > 0:
                minute.insert(0, [past[-1][0], 0.0, 0.0, level])
            credential.recent = recent = minute
        if not recent or recent[-1][0] != second:
            recent.append([second, 0.0, 0.0, 0.0])
        return recent[-1]

    def _polling_share(self, credential: Credential) -> float:
        """Requests an hour."""
        return self._budget.polling_requests_share * (credential.rate_limit or ASSUMED_LIMIT)

    def _refusal(
        self, key: str, points: int, polling: bool, now: datetime
    ) -> RateLimitedError | None:
        """The one that lasts longest: at its end it fits."""
        refusals = list(self._refusals(key, points, polling, now))
        return max(refusals, key=lambda each: each.until) if refusals else None

    def _refusals(
        self, key: str, points: int, polling: bool, now: datetime
    ) -> Iterator[RateLimitedError]:
        credential = self._credentials.of(key)
        if credential.blocked_until is not None and credential.blocked_until > now:
            yield _limited(key, "GitHub asked to wait", credential.blocked_until)
        resets_at = _open_window(credential, now)
        if resets_at is not None and credential.rate_remaining == 0:
            yield _limited(key, "no requests are left of GitHub's hourly limit", resets_at)
        if (until := _fits_at(credential, 1, self._points, points, now)) is not None:
            yield _limited(key, "the share of GitHub's points a minute is used up", until)
        if not polling:
            return
        if (until := _fits_at(credential, 2, self._polling_points, points, now)) is not None:
            yield _limited(key, "polling's share of the points a minute is used up", until)
        yield from self._polling_refusals(credential, resets_at, now)

    def _polling_refusals(
        self, credential: Credential, resets_at: datetime | None, now: datetime
    ) -> Iterator[RateLimitedError]:
        key = credential.key
        if resets_at is not None and credential.rate_remaining is not None:
            reserve = self._budget.reserve_share * (credential.rate_limit or ASSUMED_LIMIT)
            if credential.rate_remaining < reserve:
                yield _limited(key, "what is left of the hour is not for polling", resets_at)
        share = self._polling_share(credential)
        if share <= 0:
            yield _limited(key, "polling has no share of the requests", _later(now, HOUR))
            return
        burst = max(1.0, share * BURST_PART)
        level = _level(credential.recent, share, now.timestamp()) + self._polling_now[key]
        excess = level + 1 - burst
        if excess > ROUNDING:
            until = _later(now, excess * HOUR / share)
            yield _limited(key, "polling's share of the hourly requests is used up", until)


def _share(part: float, points_per_minute: int) -> int | None:
    """None is no limit."""
    return math.floor(part * points_per_minute) if points_per_minute else None


def _limited(key: str, why: str, until: datetime) -> RateLimitedError:
    text = until.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return RateLimitedError(f"Nothing is sent for {key} until {text}: {why}.", until)


def _later(now: datetime, seconds: float) -> datetime:
    return now + timedelta(seconds=seconds)


def _fits_at(
    credential: Credential, column: int, limit: int | None, points: int, now: datetime
) -> datetime | None:
    """None if that many points fit into the minute now, else when they will."""
    if limit is None:
        return None
    moment = now.timestamp()
    window = [entry for entry in credential.recent if moment - WINDOW < entry[0] <= moment]
    excess = sum(entry[column] for entry in window) + points - limit
    if excess <= 0:
        return None
    for entry in window:
        excess -= entry[column]
        if excess <= 0:
            return datetime.fromtimestamp(entry[0] + WINDOW, UTC)
    return _later(now, WINDOW)  # It never fits: a share that is smaller than one request.


def _points_left(credential: Credential, column: int, limit: int | None, now: datetime) -> int:
    if limit is None:
        return UNLIMITED
    moment = now.timestamp()
    used = sum(entry[column] for entry in credential.recent if moment - WINDOW < entry[0] <= moment)
    return max(0, int(limit - used))


def _level(recent: list[list[float]], an_hour: float, moment: float) -> float:
    """How full polling's bucket is: what was charged, less what has leaked since."""
    level, at = 0.0, 0.0
    for second, _, _, charged in recent:
        if charged and second <= moment:
            level = max(0.0, level - (second - at) * an_hour / HOUR) + charged
            at = second
    return max(0.0, level - (moment - at) * an_hour / HOUR)


def _open_window(credential: Credential, now: datetime) -> datetime | None:
    """The end of the hour that `rate_remaining` is about, unless it is over."""
    resets_at = credential.rate_resets_at
    return resets_at if resets_at is not None and resets_at > now else None


def _remember(credential: Credential, headers: Mapping[str, str]) -> None:
    limit = _number(headers.get("X-RateLimit-Limit"))
    remaining = _number(headers.get("X-RateLimit-Remaining"))
    reset = _number(headers.get("X-RateLimit-Reset"))
    if limit is None or remaining is None or reset is None:
        return
    resets_at = datetime.fromtimestamp(reset, UTC)
    known = credential.rate_resets_at
    if known is not None and credential.rate_limit == limit:
        if resets_at < known - SAME_WINDOW:
            return  # An answer of the hour before, come late.
        if resets_at < known + SAME_WINDOW and credential.rate_remaining is not None:
            # Answers overtake each other; within an hour it only becomes less.
            remaining = min(remaining, credential.rate_remaining)
    credential.rate_limit, credential.rate_remaining = limit, remaining
    credential.rate_resets_at = resets_at


def _refused_until(
    status: int, headers: Mapping[str, str], message: str, now: datetime
) -> datetime | None:
    """None: a 403 that is about permissions, not about limits."""
    if "Retry-After" in headers:
        seconds = _number(headers["Retry-After"])
        return _later(now, min(SECONDARY_SECONDS if seconds is None else seconds, LONGEST_BLOCK))
    if headers.get("X-RateLimit-Remaining") == "0":
        reset = _number(headers.get("X-RateLimit-Reset"))
        if reset is not None:
            latest = _later(now, LONGEST_BLOCK)
            return min(max(datetime.fromtimestamp(reset, UTC), _later(now, 1)), latest)
    if status == 429 or "secondary rate limit" in message.lower():
        return _later(now, SECONDARY_SECONDS)
    return None


def _number(text: str | None) -> int | None:
    """None for what is no number, or none that is a time."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 11 else None
