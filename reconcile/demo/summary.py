"""What came of the demo: for people, and as a document."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from .figures import Comparison, PoolUse, Summary, Waits
from .screen_lines import cell
from .shown_text import in_ascii, shown
from .spans import in_words

WIDTH = 80
INDENT = "  "
NO_BREAK = "\N{NO-BREAK SPACE}"
NAME, COUNT, FIGURE = 26, 6, 12  # widths of columns
COMPARED, BAR = 30, 12
TENANTS_SHOWN = 9
REASONS_SHOWN = 4
FAILED = "failed: "  # before a worker's reason
# How jobs end, in the order in which it is told, and in words: others come after these.
OUTCOMES = {
    "success": "succeeded",
    "failure": "failed",
    "cancelled": "cancelled",
    "failed": "given up",
}
STANDING = ("pending", "running")  # and at last what did not end


def text(summary: Summary, *, ascii_only: bool = False) -> str:
    told = "\n".join(line.rstrip() for line in _lines(summary, ascii_only=ascii_only))
    return in_ascii(told) if ascii_only else told


def show(summary: Summary, console: Console) -> None:
    """With headings that stand out, where they can."""
    plain = not console.encoding.lower().startswith("utf")
    for line in text(summary, ascii_only=plain).splitlines():
        heading = not line.startswith(INDENT)
        console.print(Text(line, "bold" if heading else ""), soft_wrap=True)


def document(summary: Summary) -> dict[str, Any]:
    """The same as plain values, for JSON."""
    told = {each.name: _plain(getattr(summary, each.name)) for each in fields(summary)}
    return {**told, "good": summary.good}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value


def verdict(summary: Summary) -> str:
    failed = [shown(check.name) for check in summary.checks if not check.ok]
    if failed:
        which = ", ".join(failed)
        return f"Not good: {len(failed)} of {len(summary.checks)} checks failed ({which})."
    succeeded = summary.jobs.get("success", 0)
    if not succeeded and not summary.checks:
        return "Stopped before any job succeeded. Nothing was checked."
    if not succeeded:
        return "Not good: no job succeeded."
    done = f"{succeeded:,} job{'' if succeeded == 1 else 's'} succeeded"
    if not summary.checks:
        return f"So far {done}. Nothing was checked."
    return f"Good: {done}, and nothing leaked or was lost."


# The parts, in their order ---------------------------------------------------------------------


def _lines(summary: Summary, *, ascii_only: bool) -> Iterator[str]:
    about = f"{shown(summary.scenario)}, {shown(summary.order)} order, seed {summary.seed}"
    yield f"Summary: {about}, {in_words(summary.seconds)} of the world"
    yield ""
    yield from _jobs(summary.jobs)
    yield from _waits(summary.waits, summary.tenants)
    if summary.pools:
        yield from _boards(summary.pools)
    yield from _workers(summary.workers)
    yield from _calls(summary)
    if summary.comparison is not None:
        yield from _comparison(summary.comparison, summary.order)
    if summary.checks:
        yield from _checks(summary, ("[ok]", "[no]") if ascii_only else ("✓", "✗"))
    yield ""
    yield verdict(summary)


def _jobs(jobs: Mapping[str, int]) -> Iterator[str]:
    others = sorted(jobs.keys() - OUTCOMES.keys() - set(STANDING))
    told = [
        f"{jobs[name]:,} {OUTCOMES.get(name, shown(name).replace('_', ' '))}"
        for name in (*OUTCOMES, *others, *STANDING)
        if jobs.get(name)
    ]
    yield f"Jobs: {sum(jobs.values()):,}"
    yield from _wrapped(told or ["none came"])


def _waits(waits: Waits | None, tenants: Mapping[str, Waits]) -> Iterator[str]:
    headings = "".join(word.rjust(FIGURE) for word in ("p50", "p95", "p99", "longest"))
    yield f"{'Waits, queued to started':<{NAME}}{'jobs':>{COUNT}}{headings}"
    if waits is None:
        yield f"{INDENT}no job was started"
        return
    yield _waits_row("all", waits)
    names = list(tenants)
    if len(names) > TENANTS_SHOWN:
        names = names[: TENANTS_SHOWN - 1]
    for name in names:
        yield _waits_row(name, tenants[name])
    if len(names) < len(tenants):
        yield f"{INDENT}and {len(tenants) - len(names)} more"


def _waits_row(name: str, waits: Waits) -> str:
    figures = (waits.p50, waits.p95, waits.p99, waits.longest)
    return f"{_name(name, NAME)}{waits.jobs:>{COUNT},}{_figures(*figures)}"


def _boards(pools: Sequence[PoolUse]) -> Iterator[str]:
    yield f"{'Boards':<{NAME}}{'':>{COUNT}}{'in use':>{FIGURE}}"
    for pool in pools:
        share = "<1%" if 0 < pool.used < 0.005 else f"{pool.used:.0%}"
        drawn = _bar(pool.used, WIDTH - NAME - COUNT - FIGURE - 2)
        yield f"{_name(pool.name, NAME)}{pool.boards:>{COUNT}}{share:>{FIGURE}}  {drawn}"


def _workers(workers: Mapping[str, int]) -> Iterator[str]:
    failed = {
        name.removeprefix(FAILED): count
        for name, count in workers.items()
        if name.startswith(FAILED) and count
    }
    told = [
        f"{count:,} {shown(name)}"
        for name, count in workers.items()
        if not name.startswith(FAILED) and count
    ]
    if failed:
        told.append(f"{sum(failed.values()):,} failed")
    yield f"Workers: {sum(workers.values()):,}"
    yield from _wrapped(told or ["none were made"])
    most = sorted(failed.items(), key=lambda item: (-item[1], item[0]))
    reasons = [f"{count:,} {shown(name)}" for name, count in most[:REASONS_SHOWN]]
    if others := sum(count for _, count in most[REASONS_SHOWN:]):
        reasons.append(f"{others:,} for other reasons")
    if reasons:
        yield from _wrapped(reasons, "failed: ")


def _calls(summary: Summary) -> Iterator[str]:
    yield "Calls and runs"
    for name, count in summary.calls.items():
        refused = summary.refused.get(name, 0)
        errors = [f"{refused:,} of them without success"] if refused else []
        yield from _wrapped([f"{count:,} calls to {shown(name)}", *errors])
    yield f"{INDENT}{summary.webhooks:,} webhooks taken in"
    things = "thing" if summary.happenings == 1 else "things"
    yield f"{INDENT}{summary.happenings:,} {things} done to the world"
    runs = summary.runs
    if runs is None:
        yield f"{INDENT}no run came to its end"
        return
    told = [f"{count:,} {shown(name)}" for name, count in runs.by_status.items() if count]
    times = f"taking {in_words(runs.p50)} (p50), {in_words(runs.p95)} (p95)"
    yield from _wrapped([*told, times], f"{sum(runs.by_status.values()):,} runs: ")


def _comparison(comparison: Comparison, order: str) -> Iterator[str]:
    """The longest waits as bars on one scale: that is what the eye compares."""
    rows = {f"{order}, measured": comparison.measured, **comparison.planned}
    scale = max(waits.p99 for waits in rows.values()) or 1.0
    first, *others = (word.rjust(FIGURE) for word in ("p50", "p95", "p99"))
    beside = COMPARED + len(first) - len(first.strip())
    title = f"Waits of {shown(comparison.of)}"
    if cell_len(title) < beside:
        yield f"{cell(title, beside)}{first.strip()}{''.join(others)}"
    else:
        yield from _wrapped([title], indent="")
        yield f"{'':<{beside}}{first.strip()}{''.join(others)}"
    for name, waits in rows.items():
        figures = _figures(waits.p50, waits.p95, waits.p99)
        drawn = _bar(waits.p99 / scale, BAR, empty=" ")
        yield f"{_name(name, COMPARED)}{figures}  {drawn}"


def _checks(summary: Summary, marks: tuple[str, str]) -> Iterator[str]:
    yield "Checks"
    longest = max(len(shown(check.name)) for check in summary.checks)
    for check in summary.checks:
        name = cell(check.name, min(longest, NAME)).plain
        begin = f"{INDENT}{marks[0] if check.ok else marks[1]} {name}  "
        yield from textwrap.wrap(
            shown(check.detail) or "nothing is said of it",
            WIDTH,
            initial_indent=begin,
            subsequent_indent=" " * len(begin),
            break_on_hyphens=False,
            max_lines=3,
            placeholder=" …",
        )


# Pieces of lines -------------------------------------------------------------------------------


def _name(name: str, width: int) -> str:
    return INDENT + cell(name, width - len(INDENT)).plain


def _figures(*seconds: float) -> str:
    return "".join(in_words(each).rjust(FIGURE) for each in seconds)


def _bar(share: float, width: int, empty: str = "░") -> str:
    """What is there at all is seen."""
    filled = max(1 if share > 0 else 0, round(width * max(0.0, min(1.0, share))))
    return "█" * filled + empty * (width - filled)


def _wrapped(parts: Sequence[str], begin: str = "", indent: str = INDENT) -> list[str]:
    """As a list, with no part torn apart."""
    lines = textwrap.wrap(
        begin + ", ".join(part.replace(" ", NO_BREAK) for part in parts),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + INDENT,
        break_on_hyphens=False,
    )
    return [line.replace(NO_BREAK, " ") for line in lines]
