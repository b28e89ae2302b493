"""Blocks as what is printed on a terminal: whatever stands open on a page, but for plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.table import Table as Grid
from rich.text import Text

from corpora.plain_text import printable
from reports.blocks import (
    Banner,
    Code,
    Facts,
    Group,
    Heading,
    Items,
    Paragraph,
    Section,
    Span,
    Table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from reports.blocks import Block, Inline

LONGEST = 300
"""Characters of a command or an input; a page has the whole."""

STYLES = {
    "quiet": "dim",
    "strong": "bold",
    "bad": "red",
    "unexpected": "red",
    "superlinear": "red",
    "failed": "red",
    "warn": "yellow",
    "stamp": "bold yellow",
    "inconclusive": "yellow",
    "by": "green",
    "ok": "green",
}
"""What is made of words of the style sheet; of others, nothing."""


def render(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """What Rich prints for these blocks, one below the other; the verdict last, to be seen."""
    for one in sorted(blocks, key=lambda one: isinstance(one, Banner)):
        match one:
            case Section(page=False):
                tags = (Span(f"  {tag}", "quiet") for tag in one.tags)
                yield text((Span(one.title, "strong"), *tags))
                yield from render(one.blocks)
                yield Text()
            case Heading():
                yield text(one.text, "bold")
            case Banner():
                yield text(one.title, "bold")
                yield text(one.because)
                yield from render(one.blocks)
                if one.stamp:
                    yield Text(one.stamp, style=STYLES["stamp"])
            case Paragraph(page=False):
                yield text(one.text, style(one.style))
            case Items():
                yield from (text(entry, style(one.style)) for entry in one.entries)
            case Facts():
                yield from (text((f"{name}: ", value), "dim") for name, value in one.pairs)
            case Code():
                cut = len(one.text) > LONGEST
                yield text(f"  {one.text[: LONGEST - 1]}…" if cut else f"  {one.text}")
            case Table() if not one.rows:
                yield from () if one.empty is None else (text(one.empty),)
            case Table():
                yield grid(one)
                if one.caption is not None:
                    yield text(one.caption, "dim")
            case Group(page=False):
                yield from render(one.blocks)
            case _:
                pass


def grid(table: Table) -> Grid:
    """A table without lines, narrow enough for a hundred columns."""
    made = Grid(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    shown = [place for place, one in enumerate(table.heads) if not one.page]
    groups = ["", *(table.heads[place].group for place in shown)]
    for place, before in zip(shown, groups, strict=False):
        one = table.heads[place]
        side: Literal["left", "right"] = "right" if one.numeric else "left"
        # What stands above several columns stands above the first of them, and their names below.
        above = (one.group if one.group != before else None) if any(groups) else one.name
        made.add_column(text(above), justify=side, no_wrap=one.numeric, overflow="fold")
    if any(groups):
        made.add_row(*(text(table.heads[place].name) for place in shown), style="dim")
    for row, cells in table.lines:
        if row.page:
            continue
        texts = [text(cells[place].text, style(cells[place].style)) for place in shown]
        made.add_row(*texts, style=style(row.style))
    return made


def text(value: Inline, look: str = "") -> Text:
    """A text with its looks, everything in it made visible."""
    match value:
        case Span():
            return text(None if value.page else value.text, style(value.style) or look)
        case tuple():
            return Text.assemble(*(text(one, look) for one in value))
        case int():
            return Text(f"{value:,}", style=look)
        case _:
            return Text(printable(value or ""), style=look)


def style(words: str) -> str:
    """Rich's style for words of the style sheet: that of the first which has one."""
    return next((STYLES[word] for word in words.split() if word in STYLES), "")
