"""How far back what is over is kept. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ..settings import Retention


@dataclass(frozen=True, slots=True)
class CutOffs:
    """What was over before that is to go; None: it is kept for ever."""

    events: datetime | None
    history: datetime | None  # of jobs and workers
    runs: datetime | None


def cut_offs(now: datetime, kept: Retention) -> CutOffs:
    """Whole days (UTC), so that a day is there or gone, as it is on the site: the first one that is
    kept is the one that many days before today."""
    return CutOffs(
        events=_first_kept(now, kept.events_days),
        history=_first_kept(now, kept.history_days),
        runs=_first_kept(now, kept.runs_days),
    )


def _first_kept(now: datetime, days: int) -> datetime | None:
    if days == 0:
        return None
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=days)
