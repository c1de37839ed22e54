"""What a plan says on a terminal: tables, and a chart of what waits."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...settings import Scheduling
from . import text_chart
from .comparison import Comparison
from .files import Loaded
from .wording import counted, dated, duration, moment, share

LONGEST_LINE = 1000


def write(comparison: Comparison, loaded: Loaded, stream: TextIO) -> None:
    """Colours only where there is a terminal, plain letters where the encoding has no others."""
    _Report(comparison, loaded, stream).write()


class _Report:
    def __init__(self, comparison: Comparison, loaded: Loaded, stream: TextIO) -> None:
        self._comparison = comparison
        self._loaded = loaded
        self._orders = list(comparison.planned)
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self._console = Console(
            file=stream,
            # In a file nothing is broken into lines but what is too long for any.
            width=None if stream.isatty() else LONGEST_LINE,
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=True,
        )

    def write(self) -> None:
        for line in self._introduction():
            self._line(line)
        self._table(self._summary())
        self._table(self._accounts())
        self._charts()

    def _introduction(self) -> Iterator[str]:
        found, loaded = self._comparison, self._loaded
        accounts = len({job.entity for job in found.jobs})
        last = found.jobs[-1].created_at
        yield (
            f"{counted(len(found.jobs), 'job')} of {counted(accounts, 'account')}, queued from "
            f"{dated(found.start)} {found.start:%H:%M} to {dated(last)} {last:%H:%M} UTC."
        )
        if loaded.supposed:
            yield (
                f"{counted(loaded.supposed, 'job')} had not ended: taken to be as long as the "
                "median of their account."
            )
        for why, count in loaded.left_out.items():
            yield f"Left out: {counted(count, 'job')}, each of which {why}."
        for order, planned in found.planned.items():
            if planned.never_started:
                yield (
                    f"{order}: {counted(planned.never_started, 'job')} never started: there is no "
                    "board of their pool, or their account may have none."
                )

    # Tables --------------------------------------------------------------------------------------

    def _summary(self) -> Table:
        found = self._comparison
        table = self._new_table(["", *self._orders])
        waits = {order: found.waits(order) for order in self._orders}
        rows = [
            ("jobs started", [f"{each.jobs:,}" if each else "0" for each in waits.values()]),
            ("wait p50", [duration(each.p50 if each else None) for each in waits.values()]),
            ("wait p95", [duration(each.p95 if each else None) for each in waits.values()]),
            ("wait p99", [duration(each.p99 if each else None) for each in waits.values()]),
            ("wait longest", [duration(each.longest if each else None) for each in waits.values()]),
        ]
        rows += [
            (
                f"use of {pool} ({counted(count, 'board')})",
                [share(each.uses[pool]) for each in found.planned.values()],
            )
            for pool, count in found.boards.items()
        ]
        for name, cells in rows:
            table.add_row(self._text(name), *map(self._text, cells))
        return table

    def _accounts(self) -> Table:
        figures = [f"{order} {figure}" for order in self._orders for figure in ("p50", "p99")]
        table = self._new_table(["account", "jobs", *figures])
        for account in self._comparison.accounts():
            cells = [f"{account.jobs:,}"]
            for waits in account.waits.values():
                cells.append(duration(waits.p50 if waits else None))
                cells.append(duration(waits.p99 if waits else None))
            table.add_row(self._text(account.name), *map(self._text, cells))
        return table

    def _new_table(self, headers: Sequence[str]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for number, header in enumerate(headers):
            table.add_column(
                self._text(header), justify="right" if number else "left", overflow="fold"
            )
        return table

    def _table(self, table: Table) -> None:
        self._line("")
        self._console.print(table, soft_wrap=False)

    # Charts --------------------------------------------------------------------------------------

    def _charts(self) -> None:
        found = self._comparison
        most = {order: self._most_waiting(order) for order in self._orders}
        top = max(1, *most.values())
        width = text_chart.columns(top)
        letters = text_chart.BLOCKS if self._has_blocks() else text_chart.PLAIN
        marks = self._marks()
        for order in self._orders:
            values = [step.waiting for step in found.steps(order, width)]
            self._line("")
            self._line(f"Jobs waiting, {order}: {most[order]:,} at most (times are UTC)")
            for line in text_chart.chart(values, top, marks, letters):
                self._line(line)

    def _most_waiting(self, order: Scheduling) -> int:
        return max(each.waiting for each in self._comparison.planned[order].series)

    def _marks(self) -> list[str]:
        start, span = self._comparison.start, self._comparison.end - self._comparison.start
        spaces = text_chart.MARKS - 1
        return [moment(start + number * span / spaces, span) for number in range(spaces + 1)]

    def _has_blocks(self) -> bool:
        return self._encoding.lower().startswith("utf")

    # Letters -------------------------------------------------------------------------------------

    def _line(self, text: str) -> None:
        self._console.print(self._text(text))

    def _text(self, text: str) -> Text:
        """With nothing that the stream cannot be given."""
        return Text(text.encode(self._encoding, "replace").decode(self._encoding))
