"""A trace as text: the answer first, then what it rests on."""

import re
import textwrap
import unicodedata
from collections.abc import Iterator

from webhook_fn.job import Status as JobStatus
from webhook_fn.trace.finding import Evidence, Finding
from webhook_fn.trace.state import Account, Installation, Status
from webhook_fn.trace.trace import Entry, Trace
from webhook_fn.trace.words import stamp

SHOWN_REPOSITORIES = 20
INDENT = "   "
# Left where it is when lines are broken: what is between backticks is to be copied.
QUOTED = re.compile(r"`[^`]*`")
GLUE = "\N{NO-BREAK SPACE}"
# Not seen, but obeyed: by the terminal, or in the direction of text.
OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")
JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"


def told(trace: Trace, width: int) -> str:
    parts = [_head(trace), *(_finding(each, number, width) for number, each in _numbered(trace))]
    parts += [_wrapped("Note: " + each, width, "      ") for each in trace.notes]
    if trace.account is not None:
        parts.append(_account(trace.account, width))
    if trace.timeline:
        parts.append(_timeline(trace, width))
    return "\n\n".join(parts)


def plain(text: str) -> str:
    """On one line, and without what a terminal would obey: names are anybody's to choose."""
    if text.isprintable():
        return text
    return "".join(map(_plain, text))


def _plain(character: str) -> str:
    if character in "\t\n\r":
        return " "
    obeyed = unicodedata.category(character) in OBEYED and character not in JOINERS
    return "\N{REPLACEMENT CHARACTER}" if obeyed else character


def _numbered(trace: Trace) -> Iterator[tuple[int, Finding]]:
    return iter(enumerate(trace.findings, start=1))


def _head(trace: Trace) -> str:
    lines = [f"{trace.subject}, as of {stamp(trace.at)}"]
    if trace.job is not None:
        job = trace.job
        name = " / ".join(each for each in (job["workflow"], job["name"]) if each)
        why = job["reason"] if job["status"] == JobStatus.FAILED else job["conclusion"]
        state = ": ".join(each for each in (job["status"], why) if each)
        lines.append(f"{job['repository']}  {name}".rstrip() + f"  [{state}]")
        lines.append(f"labels {', '.join(job['labels'])}  pool {job['pool']}")
        if job["url"]:
            lines.append(job["url"])
    return "\n".join(plain(line) for line in lines)


def _finding(it: Finding, number: int, width: int) -> str:
    lines = [
        _wrapped(f"{number}. {it.kind}: {it.summary}", width, INDENT),
        _wrapped(f"{INDENT}What to do: {it.advice}", width, INDENT),
        *(_evidence(each, width) for each in it.evidence),
    ]
    return "\n".join(lines)


def _evidence(it: Evidence, width: int) -> str:
    number = f"#{it.event_id} " if it.event_id is not None else ""
    moment = f"{stamp(it.at)}  " if it.at is not None else ""
    return _wrapped(f"{INDENT}- {moment}{number}{it.what}", width, INDENT + "  ")


def _account(account: Account, width: int) -> str:
    name = account.name or "unknown"
    lines = [
        plain(f"Account {name} ({account.type or 'of unknown kind'}, number {account.id or '?'})")
    ]
    lines += [
        plain(f"  called {each.name} until {stamp(each.event.at)} (#{each.event.id})")
        for each in account.renames
    ]
    for each in account.installations:
        lines.append(_wrapped(f"  {_installation(each)}", width, "    "))
    return "\n".join(lines)


def _installation(it: Installation) -> str:
    when = "on" if it.status is Status.DELETED else "since"
    since = f"{it.status} {when} {stamp(it.since.at)} (#{it.since.id})"
    covered = it.repositories
    which = "which repositories is not known"
    if covered.selection == "all":
        which = "all repositories"
    elif covered.selection == "selected":
        names = sorted(covered.included)
        more = len(names) - SHOWN_REPOSITORIES
        shown = ", ".join(names[:SHOWN_REPOSITORIES]) or "none that is known"
        which = f"selected repositories: {shown}" + (f" and {more} more" if more > 0 else "")
    return f"installation {it.id} of App {it.app_id or '?'}: {since}; {which}"


def _timeline(trace: Trace, width: int) -> str:
    lines = ["Timeline"]
    if trace.older is not None:
        lines.append(f"  … older ones: --before {trace.older}")
    digits = max(len(_number(each)) for each in trace.timeline)
    lines += [_line(each, digits, width) for each in trace.timeline]
    return "\n".join(lines)


def _line(it: Entry, digits: int, width: int) -> str:
    start = f"  {stamp(it.at)}  {_number(it):>{digits}}" + ("  " if digits else "")
    return _wrapped(it.text, width, " " * (len(start) + 2), start)


def _number(it: Entry) -> str:
    return f"#{it.event_id}" if it.event_id is not None else ""


def _wrapped(text: str, width: int, hanging: str, start: str = "") -> str:
    glued = QUOTED.sub(lambda quoted: quoted[0].replace(" ", GLUE), plain(text))
    return textwrap.fill(
        glued,
        width,
        initial_indent=start,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    ).replace(GLUE, " ")
