"""Tables of speed for a terminal, narrow enough for a hundred columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from corpora.plain_text import printable
from reports.bench import (
    MEANINGS,
    caption,
    legend,
    shown_interval,
    shown_ratio,
    shown_size,
    shown_speed,
    tables,
)
from reports.bench_openings import COLUMNS, opening_tables
from reports.bench_openings import MEANINGS as OPENING_MEANINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from reports.bench import BenchRecord, BenchTable, Field, Line
    from reports.bench_openings import OpeningTable
    from reports.bench_ratio import Ratio

MOST_SIZES = 4
"""Columns of sizes that fit; of more, the largest."""


def render(record: BenchRecord) -> Iterator[RenderableType]:
    """What `tokgate bench` prints: a table for each kind of text and mode."""
    everything = tables(record)
    for table in everything:
        yield Text.assemble((printable(table.title), "bold"))
        yield _grid(table)
        yield Text(printable(caption(table)), style="dim")
        for note in [*table.notes, *legend(table.lines)]:
            yield Text(printable(note), style="dim")
        yield Text()
    if everything:
        kinds = "; ".join(f"{kind}: {words}" for kind, words in MEANINGS.items())
        yield Text(f"{kinds}.", style="dim")
    openings = opening_tables(record)
    for opened in openings:
        yield Text.assemble((printable(opened.title), "bold"))
        yield _opening_grid(opened)
        for line in (opened.caption, *opened.notes):
            yield Text(printable(line), style="dim")
        yield Text()
    if openings:
        yield Text(f"{'; '.join(OPENING_MEANINGS)}.", style="dim")
    if not record.complete:
        yield Text("Interrupted: what had been measured by then.", style="bold yellow")


def _opening_grid(table: OpeningTable) -> Table:
    grid = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    grid.add_column("s of CPU; MiB", no_wrap=True)
    for head in COLUMNS:
        grid.add_column(head, justify="right", no_wrap=True)
    for row in table.rows:
        grid.add_row(printable(row.name), *row.cells)
    return grid


def _grid(table: BenchTable) -> Table:
    sizes = table.sizes[-MOST_SIZES:]
    grid = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    grid.add_column("MiB/s", no_wrap=True)
    for size in sizes:
        grid.add_column(shown_size(size), justify="right", no_wrap=True)
        grid.add_column("×", justify="right", no_wrap=True)
    certain = any(_compared(line, sizes[-1]) for line in table.lines)
    if certain:
        grid.add_column("95 % of ×", justify="right", no_wrap=True)
        grid.add_column("", no_wrap=True)
    if table.gains:
        grid.add_column("× one thread", justify="right", no_wrap=True)
    # The page has all kinds; a terminal is too narrow for what threads gain beside them.
    others = () if table.gains else ("warm", "cold")
    for kind in others:
        grid.add_column(kind, justify="right", no_wrap=True)
    for line in table.lines:
        by_size = {one.size: one for one in line.fields}
        row: list[Text] = [_name(line, table.base)]
        for size in sizes:
            row += _fresh(by_size.get(size))
        if certain:
            row += _certainty(_compared(line, sizes[-1]))
        if table.gains:
            row.append(Text(shown_ratio(line.gain)))
        row += [_speed(by_size.get(sizes[-1]), kind) for kind in others]
        grid.add_row(*row)
    return grid


def _name(line: Line, base: str) -> Text:
    style = "red" if line.answer == "different" else "bold" if line.name == base else ""
    return Text.assemble(
        (printable(line.name), style), (f" {line.mark}" if line.mark else "", style)
    )


def _compared(line: Line, size: int) -> Ratio | None:
    """How fresh text of a size compares with the base, where there is an interval."""
    speeds = next((one.speeds for one in line.fields if one.size == size), {})
    speed = speeds.get("fresh")
    ratio = speed.paired if speed is not None else None
    return ratio if ratio is not None and ratio.verdict else None


def _certainty(ratio: Ratio | None) -> list[Text]:
    if ratio is None:
        return [Text(), Text()]
    style = {"ahead": "green", "behind": "yellow"}.get(ratio.verdict, "dim")
    return [Text(shown_interval(ratio)), Text(ratio.verdict, style=style)]


def _fresh(one: Field | None) -> list[Text]:
    if one is None:
        return [Text(), Text()]
    speed = next(iter(one.speeds.values()), None)
    if speed is None:
        word = {"skipped": "–", "failed": "failed"}.get(one.status, one.status)
        return [Text(word, style="red" if one.status == "failed" else "dim"), Text()]
    ratio = shown_ratio(speed.ratio)
    style = "green" if speed.ratio is not None and speed.ratio > 1 else ""
    return [Text(shown_speed(speed.best)), Text(ratio, style=style)]


def _speed(one: Field | None, kind: str) -> Text:
    speed = one.speeds.get(kind) if one is not None else None
    return Text("" if speed is None else shown_speed(speed.best), style="dim")
