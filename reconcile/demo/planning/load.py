"""The jobs that a plan is made for."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class LoadJob:
    entity: str  # the account's name
    repository: str | None  # only of a personal account, whose runners are bound to one; else None
    labels: tuple[str, ...]
    pool: str
    created_at: datetime
    seconds: float  # how long it keeps a runner busy
