"""Pictures of a demo: a usual one, and such as could break a screen."""

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console

from reconcile.demo.figures import Fleet, Happening, Picture, PoolNow, RunNow, TenantNow
from reconcile.demo.screen import render

NOW = datetime(2026, 11, 18, 12, 3, 10, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


RUN = RunNow(42, "partial", ago(40), 9, 3, 1, "sync_jobs: GitHub answered 502 to " + "x" * 60)
FLEET = Fleet(
    pools=[PoolNow("scw-em-rv1", 24, 22, 20), PoolNow("bpi-f3", 4, 3, 0)],
    tenants=[
        TenantNow("bulkbuild", 212, 14, 40, 250, "no_board"),
        TenantNow("riseproject", 3, 4, 22, 35, "runner"),
        TenantNow("vectorlab", 0, 3, 1009, None, None),
    ],
    run=RUN,
    runs=41,
)
HAPPENINGS = [
    Happening(ago(200), "bulkbuild pushes 250 jobs at once"),
    Happening(ago(100), "worker failed (node_unreachable) on scw-7: rise-1", by_system=True),
]
PICTURE = Picture(
    NOW, 30, "flood", "fair", 70, 300, "running", "http://127.0.0.1:8000/", FLEET, HAPPENINGS
)
EMPTY = replace(PICTURE, fleet=Fleet(), happenings=(), duration=None)
HOSTILE = (
    "[bold red]a[/] \x1b[31;1mb\x1b]0;title\x07c\r\nd\x9b2Je\u202ef\u200bg\ud800\x00 [/x] ä漢字🚀"
)
CROWDED = replace(
    PICTURE,
    scenario="s" * 300,
    phase="settling: 3 jobs left",
    trouble="The database is away: " + "y" * 300,
    fleet=Fleet(
        pools=[PoolNow(f"pool-{n}" * (1 + n % 5), n * 7, n * 5, n * 6) for n in range(40)],
        tenants=[
            TenantNow(f"漢字-{n}" * (n % 9 + 1), 10**n, n, 10**n, n * 1e4, "x_y") for n in range(60)
        ],
        run=replace(RUN, status="failed", error=HOSTILE * 50),
        runs=10**9,
    ),
    happenings=[Happening(ago(n), f"{n} " * n, by_system=n % 2 == 0) for n in range(200)],
)
INFECTED = replace(
    PICTURE,
    scenario=HOSTILE,
    order=HOSTILE,
    phase=HOSTILE,
    site_url=HOSTILE,
    trouble=HOSTILE,
    fleet=Fleet(
        pools=[PoolNow(HOSTILE, 4, 3, 2)],
        tenants=[TenantNow(HOSTILE, 1, 1, 1, 1, HOSTILE)],
        run=replace(RUN, status=HOSTILE, error=HOSTILE),
    ),
    happenings=[Happening(NOW, HOSTILE, by_system=True)],
)


def console(width: int = 80, height: int = 24, **settings: Any) -> Console:
    settings = {"file": io.StringIO(), "color_system": None, "_environ": {}, **settings}
    return Console(width=width, height=height, **settings)


def written(to: Console) -> str:
    assert isinstance(to.file, io.StringIO)
    return to.file.getvalue()


def drawn(picture: Picture, width: int = 80, height: int = 24, **settings: Any) -> list[str]:
    to = console(width, height)
    to.print(render(picture, width, height, **settings))
    return [line.rstrip() for line in written(to).removesuffix("\n").split("\n")]
