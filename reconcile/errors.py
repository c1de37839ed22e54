"""What can go wrong outside, told apart by what may be done about it.

Adapters translate at the edge and chain the cause. A message is for people: it names what was
tried and what came back, never a token, a configuration or a body.
"""

from datetime import datetime


class ConfigError(Exception):
    """The settings cannot be used; the message names every one at fault."""


class BusyError(Exception):
    """Another run holds the lock."""


class StoreError(Exception):
    """A statement failed. The message is PostgreSQL's, without what it quotes of rows."""


class TransientError(Exception):
    """It may well work next time: a timeout, a 5xx, an answer that is no JSON."""


class UncertainError(TransientError):
    """A write whose answer was lost: it may have happened."""


class RateLimitedError(TransientError):
    """GitHub's limit, or our own share of it, is used up; `until` is when to ask again."""

    def __init__(self, message: str, until: datetime) -> None:
        super().__init__(message)
        self.until = until


class DeadlineError(TransientError):
    """The run's time is over."""


class PermanentError(Exception):
    """It will not work by being repeated: refused, malformed, not permitted."""


class NotFoundError(PermanentError):
    """404: it is not there, or not for us. One look proves nothing about a job."""


class NameTakenError(PermanentError):
    """409: there is one of that name."""


class AccessError(Exception):
    """An installation gave no token. `status` is GitHub's answer: 404 is gone, for good."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

    @property
    def gone(self) -> bool:
        return self.status == 404
