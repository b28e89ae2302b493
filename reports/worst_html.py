"""``worst.html``: a search for the worst input as one self-contained page that needs no network."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from markupsafe import Markup

from reports.blocks.html import assets, environment
from reports.plots import COLOURS, family_plot
from reports.worst import shown_exponent, shown_times

if TYPE_CHECKING:
    from reports.worst import WorstRecord

PEERS = 2
"""Listed families drawn behind what was found, besides the control."""


def render(record: WorstRecord) -> str:
    """The page for a record, as text to be written in UTF-8."""
    sections = [
        {
            "number": number,
            "row": row,
            "times": shown_times(row.times),
            "exponent": shown_exponent(row),
        }
        for number, row in enumerate(record.found, 1)
    ]
    known = [(row, shown_times(row.times), shown_exponent(row)) for row in record.listed]
    return (
        environment()
        .get_template("worst.html.j2")
        .render(
            record=record,
            sections=sections,
            known=known,
            hidden=set(record.facts["withheld"]),
            overlay=_overlay(record),
            **assets(plots=True),
        )
    )


def _overlay(record: WorstRecord) -> Markup:
    """All that was found in one plot, by number; dashed behind it, the worst listed, and prose."""
    vocabulary = record.facts["vocabulary"]
    found = [
        replace(row.measured(vocabulary), implementation=f"{number}: {row.kind}")
        for number, row in enumerate(record.found, 1)
        if row.points
    ]
    if not found:
        return Markup("")
    behind = [*record.listed[:PEERS], *([record.control] if record.control else [])]
    peers = [one.measured(vocabulary) for one in behind]
    places = {one.implementation: place % COLOURS for place, one in enumerate(found)}
    # Places beyond the colours are dashed; the colours go on, so that few lines share one.
    places |= {
        one.implementation: COLOURS + (len(found) + place) % COLOURS
        for place, one in enumerate(peers)
    }
    return family_plot(record.title, [*found, *peers], places)
