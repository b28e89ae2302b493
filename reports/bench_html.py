"""``bench.html``: a measurement of speed as one self-contained page that needs no network."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from reports import bench_plots
from reports.bench import (
    KINDS,
    MEANINGS,
    BenchRecord,
    caption,
    legend,
    shown_ratio,
    shown_size,
    shown_speed,
    tables,
)
from reports.html import environment, policy

_TEMPLATES = Path(__file__).with_name("templates")


def render(record: BenchRecord) -> str:
    """The page for a record, as text to be written in UTF-8."""
    css = "".join(
        (_TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "bench.css")
    )
    made = tables(record)
    colours = bench_plots.hues([line for table in made for line in table.lines])
    sections = [
        {
            "anchor": f"table-{number}",
            "table": table,
            "caption": caption(table),
            "legend": legend(table.lines),
            "plot": bench_plots.by_size(table, colours),
            "bars": bench_plots.bars(table, colours),
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
            css=Markup(css),
            policy=policy(css),
        )
    )


@cache
def _environment() -> Environment:
    made = environment().overlay()
    made.filters = {
        **made.filters,
        "size": shown_size,
        "speed": shown_speed,
        "ratio": shown_ratio,
    }
    return made
