"""How the demo's screen is shown: on a terminal, elsewhere, and whatever names and errors say."""

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len

from reconcile.demo.figures import Fleet, Happening, Picture
from reconcile.demo.screen import STATUS_SECONDS, Screen
from reconcile.demo.shown_text import shown
from tests.demo_pictures import (
    CROWDED,
    FLEET,
    HAPPENINGS,
    HOSTILE,
    INFECTED,
    PICTURE,
    RUN,
    ago,
    console,
    written,
)

# That nothing shown has an effect --------------------------------------------------------------


def test_text_from_outside_is_only_text() -> None:
    assert shown(HOSTILE) == "[bold red]a[/] bc defg\N{REPLACEMENT CHARACTER} [/x] ä漢字🚀"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\x1b[2Jb", "ab"),
        ("a\x1b[38;2;1;2;3mb\x1b[0m", "ab"),
        ("a\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        ("a\x1b]52;c;Y2F0\x07b", "ab"),
        ("a\x1bPq secret\x1b\\b", "ab"),
        ("a\x1b(0b", "ab"),
        ("a\x1bcb", "ab"),
        ("a\x1b", "a"),
        ("a\x1b[", "a"),
        ("a\x9d0;t\x9cb", "ab"),
        ("a\tb\r\n\x0b\x0c\x85\u2028c\x7f", "a b c"),
        ("\x08\x08a\u2066\ufeffb", "ab"),
    ],
)
def test_escape_sequences_go_with_all_that_belongs_to_them(text: str, left: str) -> None:
    assert shown(text) == left


@pytest.mark.parametrize("terminal", [False, True])
def test_hostile_text_is_shown_and_not_obeyed(terminal: bool) -> None:
    to = console(200, 30, force_terminal=terminal, color_system="truecolor" if terminal else None)
    with Screen(to) as screen:
        screen.show(INFECTED)
    out = written(to)
    assert out.count("[bold red]a[/]") >= 6
    assert "\x1b[31" not in out
    assert "title" not in out
    assert "\x9b" not in out
    assert "\r\nd" not in out
    if not terminal:
        assert "\x1b" not in out


# On a terminal ---------------------------------------------------------------------------------

ENTER, LEAVE, CURSOR_BACK = "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25h"


def test_terminal_gets_a_screen_of_its_own_and_its_old_one_back() -> None:
    to = console(force_terminal=True)
    with Screen(to) as screen:
        screen.show(PICTURE)
        screen.show(replace(PICTURE, phase="settling"))
    out = written(to)
    assert out.startswith(ENTER)
    assert out.index("running") < out.index("settling") < out.index(LEAVE)
    assert out.count("http://127.0.0.1:8000/") == 2
    assert CURSOR_BACK in out[out.index(LEAVE) - 20 :]


def test_terminal_is_given_back_after_an_exception() -> None:
    to = console(force_terminal=True)

    def watched() -> None:
        with Screen(to) as screen:
            screen.show(PICTURE)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watched()
    assert LEAVE in written(to)
    assert CURSOR_BACK in written(to)


def test_new_size_of_the_terminal_is_used() -> None:
    to = console(force_terminal=True)
    with Screen(to) as screen:
        screen.show(CROWDED)
        to.size = (40, 10)
        before = len(written(to))
        screen.show(CROWDED)
        frame = written(to)[before:]
    assert frame.count("  http://127.0.0.1:8000/") == 1, "at the right end, not cut off"
    assert max(map(cell_len, frame.removeprefix("\x1b[H").split("\n"))) <= 40


def test_colours_are_left_out_where_nobody_wants_them() -> None:
    def colours(**settings: Any) -> bool:
        to = console(force_terminal=True, color_system="truecolor", **settings)
        with Screen(to) as screen:
            screen.show(PICTURE)
        return "\x1b[34m" in written(to)

    assert colours()
    assert not colours(_environ={"NO_COLOR": "1"})


# Where there is none ---------------------------------------------------------------------------


def told(pictures: Sequence[Picture], **settings: Any) -> list[str]:
    to = console(**settings)
    with Screen(to) as screen:
        for picture in pictures:
            screen.show(picture)
    return written(to).splitlines()


FIRST_LINE = "12:03:10  flood, fair order, 30x, http://127.0.0.1:8000/"
STATUS = "12:03:10  waiting 215  running 21  boards 20/28  run 42 partial 0.3 s"


@pytest.mark.parametrize(
    "settings", [{}, {"force_terminal": True, "_environ": {"TERM": "dumb"}}, {"width": 20}]
)
def test_elsewhere_each_happening_is_a_line(settings: dict[str, Any]) -> None:
    more = [*HAPPENINGS[1:], Happening(ago(1), "board scw-7 comes back")]
    pictures = [PICTURE, PICTURE, replace(PICTURE, happenings=more, elapsed=71)]
    assert told(pictures, **settings) == [
        FIRST_LINE,
        "11:59:50  world   bulkbuild pushes 250 jobs at once",
        "12:01:30  system  worker failed (node_unreachable) on scw-7: rise-1",
        STATUS,
        "12:03:09  world   board scw-7 comes back",
    ]


def test_status_is_a_line_every_few_seconds() -> None:
    quiet = replace(PICTURE, happenings=())
    moments = [0.5 * step for step in range(41)]
    pictures = [replace(quiet, elapsed=70 + moment) for moment in moments]
    lines = told(pictures)
    assert lines == [FIRST_LINE, *[STATUS] * (1 + int(20 / STATUS_SECONDS))]


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({"fleet": replace(FLEET, run=None)}, "boards 20/28  no run yet"),
        ({"fleet": replace(FLEET, run=replace(RUN, seconds=None))}, "run 42 partial"),
        ({"fleet": Fleet()}, "waiting 0  running 0  boards 0/0  no run yet"),
        ({"phase": "settling: 3 left"}, "run 42 partial 0.3 s  settling: 3 left"),
        ({"trouble": "The database is away."}, "run 42 partial 0.3 s  The database is away."),
    ],
)
def test_status_says_what_is_unusual(changes: dict[str, Any], end: str) -> None:
    assert told([replace(PICTURE, **changes)])[-1].endswith(f"  {end}")


@pytest.mark.parametrize("terminal", [False, True])
def test_what_cannot_show_unicode_gets_none(terminal: bool) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii", write_through=True)
    with Screen(console(file=file, force_terminal=terminal)) as screen:
        screen.show(INFECTED)
    assert b"[bold red]a[/]" in raw.getvalue()
