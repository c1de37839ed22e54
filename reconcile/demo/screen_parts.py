"""The parts of the screen: each a number of lines of a given width. Pure.

Nothing is told by colour alone: it only underlines what a sign or a word says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.text import Text

from .figures import Fleet, Happening, Picture, PoolNow, RunNow, TenantNow
from .screen_lines import (
    FREE,
    TITLE,
    UNUSABLE,
    USED,
    apart,
    bar,
    cell,
    clock,
    name_width,
    rest_is_called,
    shares,
    title,
)
from .shown_text import shown
from .spans import in_words

ALARM = "bold reverse"
CELLS_A_BOARD = 3  # at most
NUMBER, OLDEST, NARROW_NAME, NARROW_WAITS_FOR = 8, 13, 16, 14  # widths
WAITS_FOR = {
    "runner": "a runner on its way",
    "no_board": "a free board",
    "cap_reached": "jobs of its own to end",
    "backing_off": "a pause after failures",
    "parked": "a long pause, parked",
    "rate_limited": "GitHub's rate limit",
    "no_access": "access at GitHub",
    "new": "the next run",
}
OUTCOMES = {"completed": "green", "partial": "yellow", "failed": "red"}


# Around all ------------------------------------------------------------------------------------


def header(picture: Picture, width: int) -> list[Text]:
    about = Text.assemble(
        ("reconcile demo", TITLE), f" · {shown(picture.scenario)} · {shown(picture.order)} order"
    )
    lines = [
        apart(about, Text(shown(picture.site_url), "bold underline"), width),
        _progress(picture, width),
    ]
    if picture.trouble:
        lines.append(Text(f"! What is shown is old. {shown(picture.trouble)}", ALARM))
    return lines


def _progress(picture: Picture, width: int) -> Text:
    world = f"world {clock(picture.now)} at {picture.speed:g}x"
    elapsed = in_words(picture.elapsed)
    phase = Text(shown(picture.phase), TITLE)
    if not picture.duration:
        return apart(Text(f"{world} · {elapsed} so far"), phase, width)
    line = Text(f"{world} · {elapsed} of {in_words(picture.duration)} ")
    room = min(30, width - line.cell_len - phase.cell_len - 2)
    if room >= 5:
        done = round(room * min(1.0, max(0.0, picture.elapsed / picture.duration)))
        line.append_text(bar({USED: done, FREE: room - done}))
    return apart(line, phase, width)


# Boards ----------------------------------------------------------------------------------------


def boards_title(width: int) -> Text:
    words = f"Boards   {USED} used   {FREE} free   {UNUSABLE} unusable"
    return title(words if width >= 60 else "Boards", width)


def boards(pools: Sequence[PoolNow], width: int, room: int) -> list[Text]:
    if not pools:
        return [Text("No run has seen a board yet.", "dim")]
    if len(pools) > room:
        pools = _pools_in(pools, max(1, room))
    names = name_width([pool.name for pool in pools], width // 3)
    numbers = [_numbers(pool, width) for pool in pools]
    longest = max(map(len, numbers))
    space = width - names - longest - 2
    most = max(1, *(pool.slots for pool in pools))
    scale = min(CELLS_A_BOARD, space // most) or space / most
    lines = []
    for pool, told in zip(pools, numbers, strict=True):
        line = cell(pool.name, names)
        line.append(" ")
        if space >= 5:
            drawn = bar(shares(_split(pool), max(1, round(pool.slots * scale))))
            drawn.truncate(space, pad=True)
            line.append_text(drawn).append(" ")
        lines.append(line.append(told.rjust(longest)))
    return lines


def _pools_in(pools: Sequence[PoolNow], room: int) -> list[PoolNow]:
    """As many as there is room for, the last of them for all others."""
    kept, rest = pools[: room - 1], pools[room - 1 :]
    together = PoolNow(
        rest_is_called(len(rest), len(kept)),
        sum(pool.slots for pool in rest),
        sum(pool.usable for pool in rest),
        sum(pool.in_use for pool in rest),
    )
    return [*kept, together]


def _split(pool: PoolNow) -> dict[str, int]:
    """A board that has a worker counts as used, whether it could take another or not."""
    used = min(pool.in_use, pool.slots)
    unusable = min(pool.slots - used, max(0, pool.slots - pool.usable))
    return {USED: used, FREE: pool.slots - used - unusable, UNUSABLE: unusable}


def _numbers(pool: PoolNow, width: int) -> str:
    split = _split(pool)
    if width < 60:
        return f"{split[USED]}/{pool.slots} used"
    return f"{split[USED]:>3} used {split[FREE]:>3} free {split[UNUSABLE]:>3} unusable"


# Tenants ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Columns:
    """What there is room for."""

    name: int
    oldest: int
    waits_for: int

    @classmethod
    def of(cls, tenants: Sequence[TenantNow], width: int) -> "Columns":
        names = ["… and 99 more", *(tenant.name for tenant in tenants)]
        left = width - 3 * NUMBER
        oldest = OLDEST if left >= OLDEST + NARROW_NAME else 0
        left -= oldest
        if left < NARROW_NAME + NARROW_WAITS_FOR:
            return cls(name_width(names, left), oldest, 0)
        name = name_width(names, left - NARROW_WAITS_FOR)
        return cls(name, oldest, left - name)

    def line(self, name: str, numbers: Sequence[object], oldest: str, waits_for: str) -> Text:
        line = cell(name, self.name)
        for number in numbers:
            line.append_text(cell(f"{number}", NUMBER, "right"))
        if self.oldest:
            line.append_text(cell(oldest, self.oldest, "right"))
        if self.waits_for:
            line.append("  ").append_text(cell(waits_for, self.waits_for - 2))
        return line


def tenants_title(tenants: Sequence[TenantNow], width: int) -> Text:
    line = Columns.of(tenants, width).line(
        "Tenants", ("waiting", "running", "ended"), "oldest wait", "waits for"
    )
    line.stylize("bold underline")
    return line


def tenants(all_tenants: Sequence[TenantNow], width: int, room: int) -> list[Text]:
    if not all_tenants:
        return [Text("No job has come yet.", "dim")]
    columns = Columns.of(all_tenants, width)
    if len(all_tenants) > room:
        all_tenants = _tenants_in(all_tenants, max(1, room))
    return [
        columns.line(
            each.name,
            (each.waiting, each.running, each.ended),
            "" if each.oldest_wait is None else in_words(each.oldest_wait),
            waits_for(each.waits_for),
        )
        for each in all_tenants
    ]


def _tenants_in(all_tenants: Sequence[TenantNow], room: int) -> list[TenantNow]:
    kept, rest = all_tenants[: room - 1], all_tenants[room - 1 :]
    together = TenantNow(
        rest_is_called(len(rest), len(kept)),
        sum(each.waiting for each in rest),
        sum(each.running for each in rest),
        sum(each.ended for each in rest),
        max((each.oldest_wait for each in rest if each.oldest_wait is not None), default=None),
        None,
    )
    return [*kept, together]


def waits_for(slug: str | None) -> str:
    return "" if slug is None else WAITS_FOR.get(slug, slug.replace("_", " "))


# The run, and what happened --------------------------------------------------------------------


def run(fleet: Fleet, now: datetime, speed: float) -> list[Text]:
    """In seconds of ours: it is our machine that it runs on."""
    last = fleet.run
    if last is None:
        return [Text("No run yet.", "dim")]
    line = Text.assemble(
        (f"Run {last.number} ", TITLE), (shown(last.status), OUTCOMES.get(last.status, ""))
    )
    ago = (now - last.started_at).total_seconds()
    if last.seconds is None:
        line.append(f" for {in_words(ago / speed)}")
    else:
        line.append(f" in {in_words(last.seconds / speed)}")
        line.append(f", {in_words((ago - last.seconds) / speed)} ago: {_did(last)}")
    line.append(f" · {fleet.runs} so far", "dim")
    return [line] if last.error is None else [line, Text(f"  ! {shown(last.error)}")]


def _did(last: RunNow) -> str:
    made = f"made {last.provisioned} worker{'' if last.provisioned == 1 else 's'}"
    lost = f"{last.failed} failed"
    told = [words for count, words in ((last.provisioned, made), (last.failed, lost)) if count]
    return ", ".join(told) or "nothing to do"


def happenings(happened: Sequence[Happening], room: int) -> list[Text]:
    """The newest last."""
    if not happened:
        return [Text("Nothing yet.", "dim")]
    return [happening(each) for each in happened[-room:]] if room > 0 else []


def happening(each: Happening) -> Text:
    who = ("system", "cyan") if each.by_system else ("world ", "magenta")
    return Text.assemble((clock(each.at), "dim"), "  ", who, "  ", shown(each.text))
