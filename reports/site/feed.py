"""An Atom feed of what is new and what is fixed."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from corpora.plain_text import printable

if TYPE_CHECKING:
    import datetime
    from collections.abc import Sequence

    from reports.site.views import DefectView

MOST = 100
"""Entries, the latest ones."""
ATOM = "http://www.w3.org/2005/Atom"


def render(
    title: str,
    url: str,
    news: Sequence[tuple[str, datetime.datetime, DefectView]],
    latest: datetime.datetime,
) -> str:
    """The feed as XML. url: the address of the site with a slash at its end, or nothing."""
    root = ET.Element("feed", {"xmlns": ATOM})
    mark = hashlib.sha256(f"{title}\0{url}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    _add(root, "id", url or f"urn:tokgate:site:{mark}")
    _add(root, "title", title)
    _add(root, "updated", latest.isoformat())
    _add(_add(root, "author"), "name", "tokgate")
    if url:
        _add(root, "link", rel="self", href=f"{url}feed.xml")
    _add(root, "link", href=url or "index.html")
    for what, when, one in news[:MOST]:
        defect = one.defect
        entry = _add(root, "entry")
        _add(entry, "id", f"urn:tokgate:{defect.id}:{what}:{when:%Y%m%dT%H%M%S}")
        _add(entry, "title", f"{'New' if what == 'new' else 'Fixed'}: {one.title}")
        _add(entry, "updated", when.isoformat())
        page = f"defects/{defect.id}.html" if one.page else "defects.html"
        _add(entry, "link", href=f"{url}{page}")
        _add(entry, "summary", _summary(what, one))
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _summary(what: str, one: DefectView) -> str:
    defect = one.defect
    if what == "fixed":
        return f"On {defect.vocabulary}: not seen since {defect.fixed_in}."
    severity = f": {one.severity}" if one.severity else ""
    return f"On {defect.vocabulary}{severity}, first seen with {defect.since}."


def _add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> ET.Element:
    made = ET.SubElement(parent, name, {k: printable(v) for k, v in attributes.items()})
    if text:
        made.text = printable(text)
    return made
