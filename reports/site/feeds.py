"""What others read of the site: an Atom feed, badges for shields.io, the index of its search."""

from __future__ import annotations

import datetime
import hashlib
import json
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.etree import ElementTree as ET

from corpora.plain_text import printable
from reports.blocks import Code, Group, Paragraph, Section, Span
from reports.blocks.units import count, per_cent
from reports.site.folding import totals
from reports.site.names import slug
from reports.site.shared import address
from reports.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reports.site.folding import Counts, Defect, Library, Project
    from reports.site.shared import Site

MOST = 100
"""Entries, the latest ones."""
ATOM = "http://www.w3.org/2005/Atom"

COLOURS = ((1.0, "brightgreen"), (0.999, "green"), (0.99, "yellow"), (0.9, "orange"), (0.0, "red"))
"""The colours of badges, by the least share of agreement."""


def feed(site: Site, news: Sequence[tuple[str, str, Defect]], latest: str) -> str:
    """What is new and what is fixed, as XML. latest: when the last run was, in ISO 8601."""
    url = site.url
    root = ET.Element("feed", {"xmlns": ATOM})
    mark = hashlib.sha256(f"{site.title}\0{url}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    _add(root, "id", url or f"urn:tokgate:site:{mark}")
    _add(root, "title", site.title)
    _add(root, "updated", latest)
    _add(_add(root, "author"), "name", "tokgate")
    if url:
        _add(root, "link", rel="self", href=f"{url}feed.xml")
    _add(root, "link", href=url or "index.html")
    for when, what, defect in news[:MOST]:
        entry = _add(root, "entry")
        time = datetime.datetime.fromisoformat(when)
        _add(entry, "id", f"urn:tokgate:{defect.id}:{what}:{time:%Y%m%dT%H%M%S}")
        _add(entry, "title", f"{what.capitalize()}: {defect.title}")
        _add(entry, "updated", when)
        _add(entry, "link", href=f"{url}{defect.page or 'defects.html'}")
        said = f": not seen since {defect.fixed_in}."
        if what == "new":
            severity = f": {defect.severity}" if defect.severity else ""
            said = f"{severity}, first seen with {defect.since}."
        _add(entry, "summary", f"On {defect.row.vocabulary}{said}")
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> ET.Element:
    made = ET.SubElement(parent, name, {k: printable(v) for k, v in attributes.items()})
    made.text = printable(text) or None
    return made


def badges(library: Library) -> Iterator[tuple[str, str, str]]:
    """The badges of a library: of which vocabulary, the file, and what is in it."""
    folder = f"badges/{slug(library.name)}"
    yield "all vocabularies", f"{folder}.json", badge(library.name, totals(library.latest))
    for vocabulary, one in library.agreement.items():
        yield vocabulary, f"{folder}/{slug(vocabulary)}.json", badge(vocabulary, one)


def badge(label: str, counts: Counts) -> str:
    """A badge as shields.io reads it from an endpoint: ``o200k: 100 % of 1.2 M cases``."""
    compared = counts["compared"]
    cases = f"{count(compared or counts['cases'])} cases"
    message, colour = "not compared", "lightgrey"
    if counts["trusted"]:  # the others are compared with it: 100 % would say nothing
        message, colour = f"reference in {cases}", "blue"
    elif compared:
        share = 1 - counts["wrong"] / compared
        message = f"{per_cent(share)} of {cases}"
        colour = next(name for least, name in COLOURS if share >= least)
    told = {"schemaVersion": 1, "label": printable(label), "message": message, "color": colour}
    return json.dumps(told) + "\n"


def badge_section(library: Library, site: Site) -> list[Section]:
    """What a README of the library may show."""
    if not library.agreement:
        return []
    how = (
        "For a README, by ",
        Span("shields.io", href="https://shields.io/badges/endpoint-badge"),
        f": the address of one of these files{'' if site.url else ' on the server of this site'}.",
    )
    shields = "https://img.shields.io/endpoint?url="
    addresses = [
        Code(shields + quote(site.url + file) if site.url else file, f"the badge of {vocabulary}")
        for vocabulary, file, _ in badges(library)
    ]
    return [Section("Badges", [Paragraph(how, "quiet"), Group(addresses)], "badges")]


def entries(project: Project) -> str:
    """What the search looks through: kind, title, address and further words of each page."""
    found = [
        ("library", one.name, address("libraries", one.name), one.version)
        for one in project.libraries
    ]
    found += [
        ("vocabulary", one.name, address("vocabularies", one.name),
         f"{one.row.format} {one.row.algorithm}" if one.row else "")
        for one in project.vocabularies
    ]  # fmt: skip
    found += [
        ("defect", one.title, one.page,
         f"{' '.join(one.ids[:20])} {one.row.vocabulary} {one.severity} {one.state} "
         f"{listed(one.libraries)} {one.row.bucket}")
        for one in project.defects if one.page
    ]  # fmt: skip
    shown = [[printable(text) for text in entry] for entry in found]
    # Inside an element of HTML nothing may look like its end.
    return json.dumps(shown).replace("<", "\\u003c").replace("&", "\\u0026")
