"""Blocks as GitHub-flavoured Markdown: whatever stands open on a page, but for plots."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from corpora.plain_text import one_line, printable_line
from reports.blocks import Code, Facts, Heading, Items, Paragraph, Span, Table, standing
from reports.blocks.html import link

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reports.blocks import Block, Cell, Inline

MOST = 50
"""Entries of a list and rows of a table: beyond that a reader wants the page."""

_SPECIAL = re.compile(
    r"""[\\`*\[\]<>|~&@$]  # anywhere
    | (?<!\w)_ | _(?!\w)    # emphasis; none within a word
    | ^[#+-] | \#(?=\w)      # a heading, a list, an issue
    | :(?=[\w+-]+:)         # an emoji's name""",
    re.VERBOSE,
)
"""What may mean something to a renderer. Other punctuation is left as it is, so that the text can
be read, and searched, as it stands."""


def render(blocks: Iterable[Block]) -> str:
    """The text, which ends with a line feed."""
    return "\n\n".join(_parts(blocks)) + "\n"


def escape(text: str, limit: int = 600) -> str:
    """Free text as one line of Markdown that means nothing but itself."""
    return _SPECIAL.sub(lambda m: f"&#{ord(m[0])};", one_line(text, limit))


def code(text: str) -> str:
    r"""A code span that also survives a table cell.

    A backtick is written ``\x60`` and a bar ``\x7c``: inside the Python literals shown here that
    is the same character, and neither can end the span or the cell.
    """
    inner = printable_line(text).replace("`", r"\x60").replace("|", r"\x7c")
    return f"`{inner}`" if inner.strip() else "` `"


def inline(value: Inline) -> str:
    """A text as one line."""
    match value:
        case Span(page=True) | None:
            return ""
        case Span(text=str(raw)) if {"code", "literal"} & {*value.style.split()}:
            shown = code(raw)
        case Span():
            shown = inline(value.text)
            shown = f"**{shown}**" if "strong" in value.style.split() else shown
        case tuple():
            return "".join(map(inline, value))
        case int():
            return f"{value:,}"
        case _:
            return _edged(value)
    # Others may change what a relative address is relative to; a local one leads to no heading.
    target = "" if value.href.startswith("#") else link(value.href)
    return f"[{shown}]({target})" if target and not set(target) & set(" ()<>|") else shown


def _edged(text: str) -> str:
    """Free text, with a space at either end where it has one: it is a piece of a sentence."""
    before, after = (" " * text[at : at + 1 or None].isspace() for at in (0, -1))
    return f"{before}{escape(text)}{after}"


def _parts(blocks: Iterable[Block]) -> Iterator[str]:
    for one in standing(blocks):
        match one:
            case Heading():
                yield f"{'#' * (one.level + 1)} {inline(one.text)}"
            case Paragraph():
                yield inline(one.text)
            case Items():
                yield "\n".join(f"- {inline(entry)}" for entry in one.entries[:MOST])
                yield from _more(len(one.entries))
            case Facts():
                yield " · ".join(f"{escape(name)} {inline(told)}" for name, told in one.pairs)
            case Code():
                yield code(one.text)
            case Table():
                yield _table(one)
                yield from _more(len(one.rows))


def _more(number: int) -> Iterator[str]:
    if number > MOST:
        yield f"and {number - MOST:,} more in report.html."


def _table(table: Table) -> str:
    heads = [(at, table.heads[at]) for at in table.shown]
    names = [inline(one.name) for _, one in heads]
    # What stands above columns tells those of one name apart.
    told = [
        f"{inline(one.group)}: {name}" if one.group and names.count(name) > 1 else name
        for name, (_, one) in zip(names, heads, strict=True)
    ]
    lines = [told, ["---:" if one.numeric else "---" for _, one in heads]]
    lines += [
        [_cell(cells[at], named=at == table.header) for at, _ in heads]
        for row, cells in islice(table.lines, MOST)
        if not row.page
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(cell: Cell, *, named: bool) -> str:
    return code(cell.text) if named and isinstance(cell.text, str) else inline(cell.text)
