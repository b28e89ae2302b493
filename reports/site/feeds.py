"""What others read of the site: an Atom feed, badges for shields.io, the index of its search."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from corpora.plain_text import printable
from reports.blocks import Code, Group, Paragraph, Section, Span
from reports.blocks.html import environment
from reports.blocks.units import count, per_cent
from reports.site.project import FIXED, Asked, Defect, totals
from reports.site.shared import Site, Thing, slug
from reports.studies import grouped

MOST = 100
"""Entries, the latest ones."""

COLOURS = ((1.0, "brightgreen"), (0.999, "green"), (0.99, "yellow"), (0.9, "orange"), (0.0, "red"))
"""The colours of badges, by the least share of agreement."""

News = tuple[str, str, Defect]
"""When, in ISO 8601, a defect was ``new`` or ``fixed``."""


def news(defects: Iterable[Defect]) -> list[News]:
    """What is new and what is fixed, the latest first; what is expected is no news."""
    found: list[News] = []
    for one in defects:
        if not one.expected:
            found.append((one.seen[0].began.time, "new", one))
            found += [(one.fixing.began.time, FIXED, one)] if one.fixing else []
    return sorted(found, key=lambda one: (*one[:2], one[2].ids[0]), reverse=True)


def feed(site: Site, newest: Sequence[News], latest: str) -> str:
    """The news as XML. latest: when the last run was, in ISO 8601."""
    named = f"{site.title}\0{site.url}".encode("utf-8", "surrogatepass")
    mark = hashlib.sha256(named).hexdigest()[:32]
    made = environment().get_template("site/feed.xml.j2")
    return made.render(site=site, mark=mark, news=newest[:MOST], latest=latest)


def badges(name: str, latest: Sequence[Asked]) -> list[tuple[str, str]]:
    """The badges of a library, of all vocabularies first: the files with what is in them.

    latest: what its latest version was asked.
    """
    folder = f"badges/{slug(name)}"
    by_vocabulary = sorted(grouped(latest, lambda one: one.family).items())
    return [
        (f"{folder}.json", badge(name, totals(latest))),
        *(
            (f"{folder}/{slug(vocabulary)}.json", badge(vocabulary, totals(asked)))
            for vocabulary, asked in by_vocabulary
        ),
    ]


def badge(label: str, counts: Mapping[str, int]) -> str:
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


def badge_section(made: Sequence[tuple[str, str]], site: Site) -> list[Section]:
    """What a README of a library may show, of its badges."""
    how = (
        "For a README, by ",
        Span("shields.io", href="https://shields.io/badges/endpoint-badge"),
        f": the address of one of these files{'' if site.url else ' on the server of this site'}.",
    )
    shields = "https://img.shields.io/endpoint?url="
    addresses = [
        Code(shields + quote(site.url + file) if site.url else file, f"the badge {file}")
        for file, _ in made
    ]
    # The first is of all vocabularies together: alone it is of a library that nobody judged.
    shown = [Section("Badges", [Paragraph(how, "quiet"), Group(addresses)], "badges")]
    return shown if made[1:] else []


def entries(things: Iterable[Thing]) -> str:
    """What the search looks through: kind, title, address and further words of each page."""
    found = [
        [printable(text) for text in (one.kind, one.title, one.path, one.words)] for one in things
    ]
    # Inside an element of HTML nothing may look like its end.
    return json.dumps(found).replace("<", "\\u003c").replace("&", "\\u0026")
