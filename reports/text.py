"""Inputs made visible: literals, code points, and bytes that survive any report.

An input that breaks a tokenizer often breaks what displays it: NUL, bidi overrides, combining
marks without a base, bytes that are not UTF-8, a megabyte of one letter. What these functions
return has no invisible, combining or reordering character left. Text that is no input (names,
messages) is for :mod:`corpora.plain_text`.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from corpora.plain_text import escape, shows
from reports.blocks import Span, Token
from reports.blocks.units import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reports.blocks import Inline

_REORDERING = frozenset({"R", "AL", "AN"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", "'": "\\'"}

_UNNAMED = {"Cc": "<control>", "Co": "<private use>", "Cn": "<unassigned>", "Cs": "<surrogate>"}

LONG_PERIOD = 64
"""Longest repeated unit that :func:`literal` looks for, in bytes: pumps of families are short."""
WORTH_FOLDING = 100
"""Inputs up to this many bytes are written out, repeated or not: they fit on a line."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A Python expression for an input, cut to a limit.

    code: evaluates to the input (str where it is UTF-8, else bytes) if ``missing`` is 0.
    missing: bytes of the input that are not shown.
    """

    code: str
    missing: int = 0


def literal(data: bytes, limit: int = 400) -> Literal:
    """``data`` as a Python expression of about ``limit`` characters at most.

    A long repetition, with what stands before and after it, is folded: ``'a' * 1000000 + 'b'``.
    """
    if len(data) > WORTH_FOLDING:
        folded = _folded(data)
        if folded is not None and len(folded) <= limit:
            return Literal(folded)
    # Cut at a character boundary, so that valid text stays a str.
    shown = min(len(data), limit)
    while True:
        head = data[:shown]
        while head and shown < len(data) and data[len(head)] & 0xC0 == 0x80:
            head = head[:-1]
        head = head or data[:shown]
        code = _plain(head)
        if len(code) <= limit or shown <= 1:
            return Literal(code, len(data) - len(head))
        shown = max(1, shown * limit // (len(code) + limit // 8))


def visible(data: bytes, limit: int = 400) -> Inline:
    """The same for a report."""
    shown = literal(data, limit)
    more = Span(f" and {plural(shown.missing, 'more byte')}", "quiet") if shown.missing else None
    return Span(shown.code, "literal"), more


def clipped(text: str, limit: int) -> str:
    """The first so many characters of a text, with ``…`` where there are more."""
    return text if len(text) <= limit else f"{text[:limit]}…"


def surface(data: bytes) -> str:
    """The bytes of one token, escaped, a space as U+2423; bytes that are not UTF-8 as ``\\xNN``."""
    out: list[str] = []
    for char in data.decode("utf-8", "surrogateescape"):
        if char == " ":
            out.append("\u2423")
        elif 0xDC80 <= ord(char) <= 0xDCFF:
            out.append(f"\\x{ord(char) - 0xDC00:02x}")
        elif char in "\n\r\t\\":
            out.append(_SHORT[char])
        else:
            out.append(char if shows(char) and char != "\u2423" else escape(char))
    return "".join(out)


def code_points(data: bytes, limit: int) -> Iterator[Token]:
    """The first ``limit`` characters of ``data`` with their names, and whether there are more."""
    # Four bytes a character at the most.
    text = data[: 4 * limit + 1].decode("utf-8", "surrogateescape")
    for char in text[:limit]:
        encoded, number = char.encode("utf-8", "surrogateescape"), ord(char)
        shown = surface(encoded)
        if 0xDC80 <= number <= 0xDCFF:
            yield Token(shown, [f"0x{encoded[0]:02X}", "byte that is not UTF-8"], "invalid")
        else:
            unnamed = _UNNAMED.get(unicodedata.category(char), "<unnamed>")
            yield Token(shown, [f"U+{number:04X}", unicodedata.name(char, unnamed)])
    if len(text) > limit:
        yield Token("… more follow", state="rest")


def _plain(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return repr(data)
    return "'" + "".join(_SHORT.get(c) or _in_literal(c) for c in text) + "'"


def _in_literal(char: str) -> str:
    reorders = unicodedata.bidirectional(char) in _REORDERING
    return char if shows(char) and not reorders else escape(char)


def _folded(data: bytes) -> str | None:
    """``prefix + unit * count + suffix`` for a repetition around the middle, or None."""
    middle = len(data) // 2
    probe = min(LONG_PERIOD, len(data) // 4)
    for period in range(1, probe + 1):
        if data[middle : middle + probe] != data[middle - period : middle - period + probe]:
            continue
        start, end = _extent(data, middle, period)
        # The unit begins at a character boundary where there is one, so that text stays text.
        start += next((i for i in range(period) if data[start + i] & 0xC0 != 0x80), 0)
        count = (end - start) // period
        if count < 4:
            continue
        parts = data[:start], data[start : start + period], data[start + count * period :]
        write = _plain if all(_plain(part)[0] == "'" for part in parts) else repr
        prefix, unit, suffix = map(write, parts)
        return " + ".join(
            code
            for code, part in zip((prefix, f"{unit} * {count}", suffix), parts, strict=True)
            if part
        )
    return None


def _extent(data: bytes, middle: int, period: int) -> tuple[int, int]:
    """The widest [start, end) around ``middle`` in which ``data[i] == data[i - period]``."""
    signs = np.frombuffer(data, np.uint8)
    breaks = np.flatnonzero(signs[period:] != signs[:-period])  # places of the earlier one of two
    after = int(np.searchsorted(breaks, middle - period))
    start = int(breaks[after - 1]) + 1 if after else 0
    end = int(breaks[after]) + period if after < len(breaks) else len(data)
    return start, end
