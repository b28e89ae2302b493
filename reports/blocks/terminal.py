"""Blocks as what is printed on a terminal: whatever stands open on a page, but for plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from corpora.plain_text import printable
from reports.blocks import (
    ICONS,
    Banner,
    Block,
    Code,
    Facts,
    Heading,
    Inline,
    Items,
    Paragraph,
    Span,
    Table,
    standing,
)

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
    for one in standing(sorted(blocks, key=lambda one: isinstance(one, Banner))):
        match one:
            case Heading():
                yield from [Text()] * (one.level < 3)
                yield text((f"{ICONS[one.tone]} " if one.tone else "", one.text), "bold")
            case Paragraph():
                yield text(one.text, style(one.style))
            case Items():
                yield from (text(entry, style(one.style)) for entry in one.shown)
            case Facts():
                yield from (text((f"{name}: ", value), "dim") for name, value in one.pairs)
            case Code():
                cut = len(one.text) > LONGEST
                yield text(f"  {one.text[: LONGEST - 1]}…" if cut else f"  {one.text}")
            case Table():
                yield grid(one)
                yield from () if one.caption is None else [text(one.caption, "dim")]


def grid(table: Table) -> Grid:
    """A table without lines, narrow enough for a hundred columns."""
    made = Grid(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    heads, before = {at: head for at, head in enumerate(table.heads) if not head.page}, ""
    banded = any(one.group for one in heads.values())
    for one in heads.values():
        side: Literal["left", "right"] = "right" if one.numeric else "left"
        # What stands above several columns stands above the first of them, and their names below.
        above = (one.group if one.group != before else None) if banded else one.name
        before = one.group
        made.add_column(text(above), justify=side, no_wrap=one.numeric, overflow="fold")
    if banded:
        made.add_row(*(text(one.name) for one in heads.values()), style="dim")
    for row, cells in table.lines:
        texts = [text(cells[at].text, style(cells[at].style)) for at in heads]
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


def clipped(line: str, columns: int) -> str:
    """A line that takes no more columns than these, everything in it made visible."""
    made = text(line)
    made.truncate(columns, overflow="ellipsis")
    return made.plain


def style(words: str) -> str:
    """Rich's style for words of the style sheet; of a word without one, nothing."""
    return " ".join(STYLES[word] for word in words.split() if word in STYLES)
