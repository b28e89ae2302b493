r"""When two regular expressions are one, spelled in two ways.

Files spell one and the same pre-tokenizer differently: a line end as it is or as ``\n``, quotes
with a backslash or without. :func:`plain_spelling` takes such differences away and no others, so
that what it makes equal matches alike in every engine that is used here.
"""

from __future__ import annotations

import re

_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}

_MEANING = frozenset(".^$*+?{}[]\\|()")
"""Outside a class these mean something by themselves; the others are the same with a backslash."""

_CLASS_MEANING = frozenset("[]\\^-&~|")
"""These characters mean something inside a class; doubled ones are set operations in some
engines."""

_ASSERTIONS = frozenset("<>`'")
"""These characters after a backslash are boundaries of words or of texts in some engines."""

_CODE = re.compile(r"x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[xu]\{[0-9A-Fa-f]{1,6}\}")

_FREE_SPACING = re.compile(r"\(\?[A-Za-z]*x")


def plain_spelling(pattern: str) -> str:
    r"""The pattern with no more backslashes than it needs, and characters in place of codes.

    A pattern in free-spacing mode, where white space means nothing, is left as it is, and so is one
    with a class inside a class.
    """
    if _FREE_SPACING.search(pattern):
        return pattern
    parts: list[str] = []
    at, inside = 0, False
    while at < len(pattern):
        character = pattern[at]
        at += 1
        if character == "\\" and at < len(pattern):
            character, at = _escaped(pattern, at, inside=inside)
            parts.append(character)
            continue
        if character == "[":
            if inside or pattern.startswith(("]", "^]"), at):
                return pattern  # engines disagree on what such a class is
            inside = True
        elif character == "]":
            inside = False
        parts.append(character)
    return "".join(parts)


def _escaped(pattern: str, at: int, *, inside: bool) -> tuple[str, int]:
    """What stands behind a backslash, spelled plainly, and where it ends."""
    character = pattern[at]
    code = _CODE.match(pattern, at)
    if code is not None:
        digits = code.group().strip("xu{}")
        number = int(digits, 16)
        if number > 0x10FFFF or 0xD800 <= number < 0xE000:
            return "\\" + code.group(), code.end()
        return _literal(chr(number), inside=inside), code.end()
    if character in _CONTROLS:
        return _CONTROLS[character], at + 1
    if character.isalnum() or (character in _ASSERTIONS and not inside):
        return "\\" + character, at + 1
    return _literal(character, inside=inside), at + 1


def _literal(character: str, *, inside: bool) -> str:
    meaning = _CLASS_MEANING if inside else _MEANING
    return "\\" + character if character in meaning else character
