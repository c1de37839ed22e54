"""What is over is not kept for ever: the oldest of it goes, a part at each run."""

from datetime import datetime

from .. import store
from ..policy.retention import CutOffs, cut_offs
from ..store.retention import OldRows
from .context import OUTSIDE_ERRORS, Context
from .outcome import Outcome

RETENTION = "retention"


def retention(context: Context) -> Outcome:
    outcome = Outcome()
    old = old_rows(context)
    if old:
        removed = store.retention.remove(context.database, old, _cut_offs(context))
        outcome.did.update({f"{what} removed": count for what, count in removed.items()})
    return outcome


def old_rows(context: Context) -> OldRows:
    """What is to go now: of each table the oldest, and not more than a batch."""
    first_kept = _cut_offs(context)
    pods = _old_pods(context, first_kept.history)
    return store.retention.find(
        context.database,
        first_kept,
        pods=pods or (),
        workers=pods is not None,
        batch=context.settings.retention.batch,
    )


def _cut_offs(context: Context) -> CutOffs:
    return cut_offs(context.now(), context.settings.retention)


def _old_pods(context: Context, before: datetime | None) -> list[str] | None:
    """Those that are still there, and so are their workers' rows; None if that is not known: then
    no worker goes."""
    if before is None:
        return None
    try:
        return [pod.name for pod in context.view.pods() if pod.created_at < before]
    except OUTSIDE_ERRORS:
        return None
