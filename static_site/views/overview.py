"""The overview: how it is now, how it was in the last day and week."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from .. import charts
from ..formats import (
    clock,
    counted,
    duration,
    moment,
    percent,
    search_address,
    short_day,
)
from ..model import Boards, Overview, Reasons, Span
from . import heat, plots

BOARDS = ("in use", "free", "unusable")


class Verdict(NamedTuple):
    tone: str
    words: str


def view(model: Mapping[str, Any]) -> dict[str, Any]:
    overview = cast("Overview", model)
    figures = overview["figures"]
    hours, day, week = figures["hours"], figures["day"], figures["week"]
    return {
        "section": "overview",
        "title": "Overview",
        "address": "/",
        "twin": "/index.json",
        "verdict": verdict(overview),
        "backing_off": held_back(overview["backing_off"]),
        "pending": overview["pending"],
        "running": overview["running"],
        "boards": pools(overview["boards"]),
        "free": sum(boards["free"] for boards in overview["boards"]),
        "slots": sum(boards["slots"] for boards in overview["boards"]),
        "unusable": sum(boards["unusable"] for boards in overview["boards"]),
        "queue": [
            {**queue, "oldest": moment(queue["oldest_queued_at"])} for queue in overview["queue"]
        ],
        "at": figures["at"],
        "at_clock": clock(figures["at"]),
        "spans": [
            spanned("last day", day),
            spanned("last week", week),
        ],
        "by_labels": waits_by_labels(day, week),
        "waits": plots.wait_chart(hours),
        "hourly": plots.throughput_chart([(clock(hour["at"])[:5], hour) for hour in hours]),
        "daily": plots.throughput_chart(
            [(short_day(each["day"]), each) for each in figures["days"]]
        ),
        "worker_reasons": merged("workers", day["worker_reasons"], week["worker_reasons"]),
        "job_reasons": merged("jobs", day["job_reasons"], week["job_reasons"]),
        "heat": heat.heat_map(hours, day, figures["tenants"]),
        "more_tenants": figures["more_tenants"],
        "legend": heat.legend(),
        "enough": charts.ENOUGH,
    }


# Now -------------------------------------------------------------------------------------------


def verdict(overview: Overview) -> Verdict:
    """What somebody wants to know who looks for a second only."""
    boards, pending = overview["boards"], overview["pending"]
    slots = sum(each["slots"] for each in boards)
    free = sum(each["free"] for each in boards)
    if slots == 0:
        return Verdict("part", "No boards are known: none was seen in the cluster yet.")
    if slots == sum(each["unusable"] for each in boards):
        return Verdict("bad", f"No board can take a job: all {slots} are cordoned or not ready.")
    if pending == 0:
        there = f"{free} of {slots} boards are free" if free else "all boards are in use"
        return Verdict("ok", f"Nothing is waiting; {there}.")
    full = full_pools(overview)
    waiting = f"{counted(pending, 'job')} {'is' if pending == 1 else 'are'} waiting"
    if full:
        return Verdict("wait", f"{waiting}. No board is free in {listed(full)}.")
    return Verdict("run", f"{waiting}; {free} of {slots} boards are free.")


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def full_pools(overview: Overview) -> list[str]:
    """Pools for which jobs wait, and that have no board left."""
    free = {boards["pool"]: boards["free"] for boards in overview["boards"]}
    asked = dict.fromkeys(queue["pool"] for queue in overview["queue"] if queue["pending"] > 0)
    return [name for name in asked if free.get(name, 0) == 0]


def held_back(demands: int) -> str:
    if demands == 0:
        return ""
    these, they = ("demand is", "Its") if demands == 1 else ("demands are", "Their")
    return f"{demands} {these} held back. {they} runners failed; they are tried again later."


def pools(all_boards: Sequence[Boards]) -> list[dict[str, Any]]:
    """To one scale: a board is as wide in each pool."""
    most = max((boards["slots"] for boards in all_boards), default=0)
    found = []
    for boards in all_boards:
        counts = (boards["in_use"], boards["free"], boards["unusable"])
        words = ", ".join(f"{count} {kind}" for count, kind in zip(counts, BOARDS, strict=True))
        segments = charts.shares(counts, most)
        units = most <= charts.MOST_UNITS
        found.append({**boards, "segments": segments, "units": units, "words": words})
    return found


# Spans -----------------------------------------------------------------------------------------


def spanned(name: str, span: Span) -> dict[str, Any]:
    return {
        **span,
        "name": name,
        "p50": duration(span["wait_p50"]),
        "p95": duration(span["wait_p95"]),
        "success_share": percent(span["succeeded"], span["completed"]),
    }


def waits_by_labels(last_day: Span, week: Span) -> list[dict[str, Any]]:
    """Both spans side by side; what was only in the week comes last."""
    spans = [
        {tuple(each["labels"]): each for each in span["by_labels"]} for span in (last_day, week)
    ]
    rows = []
    for labels in dict.fromkeys([*spans[0], *spans[1]]):
        cells = []
        for span in spans:
            waits = span.get(labels)
            cells += (
                [duration(waits["wait_p50"]), duration(waits["wait_p95"])] if waits else ["", ""]
            )
        rows.append({"labels": labels, "cells": cells})
    return rows


def merged(kind: str, last_day: Sequence[Reasons], week: Sequence[Reasons]) -> list[dict[str, Any]]:
    """The reasons of both spans, those with most in the week first."""
    by_slug: dict[str, dict[str, Any]] = {}
    for span, reasons in (("day", last_day), ("week", week)):
        for each in reasons:
            slug, words = each["reason"], each["words"]
            address = search_address(kind, status="failed", text=slug)
            row = {"slug": slug, "words": words, "address": address, "day": 0, "week": 0}
            by_slug.setdefault(slug, row)[span] = each["count"]
    rows = sorted(by_slug.values(), key=lambda row: (-row["week"], -row["day"], row["slug"]))
    most = max((max(row["week"], row["day"]) for row in rows), default=0)
    return [{**row, "share": round(100 * row["week"] / most, 1) if most else 0} for row in rows]
