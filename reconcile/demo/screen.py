"""The live picture of the demo: one screen that is drawn in place, or lines where it cannot be."""

from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from . import screen_parts as parts
from .figures import Happening, Picture
from .screen_lines import clock, title
from .shown_text import in_ascii, shown
from .spans import in_words

STATUS_SECONDS = 5
ROOM_FOR_TITLES = 10  # lines
HAPPENINGS_AT_LEAST = 4  # before all tenants are shown


def render(picture: Picture, width: int, height: int, *, ascii_only: bool = False) -> Group:
    """Never wider, never higher. Lines that are left over go to whoever has most to say."""
    lines = _lines(picture, width, height)[:height]
    for line in lines:
        line.no_wrap = True
        line.truncate(width, overflow="ellipsis")
        if ascii_only:
            line.plain = in_ascii(line.plain)
    return Group(*lines)


def _lines(picture: Picture, width: int, height: int) -> list[Text]:
    fleet = picture.fleet
    header = parts.header(picture, width)
    run = parts.run(fleet, picture.now, picture.speed)
    titles = 3 if height >= ROOM_FOR_TITLES else 0
    wanted = [max(1, len(each)) for each in (fleet.pools, fleet.tenants, picture.happenings)]
    if height - len(header) - len(run) - titles < 2 * len(wanted):
        run = run[:1]
    left = height - len(header) - len(run) - titles
    room = _distributed(left, [*wanted[:2], min(wanted[2], HAPPENINGS_AT_LEAST)])
    room[2] = min(wanted[2], max(0, left - room[0] - room[1]))
    sections = (
        (parts.boards_title(width), parts.boards(fleet.pools, width, room[0])),
        (parts.tenants_title(fleet.tenants, width), parts.tenants(fleet.tenants, width, room[1])),
        (title("Happenings", width), parts.happenings(picture.happenings, room[2])),
    )
    boards, tenants, happenings = (
        [heading, *lines[:most]] if titles else lines[:most]
        for (heading, lines), most in zip(sections, room, strict=True)
    )
    return [*header, *boards, *tenants, *run, *happenings]


def _distributed(room: int, wanted: list[int]) -> list[int]:
    """A line for each in turn, until all have what they want or nothing is left."""
    given = [0] * len(wanted)
    while room > 0 and given != wanted:
        for place, want in enumerate(wanted):
            if room > 0 and given[place] < want:
                given[place] += 1
                room -= 1
    return given


class Screen:
    """`with Screen() as screen: screen.show(picture)`, as often as there is a new one.

    On a terminal all of it is drawn anew on a screen of its own, and what was there before comes
    back at the end, however that comes. Elsewhere, and on terminals that can only write lines,
    each happening is a line, and how it stands is one every few seconds.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._ascii = not self._console.encoding.lower().startswith("utf")
        self._live: Live | None = None
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            self._live = Live(console=self._console, screen=True, auto_refresh=False)
        self._told: frozenset[Happening] = frozenset()
        self._next_status: float | None = None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, picture: Picture) -> None:
        if self._live is None:
            self._tell(picture)
        else:
            width, height = self._console.size
            drawn = render(picture, width, height, ascii_only=self._ascii)
            self._live.update(drawn, refresh=True)

    def _tell(self, picture: Picture) -> None:
        if self._next_status is None:
            self._write(beginning(picture))
            self._next_status = picture.elapsed
        for each in picture.happenings:
            if each not in self._told:
                self._write(parts.happening(each).plain)
        self._told = frozenset(picture.happenings)  # What is gone from there does not come back.
        if picture.elapsed >= self._next_status:
            self._write(status(picture))
            self._next_status = picture.elapsed + STATUS_SECONDS

    def _write(self, line: str) -> None:
        self._console.print(Text(in_ascii(line) if self._ascii else line), soft_wrap=True)


def beginning(picture: Picture) -> str:
    about = f"{shown(picture.scenario)}, {shown(picture.order)} order, {picture.speed:g}x"
    return f"{clock(picture.now)}  {about}, {shown(picture.site_url)}"


def status(picture: Picture) -> str:
    """How it stands, on one line."""
    fleet = picture.fleet
    told = [
        clock(picture.now),
        f"waiting {sum(tenant.waiting for tenant in fleet.tenants)}",
        f"running {sum(tenant.running for tenant in fleet.tenants)}",
        f"boards {sum(p.in_use for p in fleet.pools)}/{sum(p.slots for p in fleet.pools)}",
    ]
    if fleet.run is None:
        told.append("no run yet")
    else:
        took = fleet.run.seconds
        seconds = "" if took is None else f" {in_words(took / picture.speed)}"
        told.append(f"run {fleet.run.number} {shown(fleet.run.status)}{seconds}")
    if picture.phase != "running":
        told.append(shown(picture.phase))
    if picture.trouble:
        told.append(shown(picture.trouble))
    return "  ".join(told)
