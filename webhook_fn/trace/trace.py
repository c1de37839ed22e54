"""An answer: findings, the state they rest on, and a timeline."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .facts import Json
from .finding import Finding
from .state import Account
from .words import stamp


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the timeline."""

    at: datetime
    text: str
    event_id: int | None = None  # if it is of the event log
    event: str | None = None
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    subject: str  # "job 41", "installation 7", "account 5 (riseproject)"
    at: datetime  # of when it tells
    known: bool  # whether the database knows anything of it at all
    findings: tuple[Finding, ...]
    account: Account | None
    job: Json | None = None  # its row in a few words
    timeline: tuple[Entry, ...] = ()  # oldest first
    older: int | None = None  # there is more before the event of this id
    notes: tuple[str, ...] = field(default=())  # what could not be told, and why

    def document(self) -> Json:
        """For JSON. Without payloads: those are asked for one by one."""
        return {
            "subject": self.subject,
            "at": _time(self.at),
            "known": self.known,
            "findings": [_finding(each) for each in self.findings],
            "job": self.job,
            "account": self.account.document() if self.account else None,
            "timeline": [_entry(each) for each in self.timeline],
            "older": self.older,
            "notes": list(self.notes),
        }


def _finding(it: Finding) -> Json:
    return {
        "finding": it.kind.value,
        "summary": it.summary,
        "advice": it.advice,
        "evidence": _each(
            {"what": one.what, "at": _time(one.at), "event_id": one.event_id} for one in it.evidence
        ),
    }


def _entry(it: Entry) -> Json:
    return {
        "at": _time(it.at),
        "text": it.text,
        "event_id": it.event_id,
        "event": it.event,
        "outcome": it.outcome,
    }


def _each(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without what there is not."""
    return [{name: value for name, value in it.items() if value is not None} for it in items]


def _time(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None
