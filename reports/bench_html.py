"""``bench.html``: a measurement of speed as one self-contained page that needs no network."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from reports import bench_plots
from reports.bench import (
    KINDS,
    MEANINGS,
    BenchRecord,
    BenchTable,
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
from reports.blocks.html import assets, environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment


def render(record: BenchRecord) -> str:
    """The page for a record, as text to be written in UTF-8."""
    made = tables(record)
    colours = bench_plots.colours([line for table in made for line in table.lines])
    sections = [
        {
            "anchor": f"table-{number}",
            "table": table,
            "caption": caption(table),
            "legend": legend(table.lines),
            "plot": bench_plots.by_size(table, colours),
            "ratios": bench_plots.ratios(table),
        }
        for number, table in enumerate(made)
    ]
    return (
        _environment()
        .get_template("bench.html.j2")
        .render(
            record=record,
            started=record.started,
            sections=sections,
            kinds=KINDS,
            meanings=MEANINGS,
            leader=leader(made) if made or not record.openings else "",
            openings=opening_tables(record),
            opening_columns=COLUMNS,
            opening_meanings=OPENING_MEANINGS,
            **assets(plots=True),
        )
    )


def leader(made: Sequence[BenchTable]) -> str:
    """Who is the fastest in the first table, of those whose answers are right, in a sentence."""
    for table in made:
        for line in table.lines:
            speed = line.fields[-1].speeds.get("fresh") if line.fields else None
            if speed is None or line.answer != "equal":
                continue
            times = ""
            if table.base not in {"", line.name} and speed.ratio is not None:
                times = f", {shown_ratio(speed.ratio)} times {table.base}"
            where = f"{table.text} ({shown_size(line.fields[-1].size)}, {table.vocabulary})"
            return f"Fastest on {where}: {line.name} with {shown_speed(speed.best)} MiB/s{times}."
    return "No implementation with the right answers was measured."


@cache
def _environment() -> Environment:
    made = environment().overlay()
    made.filters = {
        **made.filters,
        "size": shown_size,
        "speed": shown_speed,
        "ratio": shown_ratio,
        "interval": shown_interval,
    }
    return made
