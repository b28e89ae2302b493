"""What all pages of the site share: their frame, links, and lists of things with their facts.

A thing is told by a dictionary of facts: a list of such is a table, and a page of one shows its
own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports import standings
from reports.blocks import Cell, Column, Facts, Page, Span, Table, html
from reports.site.folding import Project
from reports.site.names import slug

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.ledger.history import History
    from reports.blocks import Block, Inline
    from reports.site.folding import Counts

    Told = Mapping[str, Inline | Cell]

WORDS = frozenset(
    {"State", "Severity", "Vocabulary", "Worst live defect", "Worst growth", "Format", "Algorithm"}
    | {"Verdict", "Ids", "Measured", "Version"}
)
"""Facts that are no numbers."""


class Site:
    """What every page draws on. url: with a slash at its end, or nothing."""

    def __init__(self, history: History, title: str, url: str) -> None:
        self.title = title
        self.url = url if not url or url.endswith("/") else f"{url}/"
        self.project = Project(history)

    def page(
        self, title: str, blocks: Sequence[Block], path: str, template: str = "page", **more: object
    ) -> tuple[str, str]:
        """A file. path: within the site; more: for a template that is not that of blocks."""
        whole = f"{title} · {self.title}" if title else f"{self.title}: conformance of tokenizers"
        root = "../" * path.count("/")
        made = Page(whole, "conformance of tokenizers", blocks, "page")
        return path, html.render(made, f"site/{template}.html.j2", site=self, root=root, **more)


def address(kind: str, name: str) -> str:
    """The page of a library or a vocabulary, from the root of the site."""
    return f"{kind}/{slug(name)}.html"


def link(kind: str, name: str, root: str = "") -> Span:
    """A name that leads to its page. root: from here to the root of the site."""
    return Span(name, href=root + address(kind, name))


def listing(
    label: str,
    first: str,
    rows: Sequence[tuple[Inline, Told]],
    caption: Inline,
    empty: Inline = None,
    style: str = "standings",
) -> Table:
    """A table of things by their names, whose facts all are of the same kinds."""
    heads = [Column(head, numeric=head not in WORDS) for head in (rows[0][1] if rows else ())]
    lines = [(name, *told.values()) for name, told in rows]
    return Table(label, (first, *heads), lines, caption, style, empty=empty)


def facts(told: Told) -> Facts:
    """The facts of one thing, those that are known."""
    plain = {name: value.text if isinstance(value, Cell) else value for name, value in told.items()}
    return Facts([(name, value) for name, value in plain.items() if value not in ("", None)])


def agreement(counts: Counts) -> Cell:
    """How far a library agrees with those that it is compared with."""
    if counts["trusted"]:
        return Cell(Span("reference", "quiet"), sort=2)
    return standings.agreement(counts["compared"], counts["wrong"])


def compared(counts: Counts) -> Told:
    """What is told of a library on a vocabulary."""
    return {
        "Agreement": agreement(counts),
        "Compared": counts["compared"],
        "Wrong": Cell(counts["wrong"], "bad" if counts["wrong"] else ""),
        "Deaths": standings.deadly(counts["deaths"]),
    }
