"""Webhooks that did not arrive: GitHub does not send them again unless it is asked to."""

from collections import defaultdict
from collections.abc import Sequence

from .. import log, store
from ..errors import NotFoundError, PermanentError, RateLimitedError
from ..policy.health import seconds
from ..store.github import Redelivery
from .context import OUTSIDE_ERRORS, Context
from .outcome import Outcome

# Each costs the App points that its installations' tokens need, too; the rest is the next run's.
REDELIVERIES_A_RUN = 20


def missed_webhooks(context: Context, app_ids: tuple[int, ...]) -> Outcome:
    """Every few minutes: read each App's log from where it was left, and have what failed
    delivered again, a few times, later each time. Of a job's delivery it is written down which
    job, before."""
    outcome = Outcome()
    now = context.now()
    cursors = store.github.load_cursors(context.database, now)
    interval = seconds(context.settings.run.webhook_interval)
    due = [
        app_id
        for app_id in app_ids
        if app_id not in cursors or now - cursors[app_id].read_at >= interval
    ]
    newest = {}
    for app_id in due:
        after = cursors[app_id].delivery_id if app_id in cursors else None
        try:
            newest[app_id] = _read_log(context, app_id, after, outcome)
        except RateLimitedError:
            pass  # The log stays for three days.
        except OUTSIDE_ERRORS as error:
            outcome.problem(f"the webhook log of App {app_id} could not be read: {error}")
    if due or any(cursor.redeliveries_due for cursor in cursors.values()):
        _redeliver(context, outcome)
    # Last: a run that is killed before this leaves the log to the next one, not to a later one.
    for app_id, delivery_id in newest.items():
        store.github.save_cursor(context.database, app_id, delivery_id, now)
    return outcome


def _read_log(context: Context, app_id: int, after: int | None, outcome: Outcome) -> int | None:
    """The newest that failed, if any did since."""
    failed = context.github.failed_deliveries(app_id, after)
    if not failed:
        return None
    limits = context.settings.run
    store.github.note_failed(
        context.database,
        app_id,
        failed,
        attempts=limits.redelivery_attempts,
        interval=limits.webhook_interval,
    )
    outcome.did["failed deliveries found"] += len(failed)
    return failed[-1].id


def _redeliver(context: Context, outcome: Outcome) -> None:
    due = store.github.due_redeliveries(context.database, context.now(), REDELIVERIES_A_RUN)
    _look_into(context, due, outcome)
    attempts = context.settings.run.redelivery_attempts
    wanted = [each for each in due if each.attempts < attempts]
    asked = defaultdict(list)
    for each, result in context.at_once(lambda one: _ask(context, one), wanted):
        if result is None or isinstance(result, PermanentError):
            # GitHub may have forgotten it: it is not asked for again and again.
            asked[each.app_id].append(each.guid)
        if result is None:
            outcome.did["webhooks redelivered"] += 1
            log.emit("webhook_redelivered", app_id=each.app_id, guid=each.guid)
        elif not isinstance(result, RateLimitedError):
            outcome.problem(f"delivery {each.guid} could not be asked for again: {result}")
    for app_id, guids in asked.items():
        store.github.redelivered(context.database, app_id, guids)


def _look_into(context: Context, due: Sequence[Redelivery], outcome: Outcome) -> None:
    """Which job each is about, for who asks where a job is: the log's list does not tell. Whatever
    comes of it, they are delivered again."""
    attempts = context.settings.run.redelivery_attempts
    jobs = {each: each.job_id for each in due if not each.of_unknown_job}
    unknown = [each for each in due if each.of_unknown_job]
    for each, result in context.at_once(lambda one: _job_of(context, one), unknown, share=0.5):
        if result is None or isinstance(result, int | PermanentError):
            # The record of one that GitHub has forgotten will not come back.
            jobs[each] = result if isinstance(result, int) else None
        if isinstance(result, OUTSIDE_ERRORS) and not isinstance(
            result, RateLimitedError | NotFoundError
        ):
            outcome.problem(f"the job of delivery {each.guid} could not be looked up: {result}")
    news = {
        each: job_id
        for each, job_id in jobs.items()
        if job_id != each.job_id or each.attempts >= attempts
    }
    if news:
        store.github.looked_into(context.database, news, attempts=attempts)


def _job_of(context: Context, each: Redelivery) -> int | None:
    return context.github.job_of_delivery(each.app_id, each.delivery_id)


def _ask(context: Context, each: Redelivery) -> None:
    context.github.redeliver(each.app_id, each.delivery_id)
