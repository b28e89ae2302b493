"""What all pages of the site share: their frame, links to one another, and the banner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.blocks import Banner, Page, Span, html
from reports.site.names import slug

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.ledger.history import History
    from reports.blocks import Block
    from reports.site.folding import Project


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """What every page draws on. url: with a slash at its end, or nothing."""

    title: str
    url: str
    history: History
    project: Project

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


def banner(title: str, because: str | None, *more: Block, tone: str = "neutral") -> Banner:
    """What a page says first; tone: ``pass``, ``fail`` or ``neutral``."""
    return Banner(title, {"pass": "✓", "fail": "✗"}.get(tone, "≡"), tone, because, blocks=more)
