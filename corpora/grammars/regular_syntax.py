"""The syntax of regular expressions: a pattern to a tree over sets of bytes.

The syntax is that of Python's ``re`` with ``re.ASCII``, without what is not regular or needs the
place in the text: no anchors, look-around, back-references, flags or possessive quantifiers. A
pattern of type ``str`` is over characters, which become UTF-8; one of type ``bytes`` over bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import hexdigits

from corpora.grammars.base import GrammarError

Ranges = list[tuple[int, int]]
"""Sets of characters or bytes as inclusive ranges."""


@dataclass(frozen=True, slots=True)
class Byte:
    """One byte out of a set, which is not empty."""

    values: range


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after another; without parts, the empty text."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any of the parts, of which there is at least one."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part ``least`` to ``most`` times; ``most`` None means any number."""

    part: Tree
    least: int
    most: int | None


Tree = Byte | Sequence | Choice | Repeat

_TEXT: Ranges = [(0, 0xD7FF), (0xE000, 0x10FFFF)]
_BYTES: Ranges = [(0, 0xFF)]
_UTF8_ENDS = (0x7F, 0x7FF, 0xFFFF, 0x10FFFF)
"""The last character of one, two, three and four bytes."""

_DIGITS: Ranges = [(0x30, 0x39)]
_WORD: Ranges = [*_DIGITS, (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]
_SPACE: Ranges = [(0x09, 0x0D), (0x20, 0x20)]
_CLASSES = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_CONTROLS = {"a": 0x07, "t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_BOUNDS = re.compile(r"\{(\d+)\}|\{(\d*),(\d*)\}", re.ASCII)
_GROUP = re.compile(r"\((?:\?:|\?P<[A-Za-z_]\w*>|(?!\?))", re.ASCII)


def parse(pattern: str | bytes) -> Tree:
    """The tree of a pattern. Raises GrammarError, which names the place, for what it cannot be."""
    parser = _Parser(pattern)
    tree = parser.choice()
    if parser.at < len(parser.text):
        raise parser.error("unbalanced )")
    return tree


def utf8(low: int, high: int) -> list[tuple[range, ...]]:
    """The UTF-8 forms of the characters ``low`` to ``high``: products of ranges of bytes, disjoint.

    No surrogate may lie between them.
    """
    forms = []
    for end in _UTF8_ENDS:
        if low <= min(high, end):
            forms += _products(chr(low).encode(), chr(min(high, end)).encode())
            low = end + 1
    return forms


def _products(low: bytes, high: bytes) -> list[tuple[range, ...]]:
    """The strings from ``low`` to ``high``, of one length, whose later bytes are continuations."""
    rest = len(low) - 1
    if not rest:
        return [(range(low[0], high[0] + 1),)]
    if low[0] == high[0]:
        head = range(low[0], low[0] + 1)
        return [(head, *tail) for tail in _products(low[1:], high[1:])]
    least, greatest = b"\x80" * rest, b"\xbf" * rest
    found = []
    first, last = low[0], high[0]
    if low[1:] != least:
        found += _products(low, low[:1] + greatest)
        first += 1
    if high[1:] != greatest:
        last -= 1
    if first <= last:
        found.append((range(first, last + 1), *[range(0x80, 0xC0)] * rest))
    if high[1:] != greatest:
        found += _products(high[:1] + least, high)
    return found


class _Parser:
    """Recursive descent; ``at`` is the index of the next character of ``text``."""

    def __init__(self, pattern: str | bytes) -> None:
        self.pattern = pattern
        self.is_text = isinstance(pattern, str)
        # Bytes are read as the characters of the same number.
        self.text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
        self.universe = _TEXT if self.is_text else _BYTES
        self.at = 0

    def error(self, fault: str, at: int | None = None) -> GrammarError:
        """The error to raise; ``at`` defaults to here."""
        place = self.at if at is None else at
        return GrammarError(f"regular expression {self.pattern!r}: {fault} at {place}")

    def choice(self) -> Tree:
        """Sequences between bars, up to a closing parenthesis or the end."""
        parts = [self.sequence()]
        while self.take("|"):
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self) -> Tree:
        """Repeated atoms."""
        parts = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self.repeated())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def repeated(self) -> Tree:
        """An atom with its quantifier. A lazy one has the same language."""
        atom = self.atom()
        bounds = self.quantifier()
        if bounds is None:
            return atom
        self.take("?")
        start = self.at
        if self.quantifier() is not None:
            raise self.error("a second quantifier", start)
        return Repeat(atom, *bounds)

    def quantifier(self) -> tuple[int, int | None] | None:
        """The bounds of the quantifier that comes next, if one does."""
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return bounds
        found = _BOUNDS.match(self.text, self.at)
        if found is None or found[0] == "{,}":
            return None  # as in `re`, other braces stand for themselves
        least = int(found[1] or found[2] or 0)
        most = least if found[1] else int(found[3]) if found[3] else None
        if most is not None and most < least:
            raise self.error("bounds in the wrong order")
        self.at = found.end()
        return least, most

    def atom(self) -> Tree:
        """A group, a class, or a character."""
        start = self.at
        sign = self.text[self.at]
        if sign == "(":
            opening = _GROUP.match(self.text, self.at)
            if opening is None:
                raise self.error("only plain, (?:..) and (?P<name>..) groups are regular")
            self.at = opening.end()
            tree = self.choice()
            if not self.take(")"):
                raise self.error("missing ) for the group", start)
            return tree
        if sign in "*+?":
            raise self.error("nothing to repeat")
        if sign in "^$":
            raise self.error(f"no anchors, {sign}")
        self.at += 1
        if sign == "[":
            return self.tree(self.bracketed(start), start)
        if sign == ".":
            return self.tree(self.complement([(0x0A, 0x0A)]), start)
        if sign == "\\":
            return self.tree(self.escape(), start)
        return self.tree([(ord(sign), ord(sign))], start)

    def bracketed(self, start: int) -> Ranges:
        """The set between brackets; the opening one is read."""
        negated = self.take("^")
        found: Ranges = []
        first = True
        while first or not self.take("]"):
            item = self.member(start)
            first = False
            # A hyphen before the closing bracket stands for itself.
            if self.text.startswith("-", self.at) and self.text[self.at + 1 : self.at + 2] != "]":
                self.at += 1
                end = self.member(start)
                if any(len(ends) > 1 or ends[0][0] != ends[0][1] for ends in (item, end)):
                    raise self.error("a range between classes")
                if end < item:
                    raise self.error("a range in the wrong order")
                item = [(item[0][0], end[0][1])]
            found += item
        return self.complement(found) if negated else found

    def member(self, start: int) -> Ranges:
        """One character or class inside brackets."""
        if self.at >= len(self.text):
            raise self.error("missing ] for the class", start)
        sign = self.text[self.at]
        self.at += 1
        return self.escape(in_class=True) if sign == "\\" else [(ord(sign), ord(sign))]

    def escape(self, *, in_class: bool = False) -> Ranges:
        """What an escape stands for; the backslash is read."""
        start = self.at - 1
        if self.at >= len(self.text):
            raise self.error("a backslash at the end", start)
        sign = self.text[self.at]
        self.at += 1
        if sign.lower() in _CLASSES:
            inside = _CLASSES[sign.lower()]
            return inside if sign.islower() else self.complement(inside)
        if in_class and sign == "b":
            return [(0x08, 0x08)]
        if sign in _CONTROLS:
            return [(_CONTROLS[sign], _CONTROLS[sign])]
        if sign in _HEX_DIGITS and (self.is_text or sign == "x"):
            digits = self.text[self.at : self.at + _HEX_DIGITS[sign]]
            if len(digits) < _HEX_DIGITS[sign] or set(digits) - set(hexdigits):
                raise self.error("an incomplete escape", start)
            self.at += len(digits)
            return [(int(digits, 16), int(digits, 16))]
        if sign.isascii() and sign.isalnum():
            raise self.error(f"no escape \\{sign}", start)
        return [(ord(sign), ord(sign))]

    def complement(self, ranges: Ranges) -> Ranges:
        """All others of the universe, ascending."""
        found: Ranges = []
        for low, high in self.universe:
            for start, end in sorted(ranges):
                if low < start:
                    found.append((low, min(start - 1, high)))
                low = max(low, end + 1)
                if low > high:
                    break
            if low <= high:
                found.append((low, high))
        return found

    def tree(self, ranges: Ranges, start: int) -> Tree:
        """The tree of a set: its bytes, or the UTF-8 forms of its characters."""
        merged = self.complement(self.complement(ranges))
        if not merged:
            raise self.error("a class of no characters", start)
        if not self.is_text:
            parts: list[Tree] = [Byte(range(low, high + 1)) for low, high in merged]
        else:
            forms = [form for low, high in merged for form in utf8(low, high)]
            parts = [Sequence(tuple(map(Byte, form))) for form in forms]
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def take(self, sign: str) -> bool:
        """Step over ``sign`` if it comes next."""
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True
