"""What `reconcile trace` can be asked, on the command line and beside a running demo."""

import argparse
from dataclasses import dataclass
from datetime import UTC, datetime

from .errors import ConfigError

MOST_LINES = 1000
USUAL_LINES = 50
LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Wanted:
    """One of the first four is asked about."""

    job: int | None
    installation: int | None
    entity: str | None
    payload: int | None
    repository: str | None
    at: datetime | None
    before: int | None
    limit: int


def add_arguments(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    subject = parser.add_mutually_exclusive_group(required=required)
    subject.add_argument("--job", type=_number, metavar="ID", help="a job's number at GitHub")
    subject.add_argument("--installation", type=_number, metavar="ID")
    subject.add_argument(
        "--entity", metavar="ID|NAME", help="an account, also by a name that it once had"
    )
    subject.add_argument(
        "--payload", type=_number, metavar="EVENT_ID", help="one event of the log, with its payload"
    )
    parser.add_argument(
        "--repository",
        type=_repository,
        metavar="OWNER/NAME",
        help="of a job that never arrived, or to ask whether the App covers it",
    )
    parser.add_argument(
        "--at", type=_time, metavar="TIME", help="as of then: 2026-11-18T12:00Z; no zone is UTC"
    )
    parser.add_argument(
        "--before", type=_number, metavar="EVENT_ID", help="of a long timeline, what is older"
    )
    parser.add_argument("--limit", type=_limit, help=f"lines of a timeline ({USUAL_LINES})")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def wanted(given: argparse.Namespace) -> Wanted:
    """Raises ConfigError for what says nothing of what is asked about."""
    left = []
    if given.job is not None or given.payload is not None:
        left += [name for name in ("before", "limit") if getattr(given, name) is not None]
    if given.payload is not None:
        left += [name for name in ("at", "repository") if getattr(given, name) is not None]
    if left:
        subject = "--job" if given.job is not None else "--payload"
        raise ConfigError(f"Cannot answer: {subject} goes without --{' and --'.join(left)}.")
    return Wanted(
        job=given.job,
        installation=given.installation,
        entity=given.entity,
        payload=given.payload,
        repository=given.repository,
        at=given.at,
        before=given.before,
        limit=given.limit or USUAL_LINES,
    )


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= LARGEST_ID):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of GitHub's")
    return int(text)


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= MOST_LINES):
        raise argparse.ArgumentTypeError(f"must be a number from 1 to {MOST_LINES}")
    return int(text)


def _repository(text: str) -> str:
    owner, _, name = text.partition("/")
    if not (owner and name) or "/" in name:
        raise argparse.ArgumentTypeError("must be OWNER/NAME")
    return text


def _time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError("must be a time like 2026-11-18T12:00Z") from None
