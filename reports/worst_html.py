"""``worst.html``: a search for the worst input as one self-contained page that needs no network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from reports import plots
from reports.html import environment, policy
from reports.worst import shown_exponent, shown_times

if TYPE_CHECKING:
    from reports.worst import WorstRecord

_TEMPLATES = Path(__file__).with_name("templates")

PEERS = 2
"""Listed families drawn behind what was found, besides the control."""


def render(record: WorstRecord) -> str:
    """The page for a record, as text to be written in UTF-8."""
    css = "".join(
        (_TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "bench.css")
    )
    vocabulary = record.facts["vocabulary"]
    behind = [*record.listed[:PEERS], *([record.control] if record.control else [])]
    sections = [
        {
            "number": number,
            "row": row,
            "times": shown_times(row.times),
            "exponent": shown_exponent(row),
            "plot": plots.loglog(
                row.measured(vocabulary), [one.measured(vocabulary) for one in behind]
            ),
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
            css=Markup(css),
            policy=policy(css),
        )
    )
