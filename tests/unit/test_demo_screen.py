"""The demo's screen: what it says, and that it fits."""

import itertools
from dataclasses import replace

import pytest
from rich.cells import cell_len

from reconcile.demo.figures import Fleet, Happening, Picture, PoolNow, RunNow, TenantNow
from reconcile.demo.screen_lines import shares
from reconcile.demo.screen_parts import WAITS_FOR
from reconcile.policy.plan import Wait
from tests.demo_pictures import CROWDED, EMPTY, FLEET, INFECTED, PICTURE, RUN, ago, drawn

# What it says ----------------------------------------------------------------------------------


def test_screen_says_what_there_is_to_know() -> None:
    assert drawn(PICTURE) == [
        "reconcile demo · flood · fair order                       http://127.0.0.1:8000/",
        "world 12:03:10 at 30x · 1 min 10 s of 5 min ██████░░░░░░░░░░░░░░░░░░░░░  running",
        "Boards   █ used   ░ free   x unusable " + "─" * 42,
        "scw-em-rv1 ████████████████████░░xx                20 used   2 free   2 unusable",
        "bpi-f3     ░░░x                                     0 used   3 free   1 unusable",
        "Tenants       waiting running   ended  oldest wait  waits for",
        "bulkbuild         212      14      40   4 min 10 s  a free board",
        "riseproject         3       4      22         35 s  a runner on its way",
        "vectorlab           0       3    1009",
        "Run 42 partial in 0.3 s, 1 s ago: made 3 workers, 1 failed · 41 so far",
        "  ! sync_jobs: GitHub answered 502 to " + "x" * 41 + "…",
        "Happenings " + "─" * 69,
        "11:59:50  world   bulkbuild pushes 250 jobs at once",
        "12:01:30  system  worker failed (node_unreachable) on scw-7: rise-1",
    ]


def test_screen_says_that_there_is_nothing_yet() -> None:
    assert drawn(EMPTY) == [
        "reconcile demo · flood · fair order                       http://127.0.0.1:8000/",
        "world 12:03:10 at 30x · 1 min 10 s so far                                running",
        "Boards   █ used   ░ free   x unusable " + "─" * 42,
        "No run has seen a board yet.",
        "Tenants       waiting running   ended  oldest wait  waits for",
        "No job has come yet.",
        "No run yet.",
        "Happenings " + "─" * 69,
        "Nothing yet.",
    ]


def test_small_screen_has_the_most_important() -> None:
    assert drawn(PICTURE, 40, 10) == [
        "reconcile demo …  http://127.0.0.1:8000/",
        "world 12:03:10 at 30x · 1 min …  running",
        "Boards " + "─" * 33,
        "scw-em-rv1 ███████████████░░x 20/24 used",
        "bpi-f3     ░░x                  0/4 used",
        "Tenants       waiting running   ended",
        "all 3             215      21    1071",
        "Run 42 partial in 0.3 s, 1 s ago: made …",
        "Happenings " + "─" * 29,
        "12:01:30  system  worker failed (node_u…",
    ]


def test_old_picture_is_called_old() -> None:
    away = replace(PICTURE, trouble="The database is away: connection refused")
    line = "! What is shown is old. The database is away: connection refused"
    assert drawn(away)[2] == line


@pytest.mark.parametrize(
    ("run", "line"),
    [
        (replace(RUN, seconds=None, error=None), "Run 42 partial for 1.3 s · 41 so far"),
        (
            replace(RUN, status="completed", provisioned=0, failed=0, error=None),
            "Run 42 completed in 0.3 s, 1 s ago: nothing to do · 41 so far",
        ),
        (
            replace(RUN, status="completed", provisioned=1, failed=0, error=None),
            "Run 42 completed in 0.3 s, 1 s ago: made 1 worker · 41 so far",
        ),
        (
            replace(RUN, status="failed", provisioned=0, failed=2, error=None),
            "Run 42 failed in 0.3 s, 1 s ago: 2 failed · 41 so far",
        ),
    ],
)
def test_run_is_told_in_seconds_of_ours(run: RunNow, line: str) -> None:
    assert line in drawn(replace(PICTURE, fleet=replace(FLEET, run=run)))


def test_those_that_there_is_no_room_for_are_counted() -> None:
    fleet = replace(
        FLEET,
        pools=[PoolNow(f"pool-{n}", 10, 10, n) for n in range(10)],
        tenants=[TenantNow(f"org-{n}", n, 1, 2, 60.0 * n, "new") for n in range(20)],
    )
    happenings = [Happening(ago(100 - n), f"happening {n}") for n in range(20)]
    lines = drawn(replace(PICTURE, fleet=fleet, happenings=happenings))
    assert len(lines) == 24
    assert lines[8].startswith("pool-5 ")
    assert lines[9].startswith("… and 4 more ███")
    assert lines[9].endswith(" 30 used  10 free   0 unusable")
    assert lines[15].startswith("org-4 ")
    assert lines[16] == "… and 15 more     180      15      30       19 min"
    assert [line[18:] for line in lines[-4:]] == [f"happening {n}" for n in range(16, 20)]


@pytest.mark.parametrize("slug", [*Wait, "new"])
def test_everything_that_can_be_waited_for_has_words(slug: str) -> None:
    assert WAITS_FOR[slug]


@pytest.mark.parametrize(
    ("pool", "bar"),
    [
        (PoolNow("p", 0, 0, 0), ""),
        (PoolNow("p", 4, 4, 4), "████"),
        (PoolNow("p", 4, 0, 0), "xxxx"),
        (PoolNow("p", 4, 2, 3), "███x"),  # one of the used ones cannot take another
        (PoolNow("p", 4, 4, 9), "████"),
        (PoolNow("p", 4, 9, 0), "░░░░"),
    ],
)
def test_boards_are_drawn_whatever_the_numbers(pool: PoolNow, bar: str) -> None:
    wide = PoolNow("wide", 40, 40, 0)  # makes it a cell a board
    line = drawn(replace(PICTURE, fleet=Fleet(pools=[pool, wide])))[3]
    assert line.removeprefix("p").split(" used")[0].rstrip("0123456789 ").strip() == bar


@pytest.mark.parametrize("cells", [1, 2, 3, 10, 41])
def test_bar_is_as_long_as_it_should_be_and_hides_nothing(cells: int) -> None:
    for parts in itertools.product((0, 1, 2, 50, 997), repeat=3):
        named = dict(zip("abc", parts, strict=True))
        given = shares(named, cells)
        assert sum(given.values()) == (cells if any(parts) else 0)
        if cells >= 3 and given:
            assert all((given[name] > 0) == (part > 0) for name, part in named.items())


# That it fits ----------------------------------------------------------------------------------

SIZES = [(80, 24), (81, 25), (60, 16), (59, 15), (40, 10), (39, 9), (20, 6), (10, 4), (3, 3)]


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("picture", [PICTURE, EMPTY, CROWDED, INFECTED])
@pytest.mark.parametrize(("width", "height"), [*SIZES, (1, 1), (200, 60), (300, 5), (5, 100)])
def test_no_line_is_too_long_and_there_are_not_too_many(
    picture: Picture, width: int, height: int, ascii_only: bool
) -> None:
    lines = drawn(picture, width, height, ascii_only=ascii_only)
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= width
    if ascii_only:
        assert all(line.isascii() for line in lines)


def test_full_screen_is_used_to_the_last_line() -> None:
    assert len(drawn(CROWDED, 100, 50)) == 50


def test_picture_without_unicode_has_the_same_lines() -> None:
    lines = drawn(PICTURE, ascii_only=True)
    assert lines[1] == (
        "world 12:03:10 at 30x - 1 min 10 s of 5 min ######.....................  running"
    )
    assert lines[3].startswith("scw-em-rv1 ####################..xx ")
    assert lines[10] == "  ! sync_jobs: GitHub answered 502 to " + "x" * 41 + "~"
