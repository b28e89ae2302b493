"""A selftest on a terminal: two tables, and what escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from corpora.plain_text import printable
from reports.selftest import (
    Line,
    SelftestRecord,
    by_check,
    by_generator,
    cases_of,
    idle,
    middle,
    seconds_of,
    shown,
    verdict_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

STYLES = {"caught": "green", "misnamed": "yellow", "escaped": "red", "not hunted": "red"}


def render(record: SelftestRecord) -> Iterator[RenderableType]:
    """What `tokgate selftest` prints."""
    yield _grid("check", "planted", by_check(record))
    yield Text()
    yield _grid("generator", "tried", by_generator(record))
    yield Text()
    for one in record.mistakes:
        word = verdict_of(one)
        if word != "caught":
            named = f" as {', '.join(one['named'])}" if one["named"] else f": {one['summary']}"
            yield Text.assemble(
                (f"{word} ", STYLES[word]), (printable(one["name"]), "bold"), printable(named)
            )
    for one in record.controls:
        if one["caught"]:
            yield Text(f"false alarm: {one['name']} is right ({one['named'][0]})", style="red")
    for name, given in idle(record):
        yield Text(f"the generator {name} caught nothing in {given:,} cases", style="yellow")
    caught = sum(one["rightly"] for one in record.mistakes)
    yield Text.assemble(
        (f"{caught} of {record.started.get('mistakes', 0)} planted mistakes caught", "bold"),
        f", median {shown(middle(seconds_of(record.mistakes)), 's')}, "
        f"{shown(middle(cases_of(record.mistakes)))} cases; "
        f"{shown(record.finished.get('seconds'), 's')} in all",
    )
    if not record.finished.get("complete"):
        yield Text("Not complete: what had been hunted by then.", style="bold yellow")


def _grid(what: str, tried: str, lines: list[Line]) -> Table:
    grid = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    grid.add_column(what)
    for heading in (tried, "caught", "alone", "median", "cases"):
        grid.add_column(heading, justify="right", no_wrap=True)
    for line in lines:
        grid.add_row(
            line.name,
            str(line.tried),
            Text(str(len(line.caught)), style="" if line.caught or not line.tried else "red"),
            str(len(line.alone) or ""),
            shown(line.seconds, "s"),
            shown(line.cases),
        )
    return grid
