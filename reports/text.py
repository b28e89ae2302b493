"""Inputs made visible: literals, code points, and bytes that survive any report.

An input that breaks a tokenizer often breaks what displays it: NUL, bidi overrides, combining
marks without a base, bytes that are not UTF-8, a megabyte of one letter. What these functions
return has no invisible, combining or reordering character left. Text that is no input (names,
messages) is for :mod:`corpora.plain_text`.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from corpora.plain_text import escape, shows
from harness.events import Group
from reports.blocks import Span, Token
from reports.blocks.units import plural

_REORDERING = frozenset({"R", "AL", "AN"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", "'": "\\'"}

_UNNAMED = {"Cc": "<control>", "Co": "<private use>", "Cn": "<unassigned>", "Cs": "<surrogate>"}

LEAST_FOLDED = 32
"""Bytes of a repetition that is worth folding."""
LONG = 400
"""Bytes without a long repetition that are too many for a line."""
BEFORE, AFTER = 8, 16
"""Tokens around the first difference."""
MAX_TOKEN = 80
"""Characters of one token."""
WORTH_FOLDING = 100
"""Inputs up to this many bytes are written out, repeated or not: they fit on a line."""

_REPEATED = re.compile(
    rb"""(?P<before>.{0,400}?)
    (?P<unit> [^\x80-\xbf] .{0,63}? | [\x80-\xbf]{1,64}?)  # text is not cut within a character
    (?P=unit){3,}+""",
    re.DOTALL | re.VERBOSE,
)
"""The next part of an input that is repeated: pumps of families are short."""


@dataclass(frozen=True)
class Literal:
    """A Python expression for an input, cut to a limit; as text, with what is not shown.

    code: evaluates to the input (str where it is UTF-8, else bytes) if ``missing`` is 0.
    missing: bytes of the input that are not shown.
    """

    code: str
    missing: int = 0

    def __str__(self) -> str:
        more = f" and {plural(self.missing, 'more byte')}" if self.missing else ""
        return self.code + more


def literal(data: bytes, limit: int = 400) -> Literal:
    """``data`` as a Python expression of about ``limit`` characters at most.

    Long repetitions are folded, if that makes it fit: ``'a' * 1000000 + 'b'``.
    """
    folded = _folded(data) if len(data) > WORTH_FOLDING else ""
    if folded and len(folded) <= limit:
        return Literal(folded)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        head = data if len(data) <= limit and len(repr(data)) <= limit else data[: limit // 4]
        return Literal(repr(head), len(data) - len(head))
    length = accumulate((len(_in_literal(char)) for char in text[:limit]), initial=3)
    shown = text[: sum(so_far <= limit for so_far in length) - 1]
    return Literal(_quoted(shown), len(data) - len(shown.encode()))


def visible(data: bytes, limit: int = 400) -> Span:
    """The same for a report."""
    return Span(str(literal(data, limit)), "literal")


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


def tokens_near(group: Group, first: int | None, total: int) -> list[Token]:
    """The tokens around the first difference, and how many of all there are at either side."""
    start = max(0, (first or 0) - BEFORE)
    stop = max(start, min(len(group.ids), (first or 0) + AFTER))
    shown = [Token(f"… {plural(min(start, total), 'token')} before", state="rest")]
    shown *= bool(start and total)
    for place in range(start, stop):
        spelled = group.surfaces[place] if place < len(group.surfaces) else None
        text = "unknown id" if spelled is None else surface(base64.b64decode(spelled)) or "empty"
        offsets = (group.offsets or [])[place : place + 1]
        notes = [str(group.ids[place]), *("–".join(f"{edge:,}" for edge in one) for one in offsets)]
        shown.append(Token(clipped(text, MAX_TOKEN), notes, "first" if place == first else ""))
    if first is not None and first >= total:
        shown.append(Token("end", state="end first"))
    if total > stop:
        shown.append(Token(f"… {plural(total - stop, 'token')} after", state="rest"))
    return shown or [Token("no tokens", state="rest")]


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


def _quoted(text: str) -> str:
    return f"'{''.join(map(_in_literal, text))}'"


def _in_literal(char: str) -> str:
    seen = shows(char) and unicodedata.bidirectional(char) not in _REORDERING
    return _SHORT.get(char) or (char if seen else escape(char))


def _folded(data: bytes) -> str:
    """The input with its long repetitions folded, if it becomes short: ``'a' * 1000000 + 'b'``."""
    parts, plain, end = list[tuple[bytes, int]](), 0, 0
    while found := _REPEATED.match(data, end):
        start, end, unit = found.end("before"), found.end(), found["unit"]
        if end - start >= LEAST_FOLDED:
            parts += [(data[plain:start], 1), (unit, (end - start) // len(unit))]
            plain = end
    if len(data) > end + LONG:
        return ""
    shown = [(part, times) for part, times in [*parts, (data[plain:], 1)] if part]
    try:
        written = [_quoted(part.decode()) for part, _ in shown]
    except UnicodeDecodeError:
        written = [repr(part) for part, _ in shown]
    times = (f" * {number}" * (number > 1) for _, number in shown)
    return " + ".join(map("".join, zip(written, times, strict=True)))
