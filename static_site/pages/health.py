"""How old what is published is, and whether runs do their work."""

import json
from datetime import datetime, timedelta

from ..model import Health
from ..rows import Live
from ..words import stamp
from .lists import maybe

EVERY_SECONDS = 60  # at least so often it is written anew
STALE_AFTER_SECONDS = 180  # three of them were missed


def health(live: Live, environment: str, now: datetime) -> Health:
    run = live.last_run
    return {
        "environment": environment,
        "as_of": stamp(now),
        "stale_after_seconds": STALE_AFTER_SECONDS,
        "boards_observed_at": maybe(max((each.observed_at for each in live.boards), default=None)),
        "last_run": None
        if run is None
        else {
            "id": run.id,
            "status": run.status,
            "started_at": stamp(run.started_at),
            "completed_at": maybe(run.completed_at),
        },
        "last_worked_at": maybe(live.last_worked_at),
    }


def is_due(published: bytes | None, now: datetime) -> bool:
    """Whether what is published is old, or cannot be read."""
    try:
        as_of = datetime.fromisoformat(json.loads(published or b"")["as_of"])
        return not timedelta(0) <= now - as_of < timedelta(seconds=EVERY_SECONDS)
    except (ValueError, TypeError, KeyError):
        return True
