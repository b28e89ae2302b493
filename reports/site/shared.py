"""What all pages of the site share: their frame, links, and lists of things with their facts.

A thing is told by a dictionary of facts: a list of such is a table, and a page of one shows its
own. Addresses begin with a slash, which stands for the root of the site; a page is written with
the way from it to there instead.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reports import standings
from reports.blocks import Block, Cell, Facts, Inline, Page, Section, Span, Table, html
from reports.site.project import Asked, day, totals
from reports.studies import bad

Told = Mapping[str, Inline | Cell]
"""Facts by their names; that of a number ends with a colon, as the head of its column does."""

BRAND = "conformance of tokenizers"
INSIDE = re.compile(r'\b(href|src|action)="/')
"""What leads into the site: text of others has no plain quotation mark."""

PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}(?<!\.)")
"""Names that are their own file names. Capital letters are not, as some file systems drop the
difference."""


@dataclass(frozen=True)
class Site:
    """What every page has. url: with a slash at its end, or nothing."""

    title: str
    url: str

    def page(
        self, path: str, title: str, blocks: Iterable[Block], template: str = "page", **more: object
    ) -> tuple[str, str]:
        """A file. path: within the site; more: for a template that is not that of blocks."""
        window = f"{title} · {self.title}" if title else f"{self.title}: {BRAND}"
        made = Page(window, BRAND, list(blocks))
        text = html.render(made, f"site/{template}.html.j2", site=self, **more)
        return path, INSIDE.sub(rf'\1="{"../" * path.count("/")}', text)


@dataclass(frozen=True)
class Thing:
    """What has a page: a library, a vocabulary or a defect.

    name: in a table, with what stands beside it there. facts: by which it is told there. words:
    what the search finds it by besides its title. blocks: of its page. files: that belong to it.
    """

    kind: str
    title: str
    path: str
    name: Inline
    facts: Told
    words: str
    blocks: Sequence[Block]
    files: Sequence[tuple[str, str]] = ()


def slug(name: str) -> str:
    """A file name for what others have named, safe in every file system and every address.

    It is the name itself where that is plain, else its plain letters and a hash of all of it.
    """
    if PLAIN.fullmatch(name):
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    letters = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:60]
    return f"{letters or 'n'}--{mark}"


def address(kind: str, name: str) -> str:
    """The page of a library or a vocabulary, within the site."""
    return f"{kind}/{slug(name)}.html"


def link(kind: str, name: str) -> Span:
    """A name that leads to its page."""
    return Span(name, href=f"/{address(kind, name)}")


def listing(
    title: str,
    first: str,
    rows: Sequence[tuple[Inline, Told]],
    caption: str,
    empty: str = "",
    *,
    anchor: str = "",
    style: str = "standings",
    above: Sequence[Block] = (),
) -> list[Section]:
    """A section with a table of things by their names, whose facts all are of the same kinds.

    Nothing where there is no row, unless ``empty`` says so.
    """
    columns = " | ".join([first, *(rows[0][1] if rows else ())])
    lines = [(name, *told.values()) for name, told in rows]
    # Two regions of a page must not have one name, for those who hear it.
    label = f"Table of {title[:1].lower()}{title[1:]}"
    table = Table(label, columns, lines, caption, style, empty=empty)
    where = anchor or title.partition(" ")[0].lower()
    return [Section(title, [*above, table], where)] if rows or empty else []


def facts(told: Told) -> Facts:
    """The facts of one thing, those that are known."""
    plain = (
        (name.rstrip(":"), value.text if isinstance(value, Cell) else value)
        for name, value in told.items()
    )
    return Facts([one for one in plain if one[1] not in ("", None)])


def judged(asked: Sequence[Asked]) -> dict[str, Inline | Cell]:
    """The facts of what somebody was asked."""
    counts = totals(asked)
    agreement = standings.agreement(counts)
    if counts["trusted"]:  # those that it is compared with are itself
        agreement = Cell(Span("reference", "quiet"), sort=2)
    return {
        "Agreement:": agreement,
        "Cases:": counts["cases"],
        "Compared:": counts["compared"],
        "Wrong:": bad(counts["wrong"]),
        "Deaths:": bad(counts["deaths"]),
        "Runs:": len({one.run.id for one in asked}),
        "Last judged": day(asked[-1].run) if asked else Span("not known", "quiet"),
    }
