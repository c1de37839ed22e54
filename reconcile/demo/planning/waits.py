"""Waits in figures."""

import math
from collections.abc import Iterable, Sequence

from ..figures import Waits


def waits_of(seconds: Iterable[float | None]) -> Waits | None:
    """Of the jobs that started; None if none did."""
    started = sorted(each for each in seconds if each is not None)
    if not started:
        return None
    return Waits(
        jobs=len(started),
        p50=percentile(started, 50),
        p95=percentile(started, 95),
        p99=percentile(started, 99),
        longest=started[-1],
    )


def percentile(in_order: Sequence[float], percent: int) -> float:
    """The first that so many do not exceed, as the site's figures have it: one that was there."""
    return in_order[max(0, math.ceil(len(in_order) * percent / 100) - 1)]
