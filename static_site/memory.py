"""What a publisher must know of what it published: an object of the site itself, so that both are
lost together or not at all. Whatever is wrong with it, the site is simply made anew.
"""

import json
import math
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from . import render
from .model import LISTS, Figures, ListName
from .rows import Place

PATH = "manifest.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A published page: what it said, since when, and the tokens of its objects by extension."""

    digest: str
    as_of: str | None
    tokens: dict[str, str]


@dataclass(slots=True)
class Archive:
    """How far the files of days are."""

    refreshed_at: datetime | None = None
    # All days from the one to the other are listed; whether nothing is older than that.
    oldest: date | None = None
    newest: date | None = None
    complete: bool = False
    audited_month: str = ""  # 2026-10
    audited_worker: str = ""


@dataclass(slots=True)
class Memory:
    environment: str | None = None  # whose site it is
    pages: dict[str, Entry] = field(default_factory=dict)  # by path without extension
    cuts: dict[ListName, list[Place]] = field(
        default_factory=dict
    )  # where live pages begin and end
    figures: Figures | None = None
    usual_seconds: dict[str, float] = field(default_factory=dict)
    failures_until: datetime | None = None  # failed workers have their pages up to then
    failures: dict[str, str] = field(default_factory=dict)  # of the last while: name and state
    archive: Archive = field(default_factory=Archive)

    def dump(self) -> bytes:
        archive = self.archive
        return json.dumps(
            {
                "version": VERSION,
                "made_by": render.VERSION,
                "environment": self.environment,
                "pages": {
                    name: [entry.digest, entry.as_of, entry.tokens]
                    for name, entry in sorted(self.pages.items())
                },
                "cuts": {
                    name: [[at.isoformat(), which] for at, which in cuts]
                    for name, cuts in self.cuts.items()
                },
                "figures": self.figures,
                "usual_seconds": self.usual_seconds,
                "failures_until": _text(self.failures_until),
                "failures": self.failures,
                "archive": {
                    "refreshed_at": _text(archive.refreshed_at),
                    "oldest": archive.oldest.isoformat() if archive.oldest else None,
                    "newest": archive.newest.isoformat() if archive.newest else None,
                    "complete": archive.complete,
                    "audited_month": archive.audited_month,
                    "audited_worker": archive.audited_worker,
                },
            },
            separators=(",", ":"),
        ).encode()


def load(stored: bytes | None) -> Memory:
    if stored is None:
        return Memory()
    try:
        return _load(json.loads(stored))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return Memory()


def _load(found: dict[str, Any]) -> Memory:
    """What is believed here and is of the wrong kind would fail later, and at every run."""
    if found["version"] != VERSION:
        return Memory()
    archive = found["archive"]
    return Memory(
        environment=found["environment"],
        pages={
            name: Entry(_a(str, digest), _maybe(str, as_of), dict(_a(dict, tokens)))
            for name, (digest, as_of, tokens) in found["pages"].items()
        },
        cuts={
            name: [(_moment(at), _a(_KINDS[name], which)) for at, which in found["cuts"][name]]
            for name in LISTS
            if name in found["cuts"]
        },
        # Another version of the site may want others.
        figures=_figures(found["figures"]) if found["made_by"] == render.VERSION else None,
        usual_seconds={pool: _seconds(each) for pool, each in found["usual_seconds"].items()},
        failures_until=_maybe_moment(found["failures_until"]),
        failures={name: _a(str, state) for name, state in found["failures"].items()},
        archive=Archive(
            refreshed_at=_maybe_moment(archive["refreshed_at"]),
            oldest=date.fromisoformat(archive["oldest"]) if archive["oldest"] else None,
            newest=date.fromisoformat(archive["newest"]) if archive["newest"] else None,
            complete=_a(bool, archive["complete"]),
            audited_month=_a(str, archive["audited_month"]),
            audited_worker=_a(str, archive["audited_worker"]),
        ),
    )


# What a row of each list is known by.
_KINDS: dict[ListName, type] = {"jobs": int, "workers": str, "runs": int}


def _a(kind: type, value: Any) -> Any:
    if type(value) is not kind:  # Exactly: True is no number here.
        raise TypeError(f"This is no {kind.__name__}.")
    return value


def _maybe(kind: type, value: Any) -> Any:
    return None if value is None else _a(kind, value)


def _figures(value: Any) -> Figures | None:
    if value is None:
        return None
    _a(str, value["at"])
    if not Figures.__required_keys__ <= value.keys():
        raise KeyError("They are not all there.")
    return value  # type: ignore[no-any-return]


def _seconds(value: Any) -> float:
    found = float(value)
    if not 0 <= found < math.inf:
        raise ValueError("No job takes so long.")
    return found


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _maybe_moment(text: str | None) -> datetime | None:
    return None if text is None else _moment(text)
