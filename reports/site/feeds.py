"""What others read of the site: an Atom feed, badges for shields.io, the index of its search."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from corpora.plain_text import printable
from reports.blocks import Code, Group, Paragraph, Section, Span
from reports.blocks.html import environment
from reports.blocks.units import count, per_cent
from reports.site.project import Asked, Counts, Defect, Project, totals
from reports.site.shared import Site, address, slug
from reports.studies import grouped

MOST = 100
"""Entries, the latest ones."""

COLOURS = ((1.0, "brightgreen"), (0.999, "green"), (0.99, "yellow"), (0.9, "orange"), (0.0, "red"))
"""The colours of badges, by the least share of agreement."""


def feed(site: Site, news: Sequence[tuple[str, str, Defect]], latest: str) -> str:
    """What is new and what is fixed, as XML. latest: when the last run was, in ISO 8601."""
    named = f"{site.title}\0{site.url}".encode("utf-8", "surrogatepass")
    mark = hashlib.sha256(named).hexdigest()[:32]
    made = environment().get_template("site/feed.xml.j2")
    return made.render(site=site, mark=mark, news=news[:MOST], latest=latest)


def badges(name: str, latest: Sequence[Asked]) -> Iterator[tuple[str, str, str]]:
    """The badges of a library: of which vocabulary, the file, and what is in it.

    latest: what its latest version was asked.
    """
    folder = f"badges/{slug(name)}"
    yield "all vocabularies", f"{folder}.json", badge(name, totals(latest))
    for vocabulary, asked in sorted(grouped(latest, lambda one: one.family).items()):
        file = f"{folder}/{slug(vocabulary)}.json"
        yield vocabulary, file, badge(vocabulary, totals(asked))


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


def badge_section(made: Sequence[tuple[str, str, str]], site: Site) -> list[Section]:
    """What a README of a library may show, of its badges."""
    how = (
        "For a README, by ",
        Span("shields.io", href="https://shields.io/badges/endpoint-badge"),
        f": the address of one of these files{'' if site.url else ' on the server of this site'}.",
    )
    shields = "https://img.shields.io/endpoint?url="
    addresses = [
        Code(shields + quote(site.url + file) if site.url else file, f"the badge of {vocabulary}")
        for vocabulary, file, _ in made
    ]
    # The first is of all vocabularies together: alone it is of a library that nobody judged.
    shown = [Section("Badges", [Paragraph(how, "quiet"), Group(addresses)], "badges")]
    return shown if made[1:] else []


def entries(project: Project) -> str:
    """What the search looks through: kind, title, address and further words of each page."""
    found = [
        ["library", name, address("libraries", name), project.version(name)]
        for name in project.libraries
    ]
    for name in project.vocabularies:
        kinds = {f"{one.format} {one.algorithm}" for one in project.loaded[name]}
        words = " ".join(sorted(kinds))
        found.append(["vocabulary", name, address("vocabularies", name), words])
    for defect in project.defects:
        named = " ".join([*defect.ids[:20], *defect.libraries])
        words = f"{named} {defect.family} {defect.severity} {defect.state} {defect.shown[1].bucket}"
        found += [["defect", defect.title, defect.page, words]] * bool(defect.page)
    shown = [[printable(text) for text in entry] for entry in found]
    # Inside an element of HTML nothing may look like its end.
    return json.dumps(shown).replace("<", "\\u003c").replace("&", "\\u0026")
