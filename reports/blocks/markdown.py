"""Blocks as GitHub-flavoured Markdown: whatever stands open on a page, but for plots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from corpora.plain_text import one_line, printable, printable_line
from reports.blocks import (
    ICONS,
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
from reports.blocks.html import link

MOST = 50
"""Rows of a table: beyond that a reader wants the page."""

SEVERAL_LINES = frozenset({"expect", "log"})
"""Styles of code that is shown as the lines that it has."""

EMOJI = {**ICONS, "pass": "✅", "fail": "❌", "incomplete": "❔", "not-examined": "❔"}
"""Signs of banners that are seen among others."""

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
    return "\n\n".join(map(_shown, standing(blocks, MOST))) + "\n"


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


def fenced(text: str) -> str:
    """Lines as they are, between fences that are longer than any in them."""
    fence = max(("```", *(f"{one}`" for one in re.findall("`{3,}", text))), key=len)
    return f"{fence}\n{printable(text).rstrip()}\n{fence}"


def inline(value: Inline) -> str:
    """A text as one line."""
    match value:
        case Span(page=True) | None:
            return ""
        case Span():
            looks = {*value.style.split()}
            raw = value.text if {"code", "literal"} & looks else None
            shown = code(raw) if isinstance(raw, str) else inline(value.text)
            shown = f"**{shown}**" if "strong" in looks else shown
        case tuple():
            return "".join(map(inline, value))
        case int():
            return f"{value:,}"
        case _:
            # It is a piece of a sentence: a space at either end stays.
            before = " " * value[:1].isspace()
            after = " " * (value[-1:].isspace() and bool(value.strip()))
            return f"{before}{escape(value)}{after}"
    # Others may change what a relative address is relative to; a local one leads to no heading.
    target = "" if value.href.startswith("#") else link(value.href)
    return f"[{shown}]({target})" if target and not set(target) & set(" ()<>|") else shown


def _shown(one: Code | Facts | Heading | Items | Paragraph | Table) -> str:
    match one:
        case Heading():
            icon = f"{EMOJI[one.tone]} " if one.tone else ""
            return f"{'#' * (one.level + 1)} {icon}{inline(one.text)}"
        case Paragraph():
            return inline(one.text)
        case Items():
            return "\n".join(f"- {inline(entry)}" for entry in one.shown)
        case Facts():
            return " · ".join(f"{escape(name)} {inline(told)}" for name, told in one.pairs)
        case Code():
            # A line feed in what is one line, such as a command, begins no line here.
            return fenced(one.text) if one.style in SEVERAL_LINES else code(one.text)
        case Table():
            return "\n".join(f"| {' | '.join(line)} |" for line in _lines(one))


def _lines(table: Table) -> Iterator[list[str]]:
    heads = {at: head for at, head in enumerate(table.heads) if not head.page}
    names = [inline(one.name) for one in heads.values()]
    # What stands above columns tells those of one name apart.
    yield [
        f"{inline(one.group)}: {name}" if one.group and names.count(name) > 1 else name
        for name, one in zip(names, heads.values(), strict=True)
    ]
    yield ["---:" if one.numeric else "---" for one in heads.values()]
    for _, cells in table.lines:
        named = cells[table.header].text if table.header >= 0 else None
        yield [
            code(named)
            if at == table.header and isinstance(named, str)
            else inline(cells[at].text).strip()
            for at in heads
        ]
