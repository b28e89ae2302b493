"""Badges of a library: endpoints for shields.io, and where they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from corpora.plain_text import printable
from reports.blocks import Cell, Code, Paragraph, Section, Span, Table
from reports.blocks.units import count
from reports.site.names import slug

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reports.site.folding import Agreement, Library
    from reports.site.shell import Site

COLOURS = ((1.0, "brightgreen"), (0.999, "green"), (0.99, "yellow"), (0.9, "orange"))
"""The colours of badges, by the least share of agreement."""


def badge_section(library: Library, site: Site) -> list[Section]:
    """What a README of the library may show."""
    if not library.agreement:
        return []
    base = f"{site.url}badges/{slug(library.name)}"
    files = {"all vocabularies": f"{base}.json"}
    files |= {name: f"{base}/{slug(name)}.json" for name in library.agreement}
    if site.url:
        shields = "https://img.shields.io/endpoint?url="
        files = {name: shields + quote(file) for name, file in files.items()}
    server = "" if site.url else " on the server that shows this site"
    how = (
        "For a README, by ",
        Span("shields.io", href="https://shields.io/badges/endpoint-badge"),
        f": the address of one of these files{server}.",
    )
    table = Table(
        "Addresses of badges",
        ("Vocabulary", "Address"),
        [(name, Cell(blocks=[Code(file, f"the badge of {name}")])) for name, file in files.items()],
    )
    return [Section("Badges", [Paragraph(how, "quiet"), table], "badges")]


def badges(library: Library) -> Iterator[tuple[str, str]]:
    """The files of a library's badges."""
    folder = f"badges/{slug(library.name)}"
    yield f"{folder}.json", badge(library.name, library.overall)
    for vocabulary, one in library.agreement.items():
        yield f"{folder}/{slug(vocabulary)}.json", badge(vocabulary, one)


def badge(label: str, agreement: Agreement) -> str:
    """A badge as shields.io reads it from an endpoint: ``o200k: 100 % of 1.2 M cases``."""
    share = agreement.share
    cases = f"{count(agreement.compared or agreement.cases)} cases"
    if agreement.trusted:  # the others are compared with it: 100 % would say nothing
        message, colour = f"reference in {cases}", "blue"
    elif share is None:
        message, colour = "not compared", "lightgrey"
    else:
        message = f"{agreement.shown} of {cases}"
        colour = next((name for least, name in COLOURS if share >= least), "red")
    told = {"schemaVersion": 1, "label": printable(label), "message": message, "color": colour}
    return json.dumps(told) + "\n"
