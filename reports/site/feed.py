"""An Atom feed of what is new and what is fixed."""

from __future__ import annotations

import datetime
import hashlib
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from corpora.plain_text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.site.folding import News

MOST = 100
"""Entries, the latest ones."""
ATOM = "http://www.w3.org/2005/Atom"


def render(title: str, url: str, news: Sequence[News], latest: str) -> str:
    """The feed as XML. url: the address of the site with a slash at its end, or nothing.

    latest: when the last run was, in ISO 8601.
    """
    root = ET.Element("feed", {"xmlns": ATOM})
    mark = hashlib.sha256(f"{title}\0{url}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    _add(root, "id", url or f"urn:tokgate:site:{mark}")
    _add(root, "title", title)
    _add(root, "updated", latest)
    _add(_add(root, "author"), "name", "tokgate")
    if url:
        _add(root, "link", rel="self", href=f"{url}feed.xml")
    _add(root, "link", href=url or "index.html")
    for one in news[:MOST]:
        defect = one.defect
        entry = _add(root, "entry")
        when = datetime.datetime.fromisoformat(one.when)
        _add(entry, "id", f"urn:tokgate:{defect.id}:{one.what}:{when:%Y%m%dT%H%M%S}")
        _add(entry, "title", f"{one.what.capitalize()}: {defect.title}")
        _add(entry, "updated", one.when)
        _add(entry, "link", href=f"{url}{defect.page or 'defects.html'}")
        told = f": not seen since {defect.fixed_in}."
        if one.what == "new":
            severity = f": {defect.severity}" if defect.severity else ""
            told = f"{severity}, first seen with {defect.since}."
        _add(entry, "summary", f"On {defect.row.vocabulary}{told}")
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> ET.Element:
    made = ET.SubElement(parent, name, {k: printable(v) for k, v in attributes.items()})
    made.text = printable(text) or None
    return made
