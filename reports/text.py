"""Inputs made visible: literals, code points, and bytes that survive any report.

An input that breaks a tokenizer often breaks what displays it: NUL, bidi overrides, combining
marks without a base, bytes that are not UTF-8, a megabyte of one letter. What these functions
return has no invisible, combining or reordering character left. Text that is no input (names,
messages) is for :mod:`corpora.plain_text`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from corpora.plain_text import escape, shows
from reports.blocks import Inline, Span, Token
from reports.blocks.units import plural

_REORDERING = frozenset({"R", "AL", "AN"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", "'": "\\'"}

_UNNAMED = {"Cc": "<control>", "Co": "<private use>", "Cn": "<unassigned>", "Cs": "<surrogate>"}

LONG_PERIOD = 64
"""Longest repeated unit that :func:`literal` looks for, in bytes: pumps of families are short."""
LEAST_REPEATED = 4
"""Repetitions that are worth folding."""
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

    @property
    def cut(self) -> str:
        """The code, with ``…`` where something is missing."""
        return self.code + "…" * bool(self.missing)


def literal(data: bytes, limit: int = 400) -> Literal:
    """``data`` as a Python expression of about ``limit`` characters at most.

    A long repetition, with what stands before and after it, is folded: ``'a' * 1000000 + 'b'``.
    """
    folded = _folded(data) if len(data) > WORTH_FOLDING else ""
    if folded and len(folded) <= limit:
        return Literal(folded)
    shown = min(len(data), limit)
    while True:
        end = shown  # at a character boundary, so that valid text stays a str
        while 0 < end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        head = data[: end or shown]
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
    text = data.decode("utf-8", "surrogateescape")
    return "".join(map(_in_surface, text))


def _in_surface(char: str) -> str:
    if 0xDC80 <= ord(char) <= 0xDCFF:
        return f"\\x{ord(char) - 0xDC00:02x}"
    short = {**_SHORT, " ": "\u2423", "\u2423": escape("\u2423"), "'": "'"}
    return short.get(char) or (char if shows(char) else escape(char))


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
    return "'" + "".join(map(_in_literal, text)) + "'"


def _in_literal(char: str) -> str:
    seen = shows(char) and unicodedata.bidirectional(char) not in _REORDERING
    return _SHORT.get(char) or (char if seen else escape(char))


def _folded(data: bytes) -> str:
    """``prefix + unit * count + suffix`` for a repetition around the middle, if there is one."""
    middle, signs = len(data) // 2, np.frombuffer(data, np.uint8)
    probe = min(LONG_PERIOD, len(data) // 4)
    for period in range(1, probe + 1):
        if data[middle : middle + probe] != data[middle - period : middle - period + probe]:
            continue
        # Between two of these places every sign is as that of one period before.
        breaks = np.flatnonzero(signs[period:] != signs[:-period])
        after = int(np.searchsorted(breaks, middle - period))
        start = int(breaks[after - 1]) + 1 if after else 0
        end = int(breaks[after]) + period if after < len(breaks) else len(data)
        # The unit begins at a character boundary where there is one, so that text stays text.
        start += next((i for i in range(period) if data[start + i] & 0xC0 != 0x80), 0)
        count = (end - start) // period
        if count >= LEAST_REPEATED:
            parts = data[:start], data[start : start + period], data[start + count * period :]
            write = _plain if all(_plain(part)[0] == "'" for part in parts) else repr
            prefix, unit, suffix = (write(part) if part else "" for part in parts)
            return " + ".join(filter(None, (prefix, f"{unit} * {count}", suffix)))
    return ""
